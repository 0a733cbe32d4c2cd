//! Keys of an experiment that some kinds of stack do not honour.

use super::Kind;
use super::ways::{
    DROP, DUPLICATE, INJECT, LATE, LINK_CHANGE, MARK, MIDDLEBOX, OUTAGE, RATE_TRACE,
};
use crate::app::App;
use crate::experiment::keys::SOCKET;
use crate::network::HOST_SYSCTLS;
use crate::point::{By, Direction, Host, Link, Offload, Point, SocketOptions};
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
    pub(super) asks: Asks,
}

/// The places of a point that ask for what a rule stands against, each with what stands there.
#[derive(Debug)]
pub(super) enum Asks {
    /// `run.NAME`.
    Run(fn(&Point) -> Option<String>),
    /// `host.HOST.NAME`.
    Hosts(fn(&Point, &Host) -> Option<String>),
    /// `link A-B.WAY.NAME`.
    Ways(fn(&Direction) -> bool),
    /// Others.
    Places(fn(&Point) -> Vec<(String, String)>),
}

const KERNELS: &[Kind] = &[Kind::Uml, Kind::Qemu, Kind::Host, Kind::Ssh];
const KERNELS_BUT_SSH: &[Kind] = &[Kind::Uml, Kind::Qemu, Kind::Host];

/// Sysctls that every stack sets by itself: `run.tolerate` may name them although no host does.
pub const SHARED_NAMES: [&str; 3] = [HOST_SYSCTLS[0].0, HOST_SYSCTLS[1].0, HOST_SYSCTLS[2].0];

/// All of them, each once, in the order in which a point is told of them.
pub(super) static RULES: [&Rule; 29] = [
    &PROFILE[0],
    &BEHAVIOUR[0],
    &CARD[0],
    &CPU[0],
    &CPU[1],
    &CPU[2],
    &CPU[3],
    &BOOT[0],
    &LINK_EVERY[0],
    &OFFLOAD[0],
    &OF_SOCKET[0],
    &OF_TCP[0],
    &OF_SOCKET[1],
    &BY[0],
    &MTU[0],
    &QDISC[0],
    &ROUTE[0],
    &FORWARD[0],
    &HOST_CHANGE[0],
    &MAX_EVENTS[0],
    &MIDDLEBOX[0],
    &INJECT[0],
    &RATE_TRACE[0],
    &LINK_CHANGE[0],
    &DROP[0],
    &DUPLICATE[0],
    &MARK[0],
    &LATE[0],
    &OUTAGE[0],
];

/// What every rule has that says nothing else.
pub(super) const RULE: Rule = Rule {
    name: "",
    not_on: &[],
    when: "",
    why: "",
    remedy: "",
    tolerable: false,
    asks: Asks::Places(|_| Vec::new()),
};

/// What the rules about the model's own features have in common.
const OF_THE_MODEL: Rule = Rule {
    not_on: KERNELS,
    why: "only the model can change this",
    remedy: "run it on model:, or leave it out",
    tolerable: true,
    ..RULE
};

pub(crate) static PROFILE: [Rule; 1] = [Rule {
    name: "profile",
    asks: Asks::Hosts(|_, host| host.profile.as_ref().map(|name| format!("\"{name}\""))),
    ..OF_THE_MODEL
}];

pub(crate) static BEHAVIOUR: [Rule; 1] = [Rule {
    name: "behaviour",
    asks: Asks::Hosts(|_, host| {
        let names: Vec<&str> = host.behaviour.keys().map(String::as_str).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }),
    ..OF_THE_MODEL
}];

pub(crate) static CARD: [Rule; 1] = [Rule {
    name: "card",
    why: "only the model has a card with this key",
    asks: Asks::Places(|point| {
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
    }),
    ..OF_THE_MODEL
}];

/// What the rules about CPUs have in common.
const OF_CPU: Rule = Rule {
    name: "cpu",
    remedy: "run it on host, or leave it out",
    tolerable: true,
    asks: Asks::Places(cpus),
    ..RULE
};

pub(crate) static CPU: [Rule; 4] = [
    Rule {
        not_on: &[Kind::Model],
        why: "the model has no CPUs",
        ..OF_CPU
    },
    Rule {
        not_on: &[Kind::Uml, Kind::Qemu],
        why: "a guest has only one CPU",
        ..OF_CPU
    },
    Rule {
        not_on: &[Kind::Host],
        when: "when applications name different CPUs",
        why: "all applications of a run share one thread, and so one CPU",
        remedy: "write the same number everywhere",
        asks: Asks::Places(|point| several_cpus(point, &[&|_| true])),
        ..OF_CPU
    },
    Rule {
        not_on: &[Kind::Ssh],
        when: "when applications of a host name different CPUs",
        why: "all applications of a host share one thread, and so one CPU",
        remedy: "write the same number for all applications of a host",
        asks: Asks::Places(|point| several_cpus(point, &[&|host| host == 0, &|host| host == 1])),
        ..OF_CPU
    },
];

