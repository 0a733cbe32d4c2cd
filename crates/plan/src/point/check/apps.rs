//! The applications of a point.

use std::collections::{BTreeMap, BTreeSet};

use super::links::host;
use super::{Checked, Wrong, at_most, each, in_order, name, number, of, text, time, timed};
use crate::app::{Act, App, AppKind, Extent, Message};
use crate::experiment::keys::apps as keys;
use crate::fastopen;
use crate::network::direct_link;
use crate::point::{Point, SocketChange};
use crate::rules::{
    MAX_ALL_APPS, MAX_COUNT, MAX_MESSAGES, MAX_OUTAGES, MAX_PAGES, MAX_PATH, MAX_TEXT, RESERVED,
};
use crate::simultaneous;
use crate::ways::Ways;
use tcplab_base::quantity::SIZE;

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
        for port in app.bound_ports() {
            if let Some(other) = ports.insert(port, app.name.as_str()) {
                let host = &point.hosts[port.0].name;
                let message = format!("`{other}` has port {} of host `{host}`", app.port);
                return at("port", message);
            }
        }
        if app.does.is_replay() && direct_link(&point.links, app.client, app.server).is_none() {
            let [from, to] = [app.client, app.server].map(|host| &point.hosts[host].name);
            return at(
                "server",
                format!(
                    "no link joins `{from}` and `{to}`, and a replay's frames are not forwarded"
                ),
            );
        }
        if let Some(why) = ways.obstacle(app.client, app.server, &point.hosts) {
            return at("server", why);
        }
    }
    Ok(())
}

/// Measures begin with the name of a host, an application or a group of them, so each name must be unique.
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

fn change(change: &SocketChange) -> Checked {
    time("at_ns", change.at_ns, 0)?;
    (change.options.check()).map_err(|wrong| wrong.under("options"))?;
    match change.unchangeable() {
        Some(why) => Err(Wrong::at("options", why)),
        None => Ok(()),
    }
}

