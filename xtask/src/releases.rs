//! `cargo xtask releases`: which scenario of the list shows each behaviour in which two releases of the model differ.
//!
//! The older release runs each scenario twice: as it is, and with that one behaviour, or that one sysctl's default, of the
//! newer one. The rows go into docs/releases.md; what each does to a connection stands in [`HARM`].

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use tcplab_diff::{Runs, Scenario, Verdict, list, runs::on_all};
use tcplab_lab::Lab;
use tcplab_os::Stop;
use tcplab_plan::Point;
use tcplab_plan::profile::{BEHAVIOURS, Profile, named};

/// What `cargo xtask releases` takes.
#[derive(clap::Args)]
pub struct Args {
    /// Write the rows into docs/releases.md
    #[arg(long)]
    document: bool,
    /// Runs at once
    #[arg(long, value_name = "N", default_value_t = 2)]
    jobs: usize,
}

const BEGIN: &str = "<!-- changes: begin -->";
const END: &str = "<!-- changes: end -->";

/// The releases whose kernels are built here, oldest first.
const RELEASES: [&str; 4] = ["linux-5.10", "linux-6.1", "linux-6.12", "linux-7.2"];

/// What changes from one release to the next.
struct Change {
    name: String,
    /// In the words of the registry.
    what: String,
    /// The commit and its release.
    commit: String,
    apply: Box<dyn Fn(&mut Point) + Sync>,
}

