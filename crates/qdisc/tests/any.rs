//! What holds for every discipline, whatever comes and whenever it is asked.

mod common;

use common::{DEVICE, Plain, qdisc, settings};
use proptest::prelude::*;
use tcplab_base::{Duration, Instant};
use tcplab_qdisc::{Dequeued, Kind, Qdisc, Settings, Xstats};

/// Pairs of words for one discipline: it begins with the first and may change to the second.
const WORDS: [[&str; 2]; 25] = [
    ["pfifo limit 5", "pfifo limit 3"],
    [
        "caqm limit 5000 packets 6 rate 1mbit",
        "caqm limit 900 packets 3 qt 0 at enqueue",
    ],
    [
        "prio child caqm limit 9000 rate 1mbit",
        "prio child caqm limit 5000",
    ],
    ["bfifo limit 5000", "bfifo limit 100"],
    [
        "cake bandwidth 1mbit ack-filter",
        "cake unlimited besteffort",
    ],
    [
        "netem delay 10ms 20ms 25% limit 12",
        "netem rate 1mbit -20 48 5 limit 7",
    ],
    [
        "netem loss 20% 10% duplicate 30% corrupt 20% limit 9",
        "netem loss state 10% ecn",
    ],
    [
        "netem delay 5ms reorder 25% 50% gap 3 rate 1mbit",
        "netem slot 1ms 3ms packets 2 bytes 900",
    ],
    [
        "netem delay 5ms 3ms distribution normal loss gemodel 10% 30% seed 3",
        "netem slot distribution pareto 1ms 1ms",
    ],
    [
        "tbf rate 1mbit burst 2000 limit 9000",
        "tbf rate 100kbit burst 900 limit 3000",
    ],
    [
        "tbf rate 1mbit burst 5k latency 50ms peakrate 2mbit mtu 1600 linklayer atm overhead 14",
        "tbf rate 2mbit burst 1 latency 1s",
    ],
    [
        "codel limit 9",
        "codel limit 3 target 100us interval 1ms ecn ce_threshold 50us",
    ],
    ["codel target 100us interval 1ms", "codel"],
    [
        "fq_codel flows 4 limit 9",
        "fq_codel flows 4 limit 3 drop_batch 1",
    ],
    [
        "fq_codel flows 2 target 100us interval 1ms memory_limit 9k quantum 300 noecn",
        "fq_codel flows 2 ce_threshold 1us",
    ],
    ["fq limit 9 flow_limit 4", "fq limit 3 maxrate 1mbit"],
    [
        "fq maxrate 1mbit buckets 2 horizon 20ms quantum 1 initial_quantum 0",
        "fq horizon_cap horizon 1us ce_threshold 1us orphan_mask 1 low_rate_threshold 10mbit",
    ],
    [
        "red limit 20000 min 1000 max 3000 avpkt 500 burst 5 adaptive",
        "red limit 9000 min 1000 max 3000 avpkt 500 burst 5 ecn probability 0.5",
    ],
    [
        "prio",
        "prio bands 2 priomap 0 1 1 1 0 1 0 0 1 1 1 1 1 1 1 1",
    ],
    [
        "prio child codel limit 5",
        "prio bands 2 priomap 0 1 1 1 0 1 0 0 1 1 1 1 1 1 1 1 child codel limit 3",
    ],
    [
        "prio bands 4 child cake bandwidth 1mbit",
        "prio child cake bandwidth 5mbit",
    ],
    [
        "tbf rate 1mbit burst 2000 limit 9000 child fq_codel flows 4 limit 9",
        "tbf rate 100kbit burst 900 limit 3000 child fq_codel flows 4 limit 5",
    ],
    [
        "tbf rate 1mbit burst 2000 limit 9000 child cake bandwidth 500kbit",
        "tbf rate 2mbit burst 700 limit 9000 child cake unlimited",
    ],
    [
        "htb rate 1mbit",
        "htb rate 1mbit ceil 500kbit burst 1 child pfifo limit 3",
    ],
    [
        "htb rate 2mbit ceil 1mbit child fq_codel limit 5",
        "htb rate 1mbit child fq_codel flows 1024 limit 2",
    ],
];

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

/// What went in, and whether all of it is accounted for.
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
        let (made, made_bytes, marked) = match self.qdisc.xstats() {
            Xstats::Netem(own) => (own.duplicated, own.duplicated_bytes, own.marked),
            _ => (0, 0, 0),
        };
        prop_assert_eq!(
            (stats.bytes, stats.packets),
            (self.bytes_out, self.packets_out)
        );
        let bytes = stats.bytes + stats.dropped_bytes + stats.backlog;
        prop_assert_eq!(self.bytes_in + made_bytes, bytes, "{:?}", stats);
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
        Kind::Red(red) => (most, u64::from(red.limit)),
        Kind::Caqm(caqm) => (caqm.packets.map_or(most, u64::from), u64::from(caqm.limit)),
        Kind::Htb(htb) => limits(&htb.child),
        _ => (most, most),
    }
}

/// Limits of FIFOs hold for what comes: what waits stays when they change.
fn limit_falls_at_once(kind: &Kind) -> bool {
    match kind {
        Kind::Codel(_) | Kind::FqCodel(_) | Kind::Fq(_) | Kind::Red(_) => true,
        Kind::Htb(htb) => limit_falls_at_once(&htb.child),
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]

    #[test]
    fn every_byte_is_accounted_for(
        words in prop::sample::select(WORDS.to_vec()),
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

/// Words of all disciplines, and some that are none.
const VOCABULARY: [&str; 60] = [
    "netem",
    "tbf",
    "codel",
    "fq_codel",
    "fq",
    "red",
    "prio",
    "htb",
    "pfifo",
    "cake",
    "child",
    "limit",
    "delay",
    "loss",
    "state",
    "gemodel",
    "random",
    "reorder",
    "gap",
    "duplicate",
    "corrupt",
    "rate",
    "slot",
    "distribution",
    "normal",
    "packets",
    "bytes",
    "seed",
    "ecn",
    "burst",
    "latency",
    "mtu",
    "peakrate",
    "mpu",
    "overhead",
    "linklayer",
    "atm",
    "target",
    "interval",
    "flows",
    "quantum",
    "maxrate",
    "buckets",
    "horizon",
    "min",
    "max",
    "avpkt",
    "probability",
    "bands",
    "priomap",
    "ceil",
    "0",
    "1",
    "5",
    "0x10",
    "10ms",
    "1mbit",
    "25%",
    "-3",
    "99999999999999999999",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(20_000) })]

    #[test]
    fn any_words_are_read_or_refused_by_name(
        kind in 0_usize..10,
        words in prop::collection::vec(prop::sample::select(VOCABULARY.to_vec()), 0..9),
    ) {
        let text = format!("{} {}", VOCABULARY[kind], words.join(" "));
        match Settings::parse(&text) {
            Ok(settings) => {
                // It works, whatever the values are.
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
