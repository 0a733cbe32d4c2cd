//! `[[app]]`: the applications.

use std::net::IpAddr;
use std::path::Path;

use super::error::Fault;
use super::fields::Fields;
use super::host::{at_name, socket};
use super::keys::{APP, KINDS};
use super::link::host_index;
use super::messages;
use super::units::{SIZE, TIME};
use crate::app::{App, AppKind, Extent};
use crate::network::direct_link;
use crate::point::{Host, Link};
use crate::rules::{
    LEAST_PING, LEAST_PING_NS, MAX_CHUNK, MAX_CONNECTIONS, MAX_COUNT, MAX_DATAGRAM, MAX_MESSAGE,
    MAX_PAGES, RESERVED, SECOND_NS,
};
use crate::ways::Ways;

/// How long an application goes on that no key ends.
const DEFAULT_DURATION_NS: i64 = 10 * SECOND_NS;

pub(crate) fn apps(
    tables: &[Fields<'_>],
    hosts: &[Host],
    links: &[Link],
) -> Result<Vec<App>, Fault> {
    let mut apps: Vec<App> = Vec::new();
    let mut ways = Ways::new(hosts, links);
    for (i, fields) in tables.iter().enumerate() {
        let app = app(fields, hosts, 5001 + i)?;
        if apps.iter().any(|known| known.name == app.name) {
            let message = format!(
                "there is an application `{}` already; give each a `name`",
                app.name
            );
            return Err(at_name(fields, message));
        }
        // Measures begin with the name of a host or of an application.
        let is_host = |host: &Host| host.name == app.name || host.group.as_ref() == Some(&app.name);
        if hosts.iter().any(is_host) || RESERVED.contains(&app.name.as_str()) {
            let message = format!("an application cannot be called `{}` here", app.name);
            return Err(at_name(fields, message));
        }
        let same = |known: &&App| {
            (known.server, known.port) == (app.server, app.port)
                && known.does.is_udp() == app.does.is_udp()
        };
        if let Some(known) = apps.iter().find(same) {
            let message = format!("`{}` has port {} of this server", known.name, app.port);
            return Err(at_key(fields, "port", message));
        }
        if app.does.is_replay() {
            check_replay(fields, &app, hosts, links)?;
        }
        if let Some(why) = ways.obstacle(app.client, app.server, hosts) {
            return Err(at_key(fields, "server", why));
        }
        apps.push(app);
    }
    Ok(apps)
}

/// Its frames pass one link, once.
fn check_replay(
    fields: &Fields<'_>,
    app: &App,
    hosts: &[Host],
    links: &[Link],
) -> Result<(), Fault> {
    let name = |host: usize| hosts.get(host).map_or("", |h| h.name.as_str());
    let [from, to] = [app.client, app.server];
    if direct_link(links, from, to).is_none() {
        let (from, to) = (name(from), name(to));
        let message = format!("no link joins `{from}` and `{to}`: frames are not forwarded");
        return Err(at_key(fields, "server", message));
    }
    if app.connections != 1 {
        let message = "a replay has one sender; write an application for each".to_owned();
        return Err(at_key(fields, "connections", message));
    }
    Ok(())
}

/// Paths of files begin in the folder of the experiment's own.
pub(crate) fn locate(apps: &mut [App], experiment: &str) {
    let folder = Path::new(experiment).parent().unwrap_or(Path::new(""));
    for app in apps {
        if let AppKind::Replay { file, .. } = &mut app.does {
            *file = folder.join(&*file).to_string_lossy().into_owned();
        }
    }
}

fn at_key(fields: &Fields<'_>, key: &str, message: String) -> Fault {
    match fields.node(key) {
        Some(node) => fields.fault(key, node, message),
        None => Fault::new(&fields.span, fields.path_of(key), message),
    }
}

fn app(fields: &Fields<'_>, hosts: &[Host], port: usize) -> Result<App, Fault> {
    fields.check_fixed(APP)?;
    let words = KINDS.map(|kind| (kind.0, kind));
    // Without its kind nobody knows which keys it may have.
    let Some((kind, _, keys)) = fields.word("kind", &words)? else {
        return Err(fields.missing("kind").suggest("", KINDS.map(|kind| kind.0)));
    };
    check_keys(fields, kind, keys)?;
    let host = |key: &str| match (fields.node(key), fields.text(key)?) {
        (Some(node), Some(name)) => host_index(fields, key, node, name, hosts),
        _ => hosts
            .iter()
            .position(|host| host.name == key)
            .ok_or_else(|| fields.missing(key)),
    };
    let default_port = u64::try_from(port).unwrap_or(5001);
    let port = fields.count("port", 1, 65_535)?.unwrap_or(default_port);
    let connections = fields.count("connections", 1, MAX_CONNECTIONS)?;
    Ok(App {
        name: fields.name("name")?.unwrap_or_else(|| kind.to_owned()),
        group: None,
        client: host("client")?,
        server: host("server")?,
        port: u16::try_from(port).unwrap_or(5001),
        start_ns: fields.time("start")?.unwrap_or(0),
        connections: connections.and_then(|n| u32::try_from(n).ok()).unwrap_or(1),
        stagger_ns: fields.time("stagger")?.unwrap_or(0),
        client_socket: socket(fields, "client_socket")?,
        server_socket: socket(fields, "server_socket")?,
        client_timeout_ns: timeout(fields, "client_timeout")?,
        server_timeout_ns: timeout(fields, "server_timeout")?,
        does: does(fields, kind)?,
    })
}

fn timeout(fields: &Fields<'_>, key: &str) -> Result<Option<i64>, Fault> {
    let ns = fields.time(key)?;
    match (ns, fields.node(key)) {
        (Some(0), Some(node)) => Err(fields.fault(
            key,
            node,
            "a wait of 0 is no wait; leave it out for none at all",
        )),
        _ => Ok(ns),
    }
}

/// A key of another kind is told from one that no kind has.
fn check_keys(fields: &Fields<'_>, kind: &str, keys: &[super::keys::Key]) -> Result<(), Fault> {
    fields.check(&[APP, keys]).map_err(|mut fault| {
        let owner = |name: &str| {
            KINDS
                .iter()
                .find(|(_, _, keys)| keys.iter().any(|key| key.name == name))
        };
        let foreign = fields
            .table
            .entries
            .iter()
            .find(|(_, entry)| entry.key == fault.span);
        if let Some((name, _)) = foreign
            && let Some((other, _, _)) = owner(name)
        {
            fault.message = format!("`{name}` is a key of the kind `{other}`, not of `{kind}`");
        }
        fault
    })
}

fn does(fields: &Fields<'_>, kind: &str) -> Result<AppKind, Fault> {
    let size = |key, default, min, max| Ok(fields.size(key, min, max)?.unwrap_or(default));
    let message = |key, default| size(key, default, 1, MAX_MESSAGE);
    let datagram = |key, default| size(key, default, 1, MAX_DATAGRAM);
    let time = |key, default| Ok::<_, Fault>(fields.time(key)?.unwrap_or(default));
    Ok(match kind {
        "stream" => AppKind::Stream {
            chunk: size("chunk", 1460, 1, MAX_CHUNK)?,
            every_ns: time("every", 0)?,
            late_ns: time("late", 0)?,
            urgent: fields.count("urgent", 1, MAX_COUNT)?.unwrap_or(0),
            read: size("read", 64 << 10, 1, MAX_CHUNK)?,
            until: extent(fields)?,
        },
        "echo" => AppKind::Echo {
            size: message("size", 1)?,
            pause_ns: time("pause", 0)?,
            until: extent(fields)?,
        },
        "write-write-read" => AppKind::WriteWriteRead {
            head: message("head", 512)?,
            body: size("body", 512, 0, MAX_MESSAGE)?,
            reply: message("reply", 1448)?,
            pause_ns: time("pause", 0)?,
            until: extent(fields)?,
        },
        "bulk" => bulk(fields)?,
        "request-response" => AppKind::RequestResponse {
            request: message("request", 1)?,
            response: message("response", 1)?,
            pause_ns: time("pause", 0)?,
            until: extent(fields)?,
        },
        "connect-request-response" => AppKind::ConnectRequestResponse {
            request: message("request", 1)?,
            response: message("response", 1)?,
            pause_ns: time("pause", 0)?,
            until: extent(fields)?,
        },
        "web" => web(fields)?,
        "messages" => messages::read(fields)?,
        "sink" => AppKind::Sink {
            hold_ns: time("hold", DEFAULT_DURATION_NS)?,
        },
        "udp-stream" => AppKind::UdpStream {
            size: datagram("size", 1400)?,
            every_ns: time("every", 10_000_000)?,
            until: extent(fields)?,
        },
        "udp-ping" | "ping" => ping(fields, kind == "ping")?,
        "replay" => replay(fields)?,
        _ => AppKind::UdpRr {
            request: datagram("request", 1)?,
            response: datagram("response", 1)?,
            pause_ns: time("pause", 0)?,
            timeout_ns: fields.length("timeout")?.unwrap_or(SECOND_NS),
            until: extent(fields)?,
        },
    })
}

fn ping(fields: &Fields<'_>, icmp: bool) -> Result<AppKind, Fault> {
    let size = fields.size("size", LEAST_PING, MAX_DATAGRAM)?;
    let every_ns = fields.time("every")?.unwrap_or(200_000_000);
    if every_ns < LEAST_PING_NS {
        let message = format!("must be at least {}ms", LEAST_PING_NS / 1_000_000);
        return Err(at_key(fields, "every", message));
    }
    Ok(AppKind::Ping {
        icmp,
        size: size.unwrap_or(if icmp { 56 } else { 60 }),
        every_ns,
        timeout_ns: fields.length("timeout")?.unwrap_or(10 * SECOND_NS),
        until: extent(fields)?,
    })
}

fn replay(fields: &Fields<'_>) -> Result<AppKind, Fault> {
    let file = fields.text("file")?.filter(|file| !file.is_empty());
    let file = file.ok_or_else(|| fields.missing("file"))?;
    let from = fields.text("from")?.map(|text| {
        text.parse::<IpAddr>().map_err(|_| {
            let message = format!("`{text}` is no IP address");
            at_key(fields, "from", message)
        })
    });
    Ok(AppKind::Replay {
        file: file.to_owned(),
        interface: fields.text("interface")?.map(str::to_owned),
        from: from.transpose()?,
    })
}

fn extent(fields: &Fields<'_>) -> Result<Extent, Fault> {
    let count = fields.count("count", 1, MAX_COUNT)?;
    let duration_ns = fields.length("duration")?;
    let default = count.is_none().then_some(DEFAULT_DURATION_NS);
    Ok(Extent {
        count,
        duration_ns: duration_ns.or(default),
    })
}

fn bulk(fields: &Fields<'_>) -> Result<AppKind, Fault> {
    let bytes = fields.size("bytes", 1, SIZE.max)?;
    let duration_ns = fields.length("duration")?;
    let default = bytes.is_none().then_some(DEFAULT_DURATION_NS);
    Ok(AppKind::Bulk {
        bytes,
        duration_ns: duration_ns.or(default),
        chunk: fields.size("chunk", 1, MAX_CHUNK)?.unwrap_or(128 << 10),
        reverse: fields.flag("reverse")?.unwrap_or(false),
    })
}

fn web(fields: &Fields<'_>) -> Result<AppKind, Fault> {
    let sizes = fields.quantities("sizes", &SIZE, 1, MAX_MESSAGE)?;
    let think = fields.quantities("think", &TIME, 0, TIME.max)?;
    let sizes = sizes.unwrap_or_else(|| vec![10 << 10]);
    let think = think.unwrap_or_default();
    if sizes.is_empty() || sizes.len() > MAX_PAGES {
        return Err(at_key(
            fields,
            "sizes",
            format!("1 to {MAX_PAGES} sizes are allowed"),
        ));
    }
    if think.len() > MAX_PAGES {
        return Err(at_key(
            fields,
            "think",
            format!("at most {MAX_PAGES} times are allowed"),
        ));
    }
    Ok(AppKind::Web {
        request: fields.size("request", 1, MAX_MESSAGE)?.unwrap_or(200),
        sizes,
        think_ns: think
            .into_iter()
            .map(|ns| i64::try_from(ns).unwrap_or(i64::MAX))
            .collect(),
    })
}

/// How much later the connections of an application begin when it is written for a group of hosts and so many members
/// come before it: `stagger` is the time between any two.
pub(super) fn after(app: &App, members: u64) -> i64 {
    let connections = members.saturating_mul(app.connections.into());
    let connections = i64::try_from(connections).unwrap_or(i64::MAX);
    app.stagger_ns.saturating_mul(connections)
}

/// When an application is expected to end, after the run's start, with a second for each answer
/// that it waits for. Saturates.
pub(crate) fn planned_ns(app: &App) -> i64 {
    let times = |each: i64, n: u64| each.saturating_mul(i64::try_from(n).unwrap_or(i64::MAX));
    let until = |until: &Extent, each: i64| {
        let counted = until.count.map_or(i64::MAX, |n| times(each, n));
        counted.min(until.duration_ns.unwrap_or(i64::MAX))
    };
    let own = match &app.does {
        AppKind::Stream {
            every_ns, until: u, ..
        }
        | AppKind::UdpStream {
            every_ns, until: u, ..
        } => until(u, *every_ns),
        AppKind::Echo {
            pause_ns, until: u, ..
        }
        | AppKind::WriteWriteRead {
            pause_ns, until: u, ..
        }
        | AppKind::RequestResponse {
            pause_ns, until: u, ..
        }
        | AppKind::ConnectRequestResponse {
            pause_ns, until: u, ..
        } => until(u, pause_ns.saturating_add(SECOND_NS)),
        AppKind::UdpRr {
            pause_ns,
            timeout_ns,
            until: u,
            ..
        } => until(u, pause_ns.saturating_add(*timeout_ns)),
        AppKind::Ping {
            every_ns,
            timeout_ns,
            until: u,
            ..
        } => until(u, *every_ns).saturating_add(*timeout_ns),
        AppKind::Bulk { duration_ns, .. } => duration_ns.unwrap_or(300 * SECOND_NS),
        AppKind::Web {
            sizes, think_ns, ..
        } => {
            let waits = sizes.len().saturating_sub(1);
            let listed = think_ns
                .iter()
                .take(waits)
                .fold(0_i64, |sum, ns| sum.saturating_add(*ns));
            let more = u64::try_from(waits.saturating_sub(think_ns.len())).unwrap_or(u64::MAX);
            let last = think_ns.last().copied().unwrap_or(0);
            let answers = u64::try_from(sizes.len()).unwrap_or(u64::MAX);
            listed
                .saturating_add(times(last, more))
                .saturating_add(times(SECOND_NS, answers))
        }
        AppKind::Messages { messages } => messages.iter().fold(0, |sum: i64, message| {
            sum.saturating_add(message.after_ns)
                .saturating_add(SECOND_NS)
        }),
        AppKind::Sink { hold_ns } => *hold_ns,
        // The file is not read yet; the run ends with its last frame.
        AppKind::Replay { .. } => 1_800 * SECOND_NS,
    };
    let last_start = times(app.stagger_ns, u64::from(app.connections.saturating_sub(1)));
    own.saturating_add(app.start_ns).saturating_add(last_start)
}
