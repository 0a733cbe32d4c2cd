//! The applications of a point.

use std::collections::{BTreeMap, BTreeSet};

use super::hosts::socket;
use super::links::host;
use super::{Checked, Wrong, at_most, each, name, number, number_if, text, time, time_if};
use crate::app::{App, AppKind, Extent, Message};
use crate::network::direct_link;
use crate::point::Point;
use crate::rules::{
    LEAST_PING, LEAST_PING_NS, MAX_ALL_APPS, MAX_CHUNK, MAX_CONNECTIONS, MAX_COUNT, MAX_DATAGRAM,
    MAX_MESSAGE, MAX_MESSAGES, MAX_PAGES, MAX_PATH, MAX_TEXT, RESERVED, Range,
};
use crate::ways::Ways;
use tcplab_base::quantity::SIZE;

const CHUNK: Range = (1, MAX_CHUNK);
const MESSAGE: Range = (1, MAX_MESSAGE);
const DATAGRAM: Range = (1, MAX_DATAGRAM);

pub(super) fn check(point: &Point) -> Checked {
    let apps = &point.apps;
    at_most("apps", apps.len(), MAX_ALL_APPS, "applications")?;
    if apps.is_empty() {
        return Err(Wrong::at("apps", "there is no application"));
    }
    each("apps", apps, |app| one(app, point))?;
    names(point)?;
    let mut ports = BTreeMap::new();
    let mut ways = Ways::new(&point.hosts, &point.links);
    for (index, app) in apps.iter().enumerate() {
        let at =
            |key: &str, message: String| Err(Wrong::at(format!("apps[{index}].{key}"), message));
        let port = (app.server, app.port, app.does.is_udp());
        if let Some(other) = ports.insert(port, app.name.as_str()) {
            return at(
                "port",
                format!("`{other}` has port {} of this server", app.port),
            );
        }
        if app.does.is_replay() && direct_link(&point.links, app.client, app.server).is_none() {
            let [from, to] = [app.client, app.server].map(|host| &point.hosts[host].name);
            return at(
                "server",
                format!("no link joins `{from}` and `{to}`: frames are not forwarded"),
            );
        }
        if let Some(why) = ways.obstacle(app.client, app.server, &point.hosts) {
            return at("server", why);
        }
    }
    Ok(())
}

/// Measures begin with the name of a host, of an application or of a group of them: each stands for one thing.
fn names(point: &Point) -> Checked {
    let names = point.hosts.iter().map(|host| &host.name);
    let groups = point.hosts.iter().filter_map(|host| host.group.as_ref());
    let hosts: BTreeSet<&str> = names.chain(groups).map(String::as_str).collect();
    let mut apps = BTreeSet::new();
    for (index, app) in point.apps.iter().enumerate() {
        let at =
            |key: &str, message: String| Err(Wrong::at(format!("apps[{index}].{key}"), message));
        for (key, own) in [("name", Some(&app.name)), ("group", app.group.as_ref())] {
            let Some(own) = own else { continue };
            if hosts.contains(own.as_str()) || RESERVED.contains(&own.as_str()) {
                return at(key, format!("an application cannot be called `{own}` here"));
            }
        }
        if !apps.insert(app.name.as_str()) {
            return at(
                "name",
                format!("there is an application `{}` already", app.name),
            );
        }
    }
    each("apps", &point.apps, |app| match &app.group {
        Some(group) if apps.contains(group.as_str()) => {
            let message =
                format!("`{group}` is the name of an application: a group needs another one");
            Err(Wrong::at("group", message))
        }
        _ => Ok(()),
    })
}

fn one(app: &App, point: &Point) -> Checked {
    name("name", &app.name)?;
    if let Some(group) = &app.group {
        name("group", group)?;
    }
    host("client", app.client, &point.hosts)?;
    host("server", app.server, &point.hosts)?;
    number("port", app.port, (1, 65_535))?;
    time("start_ns", app.start_ns, 0)?;
    number("connections", app.connections, (1, MAX_CONNECTIONS))?;
    time("stagger_ns", app.stagger_ns, 0)?;
    socket(&app.client_socket).map_err(|wrong| wrong.under("client_socket"))?;
    socket(&app.server_socket).map_err(|wrong| wrong.under("server_socket"))?;
    // A wait of 0 is no wait.
    time_if("client_timeout_ns", app.client_timeout_ns, 1)?;
    time_if("server_timeout_ns", app.server_timeout_ns, 1)?;
    if app.does.is_replay() && app.connections != 1 {
        let message = "a replay has one sender; write an application for each";
        return Err(Wrong::at("connections", message));
    }
    does(&app.does).map_err(|wrong| {
        let kind = kind(&app.does);
        wrong.under(format_args!("does.{kind}"))
    })
}

/// The key of a kind in JSON.
fn kind(does: &AppKind) -> &'static str {
    match does {
        // The same kind, with and without `icmp`.
        AppKind::Ping { .. } => "ping",
        does => does.word(),
    }
}

