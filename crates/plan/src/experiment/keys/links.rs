//! Keys of `[[link]]`, and of one way of a link.

use super::{Bounds, Form, Key, key, number, says, word};
use crate::contract;
use tcplab_base::quantity::SIZE;
use crate::rules::MAX_LIMIT;

pub(crate) const BURST_LOSS: Key = key("burst_loss", Form::Text, says("none"), "bursts of loss (Gilbert-Elliott), in addition to `loss`: `P [R [1-H [1-K]]]` in percent, as netem's `loss gemodel`");
pub(crate) const REORDERING: Key = key("reordering", Form::Text, says("none"), "`PERCENT by TIME` or `PERCENT by TIME..TIME`: chance that a frame is delayed by this time, or by one drawn from the range, and may be overtaken");
pub(crate) const DUPLICATION: Key = key("duplication", Form::Percent, says("none"), "chance that a frame is duplicated");
pub(crate) const CORRUPTION: Key = key("corruption", Form::Percent, says("none"), "chance that a frame is damaged (wrong checksum)");
pub(crate) const EXPONENTIAL_JITTER: Key = key("exponential_jitter", Form::Time(Bounds::Any), number(0), "mean of an exponential extra delay per frame; frames keep their order");
pub(crate) const SPIKES: Key = key("spikes", Form::Text, says("none"), "`PERCENT median TIME sigma NUMBER`: chance that a frame finds the link stopped, for a lognormal time; later frames wait");
pub(crate) const LIMIT_BYTES: Key = key("limit_bytes", Form::Size((1, SIZE.max)), says("none"), "queue limit in bytes, in addition to `limit`");
pub(crate) const OVERHEAD: Key = key("overhead", Form::Size((0, 256)), number(0), "overhead per frame on the wire, bytes, at `rate`: 24 on Ethernet (preamble, checksum, gap)");
pub(crate) const QUEUE_FROM: Key = key("queue_from", Form::Time(Bounds::Any), says("not measured"), "time after the run's start at which measuring the queue's bytes begins, for `queue_mean_bytes` and so on; measuring ends when all applications have ended and the queue is empty; values are taken at each packet and weighted by time");
pub(crate) const OUTAGE: Key = key("outage", Form::Texts, says("none"), "times since the run's start: `FROM..UNTIL`, or `FROM..` without an end; frames already queued still arrive").refused(&contract::OUTAGE);
pub(crate) const CHANGE: Key = key("change", Form::Texts, says("none"), "`TIME WORDS`: time since the run's start, then netem's words `rate`, `delay`, `loss`, `limit`, or `qdisc` and tc's words: `5s rate 5mbit delay 80ms`; other settings stay").refused(&contract::LINK_CHANGE);
pub(crate) const RATE_TRACE: Key = key("rate_trace", Form::Text, says("none"), "file in Mahimahi's format, instead of `rate`: each line is a time in milliseconds at which the link may send one full frame; relative to this file").refused(&contract::RATE_TRACE);
pub(crate) const MIDDLEBOX: Key = key("middlebox", Form::Texts, says("none"), "rules for TCP segments before the queue, in iptables' words: `strip-options LIST`, `set-mss N`, `ecn-tcp-remove`, `ecn-ip-ect N`; also `drop-options LIST`, `drop-ecn-syn`").refused(&contract::MIDDLEBOX);
pub(crate) const INJECT: Key = key("inject", Form::Texts, says("none"), "forged segments: `TIME KIND [seq N] [ack N]`, KIND is `rst`, `syn`, `ack`, `fin` or `data BYTES`; one per connection that has passed").refused(&contract::INJECT);
pub(crate) const BETWEEN: Key = key("between", Form::Texts, says("the two hosts"), "two hosts, A and B, or groups of hosts; variants and measures call the link `A-B`");
pub(crate) const BY: Key = key("by", Form::Words(&["tcplab", "kernel"]), word("tcplab"), "forwarder: tcplab's own code (the same on every stack), or the kernel's veth and qdisc").refused(&contract::BY);
pub(crate) const MTU: Key = key("mtu", Form::Size(crate::rules::MTU), number(1500), "largest IP packet").refused(&contract::MTU);
pub(crate) const RATE: Key = key("rate", Form::Rate, says("no limit"), "rate of Ethernet frames, both ways");
pub(crate) const DELAY: Key = key("delay", Form::Time(Bounds::Any), number(0), "one-way delay, both ways");
pub(crate) const JITTER: Key = key("jitter", Form::Time(Bounds::Any), number(0), "the delay is drawn from delay - jitter to delay + jitter; with tcplab frames keep their order");
pub(crate) const LIMIT: Key = key("limit", Form::Count((1, MAX_LIMIT as u64)), number(1000), "queue limit in frames, both ways");
pub(crate) const LOSS: Key = key("loss", Form::Percent, number(0), "chance that a frame is lost, drawn for each frame in each direction");
pub(crate) const QDISC: Key = key("qdisc", Form::Text, says("none"), "queue in the words of tc(8), both ways; keys set rate, delay, jitter and loss if the words leave them out, and `limit` beside `netem` or `pfifo` (others have their own limit)").refused(&contract::QDISC);
pub(crate) const A_TO_B: Key = key("a_to_b", Form::Way, says("as the link"), "the direction from A to B");
pub(crate) const B_TO_A: Key = key("b_to_a", Form::Way, says("as the link"), "the direction from B to A");

