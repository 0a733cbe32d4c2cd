//! `stop = "decided"`: when a run ends before its last connection, and that nothing else has a say in it.

use std::fs;
use std::path::Path;

use tcplab_os::Stop;
use tcplab_plan::Population;
use tcplab_plan::population::{PopulationDocument, Row, Verdict};
use tcplab_stats::bh;

use super::bytes;
use crate::population::expected::Expected;
use crate::population::looks::{looks, share};
use crate::population::totals::Totals;
use crate::population::{Request, Shard, document, merge, of_folder, rows, run, store};

/// Timeouts without a floor, on lossy paths to clients that delay their ACKs: every row that has a value is soon decided
/// (without F-RTO, whose counter has one event in thousands of connections and would wait for more).
const TEXT: &str = r#"
[population]
connections = 8192
requests = "2"
response = "lognormal(median 8kB, sigma 1) clip 100B..60kB"
think = "100ms"
jitter = "0"
loss = [{ share = "100%", rate = "5%" }]
spikes = { data = "0%", ack = "0%", median = "250ms" }
outage = { share = "0%", start = "0", length = "1s" }
rtt = "uniform(50ms..150ms)"
clients = [{ share = "100%", behaviour = { ack_engine = "every-second", delack_ms = 200 } }]

[compare]
band = "90%"
stop = "decided"

[[arm]]
name = "B"
sysctl = { "net.ipv4.tcp_frto" = 0 }

[[arm]]
name = "X"
sysctl = { "net.ipv4.tcp_frto" = 0 }
behaviour = { rto_estimator = "rfc6298", rto_floor = "timeout", rto_floor_ms = 1 }
"#;

/// An arm that is the baseline: its counters never differ.
const TWIN: &str = "\n[[arm]]\nname = \"twin\"\nsysctl = { \"net.ipv4.tcp_frto\" = 0 }\n";

fn population(text: &str) -> Population {
    Population::parse("stop.toml", text).unwrap()
}

fn run_in(
    text: &str,
    out: Option<&Path>,
    jobs: usize,
    shard: Shard,
) -> Result<PopulationDocument, String> {
    let request = Request {
        population: &population(text),
        text,
        stack: "model",
        jobs,
        shard,
        out,
        rows: None,
    };
    let document = run(&request, &Stop::never(), &|_| {});
    let without_cost = |d| PopulationDocument { cost: None, ..d };
    document.map(without_cost).map_err(|e| e.to_string())
}

/// The first groups of a folder.
fn first(folder: &Path, groups: u32) -> Totals {
    let mut totals = Totals::new(2);
    let population = of_folder(folder).unwrap();
    let mut expected = Expected::new(&population, Shard::WHOLE);
    store::read(folder, &mut expected, |group| {
        if group.number < groups {
            totals.add(&group);
        }
    })
    .unwrap();
    totals.finish();
    totals
}

fn is_decided(population: &Population, totals: &Totals) -> bool {
    let design = document::design(population, totals);
    rows::are_decided(&rows::rows(population, totals, &design))
}

#[test]
fn run_ends_at_the_first_look_with_all_decided() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    let stopped = run_in(TEXT, Some(&at("one")), 1, Shard::WHOLE).unwrap();
    assert!(stopped.stopped && rows::are_decided(&stopped.rows));
    let end = stopped.groups;
    assert_eq!(stopped.connections, 4 * u64::from(end));
    let earlier: Vec<u32> = looks().take_while(|n| *n < end).collect();
    assert!(looks().any(|n| n == end) && end < 2_048, "{end}");
    assert!(
        !earlier.is_empty(),
        "the first look decides all: tests nothing"
    );
    for groups in earlier {
        let there = first(&at("one"), groups);
        assert!(!is_decided(&population(TEXT), &there), "{groups}");
    }
    // The looks share the level: at the same data, without them, intervals are shorter.
    let mut never = population(TEXT);
    never.compare.stops = false;
    let there = first(&at("one"), end);
    let unshared = rows::rows(&never, &there, &document::design(&never, &there));
    let width = |row: &Row| row.interval.map(|[low, high]| high - low);
    let mut wider = 0;
    for (with, without) in stopped.rows.iter().zip(&unshared) {
        assert!(width(with) >= width(without), "{}", with.id);
        assert_eq!((&with.percent, with.p), (&without.percent, without.p));
        wider += u32::from(width(with) > width(without));
    }
    assert!(wider >= 8, "{wider}");

    // So is the level that decides.
    let mut between = 0;
    for groups in looks() {
        let totals = first(&at("one"), groups.min(end));
        let design = document::design(&population(TEXT), &totals);
        let table = rows::rows(&population(TEXT), &totals, &design);
        let p: Vec<f64> = table.iter().filter_map(|row| row.p).collect();
        let with_p = table.iter().filter(|row| row.p.is_some());
        let level = 0.05 * share(&population(TEXT), groups.min(end));
        for (row, adjusted) in with_p.zip(bh(&p, level).adjusted) {
            if row.verdict != Verdict::Same {
                let counts = matches!(row.verdict, Verdict::Lower | Verdict::Higher);
                assert_eq!(counts, adjusted <= level, "{groups}: {}", row.id);
                between += u32::from((level..0.05).contains(&adjusted));
            }
        }
    }
    assert!(between > 0, "no row tells the levels apart");

    // The number of threads, and where a run was killed, change no byte.
    let expected = bytes(&at("one"));
    assert_eq!(
        run_in(TEXT, Some(&at("two")), 2, Shard::WHOLE),
        Ok(stopped.clone())
    );
    assert_eq!(bytes(&at("two")), expected);
    assert_eq!(
        run_in(TEXT, Some(&at("two")), 2, Shard::WHOLE),
        Ok(stopped.clone())
    );
    let groups = fs::read(at("one/groups.bin")).unwrap();
    for part in [9, 60, 100] {
        let killed = at(&format!("killed{part}"));
        fs::create_dir(&killed).unwrap();
        for name in ["manifest.json", "population.toml"] {
            fs::copy(at("one").join(name), killed.join(name)).unwrap();
        }
        fs::write(
            killed.join("groups.part"),
            &groups[..groups.len() * part / 100],
        )
        .unwrap();
        assert_eq!(
            run_in(TEXT, Some(&killed), 2, Shard::WHOLE),
            Ok(stopped.clone())
        );
        assert_eq!(bytes(&killed), expected, "killed after {part} %");
    }
    // As one shard of one it can be merged, and is itself.
    assert_eq!(merge(&[at("one")], Some(&at("merged"))).unwrap(), stopped);
    assert_eq!(bytes(&at("merged")), expected);
}

#[test]
fn a_run_with_an_undecided_row_goes_on_to_its_end() {
    let all = run_in(&(TEXT.to_owned() + TWIN), None, 2, Shard::WHOLE).unwrap();
    assert!(!all.stopped);
    assert_eq!((all.groups, all.connections), (2_048, 8_192));
    let waits = |arm: &str| {
        let of_arm: Vec<_> = all.rows.iter().filter(|r| r.arm == arm).cloned().collect();
        !rows::are_decided(&of_arm)
    };
    assert_eq!((waits("X"), waits("twin")), (false, true));
}

#[test]
fn a_shard_does_not_stop_by_itself() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("shard");
    let refused = run_in(TEXT, Some(&folder), 1, Shard::one(1, 2).unwrap()).unwrap_err();
    assert!(refused.contains("omit --shard"), "{refused}");
    assert!(!folder.exists());
}
