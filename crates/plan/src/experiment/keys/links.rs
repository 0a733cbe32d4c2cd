//! Keys of `[[link]]`, and of one way of a link.

use super::{Form, Key, key};

// What happens to frames by chance, of a link and of one way.
const BURST_LOSS: Key = key(
    "burst_loss",
    Form::Text,
    "none",
    "losses in bursts (Gilbert-Elliott): `P [R [1-H [1-K]]]` in percent as netem's `loss gemodel`, beside `loss`",
);
const REORDERING: Key = key(
    "reordering",
    Form::Text,
    "none",
    "`PERCENT by TIME` or `PERCENT by TIME..TIME`: chance of each frame to come later by this time, or one drawn from the range, and to be overtaken",
);
const DUPLICATION: Key = key(
    "duplication",
    Form::Percent,
    "none",
    "chance of each frame to come twice",
);
const CORRUPTION: Key = key(
    "corruption",
    Form::Percent,
    "none",
    "chance of each frame to be damaged, so that its checksum is wrong",
);
const EXPONENTIAL_JITTER: Key = key(
    "exponential_jitter",
    Form::Time,
    "0",
    "mean of an exponential delay of each frame beside `delay`; frames keep their order",
);
const SPIKES: Key = key(
    "spikes",
    Form::Text,
    "none",
    "`PERCENT median TIME sigma NUMBER`: chance of each frame to meet a link that stands still; the time is lognormal, frames behind it wait",
);
const LIMIT_BYTES: Key = key(
    "limit_bytes",
    Form::Size,
    "none",
    "bytes of frames that the queue holds, beside `limit`",
);
const OVERHEAD: Key = key(
    "overhead",
    Form::Size,
    "0",
    "bytes that the wire needs for a frame beside its own, at `rate`: 24 on Ethernet (preamble, checksum, gap)",
);
const QUEUE_FROM: Key = key(
    "queue_from",
    Form::Time,
    "not measured",
    "time after the run's start from which on the queue's bytes are measured at each packet, weighted by time: measures `queue_mean_bytes` and so on",
);
const OUTAGE: Key = key(
    "outage",
    Form::Texts,
    "none",
    "times in which every frame is lost: `FROM..UNTIL` or `FROM..` for ever, after the run's start",
);

/// A key of one way that is the link's where it says nothing.
const fn of_link(key: Key) -> Key {
    Key {
        default: "the link's",
        ..key
    }
}

/// `[[link]]`.
pub(crate) const LINK: &[Key] = &[
    key(
        "between",
        Form::Texts,
        "the two hosts",
        "two hosts, A and B, or groups of hosts; variants and measures call the link `A-B`",
    ),
    key(
        "by",
        Form::Words(&["tcplab", "kernel"]),
        "tcplab",
        "who forwards: tcplab's own code, the same on every stack, or the kernel's veth and qdisc",
    ),
    key("mtu", Form::Size, "1500", "largest IP packet"),
    key(
        "rate",
        Form::Rate,
        "no limit",
        "of Ethernet frames, both ways",
    ),
    key("delay", Form::Time, "0", "one way, both ways"),
    key(
        "jitter",
        Form::Time,
        "0",
        "the delay is drawn from delay - jitter to delay + jitter; with tcplab frames keep their order",
    ),
    key(
        "limit",
        Form::Count,
        "1000",
        "frames that the queue holds, both ways",
    ),
    key(
        "loss",
        Form::Percent,
        "0",
        "chance of each frame to be lost, both ways",
    ),
    BURST_LOSS,
    REORDERING,
    DUPLICATION,
    CORRUPTION,
    EXPONENTIAL_JITTER,
    SPIKES,
    LIMIT_BYTES,
    OVERHEAD,
    QUEUE_FROM,
    OUTAGE,
    key(
        "qdisc",
        Form::Text,
        "none",
        "both ways in the words of tc(8), instead of rate, delay, jitter, limit and loss",
    ),
    key("a_to_b", Form::Way, "as the link", "the way from A to B"),
    key("b_to_a", Form::Way, "as the link", "the way from B to A"),
];

/// `a_to_b`, `b_to_a` as a table.
pub(crate) const WAY: &[Key] = &[
    key("rate", Form::Rate, "the link's", "of Ethernet frames"),
    key("delay", Form::Time, "the link's", "of each frame"),
    key("jitter", Form::Time, "the link's", "as in the link"),
    key(
        "limit",
        Form::Count,
        "the link's",
        "frames that the queue holds",
    ),
    key(
        "loss",
        Form::Percent,
        "the link's",
        "chance of each frame to be lost",
    ),
    of_link(BURST_LOSS),
    of_link(REORDERING),
    of_link(DUPLICATION),
    of_link(CORRUPTION),
    EXPONENTIAL_JITTER,
    of_link(SPIKES),
    of_link(LIMIT_BYTES),
    of_link(OVERHEAD),
    of_link(QUEUE_FROM),
    of_link(OUTAGE),
    key(
        "qdisc",
        Form::Text,
        "the link's",
        "the words of tc(8), instead of rate, delay, jitter, limit and loss",
    ),
    key(
        "drop",
        Form::Texts,
        "none",
        "frames that are lost: `KIND N` or `KIND N-M`, counted from 1; KIND is frame, data, ack, syn or fin",
    ),
    key("duplicate", Form::Texts, "none", "frames that come twice"),
    key(
        "mark",
        Form::Texts,
        "none",
        "ECN-capable frames that get the mark CE",
    ),
    key(
        "late",
        Form::Texts,
        "none",
        "frames that come later and may be overtaken: `KIND N by TIME`",
    ),
];