pub(crate) static BOOT: [Rule; 1] = [Rule {
    name: "boot",
    not_on: &[Kind::Qemu, Kind::Host, Kind::Ssh],
    why: "the hosts use the machine's own clock",
    remedy: "run it on model: or uml:, or leave it out",
    tolerable: true,
    asks: Asks::Run(|point| point.boot_ns.map(|ns| format!("{ns} ns"))),
    ..RULE
}];

pub(crate) static LINK_EVERY: [Rule; 1] = [Rule {
    name: "link_every",
    not_on: KERNELS_BUT_SSH,
    when: "when all links are by = \"kernel\"",
    why: "kernel links have no samples, and all links of this experiment are kernel links",
    remedy: "remove by = \"kernel\" or link_every",
    tolerable: true,
    asks: Asks::Run(|point| {
        let mut links = point.links.iter();
        let asked = point
            .link_every_ns
            .filter(|_| links.all(|link| link.by == By::Kernel));
        asked.map(|ns| format!("{ns} ns"))
    }),
}];

pub(crate) static OFFLOAD: [Rule; 1] = [Rule {
    name: "offload",
    not_on: KERNELS_BUT_SSH,
    when: "at a link with by = \"tcplab\", unless it is \"none\"",
    why: "offload other than \"none\" needs a link with by = \"kernel\"",
    remedy: "write by = \"kernel\" at the link, or run it on model:",
    asks: Asks::Hosts(|point, host| {
        let index = point
            .hosts
            .iter()
            .position(|other| other.name == host.name)?;
        let ours = |l: &Link| l.by == By::Tcplab && (l.a == index || l.b == index);
        let asks = host.offload != Offload::None && point.links.iter().any(ours);
        asks.then(|| format!("\"{}\"", format!("{:?}", host.offload).to_lowercase()))
    }),
    ..RULE
}];

/// Options that set buffers have both, others the second.
pub(crate) static OF_SOCKET: [Rule; 2] = [
    Rule {
        name: "rcvbuf, sndbuf",
        not_on: &[Kind::Model],
        when: "at an application that sends datagrams",
        why: "the model's datagram sockets always have the kernel's default buffers",
        remedy: "run it on uml:, or leave it out",
        asks: Asks::Places(|point| {
            let is_datagram = |app: &App| app.does.is_udp() && !app.does.is_replay();
            of_apps((point, true), is_datagram, |options| {
                let is_buffer = |name: &&str| ["rcvbuf", "sndbuf"].contains(name);
                options.keys_set().into_iter().filter(is_buffer).collect()
            })
        }),
        ..RULE
    },
    Rule {
        name: "options of a socket",
        not_on: &Kind::ALL,
        when: "at a replay",
        why: "a replay has no socket",
        remedy: "leave it out",
        asks: Asks::Places(|point| {
            let is_replay = |app: &App| app.does.is_replay();
            of_apps((point, false), is_replay, |options| {
                let rest = SocketOptions {
                    cpu: None,
                    ..options.clone()
                };
                let is_set = rest != SocketOptions::default() && of_tcp(options).is_empty();
                is_set.then_some("options").into_iter().collect()
            })
        }),
        ..RULE
    },
];

pub(crate) static OF_TCP: [Rule; 1] = [Rule {
    name: "options of TCP",
    not_on: &Kind::ALL,
    when: "at an application that sends datagrams",
    why: "TCP's socket options do not apply to datagrams",
    remedy: "leave it out",
    asks: Asks::Places(|point| {
        let is_datagram = |app: &App| app.does.is_udp();
        of_apps((point, false), is_datagram, of_tcp)
    }),
    ..RULE
}];

pub(crate) static BY: [Rule; 1] = [Rule {
    name: "by",
    not_on: &[Kind::Model],
    when: "when it is \"kernel\"",
    why: "the model has tcplab's own links, not the kernel's",
    remedy: "run it on uml:, or leave it out",
    asks: Asks::Places(|point| {
        let links = point.links.iter().filter(|link| link.by == By::Kernel);
        let place = |link| (name_of(point, link), "by = \"kernel\"".to_owned());
        links.map(place).collect()
    }),
    ..RULE
}];

/// ETH_MAX_MTU less the header of a frame: the most that `tun_set_iff` lets a TAP device have.
const TAP_MTU: u32 = 65_535 - 14;

pub(crate) static MTU: [Rule; 1] = [Rule {
    name: "mtu",
    not_on: KERNELS_BUT_SSH,
    when: "above 65521, at a link with by = \"tcplab\"",
    why: "the link's TAP device takes at most 65521 bytes",
    remedy: "write 65521 or less, write by = \"kernel\" at the link, or run it on model:",
    asks: Asks::Places(|point| {
        let is_large = |link: &&Link| link.by == By::Tcplab && link.mtu > TAP_MTU;
        let links = point.links.iter().filter(is_large);
        let place = |link: &Link| {
            (
                format!("{}.mtu", name_of(point, link)),
                link.mtu.to_string(),
            )
        };
        links.map(place).collect()
    }),
    ..RULE
}];

