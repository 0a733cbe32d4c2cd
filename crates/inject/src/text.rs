//! Tables for a person.

use std::io::{self, Write};

use tcplab_report::terminal::Theme;
use tcplab_report::terminal::style::{safe, wrap};
use tcplab_report::terminal::table::{Align, Table};
use tcplab_wire::malformed::Group;

use crate::{GroupResult, InjectDocument, KernelCounter};

/// The groups and how many frames they have.
pub fn list(
    groups: impl Iterator<Item = &'static Group>,
    theme: &Theme,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut table = Table::new(&[
        ("group", Align::Left),
        ("frames", Align::Right),
        ("what", Align::Left),
    ]);
    let mut all = 0;
    for group in groups {
        all += group.count;
        table.row(vec![
            group.name.into(),
            group.count.to_string().into(),
            group.about.into(),
        ]);
    }
    write!(out, "{}", table.render(theme))?;
    writeln!(out, "\n{all} frames")?;
    Ok(())
}

/// The result: a row for each group, then what did harm.
pub fn result(document: &InjectDocument, theme: &Theme, out: &mut impl Write) -> io::Result<()> {
    let mut table = Table::new(&[
        ("group", Align::Left),
        ("frames", Align::Right),
        ("parsed", Align::Right),
        ("not TCP", Align::Right),
        ("malformed", Align::Right),
        ("accepted", Align::Right),
        ("changes", Align::Right),
        ("to kernel", Align::Right),
        ("harm", Align::Right),
    ]);
    for group in &document.groups {
        table.row(row(&group.group, group));
    }
    table.row(row("all", &sum(document)));
    // Columns of targets that were not wanted.
    table.drop_empty(&["-"]);
    write!(out, "{}", table.render(theme))?;
    for group in &document.groups {
        counters(out, group, theme)?;
    }
    if let Some(site) = &document.site {
        let listener = match site.own_listener {
            true => "a listener of tcplab's own",
            false => "who listens there",
        };
        writeln!(
            out,
            "\ninto {} from {}: {} ({listener})",
            site.at,
            site.from,
            site.listens.join(", ")
        )?;
    }
    writeln!(out, "\n{}", headline(document))?;
    for harm in &document.harms {
        let which = harm.number.map_or_else(
            || format!("{}: after {}", harm.target, harm.group),
            |number| format!("{}: {}:{number}", harm.target, harm.group),
        );
        writeln!(out, "\n{which}")?;
        for line in wrap(&safe(&harm.what), theme.width.saturating_sub(2)) {
            writeln!(out, "  {line}")?;
        }
        if !harm.frame.is_empty() {
            writeln!(out, "  frame {}", harm.frame)?;
        }
        writeln!(out, "  again: {}", harm.again)?;
    }
    for note in &document.notes {
        writeln!(out, "\nnote: {note}")?;
    }
    Ok(())
}

/// The frames, the targets that got some, and the harm.
fn headline(document: &InjectDocument) -> String {
    let (frames, seed, harm) = (document.frames, document.seed, document.harm);
    let each = document.targets.iter().zip(&document.got);
    let reached: Vec<(&String, &u64)> = each.filter(|(_, got)| **got > 0).collect();
    let is_short = reached.iter().any(|(_, got)| **got < frames);
    let names: Vec<&str> = reached.iter().map(|(name, _)| name.as_str()).collect();
    let names = match names.is_empty() {
        true => document.targets.join(", "),
        false => names.join(", "),
    };
    let up_to = if is_short { "up to " } else { "" };
    format!("{up_to}{frames} frames into {names} (seed {seed}): {harm} did harm")
}

/// The kernel's counters that moved, in a line.
fn counters(out: &mut impl Write, group: &GroupResult, theme: &Theme) -> io::Result<()> {
    if group.kernel_counters.is_empty() {
        return Ok(());
    }
    let one = |c: &KernelCounter| format!("{} {:+}", c.name, c.by);
    let moved: Vec<String> = group.kernel_counters.iter().map(one).collect();
    writeln!(out, "\n{}:", group.group)?;
    for line in wrap(&moved.join(", "), theme.width.saturating_sub(2)) {
        writeln!(out, "  {line}")?;
    }
    Ok(())
}

fn row(name: &str, group: &GroupResult) -> Vec<tcplab_report::terminal::table::Cell> {
    let maybe = |n: Option<u64>| n.map_or_else(|| "-".into(), |n| n.to_string());
    vec![
        name.into(),
        group.frames.to_string().into(),
        group.parsed.to_string().into(),
        group.not_tcp.to_string().into(),
        group.malformed.to_string().into(),
        maybe(group.accepted).into(),
        maybe(group.state_changes).into(),
        maybe(group.sent_to_kernel).into(),
        group.harm.to_string().into(),
    ]
}

fn sum(document: &InjectDocument) -> GroupResult {
    let mut sum = GroupResult::default();
    let add = |a: Option<u64>, b: Option<u64>| match (a, b) {
        (None, None) => None,
        (a, b) => Some(a.unwrap_or(0) + b.unwrap_or(0)),
    };
    for group in &document.groups {
        sum.frames += group.frames;
        sum.parsed += group.parsed;
        sum.not_tcp += group.not_tcp;
        sum.malformed += group.malformed;
        sum.accepted = add(sum.accepted, group.accepted);
        sum.state_changes = add(sum.state_changes, group.state_changes);
        sum.sent_to_kernel = add(sum.sent_to_kernel, group.sent_to_kernel);
        sum.harm += group.harm;
    }
    sum
}
