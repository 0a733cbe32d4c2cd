//! Whether the stacks of a run sent the same packets: a line for each pair.

use std::path::Path;

use tcplab_base::quantity::count;
use tcplab_plan::agreement::{Agreement, FirstDifference};
use tcplab_plan::result::axis_text;

/// The answer in one line. `out` is the result folder, if one was asked for.
pub fn line(of: &Agreement, out: Option<&Path>) -> String {
    let [a, b] = &of.stacks;
    let all = of.points + of.not_compared.values().sum::<usize>();
    if of.points == 0 {
        return format!(
            "{a} and {b} were not compared packet by packet: {}",
            reasons(of, all)
        );
    }
    let at = match of.points {
        1 => String::new(),
        n => format!(" at {n} points"),
    };
    let answer = match &of.first {
        None => format!(
            "{a} and {b} agree: all {} TCP packets{at} are the same.",
            count(of.packets as u64)
        ),
        Some(first) => {
            let which = match of.points {
                1 => String::new(),
                n => format!(
                    " at {} of {n} points, first at {}",
                    n - of.equal_points,
                    axes(first)
                ),
            };
            let place = out.map(|out| {
                format!(
                    " It is frame {} of {}.",
                    first.frame,
                    out.join(&first.capture).display()
                )
            });
            format!(
                "{a} and {b} differ{which}: {}{}",
                difference(first, [a, b]),
                place.unwrap_or_default()
            )
        }
    };
    match all - of.points {
        0 => answer,
        n => format!(
            "{answer} {n} of {all} points were not compared: {}",
            reasons(of, all)
        ),
    }
}

/// Why points were not compared; with how many have it, where not all have the same.
fn reasons(of: &Agreement, all: usize) -> String {
    let one = |(why, n): (&String, &usize)| match *n == all || of.not_compared.len() == 1 {
        true => why.clone(),
        false => format!("{why} ({n})"),
    };
    of.not_compared
        .iter()
        .map(one)
        .collect::<Vec<_>>()
        .join("; ")
}

fn axes(first: &FirstDifference) -> String {
    let values = first.axes.iter();
    let values = values.map(|(name, value)| format!("{name}={}", axis_text(value)));
    values.collect::<Vec<_>>().join(", ")
}

fn difference(first: &FirstDifference, [a, b]: [&String; 2]) -> String {
    let FirstDifference {
        host,
        number,
        kind,
        field,
        class,
        ..
    } = first;
    let connection = match first.connections {
        0 | 1 => String::new(),
        _ => format!(" on connection {}", first.connection),
    };
    let [x, y] = &first.values;
    let what = match field.as_str() {
        "missing" => format!("only {a} sent it"),
        "extra" => format!("only {b} sent it"),
        field => format!("{field} is {x} on {a}, {y} on {b}"),
    };
    let before = match first.equal_packets {
        0 => String::new(),
        1 => " The packet before it is the same.".to_owned(),
        n => format!(" The {} packets before it are the same.", count(n as u64)),
    };
    format!(
        "packet {number} of {host}{connection} ({kind}){}: {what} (class: {class}).{before}",
        when(first)
    )
}

/// At which times, unless the time is what differs.
fn when(first: &FirstDifference) -> String {
    let times = first.times_ns.iter().flatten();
    let mut times: Vec<String> = times
        .map(|ns| format!("{:.6} s", *ns as f64 / 1e9))
        .collect();
    times.dedup();
    match first.field == "time" {
        true => String::new(),
        false => format!(" at {}", times.join(" and ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agreement(points: usize, equal_points: usize) -> Agreement {
        Agreement {
            stacks: ["model:linux-6.1".into(), "uml:6.1".into()],
            points,
            equal_points,
            packets: 402,
            ..Agreement::default()
        }
    }

    fn sack() -> FirstDifference {
        FirstDifference {
            axes: [("every".to_owned(), "100ms".into())].into(),
            host: "server".into(),
            connection: 1,
            connections: 1,
            number: 45,
            kind: "sack".into(),
            times_ns: [Some(100_749_100), Some(100_774_400)],
            capture: "points/0001/server.eth0.pcapng".into(),
            frame: 90,
            field: "time".into(),
            values: ["100749.1 us".into(), "100774.4 us".into()],
            class: "time of sack".into(),
            equal_packets: 44,
        }
    }

    #[test]
    fn those_that_agree() {
        assert_eq!(
            line(&agreement(3, 3), None),
            "model:linux-6.1 and uml:6.1 agree: all 402 TCP packets at 3 points are the same."
        );
    }

    #[test]
    fn those_that_differ() {
        let mut of = agreement(3, 2);
        of.first = Some(sack());
        assert_eq!(
            line(&of, Some(Path::new("out"))),
            "model:linux-6.1 and uml:6.1 differ at 1 of 3 points, first at every=100ms: packet 45 of server (sack): time is 100749.1 us on model:linux-6.1, 100774.4 us on uml:6.1 (class: time of sack). The 44 packets \
             before it are the same. It is frame 90 of out/points/0001/server.eth0.pcapng."
        );
        let mut of = agreement(1, 0);
        let first = FirstDifference {
            field: "extra".into(),
            times_ns: [None, Some(100_774_400)],
            connection: 2,
            connections: 3,
            equal_packets: 0,
            ..sack()
        };
        of.first = Some(first);
        of.not_compared.insert("uml:6.1 has no result".into(), 2);
        assert_eq!(
            line(&of, None),
            "model:linux-6.1 and uml:6.1 differ: packet 45 of server on connection 2 (sack) at 0.100774 s: only uml:6.1 sent \
             it (class: time of sack). 2 of 3 points were not compared: uml:6.1 has no result"
        );
    }

    #[test]
    fn those_that_were_not_compared() {
        let mut of = agreement(0, 0);
        of.not_compared.insert("run.captures = false".into(), 2);
        assert_eq!(
            line(&of, None),
            "model:linux-6.1 and uml:6.1 were not compared packet by packet: run.captures = false"
        );
        of.not_compared.insert("uml:6.1 has no result".into(), 1);
        assert!(line(&of, None).ends_with(": run.captures = false (2); uml:6.1 has no result (1)"));
    }
}
