//! The keys of a population.

use super::Population;
use crate::dist::Kind;
use crate::experiment::keys::file::{NAME, SCHEMA, TITLE, VARIANT_NAME};
use crate::experiment::keys::{Bounds, Form, Key, MUST, fixed, host, links, number, says, word};
use crate::experiment::variant::Scope;

/// All of something, in parts of a billion.
const ALL: u64 = crate::rules::ALL_PPB as u64;

pub(crate) const OF: Key = fixed("population", Form::Table(POPULATION), MUST, "distributions of the connections");
pub(crate) const ARM: Key = fixed("arm", Form::Tables(host::ARM), MUST, "the server in an arm, with the keys of `[[host]]` but `count` and `forward`; the first arm is the baseline");
pub(crate) const HOW: Key = fixed("compare", Form::Table(COMPARE), says("see below"), "how to compare arms");

/// The file.
pub(crate) const POPULATION_FILE: &[Key] = &[
    SCHEMA, NAME, TITLE, OF, ARM, HOW,
    fixed("variant", Form::Tables(VARIANT), says("none"), "changes to the file; each variant runs on its own"),
];

/// `[[variant]]`.
pub(crate) const VARIANT: &[Key] = &[
    VARIANT_NAME,
    fixed("set", Form::Set, says("nothing"), "values by key path: `population.KEY`, `arm.NAME.KEY`; a key of a table inside follows after another dot"),
];

/// What a variant may change.
pub(super) const SCOPE: Scope = Scope {
    table: OF.name,
    whole: &[BASE.name, CONNECTIONS.name, SEED.name],
    lists: &[ARM.name],
    keys: VARIANT,
};

pub(crate) const BASE: Key = fixed("base", Form::Words(&["web"]), word("web"), "population that sets the keys left out here");
pub(crate) const CONNECTIONS: Key = fixed("connections", Form::Count((1, Population::MAX_CONNECTIONS)), number(100_000), "connections per arm");
pub(crate) const SEED: Key = fixed("seed", Form::Count((0, (1 << 53) - 1)), number(1), "the draws of connection n depend only on the seed and n");
pub(crate) const HZ: Key = fixed("hz", Form::Count((24, 1000)), number(1000), "timer ticks per second (HZ) of all hosts");
pub(crate) const IP: Key = fixed("ip", Form::Words(&["ipv4", "ipv6"]), word("ipv4"), "IP version of all packets");
pub(crate) const RTT: Key = fixed("rtt", Form::Dist(Kind::Time), says("web's"), "RTT of the path without queues");
pub(crate) const RATE: Key = fixed("rate", Form::Dist(Kind::Rate), says("web's"), "bottleneck rate, both ways");
pub(crate) const BUFFER: Key = fixed("buffer", Form::Dist(Kind::Buffer), says("web's"), "bottleneck's drop-tail queue: bytes (`64 kB`), a time at the bottleneck's rate (`100ms`), or multiples of the bandwidth-delay product (`0.5 bdp`)");
pub(crate) const JITTER: Key = fixed("jitter", Form::Dist(Kind::Time), says("web's"), "mean of each packet's exponential extra delay; packets keep their order");
pub(crate) const REQUESTS: Key = fixed("requests", Form::Dist(Kind::Number), says("web's"), "requests per connection");
pub(crate) const THINK: Key = fixed("think", Form::Dist(Kind::Time), says("web's"), "time from a response to the next request");
pub(crate) const REQUEST: Key = fixed("request", Form::Dist(Kind::Size), says("web's"), "size of a request");
pub(crate) const RESPONSE: Key = fixed("response", Form::Dist(Kind::Size), says("web's"), "size of a response");
pub(crate) const CLIENT_TIMEOUT: Key = fixed("client_timeout", Form::Dist(Kind::Time), says("web's"), "time after which the client stops waiting for its socket");
pub(crate) const SERVER_TIMEOUT: Key = fixed("server_timeout", Form::Dist(Kind::Time), says("web's"), "time after which the server stops waiting for its socket");
pub(crate) const THE_LOSS: Key = fixed("loss", Form::Tables(LOSS), says("web's"), "types of lossy path; others drop only at full queues");
pub(crate) const ACK_LOSS: Key = fixed("ack_loss", Form::Percent, says("web's"), "loss in the ACKs' direction, in per cent of the path's loss");
pub(crate) const THE_SPIKES: Key = fixed("spikes", Form::Table(SPIKES), says("web's"), "periods in which the link sends nothing");
pub(crate) const THE_REORDERING: Key = fixed("reordering", Form::Table(REORDERING), says("none"), "data packets that are delayed and overtaken");
pub(crate) const THE_OUTAGE: Key = fixed("outage", Form::Table(OUTAGE), says("web's"), "period in which every packet is lost");
pub(crate) const THE_MIDDLEBOXES: Key = fixed("middlebox", Form::Tables(BOX), says("none"), "types of path with a middle box that rewrites or drops segments both ways; others have none");
pub(crate) const THE_CHANGES: Key = fixed("change", Form::Tables(CHANGE), says("none"), "types of path whose rate or RTT changes; others stay unchanged");
pub(crate) const THE_INJECTS: Key = fixed("inject", Form::Tables(INJECT), says("none"), "types of path on which a forged segment enters");
pub(crate) const THE_CLIENTS: Key = fixed("clients", Form::Tables(CLIENT), says("web's"), "types of client; shares add up to 100%");
/// `[population]`.
pub(crate) const POPULATION: &[Key] = &[
    BASE, CONNECTIONS, SEED, HZ, IP, RTT, RATE, BUFFER, JITTER, REQUESTS, THINK, REQUEST, RESPONSE, CLIENT_TIMEOUT,
    SERVER_TIMEOUT, THE_LOSS, ACK_LOSS, THE_SPIKES, THE_REORDERING, THE_OUTAGE, THE_MIDDLEBOXES, THE_CHANGES,
    THE_INJECTS, THE_CLIENTS,
];

