//! The answer of `explain` for a person.

use std::io::Write;

use tcplab_lab::explain::{Found, Mismatch, Ranked, Receiver};
use tcplab_plan::profile::marked;
use tcplab_report::terminal::Theme;
use tcplab_report::terminal::style::Ink;
use tcplab_report::terminal::table::{Align, Cell, Table};

use crate::failure::Failure;
use crate::screen;

/// Receivers that are shown without `--all`.
const SHOWN: usize = 10;

/// Fewer ACKs may fit a profile by chance.
const FEW: usize = 10;

/// Prints the receivers, those with the most ACKs first.
pub fn print(receivers: &[Receiver], all: bool, theme: &Theme) -> Result<(), Failure> {
    let mut out = screen::painted(theme);
    let mut order: Vec<&Receiver> = receivers.iter().collect();
    // Stable: equal ones stay in the order of the file.
    order.sort_by_key(|r| std::cmp::Reverse(r.found.as_ref().map_or(0, |f| f.acks)));
    let shown = if all { order.len() } else { SHOWN };
    for receiver in order.iter().take(shown) {
        one(&mut out, receiver, theme)?;
    }
    match order.len().saturating_sub(shown) {
        0 if order.is_empty() => writeln!(out, "no TCP connection with data in this capture")?,
        0 => {}
        more => writeln!(out, "{more} more receivers; --all shows them")?,
    }
    Ok(())
}

fn one(out: &mut impl Write, receiver: &Receiver, theme: &Theme) -> Result<(), Failure> {
    let title = format!(
        "Stream {}: ACKs of {}, data from {}",
        receiver.stream, receiver.receiver, receiver.sender
    );
    writeln!(out, "{}", theme.paint(Ink::Bold, &title))?;
    match (&receiver.found, receiver.lacks) {
        (Some(found), _) => {
            writeln!(out, "  {}", verdict(found))?;
            writeln!(
                out,
                "  {} ACKs of new data or with SACK blocks; path {} us, noise {} us; SYN window {}",
                found.acks, found.path_us, found.noise_us, found.syn_window
            )?;
            for note in notes(found) {
                writeln!(out, "  {note}")?;
            }
            writeln!(out)?;
            out.write_all(table(found).render(theme).as_bytes())?;
        }
        (None, lacks) => writeln!(out, "  not explained: {}", lacks.unwrap_or_default())?,
    }
    writeln!(out)?;
    Ok(())
}

fn verdict(found: &Found) -> String {
    let names: Vec<String> = found.best.iter().map(|name| marked(name)).collect();
    let names = names.join(", ");
    let ties = match found.best.len() {
        0 | 1 => String::new(),
        n => format!(" ({n} profiles that fit equally well here)"),
    };
    match (found.is_exact, found.is_answer()) {
        (true, _) => format!("as {names} sends them{ties}: every ACK, and no other"),
        (false, true) => format!("most like {names}{ties}, but not every ACK"),
        (false, false) => "no profile sends such ACKs".to_owned(),
    }
}

fn notes(found: &Found) -> Vec<String> {
    let mut notes = Vec::new();
    if found.lost_behind > 0 {
        notes.push(format!(
            "{} data segments were lost behind the capture and are left out",
            found.lost_behind
        ));
    }
    if let Some(tags) = &found.caqm {
        let out = match tags.receiver {
            0 => "the receiver sent no tag (net.core.sysctl_caqm_filter_nics)".to_owned(),
            n => format!("{n} tagged frames of the receiver"),
        };
        notes.push(format!(
            "CAQM was agreed on; {out}, {} of the sender: every profile was played with net.core.sysctl_caqm_enable = 1",
            tags.sender
        ));
        notes.push(
            "one capture does not tell the receiver's units and behaviours of CAQM (docs/caqm.md): those are tcplab's defaults"
                .to_owned(),
        );
    }
    if found.acks < FEW {
        notes.push(
            "so few ACKs may look alike by chance: a longer connection tells more".to_owned(),
        );
    }
    if found.cut {
        notes.push("only the first 50,000 packets were played".to_owned());
    }
    notes
}

fn table(found: &Found) -> Table {
    let mut table = Table::new(&[
        ("profile", Align::Left),
        ("ACKs as sent", Align::Right),
        ("not so", Align::Right),
        ("more", Align::Right),
        ("off by us", Align::Right),
        ("at most", Align::Right),
        ("HZ", Align::Right),
        ("first that differs", Align::Left),
    ]);
    for ranked in &found.profiles {
        table.row(row(ranked, found));
    }
    table
}

fn row(ranked: &Ranked, found: &Found) -> Vec<Cell> {
    let first = ranked.first_mismatch.as_ref().map_or(String::new(), first);
    vec![
        marked(ranked.profile).into(),
        format!("{} of {}", ranked.matched, found.acks).into(),
        ranked.missed.to_string().into(),
        ranked.extra.to_string().into(),
        ranked.mean_error_us.to_string().into(),
        ranked.worst_error_us.to_string().into(),
        ranked.hz.to_string().into(),
        first.into(),
    ]
}

fn first(m: &Mismatch) -> String {
    let ms = |us: i64| format!("{}.{:03} ms", us / 1000, us.unsigned_abs() % 1000);
    let there = ms(m.captured_us);
    let what = match (m.predicted_us, m.one_more_us) {
        (Some(here), _) => format!("after {there}, not {}", ms(here)),
        (None, Some(before)) => format!("one more {} before it", ms(before)),
        (None, None) => format!("after {there}, not by itself"),
    };
    format!("ACK {} (frame {}): {what}", m.ack, m.frame)
}
