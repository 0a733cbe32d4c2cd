//! `[[app]]`: the applications.

use std::net::IpAddr;
use std::path::Path;

use super::drawn;
use super::error::Fault;
use super::fields::Fields;
use super::host::{at_name, options};
use super::keys::{APP, KINDS, Key, apps as keys};
use super::link::host_index;
use super::tree::Value;
use super::{later, messages};
use crate::app::{App, AppKind, Extent, Listening, Reading};
use crate::fastopen;
use crate::network::direct_link;
use crate::point::{Host, Link};
use crate::rules::{MAX_PAGES, RESERVED, SECOND_NS};
use crate::simultaneous;
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
                "duplicate application `{}`; give each application a unique `name`",
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
            app.bound_ports()
                .any(|own| known.bound_ports().any(|port| port == own))
        };
        if let Some(known) = apps.iter().find(same) {
            let message = match app.is_simultaneous() || known.is_simultaneous() {
                true => format!("`{}` has port {} of one of its hosts", known.name, app.port),
                false => format!("`{}` has port {} of this server", known.name, app.port),
            };
            return Err(fields.at(&keys::PORT, message));
        }
        check_listening(fields, &app, hosts)?;
        check_opening(fields, &app)?;
        if app.does.is_replay() {
            check_replay(fields, &app, hosts, links)?;
        }
        if let Some(why) = ways.obstacle(app.client, app.server, hosts) {
            return Err(fields.at(&keys::SERVER, why));
        }
        apps.push(app);
    }
    Ok(apps)
}

/// Datagrams have no connections to accept. Nobody listens to echoes and replays.
fn check_listening(fields: &Fields<'_>, app: &App, hosts: &[Host]) -> Result<(), Fault> {
    let has_port = !app.does.is_icmp() && !app.does.is_replay();
    let keys = [
        (&keys::PORT, has_port, "kinds with a server"),
        (&keys::SERVER_TIMEOUT, has_port, "kinds with a server"),
        (&keys::SERVER_SOCKET, has_port, "kinds with a server"),
        (&keys::LISTENS, has_port, "kinds with a server"),
        (&keys::BACKLOG, !app.does.is_udp(), "kinds with connections"),
        (
            &keys::ACCEPT_EVERY,
            !app.does.is_udp(),
            "kinds with connections",
        ),
        (
            &keys::DEFER_ACCEPT,
            !app.does.is_udp(),
            "kinds with connections",
        ),
        (
            &keys::FASTOPEN,
            app.does.client_writes_first(),
            "applications whose client writes first",
        ),
    ];
    let mut wrong = keys
        .into_iter()
        .filter(|(key, takes, _)| !takes && fields.node(key).is_some());
    match wrong.next() {
        Some((key, _, kinds)) => {
            let message = format!("`{}` is for {kinds}; remove it", key.name);
            Err(fields.at(key, message))
        }
        None => match fastopen::obstacle(app, hosts) {
            Some(why) => Err(fields.at(&keys::FASTOPEN, why)),
            None => Ok(()),
        },
    }
}