/// Random faults and other features of tcplab's own link, for a link or one way.
pub(crate) const FAULTS: &[Key] = &[
    BURST_LOSS, REORDERING, DUPLICATION, CORRUPTION, EXPONENTIAL_JITTER, SPIKES, LIMIT_BYTES, OVERHEAD, QUEUE_FROM, OUTAGE,
    CHANGE, RATE_TRACE, MIDDLEBOX, INJECT,
];

/// `[[link]]`.
pub(crate) const LINK: &[Key] = &[
    BETWEEN, BY, MTU, RATE, DELAY, JITTER, LIMIT, LOSS, BURST_LOSS, REORDERING, DUPLICATION, CORRUPTION,
    EXPONENTIAL_JITTER, SPIKES, LIMIT_BYTES, OVERHEAD, QUEUE_FROM, OUTAGE, CHANGE, RATE_TRACE, MIDDLEBOX, INJECT, QDISC, A_TO_B, B_TO_A,
];

// What only one way has.
pub(crate) const DROP: Key = key("drop", Form::Texts, says("none"), "lost frames: `KIND N` or `KIND N-M`, counted from 1; KIND is frame, data, ack, syn, fin or icmp").refused(&contract::DROP);
pub(crate) const DUPLICATE: Key = key("duplicate", Form::Texts, says("none"), "duplicated frames").refused(&contract::DUPLICATE);
pub(crate) const MARK: Key = key("mark", Form::Texts, says("none"), "ECN-capable frames that get CE").refused(&contract::MARK);
pub(crate) const LATE: Key = key("late", Form::Texts, says("none"), "frames that are delayed and may be overtaken: `KIND N by TIME`").refused(&contract::LATE);

/// A key of one way that is the link's where it says nothing.
const fn of_link(key: Key) -> Key {
    Key {
        absent: says("the link's"),
        ..key
    }
}

/// The same with a meaning of its own.
const fn of_way(key: Key, meaning: &'static str) -> Key {
    Key {
        meaning,
        ..of_link(key)
    }
}

/// `a_to_b`, `b_to_a` as a table.
pub(crate) const WAY: &[Key] = &[
    of_way(RATE, "of Ethernet frames"),
    of_way(DELAY, "of each frame"),
    of_way(JITTER, "as in the link"),
    of_way(LIMIT, "limit of the queue in frames"),
    of_way(LOSS, "chance that a frame is lost"),
    of_link(BURST_LOSS),
    of_link(REORDERING),
    of_link(DUPLICATION),
    of_link(CORRUPTION),
    of_link(EXPONENTIAL_JITTER),
    of_link(SPIKES),
    of_link(LIMIT_BYTES),
    of_link(OVERHEAD),
    of_link(QUEUE_FROM),
    of_link(OUTAGE),
    of_link(CHANGE),
    of_link(RATE_TRACE),
    of_link(MIDDLEBOX),
    of_link(INJECT),
    of_way(
        QDISC,
        "the queue in the words of tc(8); the keys set rate, delay, jitter and loss if the words leave them out",
    ),
    DROP,
    DUPLICATE,
    MARK,
    LATE,
];
