//! Keys of an experiment that some kinds of stack do not honour.

use super::Kind;
use super::ways::{
    DROP_RULE, DUPLICATE_RULE, INJECT_RULE, LATE_RULE, LINK_CHANGE_RULE, MARK_RULE, MIDDLEBOX_RULE,
    OUTAGE_RULE, RATE_TRACE_RULE,
};
use crate::app::App;
use crate::experiment::keys::SOCKET;
use crate::network::HOST_SYSCTLS;
use crate::point::{By, Host, Link, Offload, Point, SocketOptions};
use crate::refusal::Refusal;
use tcplab_qdisc::Settings;

/// A key that some kinds of stack do not honour.
#[derive(Debug)]
pub struct Rule {
    /// Its name, which `run.tolerate` takes when it is tolerable.
    pub name: &'static str,
    /// The kinds of stack that do not honour it.
    pub not_on: &'static [Kind],
    /// Which settings of the key, in words that follow "refused on KIND"; empty: all of them.
    pub when: &'static str,
    /// Why.
    pub why: &'static str,
    /// What to do.
    pub remedy: &'static str,
    /// Whether the stack can leave it out.
    pub tolerable: bool,
    /// Places of a point that ask for it, each with what stands there.
    pub(super) asks: fn(&Point) -> Vec<(String, String)>,
}

const KERNELS: &[Kind] = &[Kind::Uml, Kind::Qemu, Kind::Host, Kind::Ssh];
const ALL: &[Kind] = &[Kind::Model, Kind::Uml, Kind::Qemu, Kind::Host, Kind::Ssh];
const MODEL_ONLY: &str = "only the model can change this";
const ON_MODEL: &str = "run it on model:, or leave it out";

/// Sysctls that every stack sets by itself: `run.tolerate` may name them although no host does.
pub const SHARED_NAMES: [&str; 3] = [HOST_SYSCTLS[0].0, HOST_SYSCTLS[1].0, HOST_SYSCTLS[2].0];

// The rules that stand against a key.
pub(crate) const PROFILE: &[&Rule] = &[&PROFILE_RULE];
pub(crate) const BEHAVIOUR: &[&Rule] = &[&BEHAVIOUR_RULE];
pub(crate) const CARD: &[&Rule] = &[&CARD_RULE];
pub(crate) const CPU: &[&Rule] = &[&CPU_RULE, &CPU_GUEST_RULE, &CPU_HOST_RULE, &CPU_SSH_RULE];
pub(crate) const BOOT: &[&Rule] = &[&BOOT_RULE];
pub(crate) const LINK_EVERY: &[&Rule] = &[&LINK_EVERY_RULE];
pub(crate) const OFFLOAD: &[&Rule] = &[&OFFLOAD_RULE];
pub(crate) const BY: &[&Rule] = &[&BY_RULE];
pub(crate) const MTU: &[&Rule] = &[&MTU_RULE];
pub(crate) const QDISC: &[&Rule] = &[&QDISC_RULE];
pub(crate) const ROUTE: &[&Rule] = &[&ROUTE_RULE];
pub(crate) const HOST_CHANGE: &[&Rule] = &[&HOST_CHANGE_RULE];
pub(crate) const FORWARD: &[&Rule] = &[&FORWARD_RULE];
pub(crate) const MAX_EVENTS: &[&Rule] = &[&MAX_EVENTS_RULE];
pub(crate) const BUFFERS: &[&Rule] = &[&DATAGRAM_BUFFERS_RULE, &REPLAY_SOCKET_RULE];
pub(crate) const OF_TCP: &[&Rule] = &[&TCP_OPTIONS_RULE];
pub(crate) const OF_SOCKET: &[&Rule] = &[&REPLAY_SOCKET_RULE];

/// All of them.
pub(super) static RULES: [&Rule; 29] = [
    &PROFILE_RULE,
    &BEHAVIOUR_RULE,
    &CARD_RULE,
    &CPU_RULE,
    &CPU_GUEST_RULE,
    &CPU_HOST_RULE,
    &CPU_SSH_RULE,
    &BOOT_RULE,
    &LINK_EVERY_RULE,
    &OFFLOAD_RULE,
    &DATAGRAM_BUFFERS_RULE,
    &TCP_OPTIONS_RULE,
    &REPLAY_SOCKET_RULE,
    &BY_RULE,
    &MTU_RULE,
    &QDISC_RULE,
    &ROUTE_RULE,
    &FORWARD_RULE,
    &HOST_CHANGE_RULE,
    &MAX_EVENTS_RULE,
    &MIDDLEBOX_RULE,
    &INJECT_RULE,
    &RATE_TRACE_RULE,
    &LINK_CHANGE_RULE,
    &DROP_RULE,
    &DUPLICATE_RULE,
    &MARK_RULE,
    &LATE_RULE,
    &OUTAGE_RULE,
];

