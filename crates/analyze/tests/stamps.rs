//! A few records whose time stamps are wrong change no figure by more than their neighbours are apart.

mod common;

use common::{Answer, answer, frames, root};
use tcplab_analyze::report::{Artefact, Stream};
use tcplab_analyze::{Analyzer, Options};
use tcplab_base::Duration;
use tcplab_wire::Parsed;

const HOUR_MS: i64 = 3_600_000;

/// A shipped capture; the stamps of `count` packets from `first` on are off by `ms`.
fn read(name: &str, first: u64, count: u64, ms: i64) -> Answer {
    let mut analyzer = Analyzer::new(Options::default());
    let path = root().join("tests/captures").join(name);
    frames(&path, |number, time, parse| {
        let off = (first..first + count).contains(&number);
        let by = Duration::from_millis(if off { ms } else { 0 });
        if let Parsed::Tcp(p) = parse(usize::MAX).parsed {
            analyzer.packet(number, time.map(|t| t + by), &p);
        }
    });
    answer(analyzer)
}

fn figures(s: &Stream) -> impl PartialEq + std::fmt::Debug {
    let of = |d: &tcplab_analyze::report::Direction| {
        let r = d.retransmissions;
        (r.total, r.rto, d.acks_sent.delayed, d.acks_sent.total)
    };
    (of(&s.client_to_server), of(&s.server_to_client))
}

#[test]
fn future_stamps_that_the_file_takes_back_are_corrected() {
    for name in ["bulk-clean.a.pcap", "bulk-clean.b.pcap", "bulk-rto.b.pcap"] {
        let right = read(name, 0, 0, 0);
        for (count, ms) in [(1, HOUR_MS), (1, 1_000), (5, 2_000)] {
            let wrong = read(name, 100, count, ms);
            let (r, w) = (&right.streams[0], &wrong.streams[0]);
            let what = format!("{name}: {count} by {ms} ms");
            assert_eq!(figures(w), figures(r), "{what}");
            assert!(w.duration_us.abs_diff(r.duration_us) < 20, "{what}");
            for (class, us) in r.budget_us.parts() {
                let got = w.budget_us.of(class);
                assert!(got.abs_diff(us) < 20_000, "{what}: {class:?} {got} {us}");
            }
            assert_eq!(wrong.totals.time_ns, right.totals.time_ns, "{what}");
            assert_eq!(wrong.totals.time_out_of_order, count, "{what}");
            assert!(w.artefacts.contains(&Artefact::TimeOutOfOrder), "{what}");
            assert!(!wrong.ids().contains(&"capture_clock_step"), "{what}");
        }
    }
}

#[test]
fn a_stamp_in_the_past_is_not_when_the_capture_began() {
    let right = read("bulk-clean.a.pcap", 0, 0, 0);
    let wrong = read("bulk-clean.a.pcap", 100, 1, -HOUR_MS);
    assert_eq!(wrong.totals.time_ns, right.totals.time_ns);
    assert_eq!(wrong.totals.time_out_of_order, 1);
}

#[test]
fn a_clock_that_was_set_for_good_is_told_as_before() {
    for ms in [HOUR_MS, -HOUR_MS] {
        let step = read("bulk-clean.a.pcap", 100, u64::MAX / 2, ms);
        assert!(step.ids().contains(&"capture_clock_step"), "{ms}");
    }
    // The range has all stamps, also those after the step back.
    let step = read("bulk-clean.a.pcap", 100, u64::MAX / 2, -HOUR_MS);
    let (first, last) = step.totals.time_ns.expect("times");
    assert!(last - first > 3_590_000_000_000);
}
