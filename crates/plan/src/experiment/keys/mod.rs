//! The keys of an experiment file: what each takes, its default and what it means.
//!
//! One list for the decoder, the JSON Schema and `docs/experiment.md`, so they cannot differ.

mod apps;
mod links;

use crate::profile::KNOWN;

pub(crate) use self::apps::{APP, KIND_NAMES, KINDS, RRUL};
pub(crate) use self::links::{LINK, WAY};

/// What a key takes.
#[derive(Debug)]
pub(crate) enum Form {
    /// `true` or `false`.
    Flag,
    /// A whole number.
    Count,
    /// A size: [`super::units::SIZE`].
    Size,
    /// A time: [`super::units::TIME`].
    Time,
    /// A rate: [`super::units::RATE`].
    Rate,
    /// A percentage: [`super::units::PERCENT`].
    Percent,
    /// Any text.
    Text,
    /// A distribution ([`crate::dist`]), or a number.
    Dist,
    /// A name: letters, digits, `_` and `-`.
    Name,
    /// One of these words.
    Words(&'static [&'static str]),
    /// A list of texts.
    Texts,
    /// A list of sizes, or one.
    Sizes,
    /// A list of times, or one.
    Times,
    /// Text or number by a name of its own choice.
    Sysctl,
    /// When TCP_QUICKACK is set.
    QuickAck,
    /// A word of [`crate::tos`], or a byte.
    Tos,
    /// Values by the names of the model's behaviours.
    Behaviour,
    /// Values by the path of their key.
    Set,
    /// Keys of its own.
    Table(&'static [Key]),
    /// One way of a link: tc's words or keys.
    Way,
    /// A list of tables with these keys.
    Tables(&'static [Key]),
    /// The list of applications: [`APP`] and the keys of their kind.
    Apps,
}

impl Form {
    /// Whether both take the same.
    pub fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Table(a), Self::Table(b)) | (Self::Tables(a), Self::Tables(b)) => {
                std::ptr::eq(*a, *b)
            }
            (Self::Words(a), Self::Words(b)) => a == b,
            (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
        }
    }
}

/// One key.
#[derive(Debug)]
pub(crate) struct Key {
    pub name: &'static str,
    pub form: Form,
    /// What holds when it is left out.
    pub default: &'static str,
    pub meaning: &'static str,
    /// Whether it may be an axis.
    pub axis: bool,
}

impl Key {
    /// Whether it must be there.
    pub fn is_required(&self) -> bool {
        self.default.is_empty()
    }
}

const fn key(name: &'static str, form: Form, default: &'static str, meaning: &'static str) -> Key {
    Key {
        name,
        form,
        default,
        meaning,
        axis: true,
    }
}

/// A key that is the same at every point.
pub(crate) const fn fixed(
    name: &'static str,
    form: Form,
    default: &'static str,
    meaning: &'static str,
) -> Key {
    Key {
        name,
        form,
        default,
        meaning,
        axis: false,
    }
}

/// Keys of every file.
pub(crate) const SCHEMA: Key = fixed(
    "schema",
    Form::Words(&[super::SCHEMA]),
    "this one",
    "version of the form",
);
pub(crate) const NAME: Key = fixed(
    "name",
    Form::Name,
    "the file's name",
    "names the experiment in results",
);
pub(crate) const TITLE: Key = fixed("title", Form::Text, "none", "the question it answers");

/// The file.
pub(crate) const FILE: &[Key] = &[
    SCHEMA,
    NAME,
    TITLE,
    fixed(
        "measures",
        Form::Texts,
        "those of the applications",
        "names of the measures to show, in this order",
    ),
    fixed(
        "run",
        Form::Table(RUN),
        "the defaults below",
        "the run as a whole",
    ),
    fixed(
        "host",
        Form::Tables(HOST),
        "`client` and `server`",
        "the hosts",
    ),
    fixed(
        "link",
        Form::Tables(LINK),
        "with two hosts: one link without delay",
        "the links between them",
    ),
    fixed("app", Form::Apps, "", "the applications; at least one"),
    fixed(
        "variant",
        Form::Tables(VARIANT),
        "none",
        "changes of the file, each run on its own",
    ),
    fixed(
        "report",
        Form::Table(REPORT),
        "the first two axes and the first measure",
        "what a table or a page of the result shows first",
    ),
];

