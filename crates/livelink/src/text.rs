//! What a live link does, for a person: two rows an interval, a summary at the end.

use std::io::{self, Write};

use tcplab_report::terminal::Theme;
use tcplab_report::terminal::table::{Align, Table};

use crate::{Snapshot, WaySnapshot};

/// Rows between two headings.
const HEADING_EVERY: u32 = 20;

const HEADING: &str = "    time  way      in Mbit/s  out Mbit/s   queue     KiB   delay ms   max ms   drops    lost   marks  ACKs filt.  us/frame  CPU %";

/// Lateness above this is not due to `--gap`.
const LATE_MS: f64 = 5.0;

/// The arrows of both ways.
const ARROWS: [&str; 2] = ["a -> b", "b -> a"];

/// Writes rows as looks come.
#[derive(Debug, Default)]
pub struct Rows {
    last: Snapshot,
    rows: u32,
}

impl Rows {
    /// One look: what has changed since the one before.
    pub fn look(&mut self, now: &Snapshot, out: &mut impl Write) -> io::Result<()> {
        if self.rows.is_multiple_of(HEADING_EVERY) {
            writeln!(out, "{HEADING}")?;
        }
        self.rows += 1;
        let since = now.at_s - self.last.at_s;
        for (i, arrow) in ARROWS.iter().enumerate() {
            let (last, way) = (of(&self.last, i), of(now, i));
            let time = match i {
                0 => format!("{:7.1}s", now.at_s),
                _ => String::new(),
            };
            let cost = match i {
                0 => cost(&self.last, now),
                _ => String::new(),
            };
            let row = row(last, way, since);
            let line = format!("{time:>8}  {arrow}  {row}  {cost}");
            writeln!(out, "{}", line.trim_end())?;
            if let Some(verdicts) = verdicts(last, way) {
                writeln!(out, "{:>16} {verdicts}", "")?;
            }
        }
        self.last = now.clone();
        out.flush()?;
        Ok(())
    }
}

fn of(snapshot: &Snapshot, way: usize) -> &WaySnapshot {
    match way {
        0 => &snapshot.a_to_b,
        _ => &snapshot.b_to_a,
    }
}

fn row(last: &WaySnapshot, way: &WaySnapshot, since: f64) -> String {
    let rate = |now: u64, then: u64| mbit(now.saturating_sub(then), since);
    let delay = mean_ms(last, way);
    format!(
        "{:>11}  {:>10}  {:>6}  {:>6.0}  {:>9}  {:>7.2}  {:>6}  {:>6}  {:>6}  {:>10}",
        rate(way.bytes_in, last.bytes_in),
        rate(way.bytes_out, last.bytes_out),
        way.queue_pkts,
        way.queue_bytes as f64 / 1024.0,
        delay,
        way.delay_max_ns as f64 / 1e6,
        way.drops.saturating_sub(last.drops),
        gone(way).saturating_sub(gone(last)),
        way.marks.saturating_sub(last.marks),
        way.ack_drops.saturating_sub(last.ack_drops),
    )
}

/// The verdicts of a CAQM queue between two snapshots; `None` for other queues.
fn verdicts(last: &WaySnapshot, now: &WaySnapshot) -> Option<String> {
    let caqm = now.qdisc.as_ref().filter(|qdisc| qdisc.kind == "caqm")?;
    let before = last.qdisc.as_ref().filter(|qdisc| qdisc.kind == "caqm");
    let since = |names: &[&str]| -> u64 {
        let before = |name| before.map_or(0, |qdisc| qdisc.named(name));
        let each = names
            .iter()
            .map(|name| caqm.named(name).saturating_sub(before(name)));
        each.sum()
    };
    Some(format!(
        "caqm: granted {} ({} bytes), refused {}, marked {}, not judged {}",
        since(&["granted"]),
        since(&["granted_bytes"]),
        since(&["refused"]),
        since(&["marked"]),
        since(&["untagged", "feedback", "other_type"]),
    ))
}

/// Frames that did not come through, without what the queue and its ACK filter dropped.
fn gone(way: &WaySnapshot) -> u64 {
    way.lost + way.refused + way.invalid + way.missed
}

fn mbit(bytes: u64, seconds: f64) -> String {
    match seconds > 0.0 {
        true => format!("{:.3}", bytes as f64 * 8.0 / seconds / 1e6),
        false => "-".into(),
    }
}

