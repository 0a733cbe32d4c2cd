//! Orders to a running link, one a line: `a-to-b WORDS`, `b-to-a WORDS`, `end`.

use std::io::{self, BufRead, IsTerminal, Read};
use std::sync::mpsc::{SyncSender, channel};
use std::thread;
use std::time::Duration;

use tcplab_os::Stop;
use tcplab_os::say;
use tcplab_plan::point::Direction;

use crate::{Order, in_foreground, never_stop_for_input};

/// Names of the ways, as orders and options call them.
pub const WAYS: [&str; 2] = ["a-to-b", "b-to-a"];

/// Bytes of a line at most.
const LONGEST: u64 = 4096;

/// The longest time until an order has been carried out.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where orders go.
#[derive(Clone, Debug)]
pub struct Desk {
    /// To the link.
    pub orders: SyncSender<Order>,
    /// Ends it.
    pub stop: Stop,
}

impl Desk {
    /// Carries out one line, and says what became of it.
    ///
    /// # Errors
    /// No order, or one that the link refuses.
    pub fn line(&self, line: &str) -> Result<String, String> {
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        if word.is_empty() || word.starts_with('#') {
            return Ok(String::new());
        }
        if word == "end" {
            self.stop.request();
            return Ok("it ends".into());
        }
        let Some(way) = WAYS.iter().position(|name| *name == word) else {
            return Err(format!(
                "unknown order `{word}`: write `a-to-b WORDS`, `b-to-a WORDS` or `end`"
            ));
        };
        let settings = settings(WAYS[way], rest)?;
        let (reply, answer) = channel();
        let order = Order {
            way,
            settings,
            words: rest.trim().to_owned(),
            reply: Some(reply),
        };
        let ended = || "the link has ended".to_owned();
        self.orders.send(order).map_err(|_| ended())?;
        answer.recv_timeout(PATIENCE).map_err(|_| ended())?
    }

    /// Carries out the lines of standard input, in a thread that is left alone.
    pub fn read_stdin(self) {
        if !may_read() {
            return;
        }
        thread::spawn(move || {
            let mut input = io::stdin().lock();
            loop {
                match line_of(&mut input) {
                    Ok(Some(line)) => {
                        // The link says itself what it refused.
                        if let Err(why) = self.line(&line) {
                            say(&format!("tcplab: {why}"));
                        }
                    }
                    Ok(None) => return,
                    Err(e) => {
                        say(&format!("tcplab: no more orders from standard input: {e}"));
                        return;
                    }
                }
            }
        });
    }
}

/// What an option or an order says of a way.
///
/// # Errors
/// Words that say nothing, and settings that a live link does not honour.
pub fn settings(name: &str, words: &str) -> Result<Direction, String> {
    let way = match words.trim() {
        "" => {
            return Err(format!(
                "`{name}` needs words; `{name} none` forwards frames unchanged"
            ));
        }
        // As without the option.
        "none" => return Ok(Direction::default()),
        words => Direction::parse(name, words).map_err(|e| e.to_string())?,
    };
    match unsupported(&way) {
        None => Ok(way),
        Some((key, instead)) => Err(format!(
            "{name}: `{key}` works in experiment files only{instead}"
        )),
    }
}

/// A key that only runs honour, and what to do instead.
fn unsupported(way: &Direction) -> Option<(&'static str, &'static str)> {
    let later = "; `tcplab link --change` changes a running link";
    [
        (way.rate_trace.is_some(), "rate_trace", ""),
        (!way.changes.is_empty(), "change", later),
        (!way.middlebox.is_empty(), "middlebox", ""),
        (!way.injects.is_empty(), "inject", ""),
        (way.queue_from_ns.is_some(), "queue_from", ""),
    ]
    .into_iter()
    .find_map(|(is_set, key, instead)| is_set.then_some((key, instead)))
}

/// The next line; `None` if there is no more. What is longer than [`LONGEST`] is an error.
pub(crate) fn line_of(input: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    let n = input.take(LONGEST).read_until(b'\n', &mut line)?;
    if n as u64 == LONGEST && line.last() != Some(&b'\n') {
        let why = format!("the line is longer than {LONGEST} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    let text = String::from_utf8_lossy(&line).into_owned();
    Ok((n > 0).then_some(text))
}

/// In the background of a terminal there is nothing to read.
fn may_read() -> bool {
    let input = io::stdin();
    !input.is_terminal() || (never_stop_for_input().is_ok() && in_foreground(&input))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;

    #[test]
    fn lines_are_orders() {
        let (orders, got) = sync_channel::<Order>(4);
        let stop = Stop::never();
        let desk = Desk { orders, stop };
        let link = thread::spawn(move || {
            let mut all = Vec::new();
            for order in got {
                let answer = match order.words.as_str() {
                    "fq" => Err("refused".to_owned()),
                    _ => Ok("changed".to_owned()),
                };
                order.reply.unwrap().send(answer).unwrap();
                all.push((order.way, order.settings));
            }
            all
        });
        let changed = Ok("changed".to_owned());
        assert_eq!(desk.line("a-to-b netem delay 5ms\n"), changed);
        assert_eq!(desk.line("b-to-a   none"), changed);
        assert_eq!(desk.line("a-to-b fq"), Err("refused".into()));
        desk.line("# nothing").unwrap();
        assert!(desk.line("a-to-c x").unwrap_err().contains("unknown order"));
        assert!(desk.line("a-to-b").unwrap_err().contains("needs words"));
        assert!(desk.line("a-to-b cake bandwith 1mbit").is_err());
        for (key, value) in [
            ("rate_trace", "'file'"),
            ("change", "['1s rate 5mbit']"),
            ("middlebox", "['set-mss 500']"),
            ("inject", "['1s rst']"),
            ("queue_from", "'1s'"),
        ] {
            let why = desk.line(&format!("a-to-b {{ {key} = {value} }}"));
            assert!(why.unwrap_err().contains(&format!("`{key}` works in")));
        }
        assert!(!desk.stop.wanted());
        desk.line("end").unwrap();
        assert!(desk.stop.wanted());
        drop(desk);
        let all = link.join().unwrap();
        assert_eq!(all.len(), 3);
        assert_eq!((all[0].0, all[0].1.delay_ns), (0, 5_000_000));
        assert!(all[1].0 == 1 && all[1].1.is_plain());
    }

    #[test]
    fn lines_have_an_end() {
        let long = vec![b'x'; 10_000];
        assert!(line_of(&mut long.as_slice()).is_err());
        let mut two = &b"one\ntwo"[..];
        assert_eq!(line_of(&mut two).unwrap().unwrap(), "one\n");
        assert_eq!(line_of(&mut two).unwrap().unwrap(), "two");
        assert_eq!(line_of(&mut two).unwrap(), None);
    }
}
