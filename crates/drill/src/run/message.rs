//! The texts of failures: what was expected above what came, field under field.

use super::report::seconds;
use super::time::{Due, OffTime};
use crate::packet::{Difference, Key, Packet, Shown, columns};
use crate::script::{Direction, PacketSpec};

/// A packet of the script and what came instead.
pub(super) struct Both<'a> {
    pub(super) spec: &'a PacketSpec,
    pub(super) script: &'a Packet,
    /// In the script's numbers, with its time; none came.
    pub(super) actual: Option<(&'a Packet, i64)>,
    pub(super) due: &'a Due,
}

/// A packet came, and differs.
pub(super) fn differs(
    both: &Both<'_>,
    differences: &[Difference],
    off: Option<OffTime>,
    more: Option<String>,
) -> String {
    let mut names: Vec<String> = Vec::new();
    for difference in differences {
        let name = format!("`{}`", difference.name);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut text = match (names.split_last(), off) {
        (None, None) => "the packet's flow label differs".to_string(),
        (None, Some(off)) => format!("the packet is {off}"),
        (Some((last, [])), off) => format!("the packet differs in {last}{}", and(off)),
        (Some((last, names)), off) => {
            let names = names.join(", ");
            format!("the packet differs in {names} and {last}{}", and(off))
        }
    };
    let mut marked: Vec<Key> = differences.iter().map(|d| d.key).collect();
    if off.is_some() {
        marked.push(Key::Time);
    }
    text += &aligned(both, &marked);
    for difference in differences {
        if let Some((expected, actual)) = &difference.values {
            let name = &difference.name;
            text += &format!("\n  {name}: expected {expected}, actual {actual}");
        }
    }
    if let Some(more) = more {
        text += &format!("\n  {more}");
    }
    text
}

fn and(off: Option<OffTime>) -> String {
    off.map_or(String::new(), |off| format!(", and is {off}"))
}

/// No packet came.
pub(super) fn nothing(both: &Both<'_>, now_us: i64, passed: u32) -> String {
    let mut text = format!("no packet came until {}", seconds(now_us));
    text += &aligned(both, &[]);
    match passed {
        0 => {}
        1 => text += "\n  1 packet of other connections was ignored",
        n => text += &format!("\n  {n} packets of other connections were ignored"),
    }
    text
}

/// What the target says of itself, as a further line.
pub(super) fn explained(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    format!("\n  endpoint: {text}")
}

/// Both packets, one above the other, with marks under what differs.
fn aligned(both: &Both<'_>, marked: &[Key]) -> String {
    let columns_of = |packet: &Packet, is_script: bool| {
        columns(
            packet,
            Shown {
                spec: Some(both.spec),
                is_script,
                direction: Direction::Out,
            },
        )
    };
    let mut expected = columns_of(both.script, true);
    expected.push((Key::Time, format!("at {}", both.due.text())));
    let Some((packet, at_us)) = both.actual else {
        let parts: Vec<String> = expected.into_iter().map(|(_, t)| t).collect();
        return format!("\n  expected  {}", parts.join(" "));
    };
    let mut actual = columns_of(packet, false);
    actual.push((Key::Time, format!("at {}", seconds(at_us))));
    let mut keys: Vec<Key> = expected.iter().chain(&actual).map(|(k, _)| *k).collect();
    keys.sort_unstable();
    keys.dedup();
    let find = |columns: &[(Key, String)], key| {
        let found = columns.iter().find(|(k, _)| *k == key);
        found.map_or(String::new(), |(_, t)| t.clone())
    };
    let mut lines = [
        String::from("  expected "),
        String::from("  actual   "),
        String::from("           "),
    ];
    for key in keys {
        let (e, a) = (find(&expected, key), find(&actual, key));
        let width = e.chars().count().max(a.chars().count());
        let mark = if marked.contains(&key) {
            under(&e, &a)
        } else {
            String::new()
        };
        for (line, text) in lines.iter_mut().zip([e, a, mark]) {
            *line += &format!(" {text:width$}");
        }
    }
    lines
        .iter()
        .map(|l| l.trim_end())
        .filter(|l| !l.is_empty())
        .map(|l| format!("\n{l}"))
        .collect()
}

/// Carets under what differs of two texts: all but the words that they begin and end with alike.
fn under(expected: &str, actual: &str) -> String {
    let (e, a): (Vec<char>, Vec<char>) = (expected.chars().collect(), actual.chars().collect());
    if e.is_empty() || a.is_empty() {
        return "^".repeat(e.len().max(a.len()));
    }
    let same = e.iter().zip(&a).take_while(|(x, y)| x == y).count();
    if same == e.len() && same == a.len() {
        return "^".repeat(a.len());
    }
    // Back to the beginning of the number or word.
    let begin = a[..same]
        .iter()
        .rposition(|c| !c.is_alphanumeric() && *c != '.')
        .map_or(0, |i| i + 1);
    let tail = e
        .iter()
        .rev()
        .zip(a.iter().rev())
        .take_while(|(x, y)| x == y)
        .count();
    let tail = tail.min(a.len().saturating_sub(same));
    let kept = a[a.len() - tail..]
        .iter()
        .take_while(|c| c.is_alphanumeric())
        .count();
    let end = (a.len() - tail + kept).max(begin + 1);
    format!("{}{}", " ".repeat(begin), "^".repeat(end - begin))
}

#[cfg(test)]
mod tests {
    use super::under;

    #[test]
    fn carets_stand_under_whole_numbers() {
        let table = [
            ("ack 1", "ack 2", "    ^"),
            ("ack 1001", "ack 1002", "    ^^^^"),
            ("1:1001(1000)", "1:1002(1001)", "  ^^^^^^^^^"),
            ("1:1001(1000)", "2:1002(1000)", "^^^^^^"),
            ("win 10", "win 100", "    ^^^"),
            ("", "urg 5", "^^^^^"),
            ("<mss 1460,", "<nop,", " ^^^"),
            ("at 0.100000", "at 0.200000", "   ^^^^^^^^"),
        ];
        for (expected, actual, mark) in table {
            assert_eq!(under(expected, actual), mark, "{expected} / {actual}");
        }
    }
}
