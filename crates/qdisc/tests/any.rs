//! Rules that every discipline keeps, for any packets at any time.

mod common;

use common::{DEVICE, Plain, own, qdisc, settings};
use proptest::prelude::*;
use tcplab_base::{Duration, Instant};
use tcplab_qdisc::{Dequeued, KINDS, Kind, Qdisc, Settings, examples, words_of};

#[derive(Clone, Debug)]
enum Step {
    Arrive(Plain),
    /// Asked for this many packets.
    Ask(u32),
    Later(i64),
    Change,
}

fn plain() -> impl Strategy<Value = Plain> {
    let departure = prop::option::of(0_i64..200_000_000);
    (0_u32..1_600, 0_u16..6, 0_u8..64, any::<bool>(), departure).prop_map(
        |(len, flow, dscp, ect, departure)| Plain {
            len,
            flow,
            dscp,
            ect,
            departure: departure.map(Instant::from_nanos),
            ..Plain::default()
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => plain().prop_map(Step::Arrive),
        4 => (1_u32..4).prop_map(Step::Ask),
        4 => (0_i64..30_000_000).prop_map(Step::Later),
        1 => Just(Step::Change),
    ]
}

/// The packets that went in and out, to check that none is missing.
struct Books {
    qdisc: Qdisc<Plain>,
    bytes_in: u64,
    packets_in: u64,
    bytes_out: u64,
    packets_out: u64,
}

impl Books {
    fn take(&mut self, now: Instant) -> Result<Option<Instant>, TestCaseError> {
        match self.qdisc.dequeue(now) {
            Dequeued::Packet(packet) => {
                self.bytes_out += u64::from(packet.len);
                self.packets_out += 1;
                Ok(Some(now))
            }
            Dequeued::Wait(at) => {
                prop_assert!(at > now, "a wait for {at:?} at {now:?}");
                Ok(Some(at))
            }
            Dequeued::Empty => {
                prop_assert_eq!(self.qdisc.stats().qlen, 0, "empty, and packets wait");
                Ok(None)
            }
        }
    }

    fn check(&self) -> Result<(), TestCaseError> {
        let stats = self.qdisc.stats();
        // netem counts a mark as a drop.
        let (made, marked) = match self.qdisc.report().kind.as_str() {
            "netem" => (own(&self.qdisc, "duplicated"), own(&self.qdisc, "ecn_mark")),
            _ => (0, 0),
        };
        prop_assert_eq!(
            (stats.bytes, stats.packets),
            (self.bytes_out, self.packets_out)
        );
        let bytes = stats.bytes + stats.dropped_bytes + stats.backlog;
        prop_assert_eq!(self.bytes_in + stats.copied_bytes, bytes, "{:?}", stats);
        let packets = stats.packets + stats.drops - marked + u64::from(stats.qlen);
        prop_assert_eq!(self.packets_in + made, packets, "{:?}", stats);
        Ok(())
    }

    fn check_limit(&self, settings: &Settings) -> Result<(), TestCaseError> {
        let stats = self.qdisc.stats();
        let (packets, bytes) = limits(settings.kind());
        prop_assert!(u64::from(stats.qlen) <= packets, "{} packets", stats.qlen);
        prop_assert!(stats.backlog <= bytes, "{} bytes", stats.backlog);
        Ok(())
    }
}

/// Packets and bytes that may wait.
fn limits(kind: &Kind) -> (u64, u64) {
    let most = u64::MAX;
    match kind {
        Kind::Pfifo(fifo) => (u64::from(fifo.limit_pkts()), most),
        Kind::Bfifo(fifo) => (most, u64::from(fifo.limit_bytes(1_514))),
        // As in the kernel, a copy may be one too many.
        Kind::Netem(netem) => (u64::from(netem.limit) + 1, most),
        Kind::Tbf(tbf) => match &tbf.child {
            // One that was looked at waits beside the child's.
            Some(child) => (limits(child).0.saturating_add(1), most),
            None => (most, u64::from(tbf.limit)),
        },
        Kind::Codel(codel) => (u64::from(codel.limit), most),
        Kind::FqCodel(fq) => (u64::from(fq.codel.limit), most),
        Kind::Fq(fq) => (u64::from(fq.limit), most),
        Kind::Pie(pie) => (u64::from(pie.limit), most),
        Kind::Red(red) => (most, u64::from(red.limit)),
        Kind::Caqm(caqm) => (caqm.packets.map_or(most, u64::from), u64::from(caqm.limit)),
        Kind::Htb(htb) => limits(&htb.child),
        _ => (most, most),
    }
}

/// Limits of FIFOs hold for what comes: what waits stays when they change.
fn limit_falls_at_once(kind: &Kind) -> bool {
    match kind {
        Kind::Codel(_) | Kind::FqCodel(_) | Kind::Fq(_) | Kind::Pie(_) | Kind::Red(_) => true,
        Kind::Htb(htb) => limit_falls_at_once(&htb.child),
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]

    #[test]
    fn every_byte_is_accounted_for(
        words in prop::sample::select(examples().collect::<Vec<_>>()),
        steps in prop::collection::vec(step(), 1..120),
    ) {
        let [first, second] = words.map(settings);
        let mut books = Books {
            qdisc: qdisc(words[0]),
            bytes_in: 0,
            packets_in: 0,
            bytes_out: 0,
            packets_out: 0,
        };
        let (mut now, mut holds) = (Instant::from_nanos(1_000), Some(&first));
        for step in steps {
            match step {
                Step::Arrive(packet) => {
                    books.bytes_in += u64::from(packet.len);
                    books.packets_in += 1;
                    books.qdisc.enqueue(now, packet);
                }
                Step::Ask(n) => {
                    for _ in 0..n {
                        books.take(now)?;
                    }
                }
                Step::Later(ns) => now = now + Duration::from_nanos(ns),
                Step::Change => {
                    let changed = books.qdisc.change(&second, DEVICE);
                    if changed {
                        holds = limit_falls_at_once(second.kind()).then_some(&second);
                    }
                }
            }
            books.check()?;
            if let Some(settings) = holds {
                books.check_limit(settings)?;
            }
        }
        // All that waits leaves in the end, and in no more steps than there are packets and waits.
        for _ in 0..2_000 {
            match books.take(now)? {
                Some(at) => now = at,
                None => break,
            }
        }
        books.check()?;
        prop_assert_eq!(books.qdisc.stats().qlen, 0);
    }
}

/// Valid and invalid values of words.
const VALUES: [&str; 22] = [
    "pfifo",
    "fq_codel",
    "random",
    "state",
    "gemodel",
    "normal",
    "packets",
    "bytes",
    "ethernet",
    "atm",
    "0",
    "1",
    "5",
    "0x10",
    "0.5",
    "10ms",
    "1mbit",
    "20k",
    "25%",
    "-3",
    "3 1 2",
    "99999999999999999999",
];

/// A kind, with words of its own and values.
fn words() -> impl Strategy<Value = String> {
    prop::sample::select(KINDS.to_vec()).prop_flat_map(|kind| {
        let own = words_of(kind).unwrap_or_default();
        let all: Vec<&str> = own.iter().chain(&VALUES).copied().collect();
        let words = prop::collection::vec(prop::sample::select(all), 0..9);
        words.prop_map(move |words| format!("{kind} {}", words.join(" ")))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(20_000) })]

    #[test]
    fn any_words_are_read_or_refused_by_name(text in words()) {
        match Settings::parse(&text) {
            Ok(settings) => {
                // It works with any accepted values.
                let mut qdisc: Qdisc<Plain> = Qdisc::new(&settings, DEVICE, 1, "any");
                let now = Instant::from_nanos(5);
                for _ in 0..3 {
                    qdisc.enqueue(now, common::packet(0, 1_000, 1));
                }
                qdisc.dequeue(now);
                qdisc.dequeue(now + Duration::from_secs(1));
            }
            Err(wrong) => {
                prop_assert!(text.contains(wrong.word), "`{}` is not in `{text}`", wrong.word);
                prop_assert!(!wrong.word.is_empty() && !wrong.why.is_empty());
            }
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,40}") {
        let _ = Settings::parse(&text);
        let _ = Settings::parse(&format!("netem {text}"));
        let _ = Settings::parse(&format!("htb rate 1mbit child {text}"));
    }
}

#[test]
fn every_kind_has_examples_of_its_own() {
    for kind in KINDS {
        let is_own = |words: &str| words.split(' ').next() == Some(kind);
        let mut pairs = examples().filter(|pair| is_own(pair[0]));
        assert!(pairs.all(|pair| is_own(pair[1])), "{kind}");
        assert!(examples().any(|pair| is_own(pair[0])), "{kind}");
    }
}
