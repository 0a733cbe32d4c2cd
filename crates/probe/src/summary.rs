//! What a probe says at its end, behind the log.

use std::io::{self, Write};

use crate::{Report, ViaReport};

/// Counters that are shown also when they did not change: what the probe is about.
const ALWAYS: [&str; 2] = ["TcpExtDelayedACKs", "TcpExtDelayedACKLocked"];

/// Counts what is there now, not what has happened.
const GAUGE: &str = "TcpCurrEstab";

/// Writes the end of the log.
pub fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    writeln!(out)?;
    writeln!(out, "{}", report.kernel)?;
    if let Some(via) = &report.via {
        frames(via, out)?;
    }
    latencies(report, out)?;
    buffers(report, out)?;
    counters(report, out)?;
    if report.log_left_out > 0 {
        let n = report.log_left_out;
        writeln!(
            out,
            "{n} log lines were omitted (--log-lines N raises the limit)"
        )?;
    }
    if report.connections_left_out > 0 {
        let n = report.connections_left_out;
        writeln!(out, "{n} more connections were only counted")?;
    }
    for warning in &report.warnings {
        writeln!(out, "warning: {warning}")?;
    }
    Ok(())
}

/// An endpoint's view of its device.
fn frames(via: &ViaReport, out: &mut impl Write) -> io::Result<()> {
    let (device, address) = (&via.device, &via.address);
    let (came, went) = (via.frames_in, via.frames_out);
    let (tagged_in, tagged_out) = (via.tagged_in, via.tagged_out);
    writeln!(
        out,
        "{device} {address}: {came} frames in ({tagged_in} with CAQM's tag), {went} out ({tagged_out})"
    )?;
    let rest = [
        ("carried no packet for the endpoint", via.refused),
        ("fitted no header", via.invalid),
        ("went to addresses that did not answer ARP", via.unreachable),
        ("did not fit into the device's queue", via.full),
        ("were dropped before they could be read", via.missed),
    ];
    for (what, n) in rest.into_iter().filter(|(_, n)| *n > 0) {
        writeln!(out, "{n} frames {what}")?;
    }
    Ok(())
}

/// Transactions and their times, nearest rank.
fn latencies(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let each = report.connections.iter().flat_map(|c| &c.latency_ns);
    let mut sorted: Vec<i64> = each.copied().collect();
    sorted.sort_unstable();
    let rank = |percent: usize| {
        let at = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
        sorted.get(at).copied().unwrap_or(0) as f64 / 1e6
    };
    if report.unanswered > 0 {
        let (lost, all) = (report.unanswered, report.unanswered + report.completed);
        let percent = lost as f64 / all as f64 * 100.0;
        writeln!(
            out,
            "{lost} of {all} datagrams were not answered ({percent:.1} %)"
        )?;
    }
    if sorted.is_empty() {
        return Ok(());
    }
    let seconds = report.duration_ns.max(1) as f64 / 1e9;
    let (all, rate) = (report.completed, report.completed as f64 / seconds);
    writeln!(out, "{all} completed in {seconds:.3} s, {rate:.1} a second")?;
    let (count, min, max) = (sorted.len(), rank(0), rank(100));
    let (p50, p90, p99) = (rank(50), rank(90), rank(99));
    writeln!(
        out,
        "{count} transactions: min {min:.3} ms, median {p50:.3}, 90 % {p90:.3}, 99 % {p99:.3}, max {max:.3}"
    )?;
    if let Some(ns) = report.look_mean_ns {
        let us = ns as f64 / 1e3;
        writeln!(
            out,
            "these times include reads of /proc/net/tcp, {us:.0} us each at this end; --no-looks avoids them"
        )?;
    }
    Ok(())
}

/// How the kernel moved the buffers of a single connection.
fn buffers(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let [only] = &report.connections[..] else {
        return Ok(());
    };
    let b = &only.buffers;
    for (name, begin, end) in [
        ("SO_RCVBUF", b.rcvbuf_begin_bytes, b.rcvbuf_end_bytes),
        ("SO_SNDBUF", b.sndbuf_begin_bytes, b.sndbuf_end_bytes),
    ] {
        if let (Some(begin), Some(end)) = (begin, end) {
            writeln!(
                out,
                "{name}: {begin} bytes at the beginning, {end} at the end"
            )?;
        }
    }
    Ok(())
}

/// The counters of TCP that changed.
fn counters(report: &Report, out: &mut impl Write) -> io::Result<()> {
    match &report.via {
        Some(_) => writeln!(out, "counters of the endpoint:")?,
        None => writeln!(
            out,
            "counters of this network namespace (all its connections):"
        )?,
    }
    for (name, value) in &report.counters {
        let is_tcp = name.starts_with("Tcp") || (name.starts_with("Udp") && !name.contains("Lite"));
        if name != GAUGE && is_tcp && (*value != 0 || ALWAYS.contains(&name.as_str())) {
            writeln!(out, "  {name:<28} {value:+}")?;
        }
    }
    Ok(())
}
