//! Measures: what an experiment can be asked for, by name, and expressions over them.
//!
//! | name | value |
//! |---|---|
//! | `HOST.TcpExtDelayedACKs` | a counter of the host by nstat's name, as a difference over the run |
//! | `HOST.rx_queue_0_packets` | a counter of the host's network card (`rx_queues` and so on), by the names of `ethtool -S` |
//! | `HOST.acks.delayed` | what the analyser reads from the capture at that host ([`PACKETS`]) |
//! | `HOST.tcpi_rtt` | tcp_info at the close of the host's first connection |
//! | `APP.completed` | of an application ([`APP`]) |
//! | `APP.client.tcpi_rtt` | tcp_info at that end of the application's first connection |
//! | `APP.client.quickack.min` | of the log of that end ([`LOG`]) |
//! | `link.A-B.a_to_b.lost` | of one way of a link ([`LINK`]) |
//! | `rrul.TCP download sum.mean` | of a series of a set, by flent's name ([`STATISTICS`]) |
//! | `run.virtual_s` | of the run ([`RUN`]) |
//!
//! The name of a group (`count` in the experiment) stands for all of its members: their counts are
//! summed, their packets and connections are taken together. `link.A-B` with the name of a group
//! stands for the links of all members.

mod by_name;
mod expression;
mod fairness;
mod known;
mod lacking;
mod lex;
mod of_app;
mod parse;
mod unit;
mod unmoved;
mod value;

use std::fmt;

use crate::app::App;
use crate::experiment::nearest;
use crate::point::{Host, Link, Point};
use crate::set::{AppSet, STATISTICS};

pub use by_name::{COUNTERS, TCP_INFO, values_of};
pub use expression::{CannotSay, Expression, ExpressionError, Formula};
pub use fairness::{goodput_over_time, jain_over_time};
pub use known::{APP, Known, LINK, LOG, Over, PACKETS, Packets, RUN};
pub use lacking::is_behind_own_qdisc;
pub use of_app::{IS_SLOWEST, goodput};
pub use unit::{Better, Described, Direction, Kind, Unit, Values};
pub use unmoved::is_left_out_at_zero;
pub use value::{Sent, Sources};

/// A name that a point can have a value for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Measure {
    /// A kernel counter.
    Counter {
        /// Name of the host.
        host: String,
        /// nstat's name.
        counter: String,
    },
    /// A field of the analyser.
    Packets {
        /// Name of the host.
        host: String,
        /// The field.
        field: &'static Packets,
    },
    /// A field of tcp_info of a host's first connection.
    HostTcpInfo {
        /// Name of the host.
        host: String,
        /// The kernel's name.
        field: String,
    },
    /// A measure of an application.
    App {
        /// Name of the application.
        app: String,
        /// One of [`APP`].
        field: &'static str,
    },
    /// A field of tcp_info of an application's first connection.
    AppTcpInfo {
        /// Name of the application.
        app: String,
        /// Which end.
        is_client: bool,
        /// The kernel's name.
        field: String,
    },
    /// A measure of the log of an application's end.
    AppLog {
        /// Name of the application.
        app: String,
        /// Which end.
        is_client: bool,
        /// One of [`LOG`].
        field: &'static str,
    },
    /// A measure of a link.
    Link {
        /// `A-B`, with names of hosts or of groups.
        link: String,
        /// Which way.
        is_a_to_b: bool,
        /// One of [`LINK`].
        field: &'static str,
    },
    /// A statistic of a set's series.
    Set {
        /// Name of the set.
        set: String,
        /// flent's name of the series.
        series: String,
        /// One of [`STATISTICS`].
        field: &'static str,
    },
    /// A measure of the run: one of [`RUN`].
    Run(&'static str),
}

/// A name that no measure of the point has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownMeasure {
    /// The name.
    pub name: String,
    /// The unknown part of the name.
    pub part: String,
    /// The whole name that was probably meant, or what may stand there.
    pub help: Option<String>,
}

impl UnknownMeasure {
    /// What is wrong, without the help.
    pub fn message(&self) -> String {
        let short = |text: &str| text.chars().take(80).collect::<String>();
        match self.part.is_empty() {
            true => format!("no measure `{}`: the name is incomplete", short(&self.name)),
            false => format!(
                "no measure `{}`: `{}` is unknown",
                short(&self.name),
                short(&self.part)
            ),
        }
    }
}

