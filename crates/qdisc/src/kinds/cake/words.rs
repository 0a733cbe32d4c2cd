//! The words of `cake` (tc-cake(8)).

use tcplab_base::quantity::TC_RATE;

use super::settings::{AckFilter, FlowMode as F, Framing, Settings, TinMode as T};
use crate::discipline::{Named, Words};
use crate::words::{Lexer, Word, Wrong, names, put, quantity, set, time};

const US: i64 = 1_000;
const MS: i64 = 1_000 * US;
const S: i64 = 1_000 * MS;

/// A name, target and interval in nanoseconds.
type Rtt = (&'static str, i64, i64);

/// `rtt` by name.
const RTT: [Rtt; 8] = [
    ("datacentre", 5 * US, 100 * US),
    ("lan", 50 * US, MS),
    ("metro", 500 * US, 10 * MS),
    ("regional", 1_500 * US, 30 * MS),
    ("internet", 5 * MS, 100 * MS),
    ("oceanic", 15 * MS, 300 * MS),
    ("satellite", 50 * MS, S),
    ("interplanetary", 50 * S, 1_000 * S),
];

const TABLE: [Word<Settings>; 63] = [
    ("bandwidth", bandwidth),
    ("unlimited", |c, _| c.rate(None)),
    ("autorate-ingress", |c, _| put(&mut c.autorate, true)),
    ("rtt", rtt),
    ("datacentre", |c, _| c.rtt(RTT[0])),
    ("lan", |c, _| c.rtt(RTT[1])),
    ("metro", |c, _| c.rtt(RTT[2])),
    ("regional", |c, _| c.rtt(RTT[3])),
    ("internet", |c, _| c.rtt(RTT[4])),
    ("oceanic", |c, _| c.rtt(RTT[5])),
    ("satellite", |c, _| c.rtt(RTT[6])),
    ("interplanetary", |c, _| c.rtt(RTT[7])),
    ("besteffort", |c, _| put(&mut c.tins, T::Besteffort)),
    ("precedence", |c, _| put(&mut c.tins, T::Precedence)),
    ("diffserv3", |c, _| put(&mut c.tins, T::Diffserv3)),
    ("diffserv4", |c, _| put(&mut c.tins, T::Diffserv4)),
    ("diffserv8", |c, _| put(&mut c.tins, T::Diffserv8)),
    ("diffserv", |c, _| put(&mut c.tins, T::Diffserv4)),
    ("flowblind", |c, _| put(&mut c.flows, F::Flowblind)),
    ("srchost", |c, _| put(&mut c.flows, F::Srchost)),
    ("dsthost", |c, _| put(&mut c.flows, F::Dsthost)),
    ("hosts", |c, _| put(&mut c.flows, F::Hosts)),
    ("flows", |c, _| put(&mut c.flows, F::Flows)),
    ("dual-srchost", |c, _| put(&mut c.flows, F::DualSrchost)),
    ("dual-dsthost", |c, _| put(&mut c.flows, F::DualDsthost)),
    ("triple-isolate", |c, _| put(&mut c.flows, F::TripleIsolate)),
    ("nat", |c, _| put(&mut c.nat, true)),
    ("nonat", |c, _| put(&mut c.nat, false)),
    ("wash", |c, _| put(&mut c.wash, true)),
    ("nowash", |c, _| put(&mut c.wash, false)),
    ("split-gso", |c, _| put(&mut c.split_gso, true)),
    ("no-split-gso", |c, _| put(&mut c.split_gso, false)),
    ("ack-filter", |c, _| c.filter(AckFilter::Conservative)),
    ("ack-filter-aggressive", |c, _| {
        c.filter(AckFilter::Aggressive)
    }),
    ("ack-filter-2018", |c, _| c.filter(AckFilter::First)),
    ("ack-filter-2018-aggressive", |c, _| {
        c.filter(AckFilter::FirstAggressive)
    }),
    ("ack-filter-naive", |c, _| c.filter(AckFilter::Naive)),
    ("no-ack-filter", |c, _| c.filter(AckFilter::Off)),
    ("memlimit", |c, w| {
        set(&mut c.memlimit_bytes, w.size().map(Some))
    }),
    ("fwmark", |c, w| set(&mut c.fwmark, mask(w))),
    ("atm", |c, _| put(&mut c.framing, Framing::Atm)),
    ("ptm", |c, _| put(&mut c.framing, Framing::Ptm)),
    ("noatm", |c, _| put(&mut c.framing, Framing::None)),
    ("overhead", |c, w| {
        set(&mut c.overhead, bytes(w, -64).map(Some))
    }),
    ("mpu", |c, w| {
        set(&mut c.mpu, bytes(w, 0).map(i32::cast_unsigned))
    }),
    ("raw", raw),
    ("conservative", |c, _| c.framed(Framing::Atm, 48)),
    ("ingress", |c, _| put(&mut c.ingress, true)),
    ("egress", |c, _| put(&mut c.ingress, false)),
    ("pppoa-vcmux", |c, _| c.adds(Framing::Atm, 10)),
    ("pppoa-llc", |c, _| c.adds(Framing::Atm, 14)),
    ("pppoe-vcmux", |c, _| c.adds(Framing::Atm, 32)),
    ("pppoe-llcsnap", |c, _| c.adds(Framing::Atm, 40)),
    ("bridged-vcmux", |c, _| c.adds(Framing::Atm, 24)),
    ("bridged-llcsnap", |c, _| c.adds(Framing::Atm, 32)),
    ("ipoa-vcmux", |c, _| c.adds(Framing::Atm, 8)),
    ("ipoa-llcsnap", |c, _| c.adds(Framing::Atm, 16)),
    ("pppoe-ptm", |c, _| c.adds(Framing::Ptm, 30)),
    ("bridged-ptm", |c, _| c.adds(Framing::Ptm, 22)),
    ("docsis", |c, _| c.at_least(Framing::None, 18, 64)),
    ("ethernet", |c, _| c.at_least(c.framing, 38, 84)),
    ("ether-vlan", |c, _| c.adds(c.framing, 4)),
    ("via-ethernet", |_, _| Ok(())),
];

impl Words for Settings {
    const NAME: &'static str = "cake";
    const SUPPORTED: &'static str =
        "all of tc-cake(8) except firewall marks and NAT; three more filters (below)";
    const WORDS: &'static [&'static str] = &names(&TABLE);
    const EXAMPLES: &'static [&'static str] = &[
        "cake bandwidth 1mbit ack-filter -> cake unlimited besteffort",
        "cake bandwidth 1mbit ack-filter -> cake unlimited no-split-gso",
        "cake bandwidth 1mbit memlimit 20k diffserv4 atm -> cake autorate-ingress",
        "cake ack-filter-aggressive wash nat -> cake unlimited memlimit 64kb",
    ];

    fn parse<'a>(words: &mut Lexer<'a>) -> Result<Self, Wrong<'a>> {
        let mut cake = Self::default();
        Self::read(&mut cake, &TABLE, words)?;
        Ok(cake)
    }

    fn not_in_kernels(&self) -> Option<&'static str> {
        match self.ack_filter {
            AckFilter::Off | AckFilter::Conservative | AckFilter::Aggressive => None,
            AckFilter::First => Some("`ack-filter-2018` is tcplab's own"),
            AckFilter::FirstAggressive => Some("`ack-filter-2018-aggressive` is tcplab's own"),
            AckFilter::Naive => Some("`ack-filter-naive` is tcplab's own"),
        }
    }

    fn options(&self) -> Option<Vec<u8>> {
        Some(super::netlink::options(self))
    }

    fn counted(_queue: &[u8], app: &[u8]) -> (Named, Vec<Named>) {
        super::counters::read(app)
    }
}