static PROFILE_RULE: Rule = Rule {
    name: "profile",
    not_on: KERNELS,
    when: "",
    why: MODEL_ONLY,
    remedy: ON_MODEL,
    tolerable: true,
    asks: |point| {
        of_hosts(point, "profile", |host| {
            host.profile.as_ref().map(|name| format!("\"{name}\""))
        })
    },
};

static BEHAVIOUR_RULE: Rule = Rule {
    name: "behaviour",
    not_on: KERNELS,
    when: "",
    why: MODEL_ONLY,
    remedy: ON_MODEL,
    tolerable: true,
    asks: |point| {
        of_hosts(point, "behaviour", |host| {
            let names: Vec<&str> = host.behaviour.keys().map(String::as_str).collect();
            (!names.is_empty()).then(|| names.join(", "))
        })
    },
};

static CARD_RULE: Rule = Rule {
    name: "card",
    not_on: KERNELS,
    when: "",
    why: "only the model has a card with this key",
    remedy: ON_MODEL,
    tolerable: true,
    asks: |point| {
        let mut found = Vec::new();
        for (host, card) in point
            .hosts
            .iter()
            .filter_map(|host| Some((host, host.card?)))
        {
            let keys = card.keys_set();
            // Values that are the defaults ask for a card as well.
            let keys = if keys.is_empty() { vec!["card"] } else { keys };
            let place = |key: &str| format!("host.{}.{key}", host.name);
            found.extend(keys.into_iter().map(|key| (place(key), String::new())));
        }
        found
    },
};

static CPU_RULE: Rule = Rule {
    name: "cpu",
    not_on: &[Kind::Model],
    when: "",
    why: "the model has no CPUs",
    remedy: "run it on host, or leave it out",
    tolerable: true,
    asks: cpus,
};

static CPU_GUEST_RULE: Rule = Rule {
    name: "cpu",
    not_on: &[Kind::Uml, Kind::Qemu],
    when: "",
    why: "a guest has only one CPU",
    remedy: "run it on host, or leave it out",
    tolerable: true,
    asks: cpus,
};

static CPU_HOST_RULE: Rule = Rule {
    name: "cpu",
    not_on: &[Kind::Host],
    when: "when applications name different CPUs",
    why: "all applications of a run share one thread, and so one CPU",
    remedy: "write the same number everywhere",
    tolerable: true,
    asks: |point| several_cpus(point, &[&|_| true]),
};

static CPU_SSH_RULE: Rule = Rule {
    name: "cpu",
    not_on: &[Kind::Ssh],
    when: "when applications of a host name different CPUs",
    why: "all applications of a host share one thread, and so one CPU",
    remedy: "write the same number for all applications of a host",
    tolerable: true,
    asks: |point| several_cpus(point, &[&|host| host == 0, &|host| host == 1]),
};

static BOOT_RULE: Rule = Rule {
    name: "boot",
    not_on: &[Kind::Qemu, Kind::Host, Kind::Ssh],
    when: "",
    why: "the hosts use the machine's own clock",
    remedy: "run it on model: or uml:, or leave it out",
    tolerable: true,
    asks: |point| of_run("boot", point.boot_ns.map(|ns| format!("{ns} ns"))),
};

static LINK_EVERY_RULE: Rule = Rule {
    name: "link_every",
    not_on: &[Kind::Uml, Kind::Qemu, Kind::Host],
    when: "when all links are by = \"kernel\"",
    why: "kernel links have no samples, and all links of this experiment are kernel links",
    remedy: "remove by = \"kernel\" or link_every",
    tolerable: true,
    asks: |point| {
        let mut links = point.links.iter();
        let asked = point
            .link_every_ns
            .filter(|_| links.all(|link| link.by == By::Kernel));
        of_run("link_every", asked.map(|ns| format!("{ns} ns")))
    },
};

static OFFLOAD_RULE: Rule = Rule {
    name: "offload",
    not_on: &[Kind::Uml, Kind::Qemu, Kind::Host],
    when: "at a link with by = \"tcplab\", unless it is \"none\"",
    why: "offload other than \"none\" needs a link with by = \"kernel\"",
    remedy: "write by = \"kernel\" at the link, or run it on model:",
    tolerable: false,
    asks: |point| {
        of_hosts(point, "offload", |host| {
            let index = point
                .hosts
                .iter()
                .position(|other| other.name == host.name)?;
            let ours = |l: &Link| l.by == By::Tcplab && (l.a == index || l.b == index);
            let asks = host.offload != Offload::None && point.links.iter().any(ours);
            asks.then(|| format!("\"{}\"", format!("{:?}", host.offload).to_lowercase()))
        })
    },
};