/// Keys of how both ends connect.
fn check_opening(fields: &Fields<'_>, app: &App) -> Result<(), Fault> {
    if !app.is_simultaneous() {
        return match fields.node(&keys::SERVER_START) {
            Some(_) => {
                let message = "`server_start` needs `open = \"simultaneous\"`: else the server's end only accepts".to_owned();
                Err(fields.at(&keys::SERVER_START, message))
            }
            None => Ok(()),
        };
    }
    let of_listeners = [
        &keys::LISTENS,
        &keys::BACKLOG,
        &keys::ACCEPT_EVERY,
        &keys::DEFER_ACCEPT,
    ];
    if let Some(key) = of_listeners
        .into_iter()
        .find(|key| fields.node(key).is_some())
    {
        let message = format!(
            "`{}` is for listeners, and nobody listens in a simultaneous open; remove it",
            key.name
        );
        return Err(fields.at(key, message));
    }
    match simultaneous::obstacle(app) {
        None => Ok(()),
        Some((name, why)) => {
            let all = [&keys::CONNECTIONS, &keys::SERVER, &keys::FASTOPEN];
            let key = all
                .into_iter()
                .find(|key| key.name == name)
                .unwrap_or(&keys::OPEN);
            Err(fields.at(key, why.to_owned()))
        }
    }
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
        let message =
            format!("no link joins `{from}` and `{to}`, and a replay's frames are not forwarded");
        return Err(fields.at(&keys::SERVER, message));
    }
    if app.connections != 1 {
        let message = "a replay has one sender: write one application per sender".to_owned();
        return Err(fields.at(&keys::CONNECTIONS, message));
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

fn app(fields: &Fields<'_>, hosts: &[Host], port: usize) -> Result<App, Fault> {
    fields.check_fixed(APP)?;
    // Without its kind nobody knows which keys it may have.
    let known = KINDS.map(|kind| kind.0);
    // `rrul` is not among the words here: it was written out before.
    let all = |fault: Fault| match fields.node(&keys::KIND).map(|node| &node.value) {
        Some(Value::Text(word)) => fault.suggest(word, known),
        _ => fault,
    };
    let Some((kind, _, own)) = fields.word(&keys::KIND, &KINDS).map_err(all)? else {
        return Err(fields.missing(&keys::KIND).suggest("", known));
    };
    check_keys(fields, kind, own)?;
    let host = |key: &Key| match (fields.node(key), fields.text(key)?) {
        (Some(node), Some(name)) => host_index(fields, key, node, name, hosts),
        _ => hosts
            .iter()
            .position(|host| host.name == key.default())
            .ok_or_else(|| fields.missing(key)),
    };
    let port = u16::try_from(port).unwrap_or(5001);
    let does = does(fields, kind)?;
    let is_tcp = !does.is_udp() && !does.is_replay();
    Ok(App {
        name: fields.name(&keys::NAME)?.unwrap_or_else(|| kind.to_owned()),
        group: None,
        client: host(&keys::CLIENT)?,
        server: host(&keys::SERVER)?,
        port: fields.find(&keys::PORT)?.unwrap_or(port),
        start_ns: fields.get(&keys::START)?,
        connections: fields.get(&keys::CONNECTIONS)?,
        stagger_ns: fields.get(&keys::STAGGER)?,
        client_socket: options(fields, &keys::CLIENT_SOCKET)?,
        server_socket: options(fields, &keys::SERVER_SOCKET)?,
        changes: later::changes(fields, is_tcp)?,
        client_timeout_ns: fields.find(&keys::CLIENT_TIMEOUT)?,
        server_timeout_ns: fields.find(&keys::SERVER_TIMEOUT)?,
        fastopen: fields.get(&keys::FASTOPEN)?,
        server_connects_ns: match fields.word(&keys::OPEN, &[false, true])? {
            Some(true) => Some(
                fields
                    .find(&keys::SERVER_START)?
                    .unwrap_or(fields.get(&keys::START)?),
            ),
            _ => None,
        },
        listening: Listening {
            listens: fields.get(&keys::LISTENS)?,
            backlog: fields.get(&keys::BACKLOG)?,
            accept_every_ns: fields.get(&keys::ACCEPT_EVERY)?,
            defer_accept_ns: fields.find(&keys::DEFER_ACCEPT)?.unwrap_or(0),
        },
        reading: reading(fields, kind)?,
        does,
    })
}

fn reading(fields: &Fields<'_>, kind: &str) -> Result<Reading, Fault> {
    let plain = Reading::default();
    if !matches!(kind, "stream" | "bulk") {
        return Ok(plain);
    }
    if fields.node(&keys::READ_PAUSE_AT).is_some() && fields.node(&keys::READ_PAUSE).is_none() {
        let message =
            "`read_pause_at` needs `read_pause`: how long the reader stops there".to_owned();
        return Err(fields.at(&keys::READ_PAUSE_AT, message));
    }
    Ok(Reading {
        bytes: match kind {
            "bulk" => fields.get(&keys::BULK_READ)?,
            _ => plain.bytes,
        },
        pause_at: fields.get(&keys::READ_PAUSE_AT)?,
        pause_ns: fields.get(&keys::READ_PAUSE)?,
        every_ns: fields.get(&keys::READ_EVERY)?,
    })
}

/// A key of another kind is told from one that no kind has.
fn check_keys(fields: &Fields<'_>, kind: &str, keys: &[Key]) -> Result<(), Fault> {
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
            fault.message = format!("`{name}` is a key of kind `{other}`, not of kind `{kind}`");
        }
        fault
    })
}