/// Runs the command.
pub fn run(root: &Path, args: &Args) -> Result<ExitCode> {
    let scenarios = list::scenarios()?;
    let mut out = String::new();
    for pair in RELEASES.windows(2) {
        let [older, newer] = pair else { continue };
        out += &format!("\n### From {older} to {newer}\n\n");
        out += "| packets show | scenario that shows it (how many do): first difference | commit, release | for a connection |\n|---|---|---|---|\n";
        for change in changes(older, newer)? {
            out += &row(older, &change, &scenarios, args.jobs)?;
        }
    }
    print!("{out}");
    if args.document {
        write(root, &out)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn write(root: &Path, rows: &str) -> Result<()> {
    let path = root.join("docs/releases.md");
    let name = path.display().to_string();
    let text = std::fs::read_to_string(&path).with_context(|| name.clone())?;
    let (Some(begin), Some(end)) = (text.find(BEGIN), text.find(END)) else {
        bail!("{name} has no {BEGIN} and {END}");
    };
    let new = format!("{}{BEGIN}\n{rows}\n{}", &text[..begin], &text[end..]);
    std::fs::write(&path, new).with_context(|| name)
}

/// The behaviours and defaults in which two profiles differ.
fn changes(older: &str, newer: &str) -> Result<Vec<Change>> {
    let profile = |name: &str| named(name).with_context(|| format!("no profile {name}"));
    let (old, new) = (profile(older)?, profile(newer)?);
    let mut all = Vec::new();
    for behaviour in BEHAVIOURS {
        let value = behaviour.value(&new);
        if behaviour.value(&old) == value || behaviour.name == "hz" {
            continue;
        }
        let name = behaviour.name.to_owned();
        let key = name.clone();
        all.push(Change {
            // The meaning is that of `on`.
            what: match value.as_str() {
                "off" => format!("`{name}` becomes off. On: {}", behaviour.meaning),
                _ => format!("`{name}` becomes {value}: {}", behaviour.meaning),
            },
            commit: behaviour.changed.to_owned(),
            apply: Box::new(move |point| {
                for host in &mut point.hosts {
                    host.behaviour
                        .entry(key.clone())
                        .or_insert_with(|| value.clone());
                }
            }),
            name,
        });
    }
    all.append(&mut defaults(&old, &new));
    Ok(all)
}

/// The sysctls whose defaults differ.
fn defaults(old: &Profile, new: &Profile) -> Vec<Change> {
    let mut all = Vec::new();
    for (name, _) in old.sysctl.iter().chain(new.sysctl) {
        let (before, after) = (old.sysctl(name), new.sysctl(name));
        let (Some(before), Some(after)) = (before, after) else {
            continue;
        };
        if before == after || all.iter().any(|change: &Change| change.name == *name) {
            continue;
        }
        let (key, value) = ((*name).to_owned(), after.to_owned());
        all.push(Change {
            name: (*name).to_owned(),
            what: format!("`{name}` is {after} by default; before: {before}"),
            commit: COMMITS
                .iter()
                .find(|(known, _)| known == name)
                .map_or(String::new(), |(_, commit)| (*commit).to_owned()),
            apply: Box::new(move |point| {
                for host in &mut point.hosts {
                    host.sysctl
                        .entry(key.clone())
                        .or_insert_with(|| value.clone());
                }
            }),
        });
    }
    all
}

fn row(older: &str, change: &Change, scenarios: &[Scenario], jobs: usize) -> Result<String> {
    let stack = format!("model:{older}@1000");
    let names = [stack.as_str(); 2];
    let runs = Runs::new(
        Lab::new(Stop::never()),
        names,
        "target/fidelity".into(),
        false,
    )?;
    let found = on_all(
        scenarios,
        jobs,
        || (),
        |s: &Scenario, cpu| {
            let mut with = s.point.clone();
            (change.apply)(&mut with);
            let pair = runs.pair_of([&s.point, &with], cpu)?;
            let verdict = Verdict::of(&pair, names);
            Ok((verdict.packets.first.is_some()).then(|| (verdict.packets.equal, verdict.class())))
        },
    )?;
    let shown: Vec<_> = scenarios
        .iter()
        .zip(found)
        .filter_map(|(s, f)| Some((s, f?)))
        .collect();
    let first = shown.iter().min_by_key(|(_, (equal, _))| *equal);
    let scenario = match first {
        Some((s, (_, class))) => format!("`{}` ({}): {class}", s.name, shown.len()),
        None => "-".to_owned(),
    };
    let harm = HARM.iter().find(|(name, _)| *name == change.name);
    let harm = harm.map_or("not judged", |(_, text)| text);
    Ok(format!(
        "| {} | {scenario} | {} | {harm} |\n",
        change.what.replace('|', "/"),
        change.commit
    ))
}

/// The commits of other defaults, with the release.
const COMMITS: &[(&str, &str)] = &[
    (
        "net.ipv4.tcp_rmem",
        "572be9bf9d0d, 6.19 (the release inferred)",
    ),
    ("net.ipv4.tcp_syn_linear_timeouts", "6.5 (commit unknown)"),
    (
        "net.ipv4.tcp_backlog_ack_defer",
        "133c4c0d3717, 6.7 (from memory)",
    ),
    (
        "net.ipv4.tcp_comp_sack_rtt_percent",
        "416dd649f3aa, 6.19 (from memory)",
    ),
    (
        "net.ipv4.tcp_comp_sack_slack_ns",
        "af3a599b5, 6.19 (the release inferred)",
    ),
    (
        "net.ipv4.tcp_rcvbuf_low_rtt",
        "91e1007ad, 6.19 (the release inferred)",
    ),
];

/// What a change does to a connection: harmless or not.
const HARM: &[(&str, &str)] = &[
    (
        "syn_data_beyond_page",
        "harmless: Fast Open with jumbo frames sends more data with the SYN",
    ),
    (
        "prr_waits_for_retransmission",
        "recovery without SACK, and of many losses, is faster",
    ),
    (
        "hystart_rounds_from_16",
        "slow start ends where the path is full, not in the first round",
    ),
    (
        "takes_crossed_synack",
        "a simultaneous open takes one round trip less",
    ),
    (
        "user_timeout_in_jiffies",
        "at HZ other than 1000 a closed window holds a connection longer than it should (at 250 Hz four times), with a retransmission every few milliseconds",
    ),
    (
        "net.ipv4.tcp_challenge_ack_limit",
        "harmless: only the limit per connection stays, not that per host",
    ),
    ("net.ipv4.tcp_tso_rtt_log", "larger bursts on short paths"),
    (
        "net.ipv4.tcp_rmem",
        "the buffer may grow to 32 MB: fast long paths are faster, a busy server needs more memory",
    ),
    (
        "net.ipv4.tcp_limit_output_bytes",
        "harmless: more may wait below TCP",
    ),
    (
        "net.ipv4.tcp_syn_linear_timeouts",
        "a lost SYN is sent again after 1 s four times before the timeout doubles: connecting succeeds sooner, and fails later",
    ),
    (
        "net.ipv4.tcp_backlog_ack_defer",
        "fewer ACKs while the receiver's program reads",
    ),
    (
        "net.ipv4.tcp_comp_sack_rtt_percent",
        "fewer ACKs during recovery: compressed ACKs wait up to a third of the round trip, not a twentieth",
    ),
    (
        "net.ipv4.tcp_comp_sack_slack_ns",
        "harmless: the timer of compressed ACKs is more exact",
    ),
    (
        "net.ipv4.tcp_rcvbuf_low_rtt",
        "short paths get smaller receive buffers",
    ),
    (
        "net.core.rmem_max",
        "larger window scales; programs may ask for 4 MB",
    ),
    ("net.core.wmem_max", "programs may ask for 4 MB"),
    ("tx_truesize", "harmless: the allocator's size"),
    (
        "rcv_mss_of_ofo",
        "after a loss a receiver ACKs as it did before",
    ),
    ("tunes_without_queue", "a slow reader's window grows less"),
    ("grows_segments", "fewer, fuller segments"),
    ("fin_beyond_cwnd", "the last segment may wait for an ACK"),
    (
        "window_share",
        "the window follows the real cost of memory: small segments shrink it, large ones open it; the first measurement forgets TCP_WINDOW_CLAMP",
    ),
    (
        "delack_below_rto_min",
        "a route with a small rto_min gets its ACKs in time",
    ),
    (
        "ato_has_8_bits",
        "harmless; fewer immediate ACKs after crossed SYNs",
    ),
    ("takes_zero_window", "the sender stops when told to"),
    (
        "full_memory_closes_window",
        "the sender probes the closed window; before, it retransmitted until it gave up",
    ),
    (
        "takes_bare_fin",
        "a peer can end while the window is closed",
    ),
    (
        "prunes_above_only",
        "a full receiver keeps data that fills holes",
    ),
    (
        "syn_before_paws",
        "harmless: another counter; the limit of challenge ACKs applies",
    ),
    ("long_replay_window", "harmless"),
    ("rehash_by_label", "paths over IPv4 change less often"),
    (
        "whole_first_window",
        "a large receive buffer is used from the first round trip on",
    ),
    ("tap_frames_in_pages", "harmless: the memory of TAP devices"),
    (
        "rcv_rtt_skips_zero",
        "on paths below a millisecond the buffer grows by what a round trip really delivers",
    ),
    ("comp_sack_reads_clock", "harmless: time stamps"),
    (
        "advmss_ignores_path",
        "a path that is narrow one way does not shorten segments the other way",
    ),
    (
        "keeps_largest_edge",
        "data that the window once allowed are not dropped after it shrinks",
    ),
    (
        "delack_sends_sack",
        "a SACK that was held back leaves up to a millisecond earlier",
    ),
    (
        "resends_syn_data_at_once",
        "harmless: another counter, and the window is no longer cut",
    ),
    (
        "rack_counts_every_dsack",
        "needless retransmissions no longer delay the detection of losses",
    ),
    (
        "tlp_ends_by_any_dsack",
        "harmless: some tail losses are now noticed",
    ),
    (
        "clamp_moves_ssthresh",
        "a clamp that is set on an open connection acts immediately",
    ),
    ("old_ack_sets_echo", "harmless: time stamps"),
    (
        "buffers_of_whole_pages",
        "harmless: the memory of a kernel without SLUB",
    ),
    (
        "buffer_growth",
        "receive buffers stay smaller, and follow losses",
    ),
    (
        "rcv_rtt_of_empty_queue",
        "a slow reader's buffer grows less",
    ),
    ("read_keeps_clock", "harmless"),
    (
        "rcvbuf_sets_clamp",
        "a program that lowers SO_RCVBUF lowers the window immediately",
    ),
    (
        "rack_only",
        "net.ipv4.tcp_recovery = 0 no longer has an effect",
    ),
    ("challenges_unsent_ack", "forged ACKs are answered"),
    ("drops_old_acks", "harmless: fewer ACKs of old ACKs"),
    (
        "checks_segment_end",
        "data beyond the window are dropped; a sender that overruns it is slower",
    ),
    ("checks_synack_echo", "forged handshakes fail"),
    (
        "synack_ece_ends",
        "connecting works over a path that drops ECN's bits",
    ),
    (
        "tw_reuse_by_delay",
        "a port becomes reusable at an exact time",
    ),
    ("tw_ack_keeps_ecn", "harmless"),
];
