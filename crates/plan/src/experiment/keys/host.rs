//! Keys of `[[host]]`.

use super::record::record;
use super::{Bounds, Form, Key, METRICS, MUST, fixed, flag, key, number, says, word};
use crate::contract;
use crate::profile::KNOWN;
use crate::rules::{MAX_ALL_HOSTS, SECOND_NS};

/// A time that a card or its CPU needs.
const CARD_TIME: Bounds = Bounds::AtMost(SECOND_NS);

pub(crate) const NAME: Key = fixed("name", Form::Name, MUST, "name of the host");
pub(crate) const COUNT: Key = key("count", Form::Count((1, MAX_ALL_HOSTS)), says("one host of this name"), "number of hosts `NAME-1`, `NAME-2` and so on; links and applications of `NAME` are repeated for each");
pub(crate) const FORWARD: Key = key("forward", Form::Flag, flag(false), "router (net.ipv4.ip_forward)").refused(&contract::FORWARD);
pub(crate) const SYSCTL: Key = key("sysctl", Form::Sysctl, says("the kernel's"), "`net.` sysctls by name");
pub(crate) const CHANGE: Key = key("change", Form::Texts, says("none"), "sysctls to set during the run: `TIME NAME=VALUE`, time since the run's start: `5s net.ipv4.tcp_recovery=0`").refused(&contract::HOST_CHANGE);
pub(crate) const ROUTE: Key = key("route", Form::Pairs(METRICS), says("none"), "route metrics in the words of ip-route(8): `initcwnd 10 rto_min 50ms`").refused(&contract::ROUTE);
pub(crate) const SOCKET: Key = key("socket", Form::Table(super::SOCKET), says("none"), "options of all its sockets");
pub(crate) const OFFLOAD: Key = key("offload", Form::Words(&["none", "tso", "gro"]), word("none"), "none: each frame is a segment; tso: the card splits super-segments; gro: the card also merges received segments").refused(&contract::OFFLOAD);
pub(crate) const PROFILE: Key = key("profile", Form::Words(&PROFILE_NAMES), says("the profile in the stack's name"), "kernel whose TCP is modelled (`model:` only)").refused(&contract::PROFILE);
pub(crate) const BEHAVIOUR: Key = key("behaviour", Form::Behaviour, says("the profile's"), "single behaviours of the TCP (`model:` only)").refused(&contract::BEHAVIOUR);

record! {
    /// The receive side of a network card, and what its CPUs need; only the model has one.
    #[derive(Copy)]
    pub struct Card, CARD {
        rx_queues: u16 = RX_QUEUES, "rx_queues", Form::Count((1, 256)), number(1), "receive queues of the card, up to 256, each with a CPU; flows are hashed to them (`ethtool -L`; cards are on `model:` only)", &contract::CARD;
        rx_ring: u32 = RX_RING, "rx_ring", Form::Count((1, 1 << 20)), number(1024), "frames per receive queue (`ethtool -G`)", &contract::CARD;
        rx_ns: i64 = RX_USECS, "rx_usecs", Form::Time(CARD_TIME), number(0), "time from the first frame in an empty queue to the interrupt (`ethtool -C`); GRO merges the frames of one poll", &contract::CARD;
        #[serde(default)]
        rx_frames: u32 = RX_FRAMES, "rx_frames", Form::Count((0, 1 << 20)), number(0), "interrupt early once this many frames are queued (`ethtool -C`; needs `rx_usecs`); 0: timer only", &contract::CARD;
        frame_ns: i64 = RX_FRAME_COST, "rx_frame_cost", Form::Time(CARD_TIME), number(0), "CPU time per received frame", &contract::CARD;
        packet_ns: i64 = RX_PACKET_COST, "rx_packet_cost", Form::Time(CARD_TIME), number(0), "CPU time per packet after GRO", &contract::CARD;
        caqm: bool = NIC_CAQM, "nic_caqm", Form::Flag, flag(true), "the card parses ports behind CAQM's tag; if not, all tagged frames go to queue 0", &contract::CARD;
        rps: bool = RPS, "rps", Form::Flag, flag(false), "receive packet steering: spreads flows over the CPUs after GRO, independent of the card", &contract::CARD;
    }
}

/// `[[arm]]` of a population: one server at the end of a path, so neither a number of hosts nor a router.
pub(crate) const ARM: &[Key] = &super::joined::<{ OF_ARM.len() + CARD.len() }>(OF_ARM, CARD);

const OF_ARM: &[Key] = &[NAME, SYSCTL, CHANGE, ROUTE, SOCKET, OFFLOAD, PROFILE, BEHAVIOUR];

const OWN: &[Key] = &[NAME, COUNT, FORWARD, SYSCTL, CHANGE, ROUTE, SOCKET, OFFLOAD, PROFILE, BEHAVIOUR];

/// `[[host]]`: its own keys and those of its card.
pub(crate) const HOST: &[Key] = &super::joined::<{ OWN.len() + CARD.len() }>(OWN, CARD);

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
