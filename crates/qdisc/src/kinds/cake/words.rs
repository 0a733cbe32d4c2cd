//! The words of `cake` (tc-cake(8)).

use tcplab_base::quantity::TC_RATE;

use super::settings::{AckFilter, FlowMode, Framing, Settings, TinMode};
use crate::discipline::{Named, Words};
use crate::words::{Lexer, Wrong, begins_with_digit, quantity, time};

const US: i64 = 1_000;
const MS: i64 = 1_000 * US;
const S: i64 = 1_000 * MS;

/// `rtt` by name: (target, interval) in nanoseconds.
const RTT: [(&str, i64, i64); 8] = [
    ("datacentre", 5 * US, 100 * US),
    ("lan", 50 * US, MS),
    ("metro", 500 * US, 10 * MS),
    ("regional", 1_500 * US, 30 * MS),
    ("internet", 5 * MS, 100 * MS),
    ("oceanic", 15 * MS, 300 * MS),
    ("satellite", 50 * MS, S),
    ("interplanetary", 50 * S, 1_000 * S),
];

/// The overhead of a link technology: framing (`None`: unchanged), bytes, and the shortest packet.
const OVERHEADS: [(&str, Option<Framing>, i32, Option<u32>); 13] = [
    ("pppoa-vcmux", Some(Framing::Atm), 10, None),
    ("pppoa-llc", Some(Framing::Atm), 14, None),
    ("pppoe-vcmux", Some(Framing::Atm), 32, None),
    ("pppoe-llcsnap", Some(Framing::Atm), 40, None),
    ("bridged-vcmux", Some(Framing::Atm), 24, None),
    ("bridged-llcsnap", Some(Framing::Atm), 32, None),
    ("ipoa-vcmux", Some(Framing::Atm), 8, None),
    ("ipoa-llcsnap", Some(Framing::Atm), 16, None),
    ("pppoe-ptm", Some(Framing::Ptm), 30, None),
    ("bridged-ptm", Some(Framing::Ptm), 22, None),
    ("docsis", Some(Framing::None), 18, Some(64)),
    ("ethernet", None, 38, Some(84)),
    ("ether-vlan", None, 4, None),
];