pub(crate) const LOSS_SHARE: Key = fixed("share", Form::Percent, MUST, "share of the paths");
pub(crate) const LOSS_RATE: Key = fixed("rate", Form::Dist(Kind::Chance), MUST, "mean loss in the data's direction");
pub(crate) const LOSS_BURST: Key = fixed("burst", Form::Dist(Kind::Number), says("none"), "bursts (Gilbert-Elliott): mean number of packets that meet the bad state");
pub(crate) const LOSS_BAD: Key = fixed("bad", Form::Percent, number(ALL), "chance of loss in the bad state");
/// `loss`.
pub(crate) const LOSS: &[Key] = &[
    LOSS_SHARE, LOSS_RATE, LOSS_BURST, LOSS_BAD,
];

pub(crate) const SPIKE_DATA: Key = fixed("data", Form::Percent, number(0), "chance that a data packet meets a spike");
pub(crate) const SPIKE_ACK: Key = fixed("ack", Form::Percent, number(0), "chance that an ACK meets a spike");
pub(crate) const SPIKE_MEDIAN: Key = fixed("median", Form::Time(Bounds::Any), MUST, "median of a spike's lognormal length");
pub(crate) const SPIKE_SIGMA: Key = fixed("sigma", Form::Dist(Kind::Number), says("0"), "sigma of a spike's lognormal length");
/// `spikes`.
pub(crate) const SPIKES: &[Key] = &[
    SPIKE_DATA, SPIKE_ACK, SPIKE_MEDIAN, SPIKE_SIGMA,
];

pub(crate) const REORDER_DATA: Key = fixed("data", Form::Percent, MUST, "chance that a data packet is delayed");
pub(crate) const REORDER_LEAST: Key = fixed("least", Form::Dist(Kind::Time), says("0"), "least extra delay");
pub(crate) const REORDER_MOST: Key = fixed("most", Form::Dist(Kind::Time), MUST, "largest extra delay");
/// `reordering`.
pub(crate) const REORDERING: &[Key] = &[
    REORDER_DATA, REORDER_LEAST, REORDER_MOST,
];