/// `[run]`.
pub(crate) const RUN: &[Key] = &[
    fixed(
        "stacks",
        Form::Texts,
        "`model`",
        "what runs it when `--on` does not say; `host`, `ssh:A,B` and `qemu:IMAGE` run only when `--on` names them",
    ),
    fixed(
        "repeat",
        Form::Count,
        "1",
        "runs of each point; they differ in their seed",
    ),
    key(
        "seed",
        Form::Count,
        "1",
        "seed of the random streams; the first repetition uses it as it is",
    ),
    key(
        "max",
        Form::Time,
        "twice the applications' planned time and 60 s",
        "the run ends then in any case",
    ),
    key(
        "max_events",
        Form::Count,
        "1000000000",
        "the model ends a run after so many events, without an answer (exit code 3)",
    ),
    key(
        "boot",
        Form::Time,
        "the stack's, and a phase from the seed",
        "time from the hosts' boot to the run's start, which says where in a tick it begins (virtual time only)",
    ),
    key(
        "linger",
        Form::Time,
        "500ms",
        "time between the end of the last application and the end of the run",
    ),
    key(
        "tcp_info_every",
        Form::Time,
        "none",
        "time between samples of tcp_info; without it one at the end of each connection",
    ),
    key(
        "link_every",
        Form::Time,
        "none",
        "time between samples of each link: queue and bytes that came out (tcplab's own links)",
    ),
    key(
        "snap",
        Form::Size,
        "128",
        "bytes kept of each captured frame; 0: all",
    ),
    key(
        "captures",
        Form::Flag,
        "true",
        "a capture at each interface of each host; measures of packets need them",
    ),
    key(
        "tcp_info",
        Form::Flag,
        "true",
        "tcp_info at the end of each connection",
    ),
    key(
        "log",
        Form::Flag,
        "false",
        "each step of the applications with its time",
    ),
    fixed(
        "tolerate",
        Form::Texts,
        "none",
        "sysctls and keys that a stack may leave out when it does not honour them; the result names them",
    ),
];

/// `[[host]]`.
pub(crate) const HOST: &[Key] = &[
    fixed("name", Form::Name, "", "its name; it must have one"),
    key(
        "count",
        Form::Count,
        "one host of this name",
        "so many hosts, called `NAME-1`, `NAME-2` and so on; links and applications that name `NAME` multiply with them",
    ),
    key(
        "forward",
        Form::Flag,
        "false",
        "it is a router: packets of others may go through it (net.ipv4.ip_forward)",
    ),
    key(
        "sysctl",
        Form::Sysctl,
        "the kernel's",
        "`net.` sysctls of this host by name",
    ),
    key(
        "route",
        Form::Text,
        "none",
        "metrics of its routes in the words of ip-route(8): quickack, initcwnd, initrwnd, rto_min, advmss, mtu, congctl",
    ),
    key(
        "socket",
        Form::Table(SOCKET),
        "none",
        "options of every socket of this host",
    ),
    key(
        "offload",
        Form::Words(&["none", "tso", "gro"]),
        "none",
        "none: each frame is a segment; tso: the card cuts super-segments; gro: and the receiver joins them",
    ),
    key(
        "rx_queues",
        Form::Count,
        "1",
        "receive queues of its card, up to 256, each with a CPU; flows are hashed to them (`ethtool -L`; cards are on `model:` only)",
    ),
    key(
        "rx_ring",
        Form::Count,
        "1024",
        "frames that a receive queue holds (`ethtool -G`)",
    ),
    key(
        "rx_usecs",
        Form::Time,
        "0",
        "time from the first frame in an empty queue to the interrupt (`ethtool -C`): GRO joins what one poll finds",
    ),
    key(
        "rx_frame_cost",
        Form::Time,
        "0",
        "time that a queue's CPU needs for a frame of the wire",
    ),
    key(
        "rx_packet_cost",
        Form::Time,
        "0",
        "time that a CPU needs for a packet that goes up after GRO",
    ),
    key(
        "nic_caqm",
        Form::Flag,
        "true",
        "whether its card finds ports behind CAQM's tag; else all frames with a tag go to queue 0",
    ),
    key(
        "rps",
        Form::Flag,
        "false",
        "receive packet steering: after GRO, flows are spread over the CPUs, whatever the card found",
    ),
    key(
        "profile",
        Form::Words(&PROFILE_NAMES),
        "that of the stack's name",
        "which kernel's TCP this host has (on `model:` only)",
    ),
    key(
        "behaviour",
        Form::Behaviour,
        "the profile's",
        "behaviours of its TCP, one by one (on `model:` only)",
    ),
];