impl fmt::Display for UnknownMeasure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message())?;
        match &self.help {
            Some(help) => write!(f, "; {help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for UnknownMeasure {}

impl Measure {
    /// Finds what a name means at a point. Counters and fields of tcp_info are not checked: which
    /// there are depends on the kernel.
    ///
    /// # Errors
    /// The part of the name that is not known, and the nearest one that is.
    pub fn parse(name: &str, point: &Point) -> Result<Self, UnknownMeasure> {
        let (owner, field) = name.split_once('.').unwrap_or((name, ""));
        match owner {
            "run" => {
                return exactly(name, "run", field, &names_of(&RUN)).map(Self::Run);
            }
            "link" => return link(name, field, point),
            _ => {}
        }
        if point.hosts.iter().any(|host| is_host(host, owner)) {
            return host(name, owner, field);
        }
        if let Some(set) = point.sets.iter().find(|set| set.name == owner)
            && let Some(measure) = of_set(name, set, field)?
        {
            return Ok(measure);
        }
        if point.apps.iter().any(|app| is_app(app, owner)) {
            return app(name, owner, field);
        }
        let hosts = point.hosts.iter().map(host_owner);
        let apps = point.apps.iter().map(app_owner);
        let mut owners: Vec<&str> = hosts.chain(apps).chain(["run", "link"]).collect();
        owners.dedup();
        let help = match nearest(owner, owners.iter().copied()) {
            Some(near) => format!("did you mean `{near}.{field}`?"),
            None => format!("a measure begins with one of {}", owners.join(", ")),
        };
        Err(unknown(name, owner, Some(help)))
    }

    /// Its name.
    pub fn name(&self) -> String {
        match self {
            Self::Counter { host, counter } => format!("{host}.{counter}"),
            Self::Packets { host, field } => format!("{host}.{}", field.known.name),
            Self::HostTcpInfo { host, field } => format!("{host}.{field}"),
            Self::App { app, field } => format!("{app}.{field}"),
            Self::AppTcpInfo {
                app,
                is_client,
                field,
            } => format!("{app}.{}.{field}", end_name(*is_client)),
            Self::AppLog {
                app,
                is_client,
                field,
            } => format!("{app}.{}.{field}", end_name(*is_client)),
            Self::Link {
                link,
                is_a_to_b,
                field,
            } => {
                let way = if *is_a_to_b { "a_to_b" } else { "b_to_a" };
                format!("link.{link}.{way}.{field}")
            }
            Self::Set { set, series, field } => format!("{set}.{series}.{field}"),
            Self::Run(field) => format!("run.{field}"),
        }
    }
}

fn end_name(is_client: bool) -> &'static str {
    if is_client { "client" } else { "server" }
}

fn unknown(name: &str, part: &str, help: Option<String>) -> UnknownMeasure {
    UnknownMeasure {
        name: name.to_owned(),
        part: part.to_owned(),
        help,
    }
}

fn names_of(known: &[Known]) -> Vec<&'static str> {
    known.iter().map(|known| known.name).collect()
}

/// One of a few names, or the nearest of them.
fn exactly(
    name: &str,
    owner: &str,
    field: &str,
    known: &[&'static str],
) -> Result<&'static str, UnknownMeasure> {
    if let Some(found) = known.iter().find(|known| **known == field) {
        return Ok(found);
    }
    let longer = |known: &&str| field.len() >= 3 && known.starts_with(field);
    let near = nearest(field, known.iter().copied());
    let help = match near.or_else(|| known.iter().copied().find(longer)) {
        Some(near) => format!("did you mean `{owner}.{near}`?"),
        None if known.len() <= 15 => format!("known: {}", known.join(", ")),
        None => format!("such as `{owner}.{}`", known.first().unwrap_or(&"")),
    };
    Err(unknown(name, field, Some(help)))
}

fn is_tcp_info(field: &str) -> bool {
    field.strip_prefix("tcpi_").is_some_and(|rest| {
        !rest.is_empty()
            && rest
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
    })
}

fn host(name: &str, host: &str, field: &str) -> Result<Measure, UnknownMeasure> {
    let owner = host.to_owned();
    if is_counter(field) || is_of_card(field) {
        return Ok(Measure::Counter {
            host: owner,
            counter: field.to_owned(),
        });
    }
    if is_tcp_info(field) {
        return Ok(Measure::HostTcpInfo {
            host: owner,
            field: field.to_owned(),
        });
    }
    let names: Vec<&'static str> = PACKETS.iter().map(|of| of.known.name).collect();
    let found = exactly(name, host, field, &names)?;
    let field = PACKETS.iter().find(|of| of.known.name == found);
    match field {
        Some(field) => Ok(Measure::Packets { host: owner, field }),
        None => Err(unknown(name, found, None)),
    }
}

/// Counters are the only names with capitals: Tcp, TcpExt, Ip, IpExt, Udp, MPTcpExt ...
fn is_counter(field: &str) -> bool {
    field.starts_with(|c: char| c.is_ascii_uppercase())
        && field.bytes().all(|b| b.is_ascii_alphanumeric())
}