static DATAGRAM_BUFFERS_RULE: Rule = Rule {
    name: "rcvbuf, sndbuf",
    not_on: &[Kind::Model],
    when: "at an application that sends datagrams",
    why: "the model's datagram sockets always have the kernel's default buffers",
    remedy: "run it on uml:, or leave it out",
    tolerable: false,
    asks: |point| {
        let is_datagram = |app: &App| app.does.is_udp() && !app.does.is_replay();
        of_apps((point, true), is_datagram, |options| {
            let is_buffer = |name: &&str| ["rcvbuf", "sndbuf"].contains(name);
            options.keys_set().into_iter().filter(is_buffer).collect()
        })
    },
};

static TCP_OPTIONS_RULE: Rule = Rule {
    name: "options of TCP",
    not_on: ALL,
    when: "at an application that sends datagrams",
    why: "TCP's socket options do not apply to datagrams",
    remedy: "leave it out",
    tolerable: false,
    asks: |point| {
        let is_datagram = |app: &App| app.does.is_udp();
        of_apps((point, false), is_datagram, of_tcp)
    },
};

static REPLAY_SOCKET_RULE: Rule = Rule {
    name: "options of a socket",
    not_on: ALL,
    when: "at a replay",
    why: "a replay has no socket",
    remedy: "leave it out",
    tolerable: false,
    asks: |point| {
        let is_replay = |app: &App| app.does.is_replay();
        of_apps((point, false), is_replay, |options| {
            let rest = SocketOptions {
                cpu: None,
                ..options.clone()
            };
            let is_set = rest != SocketOptions::default() && of_tcp(options).is_empty();
            is_set.then_some("options").into_iter().collect()
        })
    },
};

pub(super) static BY_RULE: Rule = Rule {
    name: "by",
    not_on: &[Kind::Model],
    when: "when it is \"kernel\"",
    why: "the model has tcplab's own links, not the kernel's",
    remedy: "run it on uml:, or leave it out",
    tolerable: false,
    asks: |point| {
        let links = point.links.iter().filter(|link| link.by == By::Kernel);
        let place = |link| (name_of(point, link), "by = \"kernel\"".to_owned());
        links.map(place).collect()
    },
};

/// ETH_MAX_MTU less the header of a frame: the most that `tun_set_iff` lets a TAP device have.
const TAP_MTU: u32 = 65_535 - 14;

static MTU_RULE: Rule = Rule {
    name: "mtu",
    not_on: &[Kind::Uml, Kind::Qemu, Kind::Host],
    when: "above 65521, at a link with by = \"tcplab\"",
    why: "the link's TAP device takes at most 65521 bytes",
    remedy: "write 65521 or less, write by = \"kernel\" at the link, or run it on model:",
    tolerable: false,
    asks: |point| {
        let is_large = |link: &&Link| link.by == By::Tcplab && link.mtu > TAP_MTU;
        let links = point.links.iter().filter(is_large);
        let place = |link| {
            (
                format!("{}.mtu", name_of(point, link)),
                link.mtu.to_string(),
            )
        };
        links.map(place).collect()
    },
};

static QDISC_RULE: Rule = Rule {
    name: "qdisc",
    not_on: &[Kind::Uml, Kind::Qemu, Kind::Host],
    when: "at a link with by = \"kernel\", where its words are tcplab's own",
    why: "kernels do not support it",
    remedy: "remove by = \"kernel\", or use a qdisc of the kernel",
    tolerable: false,
    asks: |point| {
        let mut found = Vec::new();
        for link in point.links.iter().filter(|link| link.by == By::Kernel) {
            for (way, at) in [("a_to_b", &link.a_to_b), ("b_to_a", &link.b_to_a)] {
                let words = at
                    .qdisc
                    .as_deref()
                    .and_then(|words| Settings::parse(words).ok());
                let why = words.and_then(|qdisc| qdisc.kind().not_in_kernels());
                let place = || format!("{}.{way}.qdisc", name_of(point, link));
                found.extend(why.map(|why| (place(), why.to_owned())));
            }
        }
        found
    },
};

static ROUTE_RULE: Rule = Rule {
    name: "route",
    not_on: &[Kind::Ssh],
    when: "",
    why: "tcplab does not change routes of a real machine",
    remedy: "set it there with `ip route change`, and remove it here",
    tolerable: false,
    asks: |point| {
        of_hosts(point, "route", |host| {
            let metrics = host.route.keys_set();
            (!metrics.is_empty()).then(|| metrics.join(", "))
        })
    },
};