/// Names of the profiles.
pub(crate) const PROFILE_NAMES: [&str; KNOWN.len()] = {
    let mut names = [""; KNOWN.len()];
    let mut i = 0;
    while i < names.len() {
        names[i] = KNOWN[i].name;
        i += 1;
    }
    names
};

/// `socket`, `client_socket`, `server_socket`.
pub(crate) const SOCKET: &[Key] = &[
    key("nodelay", Form::Flag, "the kernel's", "TCP_NODELAY"),
    key(
        "quickack",
        Form::QuickAck,
        "leave",
        "TCP_QUICKACK: `leave`, `once N` (when the connection stands) or `each N` (before each read), N 0 or 1; N alone means once",
    ),
    key(
        "rcvbuf",
        Form::Size,
        "the kernel's",
        "SO_RCVBUF as given to setsockopt (Linux doubles it)",
    ),
    key(
        "sndbuf",
        Form::Size,
        "the kernel's",
        "SO_SNDBUF as given to setsockopt (Linux doubles it)",
    ),
    key("rcvlowat", Form::Size, "the kernel's", "SO_RCVLOWAT"),
    key(
        "user_timeout",
        Form::Time,
        "the kernel's",
        "TCP_USER_TIMEOUT, whole milliseconds",
    ),
    key(
        "keepalive",
        Form::Time,
        "off",
        "SO_KEEPALIVE with this TCP_KEEPIDLE and TCP_KEEPINTVL, whole seconds",
    ),
    key("congestion", Form::Text, "the kernel's", "TCP_CONGESTION"),
    key(
        "notsent_lowat",
        Form::Size,
        "the kernel's",
        "TCP_NOTSENT_LOWAT",
    ),
    key("maxseg", Form::Size, "the kernel's", "TCP_MAXSEG"),
    key(
        "tos",
        Form::Tos,
        "0",
        "IP_TOS, the DS field of what the socket sends: BE, BK (CS1), LE, CS0 to CS7, AF11 to AF43, VA, EF, or the byte; TCP keeps ECN's two bits to itself",
    ),
    key(
        "cpu",
        Form::Count,
        "any",
        "CPU of the application (on `host` only)",
    ),
];

/// `name` of a `[[variant]]`.
pub(crate) const VARIANT_NAME: Key = fixed("name", Form::Name, "", "its name; it must have one");

/// `[[variant]]`.
pub(crate) const VARIANT: &[Key] = &[
    VARIANT_NAME,
    fixed(
        "set",
        Form::Set,
        "nothing",
        "values by the path of their key: `app.NAME.KEY`, `host.NAME.KEY`, `link.A-B.KEY`, `run.KEY`",
    ),
];

/// `[report]`.
pub(crate) const REPORT: &[Key] = &[
    fixed(
        "x",
        Form::Text,
        "the last axis",
        "the axis to the right: its name",
    ),
    fixed(
        "y",
        Form::Text,
        "the axis before it",
        "the axis downwards: its name",
    ),
    fixed(
        "measure",
        Form::Text,
        "the first",
        "the measure, one of `measures`",
    ),
    fixed(
        "variant",
        Form::Name,
        "the first other than `base`",
        "the variant",
    ),
    fixed(
        "base",
        Form::Name,
        "the first",
        "the variant that it is compared with",
    ),
    fixed(
        "band",
        Form::Percent,
        "3%",
        "changes up to this do not matter",
    ),
];
