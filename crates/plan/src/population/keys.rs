//! The keys of a population.

use crate::experiment::keys::{Form, Key, NAME, SCHEMA, TITLE, VARIANT_NAME, fixed};
use crate::experiment::variant::Scope;

/// The file.
pub(crate) const POPULATION_FILE: &[Key] = &[
    SCHEMA,
    NAME,
    TITLE,
    fixed(
        "population",
        Form::Table(POPULATION),
        "",
        "what a connection is drawn from",
    ),
    fixed(
        "arm",
        Form::Tables(crate::experiment::keys::HOST),
        "",
        "what the server's host is in one arm, with the keys of `[[host]]`; the first is the baseline",
    ),
    fixed(
        "compare",
        Form::Table(COMPARE),
        "see below",
        "how arms are compared",
    ),
    fixed(
        "variant",
        Form::Tables(VARIANT),
        "none",
        "changes of the file, each run on its own",
    ),
];

/// `[[variant]]`.
pub(crate) const VARIANT: &[Key] = &[
    VARIANT_NAME,
    fixed(
        "set",
        Form::Set,
        "nothing",
        "values by the path of their key: `population.KEY`, `arm.NAME.KEY`; keys of a table within follow after a dot",
    ),
];

/// What a variant may change.
pub(super) const SCOPE: Scope = Scope {
    table: "population",
    whole: &["base", "connections", "seed"],
    lists: &["arm"],
    keys: VARIANT,
};

/// `[population]`.
pub(crate) const POPULATION: &[Key] = &[
    fixed(
        "base",
        Form::Words(&["web"]),
        "web",
        "the population whose keys hold where this one says nothing",
    ),
    fixed(
        "connections",
        Form::Count,
        "100000",
        "connections of each arm",
    ),
    fixed(
        "seed",
        Form::Count,
        "1",
        "connection n is drawn from this and n, and from nothing else",
    ),
    fixed("hz", Form::Count, "1000", "ticks a second of every host"),
    fixed(
        "rtt",
        Form::Dist,
        "web's",
        "times: round-trip time of the path without queues",
    ),
    fixed(
        "rate",
        Form::Dist,
        "web's",
        "rates: of the bottleneck, both ways",
    ),
    fixed(
        "buffer",
        Form::Dist,
        "web's",
        "sizes, times of the rate or `bdp`: room of the bottleneck's drop-tail queue",
    ),
    fixed(
        "jitter",
        Form::Dist,
        "web's",
        "times: mean of an exponential delay of each packet, in order",
    ),
    fixed(
        "requests",
        Form::Dist,
        "web's",
        "numbers: requests of a connection",
    ),
    fixed(
        "think",
        Form::Dist,
        "web's",
        "times: from a response to the next request",
    ),
    fixed("request", Form::Dist, "web's", "sizes: of a request"),
    fixed("response", Form::Dist, "web's", "sizes: of a response"),
    fixed(
        "client_timeout",
        Form::Dist,
        "web's",
        "times: how long the client waits for its socket before it gives up",
    ),
    fixed(
        "server_timeout",
        Form::Dist,
        "web's",
        "times: the same of the server",
    ),
    fixed(
        "loss",
        Form::Tables(LOSS),
        "web's",
        "kinds of paths that lose packets; the rest loses none but by full queues",
    ),
    fixed(
        "ack_loss",
        Form::Percent,
        "web's",
        "part of a path's loss that the way of the ACKs has",
    ),
    fixed(
        "spikes",
        Form::Table(SPIKES),
        "web's",
        "times in which the link stands still",
    ),
    fixed(
        "reordering",
        Form::Table(REORDERING),
        "none",
        "data packets that are overtaken",
    ),
    fixed(
        "outage",
        Form::Table(OUTAGE),
        "web's",
        "a time in which every packet is lost",
    ),
    fixed(
        "clients",
        Form::Tables(CLIENT),
        "web's",
        "kinds of clients; their shares add to 100%",
    ),
];

/// `loss`.
pub(crate) const LOSS: &[Key] = &[
    fixed("share", Form::Percent, "", "part of the paths"),
    fixed(
        "rate",
        Form::Dist,
        "",
        "chances: mean loss of such a path, on the way of the data",
    ),
    fixed(
        "burst",
        Form::Dist,
        "none",
        "losses come in bursts (Gilbert-Elliott): mean number of packets that meet the bad state",
    ),
    fixed(
        "bad",
        Form::Percent,
        "100%",
        "chance of loss in the bad state",
    ),
];

/// `spikes`.
pub(crate) const SPIKES: &[Key] = &[
    fixed(
        "data",
        Form::Percent,
        "0%",
        "chance of each packet on the way of the data to meet one",
    ),
    fixed(
        "ack",
        Form::Percent,
        "0%",
        "the same on the way of the ACKs",
    ),
    fixed("median", Form::Time, "", "median of the lognormal length"),
    fixed("sigma", Form::Dist, "0", "its sigma"),
];

/// `reordering`.
pub(crate) const REORDERING: &[Key] = &[
    fixed(
        "data",
        Form::Percent,
        "",
        "chance of each packet on the way of the data",
    ),
    fixed(
        "least",
        Form::Dist,
        "0",
        "times: it comes later at least by this",
    ),
    fixed("most", Form::Dist, "", "times: and at most by this"),
];

/// `outage`.
pub(crate) const OUTAGE: &[Key] = &[
    fixed("share", Form::Percent, "", "part of the connections"),
    fixed("start", Form::Dist, "", "times: when it begins"),
    fixed("length", Form::Dist, "", "times: how long it lasts"),
    fixed(
        "final",
        Form::Percent,
        "0%",
        "part of the outages that never end",
    ),
];

/// `clients`.
pub(crate) const CLIENT: &[Key] = &[
    fixed("share", Form::Percent, "", "part of the clients"),
    fixed(
        "profile",
        Form::Words(&crate::experiment::keys::PROFILE_NAMES),
        "the stack's",
        "profile of such a client",
    ),
    fixed(
        "behaviour",
        Form::Behaviour,
        "the profile's",
        "behaviours that differ",
    ),
    fixed("sysctl", Form::Sysctl, "none", "sysctls of such a client"),
];

/// `[compare]`.
pub(crate) const COMPARE: &[Key] = &[
    fixed(
        "level",
        Form::Percent,
        "5%",
        "share of false discoveries among the decided rows (Benjamini and Hochberg)",
    ),
    fixed(
        "band",
        Form::Percent,
        "1%",
        "a latency whose whole interval lies within this of the baseline is the same",
    ),
    fixed(
        "stop",
        Form::Words(&["never", "decided"]),
        "never",
        "`decided`: the run ends at the first of five looks at which every row is decided; the looks share `level`",
    ),
];
