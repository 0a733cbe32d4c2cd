//! Orders to a running link, one a line: `a-to-b WORDS`, `b-to-a WORDS`, `end`.

use std::io::{self, BufRead, IsTerminal, Read};
use std::sync::mpsc::Sender;
use std::thread;

use tcplab_kernel::Stop;
use tcplab_kernel::link::{Order, in_foreground};
use tcplab_plan::point::Direction;

/// Names of the ways, as orders and options call them.
pub const WAYS: [&str; 2] = ["a-to-b", "b-to-a"];

/// Bytes of a line at most.
const LONGEST: u64 = 4096;

/// Where orders go.
#[derive(Clone)]
pub struct Desk {
    /// To the link.
    pub orders: Sender<Order>,
    /// Ends it.
    pub stop: Stop,
}

impl Desk {
    /// Carries out one line.
    pub fn line(&self, line: &str) -> Result<(), String> {
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        if word.is_empty() || word.starts_with('#') {
            return Ok(());
        }
        if word == "end" {
            self.stop.request();
            return Ok(());
        }
        let Some(way) = WAYS.iter().position(|name| *name == word) else {
            return Err(format!(
                "`{word}` is no order: write `a-to-b WORDS`, `b-to-a WORDS` or `end`"
            ));
        };
        let settings = settings(WAYS[way], rest)?;
        let words = rest.trim().to_owned();
        let order = Order {
            way,
            settings,
            words,
        };
        self.orders
            .send(order)
            .map_err(|_| "the link has ended".into())
    }

    /// Carries out the lines of standard input, in a thread that is left alone.
    pub fn read_stdin(self) {
        if !may_read() {
            return;
        }
        thread::spawn(move || {
            let mut input = io::stdin().lock();
            while let Ok(Some(line)) = line_of(&mut input) {
                if let Err(why) = self.line(&line) {
                    eprintln!("tcplab: {why}");
                }
            }
        });
    }
}

/// What an option or an order says of a way.
pub fn settings(name: &str, words: &str) -> Result<Direction, String> {
    match words {
        // As without the option.
        "" | "none" => Ok(Direction::default()),
        words => Direction::parse(name, words).map_err(|e| e.to_string()),
    }
}

/// The next line, not longer than [`LONGEST`]; none: there is no more.
pub fn line_of(input: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    let n = input.take(LONGEST).read_until(b'\n', &mut line)?;
    let text = String::from_utf8_lossy(&line).into_owned();
    Ok((n > 0).then_some(text))
}

/// In the background of a terminal a read would stop the process.
fn may_read() -> bool {
    let input = io::stdin();
    !input.is_terminal() || in_foreground(&input)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn lines_are_orders() {
        let (orders, got) = channel();
        let stop = Stop::never();
        let desk = Desk { orders, stop };
        desk.line("a-to-b netem delay 5ms\n").unwrap();
        desk.line("b-to-a none").unwrap();
        desk.line("# nothing").unwrap();
        let all: Vec<Order> = got.try_iter().collect();
        assert_eq!(all.len(), 2);
        assert_eq!((all[0].way, all[0].settings.delay_ns), (0, 5_000_000));
        assert!(all[1].way == 1 && all[1].settings.is_plain());
        assert!(desk.line("a-to-c x").unwrap_err().contains("is no order"));
        assert!(desk.line("a-to-b cake bandwith 1mbit").is_err());
        assert!(!desk.stop.wanted());
        desk.line("end").unwrap();
        assert!(desk.stop.wanted());
    }

    #[test]
    fn lines_have_an_end() {
        let long = vec![b'x'; 10_000];
        let mut input = long.as_slice();
        assert_eq!(line_of(&mut input).unwrap().unwrap().len(), 4096);
    }
}