impl Settings {
    fn rate<'a>(&mut self, bps: Option<u64>) -> Result<(), Wrong<'a>> {
        (self.bandwidth_bps, self.autorate) = (bps, false);
        Ok(())
    }

    fn rtt<'a>(&mut self, (_, target, interval): Rtt) -> Result<(), Wrong<'a>> {
        (self.target_ns, self.interval_ns) = (target, interval);
        Ok(())
    }

    fn filter<'a>(&mut self, filter: AckFilter) -> Result<(), Wrong<'a>> {
        put(&mut self.ack_filter, filter)
    }

    fn framed<'a>(&mut self, framing: Framing, overhead: i32) -> Result<(), Wrong<'a>> {
        (self.framing, self.overhead) = (framing, Some(overhead));
        Ok(())
    }

    /// A link technology: its framing and bytes of overhead, which add up.
    fn adds<'a>(&mut self, framing: Framing, bytes: i32) -> Result<(), Wrong<'a>> {
        self.framed(framing, self.overhead.unwrap_or(0) + bytes)
    }

    /// The same of one with a shortest packet.
    fn at_least<'a>(&mut self, framing: Framing, bytes: i32, mpu: u32) -> Result<(), Wrong<'a>> {
        self.mpu = mpu;
        self.adds(framing, bytes)
    }
}

fn bandwidth<'a>(cake: &mut Settings, words: &mut Lexer<'a>) -> Result<(), Wrong<'a>> {
    let value = words.value()?;
    let bps = quantity(value, &TC_RATE)?;
    if bps < 8 {
        let why = "the least bandwidth is 8bit; write `unlimited` for no limit";
        return Err(Wrong::new(value, why));
    }
    cake.rate(Some(bps))
}

fn rtt<'a>(cake: &mut Settings, words: &mut Lexer<'a>) -> Result<(), Wrong<'a>> {
    let value = words.value()?;
    match RTT.iter().find(|(name, ..)| *name == value) {
        Some(named) => cake.rtt(*named),
        None => {
            // Whole microseconds, as the kernel has them; tc takes a twentieth as the target.
            let us = (time(value)? / US).max(1);
            cake.rtt(("", (us / 20).max(1) * US, us * US))
        }
    }
}

fn mask<'a>(words: &mut Lexer<'a>) -> Result<u32, Wrong<'a>> {
    let value = words.value()?;
    let mask = match value.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16),
        None => value.parse(),
    };
    mask.map_err(|_| Wrong::new(value, format!("`{value}` is not a mask of 32 bits")))
}

fn bytes<'a>(words: &mut Lexer<'a>, least: i64) -> Result<i32, Wrong<'a>> {
    Ok(words.number(least, 256)? as i32)
}

fn raw<'a>(cake: &mut Settings, _: &mut Lexer<'a>) -> Result<(), Wrong<'a>> {
    cake.raw = true;
    cake.framed(Framing::None, 0)
}
