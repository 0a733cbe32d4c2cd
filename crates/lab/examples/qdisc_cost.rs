//! What a packet costs in each qdisc: nanoseconds of one enqueue and one dequeue, with 1,000 flows and a standing queue.
//!
//! `cargo run --release -p tcplab-lab --example qdisc_cost`; with a qdisc's words as argument only that one,
//! `--list`: which there are. `PACKETS=N` measures so many. `benches/qdisc.sh` counts the instructions.

#![allow(clippy::disallowed_methods, reason = "a bench reads the clock")]

use std::time::Instant as Clock;

use tcplab_base::{Instant, Seq};
use tcplab_qdisc::ack_filter::AckHeader;
use tcplab_qdisc::{Dequeued, Device, FlowKeys, Packet, Qdisc, Settings};
use tcplab_wire::CaqmInfo;

const FLOWS: u32 = 1_000;
const WAITING: u32 = 4_000;
const PACKETS: u32 = 4_000_000;

const KINDS: [&str; 11] = [
    "pfifo limit 10000",
    "tbf rate 10gbit burst 1mb limit 100mb",
    "caqm limit 100mb rate 10gbit",
    "netem limit 10000 delay 1ms",
    "codel limit 10000",
    "fq_codel limit 10000",
    "fq limit 10000 flow_limit 100",
    "cake unlimited besteffort flows",
    "cake unlimited besteffort",
    "cake bandwidth 10gbit diffserv4",
    "cake bandwidth 10gbit besteffort ack-filter",
];

/// A segment of a flow; one in three is an ACK.
#[derive(Clone)]
struct Segment {
    flow: u32,
    number: u32,
}

impl Packet for Segment {
    fn size(&self) -> u32 {
        if self.number.is_multiple_of(3) {
            66
        } else {
            1_514
        }
    }

    fn flow_keys(&self) -> FlowKeys {
        FlowKeys {
            src: [self.flow % 50, 0, 0, 0],
            dst: [1_000 + self.flow % 500, 0, 0, 0],
            ports: [self.flow as u16, 80],
            protocol: 6,
            label: 0,
        }
    }

    fn dscp(&self) -> u8 {
        (self.flow % 4) as u8 * 8
    }

    fn wash(&mut self) {}

    fn set_ce(&mut self) -> bool {
        false
    }

    fn corrupt(&mut self, _byte: u32, _bit: u8) {}

    fn caqm(&self, _ethertype: u16) -> Option<CaqmInfo> {
        Some(CaqmInfo::request(0, 128))
    }

    fn ack_header(&self) -> Option<AckHeader> {
        let keys = self.flow_keys();
        Some(AckHeader {
            addresses: [keys.src, keys.dst],
            ports: keys.ports,
            version: 4,
            flags: AckHeader::ACK,
            no_payload: self.number.is_multiple_of(3),
            ack: Seq(self.number),
            ..AckHeader::default()
        })
    }
}

fn main() {
    let only: Vec<String> = std::env::args().skip(1).collect();
    let only = only.join(" ");
    if only == "--list" {
        for words in KINDS {
            println!("{words}");
        }
        return;
    }
    let packets = std::env::var("PACKETS").ok();
    let packets = packets.and_then(|n| n.parse().ok()).unwrap_or(PACKETS);
    println!("{:<46} {:>10} {:>12}", "qdisc", "ns/packet", "drops");
    for words in KINDS {
        if only.is_empty() || words == only {
            let (ns, drops) = cost(words, packets);
            println!("{words:<46} {ns:>10.0} {drops:>12}");
        }
    }
}

fn cost(words: &str, packets: u32) -> (f64, u64) {
    let Ok(settings) = Settings::parse(words) else {
        panic!("{words}");
    };
    let mut qdisc = Qdisc::new(&settings, Device::new(1_500), 1, "cost");
    // 1 us between packets: what waits is 4 ms old, below every AQM's target.
    let mut now = 0;
    let mut next = |qdisc: &mut Qdisc<Segment>, number: u32| {
        now += 1_000;
        let flow = number.wrapping_mul(2_654_435_761) % FLOWS;
        qdisc.enqueue(Instant::from_nanos(now), Segment { flow, number });
        Instant::from_nanos(now)
    };
    for number in 0..WAITING {
        next(&mut qdisc, number);
    }
    let begin = Clock::now();
    for number in WAITING..WAITING + packets {
        let now = next(&mut qdisc, number);
        if let Dequeued::Packet(packet) = qdisc.dequeue(now) {
            std::hint::black_box(&packet);
        }
    }
    let ns = begin.elapsed().as_nanos() as f64 / f64::from(packets);
    (ns, qdisc.stats().drops)
}
