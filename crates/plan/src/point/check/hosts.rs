//! The hosts of a point.

use std::collections::{BTreeMap, BTreeSet};

use super::{Checked, Wrong, at_most, each, name, number_if, of, quoted, text, time_if, timed};
use crate::experiment::keys::{PROFILE_NAMES, host as keys, socket as options};
use crate::point::{Card, Host, QuickAck, Route, SocketOptions};
use crate::profile::Profile;
use crate::rules::{
    BAD_CONGESTION, BAD_FORWARD, BAD_SYSCTL, FORWARD_SYSCTL, MAX_ALL_HOSTS, MAX_TEXT, MS_NS, MTU,
    RESERVED, ROUTE_ADVMSS, ROUTE_QUICKACK, ROUTE_WINDOW, is_congestion, is_sysctl,
};

pub(super) fn check(hosts: &[Host]) -> Checked {
    at_most("hosts", hosts.len(), MAX_ALL_HOSTS as usize, "hosts")?;
    each("hosts", hosts, host)?;
    let mut names = BTreeSet::new();
    for (index, host) in hosts.iter().enumerate() {
        if !names.insert(host.name.as_str()) {
            let message = format!("there is a host `{}` already", host.name);
            return Err(Wrong::at(format!("hosts[{index}].name"), message));
        }
    }
    each("hosts", hosts, |host| match &host.group {
        Some(group) if names.contains(group.as_str()) => {
            let message = format!("`{group}` is the name of a host: a group needs another one");
            Err(Wrong::at("group", message))
        }
        _ => Ok(()),
    })
}

fn host(host: &Host) -> Checked {
    let called = [("name", Some(&host.name)), ("group", host.group.as_ref())];
    for (path, own) in called {
        let Some(own) = own else { continue };
        name(path, own)?;
        if RESERVED.contains(&own.as_str()) {
            let message = format!("a host cannot be called `{own}`");
            return Err(Wrong::at(path, message));
        }
    }
    sysctls(&host.sysctl)?;
    route(&host.route).map_err(|wrong| wrong.under("route"))?;
    socket(&host.socket).map_err(|wrong| wrong.under("socket"))?;
    if let Some(own) = &host.card {
        card(own).map_err(|wrong| wrong.under("card"))?;
    }
    if let Some(profile) = &host.profile
        && !PROFILE_NAMES.contains(&profile.as_str())
    {
        let known = PROFILE_NAMES.join(", ");
        let message = format!("{} is no profile; there are {known}", quoted(profile));
        return Err(Wrong::at("profile", message));
    }
    behaviours(&host.behaviour)
}

fn sysctls(sysctls: &BTreeMap<String, String>) -> Checked {
    for (key, value) in sysctls {
        // The path in the error shows a bad name as JSON does.
        let path = || format!("sysctl.{}", quoted(key));
        if !is_sysctl(key) {
            return Err(Wrong::at(path(), BAD_SYSCTL));
        }
        if key == FORWARD_SYSCTL {
            return Err(Wrong::at(path(), BAD_FORWARD));
        }
        text("", value, MAX_TEXT).map_err(|wrong| wrong.under(path()))?;
    }
    Ok(())
}

fn route(route: &Route) -> Checked {
    number_if("quickack", route.quickack, ROUTE_QUICKACK)?;
    number_if("initcwnd", route.initcwnd, ROUTE_WINDOW)?;
    number_if("initrwnd", route.initrwnd, ROUTE_WINDOW)?;
    time_if("rto_min_ns", route.rto_min_ns, MS_NS)?;
    if route.rto_min_ns.is_some_and(|ns| ns % MS_NS != 0) {
        return Err(Wrong::at("rto_min_ns", "takes whole milliseconds"));
    }
    number_if("advmss", route.advmss, ROUTE_ADVMSS)?;
    number_if("mtu", route.mtu, MTU)?;
    congestion("congctl", route.congctl.as_deref())
}

/// Options of sockets, of a host or of an end of an application.
pub(super) fn socket(socket: &SocketOptions) -> Checked {
    if let QuickAck::Once(n) | QuickAck::Each(n) = socket.quickack
        && ![0, 1].contains(&n)
    {
        return Err(Wrong::at("quickack", format!("takes 0 or 1, not {n}")));
    }
    of("rcvbuf", socket.rcvbuf, &options::RCVBUF)?;
    of("sndbuf", socket.sndbuf, &options::SNDBUF)?;
    of("rcvlowat", socket.rcvlowat, &options::RCVLOWAT)?;
    timed(
        "user_timeout_ns",
        socket.user_timeout_ns,
        &options::USER_TIMEOUT,
    )?;
    timed("keepalive_ns", socket.keepalive_ns, &options::KEEPALIVE)?;
    congestion("congestion", socket.congestion.as_deref())?;
    of(
        "notsent_lowat",
        socket.notsent_lowat,
        &options::NOTSENT_LOWAT,
    )?;
    of("maxseg", socket.maxseg, &options::MAXSEG)?;
    of("cpu", socket.cpu, &options::CPU)
}

fn congestion(path: &str, name: Option<&str>) -> Checked {
    match name {
        Some(name) if !is_congestion(name) => Err(Wrong::at(path, BAD_CONGESTION)),
        _ => Ok(()),
    }
}

fn card(card: &Card) -> Checked {
    of("rx_queues", Some(card.rx_queues), &keys::RX_QUEUES)?;
    of("rx_ring", Some(card.rx_ring), &keys::RX_RING)?;
    timed("rx_ns", Some(card.rx_ns), &keys::RX_USECS)?;
    timed("frame_ns", Some(card.frame_ns), &keys::RX_FRAME_COST)?;
    timed("packet_ns", Some(card.packet_ns), &keys::RX_PACKET_COST)
}

fn behaviours(behaviours: &BTreeMap<String, String>) -> Checked {
    if behaviours.is_empty() {
        return Ok(());
    }
    let mut scratch = Profile::default();
    for (key, value) in behaviours {
        let set = scratch.set(key, value);
        set.map_err(|e| Wrong::at(format!("behaviour.{}", quoted(key)), e.to_string()))?;
    }
    Ok(())
}