fn one(app: &App, point: &Point) -> Checked {
    name("name", &app.name)?;
    if let Some(group) = &app.group {
        name("group", group)?;
    }
    host("client", app.client, &point.hosts)?;
    host("server", app.server, &point.hosts)?;
    of("port", Some(app.port), &keys::PORT)?;
    timed("start_ns", Some(app.start_ns), &keys::START)?;
    of("connections", Some(app.connections), &keys::CONNECTIONS)?;
    timed("stagger_ns", Some(app.stagger_ns), &keys::STAGGER)?;
    (app.client_socket.check()).map_err(|wrong| wrong.under("client_socket"))?;
    (app.server_socket.check()).map_err(|wrong| wrong.under("server_socket"))?;
    at_most("changes", app.changes.len(), 2 * MAX_OUTAGES, "changes")?;
    each("changes", &app.changes, change)?;
    in_order(
        "changes",
        app.changes.is_sorted_by_key(|change| change.at_ns),
    )?;
    if !app.changes.is_empty() && app.does.is_udp() {
        let message = "needs an application of TCP: datagrams keep their options";
        return Err(Wrong::at("changes", message));
    }
    timed(
        "client_timeout_ns",
        app.client_timeout_ns,
        &keys::CLIENT_TIMEOUT,
    )?;
    timed(
        "server_timeout_ns",
        app.server_timeout_ns,
        &keys::SERVER_TIMEOUT,
    )?;
    if app.fastopen && !app.does.client_writes_first() {
        let message = "is for applications whose client writes first";
        return Err(Wrong::at("fastopen", message));
    }
    if let Some(why) = fastopen::obstacle(app, &point.hosts) {
        return Err(Wrong::at("fastopen", why));
    }
    if let Some(ns) = app.server_connects_ns {
        timed("server_connects_ns", Some(ns), &keys::SERVER_START)?;
    }
    if let Some((key, why)) = simultaneous::obstacle(app) {
        let key = if key == "open" {
            "server_connects_ns"
        } else {
            key
        };
        return Err(Wrong::at(key, why));
    }
    if app.does.is_replay() && app.connections != 1 {
        let message = "a replay has one sender: write one application per sender";
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

/// What is its own of each kind; then what several kinds have.
fn does(does: &AppKind) -> Checked {
    own(does)?;
    timed("pause_ns", does.pause_ns(), &keys::PAUSE)?;
    does.until().map_or(Ok(()), extent)
}

fn own(does: &AppKind) -> Checked {
    match does {
        AppKind::Stream {
            chunk,
            every_ns,
            late_ns,
            urgent,
            read,
            until: _,
            more,
        } => {
            of("chunk", Some(*chunk), &keys::STREAM_CHUNK)?;
            time("every_ns", *every_ns, 0)?;
            timed("late_ns", Some(*late_ns), &keys::STREAM_LATE)?;
            number("urgent", *urgent, (0, MAX_COUNT))?;
            number("more", *more, (0, MAX_COUNT))?;
            of("read", Some(*read), &keys::STREAM_READ)
        }
        AppKind::Echo { size, .. } => of("size", Some(*size), &keys::ECHO_SIZE),
        AppKind::WriteWriteRead {
            head, body, reply, ..
        } => {
            of("head", Some(*head), &keys::HEAD)?;
            of("body", Some(*body), &keys::BODY)?;
            of("reply", Some(*reply), &keys::REPLY)
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
            burst,
            ..
        } => {
            of("burst", Some(*burst), &keys::RR_BURST)?;
            asks(*request, *response)
        }
        AppKind::ConnectRequestResponse {
            request, response, ..
        } => asks(*request, *response),
        AppKind::Web {
            request,
            sizes,
            think_ns,
        } => web(*request, sizes, think_ns),
        AppKind::Messages { messages } => written(messages),
        AppKind::Sink { hold_ns } => timed("hold_ns", Some(*hold_ns), &keys::SINK_HOLD),
        datagrams => udp(datagrams),
    }
}

fn asks(request: u64, response: u64) -> Checked {
    of("request", Some(request), &keys::RR_REQUEST)?;
    of("response", Some(response), &keys::RR_RESPONSE)
}

fn udp(does: &AppKind) -> Checked {
    match does {
        AppKind::UdpStream { size, every_ns, .. } => {
            of("size", Some(*size), &keys::UDP_SIZE)?;
            time("every_ns", *every_ns, 0)
        }
        AppKind::UdpRr {
            request,
            response,
            timeout_ns,
            ..
        } => {
            of("request", Some(*request), &keys::UDP_RR_REQUEST)?;
            of("response", Some(*response), &keys::UDP_RR_RESPONSE)?;
            time("timeout_ns", *timeout_ns, 0)
        }
        AppKind::Ping {
            size,
            every_ns,
            timeout_ns,
            ..
        } => {
            of("size", Some(*size), &keys::PING_SIZE)?;
            timed("every_ns", Some(*every_ns), &keys::PING_EVERY)?;
            time("timeout_ns", *timeout_ns, 0)
        }
        AppKind::Replay {
            file, interface, ..
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
        let range = match message.does {
            Act::Write => keys::MESSAGE,
            _ => (0, 0),
        };
        number("bytes", message.bytes, range)?;
        time("after_ns", message.after_ns, 0)
    })?;
    match Message::wrong(messages) {
        Some((at, why)) => Err(Wrong::at(format!("messages[{at}]"), why)),
        None => Ok(()),
    }
}

fn extent(until: &Extent) -> Checked {
    let checked = of("count", until.count, &keys::COUNT)
        .and_then(|()| timed("duration_ns", until.duration_ns, &keys::DURATION))
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
            format!("without this and `{by}` it would never end: write one of them"),
        )),
    }
}

fn bulk(bytes: Option<u64>, duration_ns: Option<i64>, chunk: u64) -> Checked {
    of("bytes", bytes, &keys::BULK_BYTES)?;
    timed("duration_ns", duration_ns, &keys::BULK_DURATION)?;
    ends(bytes.is_some() || duration_ns.is_some(), "bytes")?;
    of("chunk", Some(chunk), &keys::BULK_CHUNK)
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