static HOST_CHANGE_RULE: Rule = Rule {
    name: "change",
    not_on: &[Kind::Ssh],
    when: "",
    why: "sysctls of a whole machine do not change during a run",
    remedy: "run it on uml: or host, or leave it out",
    tolerable: false,
    asks: |point| {
        of_hosts(point, "change", |host| {
            let first = host.changes.first()?;
            Some(format!("{}={}", first.name, first.value))
        })
    },
};

static FORWARD_RULE: Rule = Rule {
    name: "forward",
    not_on: &[Kind::Ssh],
    when: "",
    why: "a real machine cannot have another host behind it",
    remedy: "leave it out",
    tolerable: false,
    asks: |point| of_hosts(point, "forward", |host| host.forward.then(String::new)),
};

static MAX_EVENTS_RULE: Rule = Rule {
    name: "max_events",
    not_on: KERNELS,
    when: "",
    why: "only the model counts events",
    remedy: "remove it, or write `max`, which ends a run on every stack",
    tolerable: true,
    asks: |point| of_run("max_events", point.max_events.map(|most| most.to_string())),
};

impl Rule {
    /// What of a point it stands against on this kind of stack.
    pub fn judge(&self, point: &Point, kind: Kind) -> Vec<Refusal> {
        if !self.not_on.contains(&kind) {
            return Vec::new();
        }
        let refusal = |(place, value): (String, String)| {
            let why = match value.is_empty() {
                true => self.why.to_owned(),
                false => format!("{value}: {}", self.why),
            };
            let refusal = Refusal::new(place, why, self.remedy);
            match self.tolerable {
                true => refusal.tolerable(self.name),
                false => refusal,
            }
        };
        (self.asks)(point).into_iter().map(refusal).collect()
    }
}

/// `link A-B`.
pub(super) fn name_of(point: &Point, link: &Link) -> String {
    let name = |host: usize| point.hosts.get(host).map_or("?", |h| h.name.as_str());
    format!("link {}-{}", name(link.a), name(link.b))
}

/// `run.KEY`, where the point has it.
fn of_run(key: &str, value: Option<String>) -> Vec<(String, String)> {
    let one = value.map(|value| (format!("run.{key}"), value));
    one.into_iter().collect()
}

/// `host.NAME.KEY` of the hosts that have it.
fn of_hosts(
    point: &Point,
    key: &str,
    value: impl Fn(&Host) -> Option<String>,
) -> Vec<(String, String)> {
    let place = |host: &Host| Some((format!("host.{}.{key}", host.name), value(host)?));
    point.hosts.iter().filter_map(place).collect()
}

/// Keys of the sockets of applications. `whole`: with the options of their hosts, which are for all of a host's
/// applications; else only those that stand in the application itself.
fn of_apps(
    (point, whole): (&Point, bool),
    is_one: impl Fn(&App) -> bool,
    keys: impl Fn(&SocketOptions) -> Vec<&'static str>,
) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for app in point.apps.iter().filter(|app| is_one(app)) {
        for (side, own, host) in [
            ("client_socket", &app.client_socket, app.client),
            ("server_socket", &app.server_socket, app.server),
        ] {
            let keys = match point.hosts.get(host).filter(|_| whole) {
                Some(host) => keys(&own.or(&host.socket)),
                None => keys(own),
            };
            let place = |key| (format!("app.{}.{side}.{key}", app.name), String::new());
            found.extend(keys.into_iter().map(place));
        }
    }
    found
}

/// The options that only TCP has.
fn of_tcp(options: &SocketOptions) -> Vec<&'static str> {
    let is_of_tcp = |name: &&str| {
        let mut keys = SOCKET.iter().filter(|key| key.name == *name);
        keys.any(|key| {
            key.rules
                .iter()
                .any(|rule| rule.name == TCP_OPTIONS_RULE.name)
        })
    };
    options.keys_set().into_iter().filter(is_of_tcp).collect()
}

/// Every `cpu` of a point.
fn cpus(point: &Point) -> Vec<(String, String)> {
    let mut found = of_hosts(point, "socket.cpu", |host| {
        host.socket.cpu.map(|cpu| cpu.to_string())
    });
    for app in &point.apps {
        for (side, socket) in [
            ("client_socket", &app.client_socket),
            ("server_socket", &app.server_socket),
        ] {
            let place = || format!("app.{}.{side}.cpu", app.name);
            found.extend(socket.cpu.map(|cpu| (place(), cpu.to_string())));
        }
    }
    found
}

/// Those of applications that share a thread, when they are not one CPU.
fn several_cpus(point: &Point, threads: &[&dyn Fn(usize) -> bool]) -> Vec<(String, String)> {
    let differ = |is_here: &&dyn Fn(usize) -> bool| point.cpus(is_here).len() > 1;
    match threads.iter().any(differ) {
        true => cpus(point),
        false => Vec::new(),
    }
}