/// Whether it is named as a counter of a network card (`ethtool -S`).
fn is_of_card(field: &str) -> bool {
    let rest = ["rx_", "tx_"]
        .into_iter()
        .find_map(|way| field.strip_prefix(way));
    rest.is_some_and(|rest| {
        let is_part = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
        !rest.is_empty() && rest.bytes().all(is_part)
    })
}

fn app(name: &str, app: &str, field: &str) -> Result<Measure, UnknownMeasure> {
    for (end, is_client) in [("client.", true), ("server.", false)] {
        let Some(field) = field.strip_prefix(end) else {
            continue;
        };
        if is_tcp_info(field) {
            return Ok(Measure::AppTcpInfo {
                app: app.to_owned(),
                is_client,
                field: field.to_owned(),
            });
        }
        let owner = format!("{app}.{}", end_name(is_client));
        let field = exactly(name, &owner, field, &names_of(&LOG))?;
        return Ok(Measure::AppLog {
            app: app.to_owned(),
            is_client,
            field,
        });
    }
    let field = exactly(name, app, field, &names_of(&APP))?;
    Ok(Measure::App {
        app: app.to_owned(),
        field,
    })
}

/// A statistic of a series; `None` if the rest is no series' name.
fn of_set(name: &str, set: &AppSet, rest: &str) -> Result<Option<Measure>, UnknownMeasure> {
    let (series, field) = rest.rsplit_once('.').unwrap_or((rest, ""));
    let names = set.names();
    if !names.iter().any(|known| known == series) {
        // All of flent's names have a space; no measure of applications has.
        if !series.contains(' ') {
            return Ok(None);
        }
        let help = match nearest(series, names.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{}.{near}.{field}`?", set.name),
            None => format!("series: {}", names.join(", ")),
        };
        return Err(unknown(name, series, Some(help)));
    }
    let owner = format!("{}.{series}", set.name);
    let field = exactly(name, &owner, field, &STATISTICS.map(|(name, _)| name))?;
    Ok(Some(Measure::Set {
        set: set.name.clone(),
        series: series.to_owned(),
        field,
    }))
}

/// Whether a measure's owner means this host, by its own name or its group's.
fn is_host(host: &Host, owner: &str) -> bool {
    host.name == owner || host.group.as_deref() == Some(owner)
}

pub(crate) fn is_app(app: &App, owner: &str) -> bool {
    app.name == owner || app.group.as_deref() == Some(owner)
}

/// The shortest name that means the host: its group's when it has one.
fn host_owner(host: &Host) -> &str {
    host.group.as_ref().unwrap_or(&host.name)
}

fn app_owner(app: &App) -> &str {
    app.group.as_ref().unwrap_or(&app.name)
}

/// A link's two names: with its hosts, and with their groups.
pub fn link_names(point: &Point, link: &Link) -> [String; 2] {
    let name = |of: fn(&Host) -> &str| {
        let host = |i: usize| point.hosts.get(i).map_or("", of);
        format!("{}-{}", host(link.a), host(link.b))
    };
    [name(|host| &host.name), name(host_owner)]
}

/// The owner of a way's measures: ways 2n and 2n + 1 are those of link n.
pub fn way_owner(point: &Point, way: usize) -> String {
    let own = point.links.get(way / 2).map(|link| link_names(point, link));
    let [name, _] = own.unwrap_or_default();
    let way = ["a_to_b", "b_to_a"][way % 2];
    format!("link.{name}.{way}")
}

fn link(name: &str, rest: &str, point: &Point) -> Result<Measure, UnknownMeasure> {
    let (link, rest) = rest.split_once('.').unwrap_or((rest, ""));
    let names = || point.links.iter().map(|link| link_names(point, link));
    if !names().flatten().any(|known| known == link) {
        let mut names: Vec<String> = names().map(|[_, short]| short).collect();
        names.dedup();
        let help = match nearest(link, names.iter().map(String::as_str)) {
            Some(near) => Some(format!("did you mean `link.{near}.{rest}`?")),
            None if names.is_empty() => None,
            None => Some(format!("links: {}", names.join(", "))),
        };
        return Err(unknown(name, link, help));
    }
    let (way, field) = rest.split_once('.').unwrap_or((rest, ""));
    let way = exactly(name, &format!("link.{link}"), way, &["a_to_b", "b_to_a"])?;
    let owner = format!("link.{link}.{way}");
    let field = exactly(name, &owner, field, &names_of(&LINK))?;
    Ok(Measure::Link {
        link: link.to_owned(),
        is_a_to_b: way == "a_to_b",
        field,
    })
}