/// The mean time from in to out of the frames that went out in between.
fn mean_ms(last: &WaySnapshot, now: &WaySnapshot) -> String {
    let frames = now.frames_out.saturating_sub(last.frames_out);
    let ns = now.delay_sum_ns.saturating_sub(last.delay_sum_ns);
    match frames {
        0 => "-".into(),
        frames => format!("{:.2}", ns as f64 / frames as f64 / 1e6),
    }
}

fn frames(snapshot: &Snapshot) -> u64 {
    snapshot.a_to_b.frames_out + snapshot.b_to_a.frames_out
}

fn cpu_s(snapshot: &Snapshot) -> f64 {
    snapshot.cpu_user_s + snapshot.cpu_system_s
}

/// Microseconds of CPU a frame, and percent of a core.
fn cost(last: &Snapshot, now: &Snapshot) -> String {
    let (cpu, since) = (cpu_s(now) - cpu_s(last), now.at_s - last.at_s);
    let each = match frames(now).saturating_sub(frames(last)) {
        0 => "-".into(),
        n => format!("{:.2}", cpu * 1e6 / n as f64),
    };
    let share = if since > 0.0 {
        cpu / since * 100.0
    } else {
        0.0
    };
    format!("{each:>8}  {share:>5.1}")
}

/// The words of a way.
pub fn shown(words: &str) -> &str {
    match words {
        "" | "none" => "plain",
        words => words,
    }
}

/// The whole run.
pub fn end(
    end: &Snapshot,
    ways: &[String; 2],
    theme: &Theme,
    out: &mut impl Write,
) -> io::Result<()> {
    let columns = [
        ("way", Align::Left),
        ("frames in", Align::Right),
        ("out", Align::Right),
        ("Mbit/s out", Align::Right),
        ("delay ms", Align::Right),
        ("drops", Align::Right),
        ("lost", Align::Right),
        ("marks", Align::Right),
        ("ACKs filtered", Align::Right),
        ("refused", Align::Right),
        ("missed", Align::Right),
        ("invalid", Align::Right),
    ];
    let mut table = Table::new(&columns);
    for (i, arrow) in ARROWS.iter().enumerate() {
        let way = of(end, i);
        table.row(vec![
            (*arrow).into(),
            way.frames_in.to_string().into(),
            way.frames_out.to_string().into(),
            mbit(way.bytes_out, end.at_s).into(),
            mean_ms(&WaySnapshot::default(), way).into(),
            way.drops.to_string().into(),
            way.lost.to_string().into(),
            way.marks.to_string().into(),
            way.ack_drops.to_string().into(),
            way.refused.to_string().into(),
            way.missed.to_string().into(),
            way.invalid.to_string().into(),
        ]);
    }
    writeln!(out, "\n{:.1} s", end.at_s)?;
    for (arrow, words) in ARROWS.iter().zip(ways) {
        writeln!(out, "{arrow}  {}", shown(words))?;
    }
    for (i, arrow) in ARROWS.iter().enumerate() {
        if let Some(verdicts) = verdicts(&WaySnapshot::default(), of(end, i)) {
            writeln!(out, "{arrow}  {verdicts}")?;
        }
    }
    write!(out, "\n{}", table.render(theme))?;
    for line in &end.unreached {
        writeln!(out, "Note: {line}")?;
    }
    writeln!(out, "\n{}", of_cpu(end))?;
    Ok(())
}

/// How late frames were.
pub fn late(ns: u64, out: &mut impl Write) -> io::Result<()> {
    let ms = ns as f64 / 1e6;
    let why = match ms > LATE_MS {
        true => {
            ": the processors were busy elsewhere, and delays and bursts are not the link's alone"
        }
        false => "",
    };
    writeln!(
        out,
        "the latest frame went out {ms:.2} ms after its time{why}"
    )
}

fn of_cpu(end: &Snapshot) -> String {
    let (cpu, n) = (cpu_s(end), frames(end).max(1) as f64);
    format!(
        "CPU {:.3} s, {:.1} % of a core; a frame {:.2} us; {} waits",
        cpu,
        cpu / end.at_s.max(1e-9) * 100.0,
        cpu * 1e6 / n,
        end.waits
    )
}