pub(crate) static QDISC: [Rule; 1] = [Rule {
    name: "qdisc",
    not_on: KERNELS_BUT_SSH,
    when: "at a link with by = \"kernel\", where its words are tcplab's own",
    why: "kernels do not support it",
    remedy: "remove by = \"kernel\", or use a qdisc of the kernel",
    asks: Asks::Places(|point| {
        let found = ways(point).filter_map(|(place, link, at)| {
            let words = at.qdisc.as_deref().filter(|_| link.by == By::Kernel)?;
            let why = Settings::parse(words).ok()?.kind().not_in_kernels()?;
            Some((format!("{place}.qdisc"), why.to_owned()))
        });
        found.collect()
    }),
    ..RULE
}];

/// What the rules about machines that tcplab only borrows have in common.
const OF_MACHINES: Rule = Rule {
    not_on: &[Kind::Ssh],
    ..RULE
};

pub(crate) static ROUTE: [Rule; 1] = [Rule {
    name: "route",
    why: "tcplab does not change routes of a real machine",
    remedy: "set it there with `ip route change`, and remove it here",
    asks: Asks::Hosts(|_, host| {
        let metrics = host.route.keys_set();
        (!metrics.is_empty()).then(|| metrics.join(", "))
    }),
    ..OF_MACHINES
}];

pub(crate) static HOST_CHANGE: [Rule; 1] = [Rule {
    name: "change",
    why: "sysctls of a whole machine do not change during a run",
    remedy: "run it on uml: or host, or leave it out",
    asks: Asks::Hosts(|_, host| {
        let first = host.changes.first()?;
        Some(format!("{}={}", first.name, first.value))
    }),
    ..OF_MACHINES
}];

pub(crate) static FORWARD: [Rule; 1] = [Rule {
    name: "forward",
    why: "a real machine cannot have another host behind it",
    remedy: "leave it out",
    asks: Asks::Hosts(|_, host| host.forward.then(String::new)),
    ..OF_MACHINES
}];

pub(crate) static MAX_EVENTS: [Rule; 1] = [Rule {
    name: "max_events",
    why: "only the model counts events",
    remedy: "remove it, or write `max`, which ends a run on every stack",
    asks: Asks::Run(|point| point.max_events.map(|most| most.to_string())),
    ..OF_THE_MODEL
}];

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
        self.asked(point).into_iter().map(refusal).collect()
    }

    /// The places that ask for it, each with what stands there.
    fn asked(&self, point: &Point) -> Vec<(String, String)> {
        let name = self.name;
        match self.asks {
            Asks::Run(value) => {
                let value = value(point).map(|value| (format!("run.{name}"), value));
                value.into_iter().collect()
            }
            Asks::Hosts(value) => of_hosts(point, name, |host| value(point, host)),
            Asks::Ways(has) => {
                let found = ways(point).filter(|(.., way)| has(way));
                found
                    .map(|(place, ..)| (format!("{place}.{name}"), String::new()))
                    .collect()
            }
            Asks::Places(places) => places(point),
        }
    }
}

/// `link A-B`.
fn name_of(point: &Point, link: &Link) -> String {
    let name = |host: usize| point.hosts.get(host).map_or("?", |h| h.name.as_str());
    format!("link {}-{}", name(link.a), name(link.b))
}

/// Both ways of each link, with their places.
fn ways(point: &Point) -> impl Iterator<Item = (String, &Link, &Direction)> {
    point.links.iter().flat_map(|link| {
        let place = |way| format!("{}.{way}", name_of(point, link));
        [("a_to_b", &link.a_to_b), ("b_to_a", &link.b_to_a)].map(|(way, at)| (place(way), link, at))
    })
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
        keys.any(|key| key.rules.iter().any(|rule| rule.name == OF_TCP[0].name))
    };
    options.keys_set().into_iter().filter(is_of_tcp).collect()
}

/// Every `cpu` of a point.
fn cpus(point: &Point) -> Vec<(String, String)> {
    let found = point.socket_tables().filter_map(|table| {
        let cpu = table.options.cpu?;
        Some((table.place("cpu"), cpu.to_string()))
    });
    found.collect()
}

/// Those of applications that share a thread, when they are not one CPU.
fn several_cpus(point: &Point, threads: &[&dyn Fn(usize) -> bool]) -> Vec<(String, String)> {
    let differ = |is_here: &&dyn Fn(usize) -> bool| point.cpus(is_here).len() > 1;
    match threads.iter().any(differ) {
        true => cpus(point),
        false => Vec::new(),
    }
}
