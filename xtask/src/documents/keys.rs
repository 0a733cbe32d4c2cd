//! Code spans such as `rto_floor_ms = 800` or `{ qdisc = "fq_codel", rate = "30mbit" }`: a key of an experiment file with a
//! value. Some table must have the key, and take the value.

use tcplab_plan::point::Direction;
use tcplab_plan::{Experiment, Population};

/// Files in which a key is tried at `@`.
const PLACES: [&str; 15] = [
    "@\n[[app]]\nkind = 'stream'\ncount = 1",
    "run = { @ }\n[[app]]\nkind = 'stream'\ncount = 1",
    "host = [{ name = 'client', @ }, { name = 'server' }]\n[[app]]\nkind = 'stream'\ncount = 1",
    "host = [{ name = 'client', behaviour = { @ } }, { name = 'server' }]\n[[app]]\nkind = 'stream'\ncount = 1",
    "host = [{ name = 'client', socket = { @ } }, { name = 'server' }]\n[[app]]\nkind = 'stream'\ncount = 1",
    "link = [{ rate = '1mbit', @ }]\n[[app]]\nkind = 'stream'\ncount = 1",
    "link = [{ a_to_b = { rate = '1mbit', @ } }]\n[[app]]\nkind = 'stream'\ncount = 1",
    "app = [{ kind = 'stream', count = 1, @ }]",
    "app = [{ @ }]",
    "link = [{ @ }]\n[[app]]\nkind = 'stream'\ncount = 1",
    "host = [{ name = 'client' }, { name = 'server', sysctl = { 'net.ipv4.tcp_fastopen' = 3 } }]\napp = [{ kind = 'echo', count = 1, @ }]",
    "app = [{ @, bytes = '1k' }]",
    "app = [{ @, file = 'a.pcap' }]",
    "app = [{ kind = 'replay', file = 'a.pcap', @ }]",
    "app = [{ @, messages = ['client 200', 'server 600'] }]",
];

/// The same of a population.
const POPULATION_PLACES: [&str; 2] = [
    "[population]\nbase = 'web'\n@\n[[arm]]\nname = 'B'",
    "[population]\nbase = 'web'\n[compare]\n@\n[[arm]]\nname = 'B'",
];

/// Keys that are not of an experiment file: of an edit of a kernel.
const OTHERS: [&str; 1] = ["includes"];

/// Whether a code span is a key and a value, with nothing left out; or a way of a link as a table.
pub fn is_known(text: &str) -> bool {
    let whole = !text.contains("...") && !text.contains("axis = [v1");
    whole && (is_way(text) || is_key(text))
}

fn is_way(text: &str) -> bool {
    let keys = ["qdisc = ", "rate = ", "delay = "];
    text.starts_with("{ ") && keys.iter().any(|key| text.contains(key))
}

fn is_key(text: &str) -> bool {
    text.split_once(" = ").is_some_and(|(key, value)| {
        // A sysctl in a sentence has no table; `N` stands for something.
        let is_sysctl = ["net.", "tcp_", "sysctl_"]
            .iter()
            .any(|it| key.starts_with(it));
        let is_name = key
            .chars()
            .all(|c| c.is_ascii_lowercase() || "_.".contains(c));
        is_name && !is_sysctl && value != "N" && !OTHERS.contains(&key)
    })
}

/// What is wrong with such a span.
pub fn span(text: &str) -> Option<String> {
    if is_way(text) {
        return Direction::parse("way", text).err().map(|e| e.to_string());
    }
    let read = |place: &str| {
        let file = place.replace('@', text);
        let experiment = Experiment::parse("span", &file).and_then(|e| e.points());
        experiment.err().map(|e| e.to_string())
    };
    let draw = |place: &str| {
        let population = Population::parse("span", &place.replace('@', text));
        population.err().map(|e| e.to_string())
    };
    let experiments = PLACES.iter().map(|place| read(place));
    let tried: Vec<Option<String>> = experiments
        .chain(POPULATION_PLACES.iter().map(|place| draw(place)))
        .collect();
    if tried.iter().any(Option::is_none) {
        return None;
    }
    let known = tried
        .into_iter()
        .flatten()
        .find(|e| !e.contains("unknown key"));
    Some(known.unwrap_or_else(|| "no table of an experiment has this key".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_belongs_to_some_table_and_takes_its_value() {
        for right in [
            "rto_floor_ms = 800",
            "by = \"kernel\"",
            "forward = true",
            "stop = \"decided\"",
            "kind = \"rrul\"",
            "{ qdisc = \"fq_codel\", rate = \"30mbit\" }",
        ] {
            assert!(is_known(right), "{right}");
            assert_eq!(span(right), None, "{right}");
        }
        for wrong in [
            "rto_flor_ms = 800",
            "by = \"kernal\"",
            "kind = \"rrull\"",
            "{ qdisc = \"fq_coddel\", rate = \"30mbit\" }",
        ] {
            assert!(is_known(wrong) && span(wrong).is_some(), "{wrong}");
        }
        for other in [
            "tcp_early_retrans = 4",
            "count = N",
            "name = \"...\"",
            "a b",
        ] {
            assert!(!is_known(other), "{other}");
        }
    }
}
