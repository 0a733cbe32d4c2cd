//! One way of a link by itself, as a command line gives it: tc's words, or the table of an experiment file.

use super::error::{Fault, ParseError};
use super::fields::Fields;
use super::link::{Queue, way};
use super::tc::Shape;
use super::tree::{self, Choice};
use crate::point::{By, Direction};
use crate::rules::MAX_TEXT;

/// The key that errors name.
const KEY: &str = "way";

impl Direction {
    /// Reads what may stand behind `a_to_b =` in an experiment file: `cake bandwidth 30mbit ack-filter`, or a table such
    /// as `{ qdisc = "cake bandwidth 30mbit", delay = "10ms" }`. `name` is what errors call the text.
    ///
    /// # Errors
    /// What is wrong, with its place.
    pub fn parse(name: &str, text: &str) -> Result<Self, ParseError> {
        let text = text.trim();
        let file = match text.starts_with('{') {
            true => format!("{KEY} = {text}"),
            // What JSON escapes in a string, TOML reads.
            false => format!("{KEY} = {}", serde_json::Value::from(text)),
        };
        read(&file).map_err(|fault| ParseError::new(name, &file, fault))
    }

    /// Whether frames pass as they come, at once.
    pub fn is_plain(&self) -> bool {
        let any = Self {
            limit_pkts: self.limit_pkts,
            ..Self::default()
        };
        *self == any
    }
}

fn read(file: &str) -> Result<Direction, Fault> {
    if file.len() > MAX_TEXT {
        let message = format!("longer than {MAX_TEXT} bytes");
        return Err(Fault::new(&(0..0), KEY, message));
    }
    let tree = tree::read(file)?;
    let choice = Choice::new();
    let fields = Fields {
        table: &tree,
        span: 0..0,
        path: String::new(),
        choice: &choice,
    };
    // A table could end early and others begin.
    if tree.entries.len() != 1 {
        return Err(Fault::new(&(0..0), KEY, "write only one table"));
    }
    let both = Queue::Keys(Shape::default());
    way(&fields, KEY, (&both, &Direction::default()), By::Tcplab)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_tables_are_ways() {
        let way = Direction::parse("--a-to-b", "cake bandwidth 30mbit ack-filter").unwrap();
        assert_eq!(
            way.queue.unwrap().words(),
            "cake bandwidth 30mbit ack-filter"
        );
        let way = Direction::parse("x", "netem delay 25ms rate 30mbit").unwrap();
        assert_eq!((way.delay_ns, way.rate_bps), (25_000_000, Some(30_000_000)));
        assert!(!way.is_plain());
        let table = "{ qdisc = \"cake bandwidth 1mbit\", delay = \"10ms\", drop = [\"data 20\"] }";
        let way = Direction::parse("x", table).unwrap();
        assert_eq!(
            (way.delay_ns, way.queue.is_some(), way.events.len()),
            (10_000_000, true, 1)
        );
        assert!(Direction::parse("x", "{}").unwrap().is_plain());
    }

    #[test]
    fn what_is_wrong_is_named() {
        let error = Direction::parse("--a-to-b", "cake bandwith 30mbit").unwrap_err();
        assert_eq!(error.help(), Some("did you mean `bandwidth`?"));
        assert!(error.to_string().starts_with("--a-to-b:1:"), "{error}");
        for bad in [
            "",
            "{",
            "{}\nway2 = 1",
            "x\"y",
            "{ rate = 1 ",
            "pfifo limit",
        ] {
            assert!(Direction::parse("x", bad).is_err(), "{bad}");
        }
        assert!(Direction::parse("x", &"a".repeat(5_000)).is_err());
    }
}
