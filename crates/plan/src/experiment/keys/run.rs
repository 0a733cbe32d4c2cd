//! Keys of `[run]`.

use super::{Bounds, Form, Key, fixed, flag, key, number, says, word};
use crate::contract;
use crate::point::Point;
use crate::rules::{MAX_POINTS, SECOND_NS};

pub(crate) const STACKS: Key = fixed("stacks", Form::Texts, says("`model`"), "stacks without `--on`; `host`, `ssh:A,B` and `qemu:IMAGE` run only with `--on`");
pub(crate) const REPEAT: Key = fixed("repeat", Form::Count((1, MAX_POINTS as u64)), number(1), "runs of each point, each with its own seed");
pub(crate) const SEED: Key = key("seed", Form::Count((0, i64::MAX as u64)), number(1), "seed of the random streams; the first repetition uses it unchanged");
pub(crate) const MAX: Key = key("max", Form::Time(Bounds::AtLeast(1)), says("twice the planned time of the applications, plus 60 s"), "latest end of the run");
pub(crate) const MAX_EVENTS: Key = key("max_events", Form::Count((1, u64::MAX >> 1)), number(Point::MAX_EVENTS), "`model`: abort the run after this many events (exit code 3)").refused(&contract::MAX_EVENTS);
pub(crate) const BOOT: Key = key("boot", Form::Time(Bounds::AtLeast(SECOND_NS)), says("4s and a phase from the seed"), "time from the hosts' boot to the run's start; sets the phase of the timer tick (virtual time only)").refused(&contract::BOOT);
pub(crate) const IP: Key = key("ip", Form::Words(&["ipv4", "ipv6"]), word("ipv4"), "IP version; `ipv6`: addresses fd77::1, fd77::2, ... instead of 10.77.0.1, 10.77.0.2, ..., link MTU at least 1,280 bytes");
pub(crate) const LINGER: Key = key("linger", Form::Time(Bounds::Any), number(SECOND_NS as u64 / 2), "time from the end of the last application to the end of the run");
pub(crate) const TCP_INFO_EVERY: Key = key("tcp_info_every", Form::Time(Bounds::AtLeast(100_000)), says("none"), "time between tcp_info samples; by default, one at the end of each connection");
pub(crate) const LINK_EVERY: Key = key("link_every", Form::Time(Bounds::AtLeast(1_000)), says("none"), "time between samples of each link: queue and bytes sent (tcplab's own links)").refused(&contract::LINK_EVERY);
pub(crate) const SNAP: Key = key("snap", Form::Size((0, 262_144)), number(128), "bytes kept per captured frame; 0: all");
pub(crate) const CAPTURES: Key = key("captures", Form::Flag, flag(true), "capture at each interface of each host; packet measures need it");
pub(crate) const TCP_INFO: Key = key("tcp_info", Form::Flag, flag(true), "read tcp_info at the end of each connection");
pub(crate) const LOG: Key = key("log", Form::Flag, flag(false), "log each step of the applications with its time");
pub(crate) const TOLERATE: Key = fixed("tolerate", Form::Texts, says("none"), "sysctls and keys that a stack may ignore if unsupported; the result names them");

/// `[run]`.
pub(crate) const RUN: &[Key] = &[
    STACKS, REPEAT, SEED, IP, MAX, MAX_EVENTS, BOOT, LINGER, TCP_INFO_EVERY, LINK_EVERY, SNAP, CAPTURES, TCP_INFO, LOG,
    TOLERATE,
];