pub(crate) const OUTAGE_SHARE: Key = fixed("share", Form::Percent, MUST, "share of the connections");
pub(crate) const OUTAGE_START: Key = fixed("start", Form::Dist(Kind::Time), MUST, "start of the outage");
pub(crate) const OUTAGE_LENGTH: Key = fixed("length", Form::Dist(Kind::Time), MUST, "length of the outage");
pub(crate) const OUTAGE_FINAL: Key = fixed("final", Form::Percent, number(0), "share of the outages that never end");
/// `outage`.
pub(crate) const OUTAGE: &[Key] = &[
    OUTAGE_SHARE, OUTAGE_START, OUTAGE_LENGTH, OUTAGE_FINAL,
];

pub(crate) const BOX_SHARE: Key = fixed("share", Form::Percent, MUST, "share of the paths");
pub(crate) const BOX_RULES: Key = Key { axis: false, absent: MUST, rules: &[], meaning: "rules, written like those of a link's `middlebox`: `strip-options timestamp`, `set-mss 1200`, `ecn-tcp-remove`", name: "rules", ..links::MIDDLEBOX };
/// `middlebox`.
pub(crate) const BOX: &[Key] = &[
    BOX_SHARE, BOX_RULES,
];

pub(crate) const CHANGE_SHARE: Key = fixed("share", Form::Percent, MUST, "share of the paths");
pub(crate) const CHANGE_AT: Key = fixed("at", Form::Dist(Kind::Time), MUST, "time after the connection's start");
pub(crate) const CHANGE_RATE: Key = fixed("rate", Form::Dist(Kind::Rate), says("as before"), "new bottleneck rate, both ways; the queue keeps its bytes");
pub(crate) const CHANGE_RTT: Key = fixed("rtt", Form::Dist(Kind::Time), says("as before"), "new RTT of the path without queues");
/// `change`.
pub(crate) const CHANGE: &[Key] = &[
    CHANGE_SHARE, CHANGE_AT, CHANGE_RATE, CHANGE_RTT,
];

pub(crate) const INJECT_SHARE: Key = fixed("share", Form::Percent, MUST, "share of the paths");
pub(crate) const INJECT_AT: Key = fixed("at", Form::Dist(Kind::Time), MUST, "time after the connection's start");
pub(crate) const INJECT_SEGMENT: Key = fixed("segment", Form::Text, MUST, "forged segment, written like a link's `inject` without the time: `rst`, `rst seq +1000`, `data 100`");
pub(crate) const INJECT_TO: Key = fixed("to", Form::Words(&["client", "server"]), word("client"), "receiver of the segment");
/// `inject`.
pub(crate) const INJECT: &[Key] = &[
    INJECT_SHARE, INJECT_AT, INJECT_SEGMENT, INJECT_TO,
];

pub(crate) const CLIENT_SHARE: Key = fixed("share", Form::Percent, MUST, "share of the clients");
/// `clients`.
pub(crate) const CLIENT: &[Key] = &[
    CLIENT_SHARE,
    Key { axis: false, absent: says("the stack's"), meaning: "profile of these clients", ..host::PROFILE },
    Key { axis: false, meaning: "behaviours that differ from the profile's", ..host::BEHAVIOUR },
    Key { axis: false, absent: says("none"), meaning: "sysctls of these clients", ..host::SYSCTL },
    Key { axis: false, meaning: "socket options of these clients", ..host::SOCKET },
];

pub(crate) const LEVEL: Key = fixed("level", Form::Percent, number(50_000_000), "false discovery rate of the decided rows (Benjamini and Hochberg)");
pub(crate) const BAND: Key = fixed("band", Form::Percent, number(10_000_000), "a latency is `same` if the whole interval of its change lies between minus and plus this value");
pub(crate) const STOP: Key = fixed("stop", Form::Words(&["never", "decided"]), word("never"), "`decided`: look at the table five times, the last time at the end, and stop at the first look that finds every row decided; the looks share `level`");
/// `[compare]`.
pub(crate) const COMPARE: &[Key] = &[
    LEVEL, BAND, STOP,
];