impl Words for Settings {
    const NAME: &'static str = "cake";
    const SUPPORTED: &'static str =
        "all of tc-cake(8) except firewall marks and NAT; three more filters (below)";
    const WORDS: &'static [&'static str] = &[
        "bandwidth",
        "unlimited",
        "autorate-ingress",
        "rtt",
        "datacentre",
        "lan",
        "metro",
        "regional",
        "internet",
        "oceanic",
        "satellite",
        "interplanetary",
        "besteffort",
        "precedence",
        "diffserv3",
        "diffserv4",
        "diffserv8",
        "diffserv",
        "flowblind",
        "srchost",
        "dsthost",
        "hosts",
        "flows",
        "dual-srchost",
        "dual-dsthost",
        "triple-isolate",
        "nat",
        "nonat",
        "wash",
        "nowash",
        "split-gso",
        "no-split-gso",
        "ack-filter",
        "ack-filter-aggressive",
        "ack-filter-2018",
        "ack-filter-2018-aggressive",
        "ack-filter-naive",
        "no-ack-filter",
        "memlimit",
        "fwmark",
        "atm",
        "ptm",
        "noatm",
        "overhead",
        "mpu",
        "raw",
        "conservative",
        "ingress",
        "egress",
        "pppoa-vcmux",
        "pppoa-llc",
        "pppoe-vcmux",
        "pppoe-llcsnap",
        "bridged-vcmux",
        "bridged-llcsnap",
        "ipoa-vcmux",
        "ipoa-llcsnap",
        "pppoe-ptm",
        "bridged-ptm",
        "docsis",
        "ethernet",
        "ether-vlan",
        "via-ethernet",
    ];
    const EXAMPLES: &'static [&'static str] = &[
        "cake bandwidth 1mbit ack-filter -> cake unlimited besteffort",
        "cake bandwidth 1mbit ack-filter -> cake unlimited no-split-gso",
        "cake bandwidth 1mbit memlimit 20k diffserv4 atm -> cake autorate-ingress",
        "cake ack-filter-aggressive wash nat -> cake unlimited memlimit 64kb",
    ];

    fn parse<'a>(words: &mut Lexer<'a>) -> Result<Self, Wrong<'a>> {
        let mut cake = Self::default();
        while let Some(word) = words.next_word() {
            let known = cake.shaper(word, words)?
                || cake.delay(word, words)?
                || cake.sharing(word)
                || cake.filter(word)
                || cake.wire(word, words)?;
            if !known {
                return Err(Wrong::unknown(word, "a word of cake", Self::WORDS));
            }
        }
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
    fn shaper<'a>(&mut self, word: &str, words: &mut Lexer<'a>) -> Result<bool, Wrong<'a>> {
        match word {
            "bandwidth" => {
                let value = words.value()?;
                let bps = quantity(value, &TC_RATE)?;
                if bps < 8 {
                    let why = "the least bandwidth is 8bit; write `unlimited` for no limit";
                    return Err(Wrong::new(value, why));
                }
                (self.bandwidth_bps, self.autorate) = (Some(bps), false);
            }
            "unlimited" => (self.bandwidth_bps, self.autorate) = (None, false),
            "autorate-ingress" => self.autorate = true,
            "ingress" => self.ingress = true,
            "egress" => self.ingress = false,
            "memlimit" => {
                self.memlimit_bytes = Some(words.size()?);
            }
            "fwmark" => {
                let value = words.value()?;
                let digits = value.strip_prefix("0x");
                let mask = match digits {
                    Some(hex) => u32::from_str_radix(hex, 16),
                    None => value.parse(),
                };
                let wrong = |_| Wrong::new(value, format!("`{value}` is not a mask of 32 bits"));
                self.fwmark = mask.map_err(wrong)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn delay<'a>(&mut self, word: &str, words: &mut Lexer<'a>) -> Result<bool, Wrong<'a>> {
        let named = |word: &str| RTT.iter().find(|(name, ..)| *name == word);
        if let Some((_, target, interval)) = named(word) {
            (self.target_ns, self.interval_ns) = (*target, *interval);
            return Ok(true);
        }
        if word != "rtt" {
            return Ok(false);
        }
        let value = words.value()?;
        match named(value) {
            Some((_, target, interval)) if !begins_with_digit(value) => {
                (self.target_ns, self.interval_ns) = (*target, *interval);
            }
            _ => {
                // Whole microseconds, as the kernel has them; tc takes a twentieth as the target.
                let us = (time(value)? / US).max(1);
                (self.target_ns, self.interval_ns) = ((us / 20).max(1) * US, us * US);
            }
        }
        Ok(true)
    }

    fn sharing(&mut self, word: &str) -> bool {
        use FlowMode as F;
        use TinMode as T;
        match word {
            "besteffort" => self.tins = T::Besteffort,
            "precedence" => self.tins = T::Precedence,
            "diffserv3" => self.tins = T::Diffserv3,
            "diffserv4" | "diffserv" => self.tins = T::Diffserv4,
            "diffserv8" => self.tins = T::Diffserv8,
            "flowblind" => self.flows = F::Flowblind,
            "srchost" => self.flows = F::Srchost,
            "dsthost" => self.flows = F::Dsthost,
            "hosts" => self.flows = F::Hosts,
            "flows" => self.flows = F::Flows,
            "dual-srchost" => self.flows = F::DualSrchost,
            "dual-dsthost" => self.flows = F::DualDsthost,
            "triple-isolate" => self.flows = F::TripleIsolate,
            "nat" => self.nat = true,
            "nonat" => self.nat = false,
            "wash" => self.wash = true,
            "nowash" => self.wash = false,
            "split-gso" => self.split_gso = true,
            "no-split-gso" => self.split_gso = false,
            _ => return false,
        }
        true
    }

    fn filter(&mut self, word: &str) -> bool {
        self.ack_filter = match word {
            "no-ack-filter" => AckFilter::Off,
            "ack-filter" => AckFilter::Conservative,
            "ack-filter-aggressive" => AckFilter::Aggressive,
            "ack-filter-2018" => AckFilter::First,
            "ack-filter-2018-aggressive" => AckFilter::FirstAggressive,
            "ack-filter-naive" => AckFilter::Naive,
            _ => return false,
        };
        true
    }

    fn wire<'a>(&mut self, word: &str, words: &mut Lexer<'a>) -> Result<bool, Wrong<'a>> {
        match word {
            "atm" => self.framing = Framing::Atm,
            "ptm" => self.framing = Framing::Ptm,
            "noatm" => self.framing = Framing::None,
            "raw" => (self.framing, self.overhead, self.raw) = (Framing::None, Some(0), true),
            "conservative" => (self.framing, self.overhead) = (Framing::Atm, Some(48)),
            "via-ethernet" => {}
            "overhead" => self.overhead = i32::try_from(words.number(-64, 256)?).ok(),
            "mpu" => self.mpu = u32::try_from(words.number(0, 256)?).unwrap_or(0),
            _ => {
                let named = OVERHEADS.iter().find(|(name, ..)| *name == word);
                let Some((_, framing, bytes, mpu)) = named else {
                    return Ok(false);
                };
                self.framing = framing.unwrap_or(self.framing);
                self.overhead = Some(self.overhead.unwrap_or(0) + bytes);
                self.mpu = mpu.unwrap_or(self.mpu);
            }
        }
        Ok(true)
    }
}