fn does(fields: &Fields<'_>, kind: &str) -> Result<AppKind, Fault> {
    Ok(match kind {
        "stream" => AppKind::Stream {
            chunk: fields.get(&keys::STREAM_CHUNK)?,
            every_ns: fields.get(&keys::STREAM_EVERY)?,
            late_ns: fields.get(&keys::STREAM_LATE)?,
            urgent: fields.find(&keys::STREAM_URGENT)?.unwrap_or(0),
            more: fields.find(&keys::STREAM_MORE)?.unwrap_or(0),
            read: fields.get(&keys::STREAM_READ)?,
            until: extent(fields)?,
        },
        "echo" => AppKind::Echo {
            size: fields.get(&keys::ECHO_SIZE)?,
            pause_ns: fields.get(&keys::PAUSE)?,
            until: extent(fields)?,
        },
        "write-write-read" => AppKind::WriteWriteRead {
            head: fields.get(&keys::HEAD)?,
            body: fields.get(&keys::BODY)?,
            reply: fields.get(&keys::REPLY)?,
            pause_ns: fields.get(&keys::PAUSE)?,
            until: extent(fields)?,
        },
        "bulk" => bulk(fields)?,
        "request-response" => AppKind::RequestResponse {
            request: fields.get(&keys::RR_REQUEST)?,
            response: fields.get(&keys::RR_RESPONSE)?,
            burst: fields.get(&keys::RR_BURST)?,
            pause_ns: fields.get(&keys::PAUSE)?,
            until: extent(fields)?,
        },
        "connect-request-response" => AppKind::ConnectRequestResponse {
            request: fields.get(&keys::RR_REQUEST)?,
            response: fields.get(&keys::RR_RESPONSE)?,
            pause_ns: fields.get(&keys::PAUSE)?,
            until: extent(fields)?,
        },
        "web" => web(fields)?,
        "messages" => messages::read(fields)?,
        "sink" => AppKind::Sink {
            hold_ns: fields.get(&keys::SINK_HOLD)?,
        },
        "udp-stream" => AppKind::UdpStream {
            size: fields.get(&keys::UDP_SIZE)?,
            every_ns: fields.get(&keys::UDP_EVERY)?,
            until: extent(fields)?,
        },
        "udp-ping" => ping(fields, false, &keys::UDP_PING_SIZE)?,
        "ping" => ping(fields, true, &keys::PING_SIZE)?,
        "replay" => replay(fields)?,
        _ => AppKind::UdpRr {
            request: fields.get(&keys::UDP_RR_REQUEST)?,
            response: fields.get(&keys::UDP_RR_RESPONSE)?,
            pause_ns: fields.get(&keys::PAUSE)?,
            timeout_ns: fields.get(&keys::UDP_RR_TIMEOUT)?,
            until: extent(fields)?,
        },
    })
}

fn ping(fields: &Fields<'_>, icmp: bool, size: &Key) -> Result<AppKind, Fault> {
    Ok(AppKind::Ping {
        icmp,
        size: fields.get(size)?,
        every_ns: fields.get(&keys::PING_EVERY)?,
        timeout_ns: fields.get(&keys::PING_TIMEOUT)?,
        until: extent(fields)?,
    })
}

fn replay(fields: &Fields<'_>) -> Result<AppKind, Fault> {
    let file: Option<String> = fields.find(&keys::REPLAY_FILE)?;
    let file = file.filter(|file| !file.is_empty());
    let from = fields.text(&keys::REPLAY_FROM)?.map(|text| {
        text.parse::<IpAddr>().map_err(|_| {
            let message = format!("`{text}` is no IP address");
            fields.at(&keys::REPLAY_FROM, message)
        })
    });
    Ok(AppKind::Replay {
        file: file.ok_or_else(|| fields.missing(&keys::REPLAY_FILE))?,
        interface: fields.find(&keys::REPLAY_INTERFACE)?,
        from: from.transpose()?,
    })
}

fn extent(fields: &Fields<'_>) -> Result<Extent, Fault> {
    let count: Option<u64> = fields.find(&keys::COUNT)?;
    let default = count.is_none().then_some(DEFAULT_DURATION_NS);
    Ok(Extent {
        count,
        duration_ns: fields.find(&keys::DURATION)?.or(default),
    })
}

fn bulk(fields: &Fields<'_>) -> Result<AppKind, Fault> {
    let bytes: Option<u64> = fields.find(&keys::BULK_BYTES)?;
    let default = bytes.is_none().then_some(DEFAULT_DURATION_NS);
    Ok(AppKind::Bulk {
        bytes,
        duration_ns: fields.find(&keys::BULK_DURATION)?.or(default),
        chunk: fields.get(&keys::BULK_CHUNK)?,
        reverse: fields.get(&keys::BULK_REVERSE)?,
    })
}

fn web(fields: &Fields<'_>) -> Result<AppKind, Fault> {
    let sizes = match drawn::read(fields, &keys::WEB_SIZES)? {
        // The numbers come when the seed is known.
        Some((count, _)) => Some(vec![1; count]),
        None => fields.numbers(&keys::WEB_SIZES)?,
    };
    let sizes = sizes.unwrap_or_else(|| vec![keys::WEB_SIZES.number()]);
    let think = fields.numbers(&keys::WEB_THINK)?.unwrap_or_default();
    if sizes.is_empty() || sizes.len() > MAX_PAGES {
        let message = format!("1 to {MAX_PAGES} sizes are allowed");
        return Err(fields.at(&keys::WEB_SIZES, message));
    }
    if think.len() > MAX_PAGES {
        let message = format!("write at most {MAX_PAGES} times");
        return Err(fields.at(&keys::WEB_THINK, message));
    }
    Ok(AppKind::Web {
        request: fields.get(&keys::WEB_REQUEST)?,
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