fn does(does: &AppKind) -> Checked {
    match does {
        AppKind::Stream {
            chunk,
            every_ns,
            late_ns,
            urgent,
            read,
            until,
        } => {
            number("chunk", *chunk, CHUNK)?;
            time("every_ns", *every_ns, 0)?;
            time("late_ns", *late_ns, 0)?;
            number("urgent", *urgent, (0, MAX_COUNT))?;
            number("read", *read, CHUNK)?;
            extent(until)
        }
        AppKind::Echo {
            size,
            pause_ns,
            until,
        } => {
            number("size", *size, MESSAGE)?;
            turns(*pause_ns, until)
        }
        AppKind::WriteWriteRead {
            head,
            body,
            reply,
            pause_ns,
            until,
        } => {
            number("head", *head, MESSAGE)?;
            number("body", *body, (0, MAX_MESSAGE))?;
            number("reply", *reply, MESSAGE)?;
            turns(*pause_ns, until)
        }
        AppKind::Bulk {
            bytes,
            duration_ns,
            chunk,
            reverse: _,
        } => bulk(*bytes, *duration_ns, *chunk),
        AppKind::RequestResponse {
            request,
            response,
            pause_ns,
            until,
        }
        | AppKind::ConnectRequestResponse {
            request,
            response,
            pause_ns,
            until,
        } => {
            number("request", *request, MESSAGE)?;
            number("response", *response, MESSAGE)?;
            turns(*pause_ns, until)
        }
        AppKind::Web {
            request,
            sizes,
            think_ns,
        } => web(*request, sizes, think_ns),
        AppKind::Messages { messages } => written(messages),
        AppKind::Sink { hold_ns } => time("hold_ns", *hold_ns, 0),
        datagrams => udp(datagrams),
    }
}

fn udp(does: &AppKind) -> Checked {
    match does {
        AppKind::UdpStream {
            size,
            every_ns,
            until,
        } => {
            number("size", *size, DATAGRAM)?;
            time("every_ns", *every_ns, 0)?;
            extent(until)
        }
        AppKind::UdpRr {
            request,
            response,
            pause_ns,
            timeout_ns,
            until,
        } => {
            number("request", *request, DATAGRAM)?;
            number("response", *response, DATAGRAM)?;
            time("timeout_ns", *timeout_ns, 0)?;
            turns(*pause_ns, until)
        }
        AppKind::Ping {
            icmp: _,
            size,
            every_ns,
            timeout_ns,
            until,
        } => {
            number("size", *size, (LEAST_PING, MAX_DATAGRAM))?;
            time("every_ns", *every_ns, LEAST_PING_NS)?;
            time("timeout_ns", *timeout_ns, 0)?;
            extent(until)
        }
        AppKind::Replay {
            file,
            interface,
            from: _,
        } => {
            if file.is_empty() {
                return Err(Wrong::at("file", "is empty: name a capture"));
            }
            text("file", file, MAX_PATH)?;
            interface
                .as_ref()
                .map_or(Ok(()), |own| text("interface", own, MAX_TEXT))
        }
        _ => Ok(()),
    }
}

fn written(messages: &[Message]) -> Checked {
    if messages.is_empty() {
        let wrong = format!("1 to {MAX_MESSAGES} messages are allowed");
        return Err(Wrong::at("messages", wrong));
    }
    at_most("messages", messages.len(), MAX_MESSAGES, "messages")?;
    each("messages", messages, |message| {
        number("bytes", message.bytes, MESSAGE)?;
        time("after_ns", message.after_ns, 0)
    })
}

fn turns(pause_ns: i64, until: &Extent) -> Checked {
    time("pause_ns", pause_ns, 0)?;
    extent(until)
}

fn extent(until: &Extent) -> Checked {
    let checked = number_if("count", until.count, (1, MAX_COUNT))
        .and_then(|()| time_if("duration_ns", until.duration_ns, 1))
        .and_then(|()| {
            ends(
                until.count.is_some() || until.duration_ns.is_some(),
                "count",
            )
        });
    checked.map_err(|wrong| wrong.under("until"))
}

fn ends(it_does: bool, by: &str) -> Checked {
    match it_does {
        true => Ok(()),
        false => Err(Wrong::at(
            "duration_ns",
            format!("neither this nor `{by}` is there: it would never end"),
        )),
    }
}

fn bulk(bytes: Option<u64>, duration_ns: Option<i64>, chunk: u64) -> Checked {
    number_if("bytes", bytes, (1, SIZE.max))?;
    time_if("duration_ns", duration_ns, 1)?;
    ends(bytes.is_some() || duration_ns.is_some(), "bytes")?;
    number("chunk", chunk, CHUNK)
}

/// What a population draws may be larger than what a file says: its sizes have no other bound than all sizes have.
fn web(request: u64, sizes: &[u64], think_ns: &[i64]) -> Checked {
    number("request", request, (1, SIZE.max))?;
    if sizes.is_empty() {
        return Err(Wrong::at(
            "sizes",
            format!("1 to {MAX_PAGES} sizes are allowed"),
        ));
    }
    at_most("sizes", sizes.len(), MAX_PAGES, "sizes")?;
    each("sizes", sizes, |size| number("", *size, (1, SIZE.max)))?;
    at_most("think_ns", think_ns.len(), MAX_PAGES, "times")?;
    each("think_ns", think_ns, |ns| time("", *ns, 0))
}
