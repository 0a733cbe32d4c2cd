//! Points that two real machines refuse, and settings that they ignore.

use tcplab_base::quantity::{BITS_PER_SECOND, NANOSECONDS, exact, percent};
use tcplab_plan::app::AppKind;
use tcplab_plan::point::{Direction, Link, Offload};
use tcplab_plan::{App, Point};

/// Whether a point can be run between two machines, beside the rules of its keys (`tcplab_plan::contract`).
///
/// # Errors
/// Why not, with the key.
pub fn refuse(point: &Point) -> Result<(), String> {
    let hosts = point.hosts.len();
    if hosts != 2 {
        return Err(format!(
            "an experiment on ssh:A,B needs two hosts, this one has {hosts} (hosts)"
        ));
    }
    if point.links.len() != 1 {
        let links = point.links.len();
        return Err(format!(
            "an experiment on ssh:A,B needs one link, this one has {links} (links)"
        ));
    }
    point.apps.iter().try_for_each(of_app)
}

fn of_app(app: &App) -> Result<(), String> {
    let name = &app.name;
    if app.client == app.server {
        return Err(format!(
            "application {name}: client and server are the same host; use --on host"
        ));
    }
    if app.does.is_replay() {
        return Err(format!(
            "application {name}: tcplab does not replay frames into a real network"
        ));
    }
    if matches!(app.does, AppKind::ConnectRequestResponse { .. }) && app.connections > 1 {
        return Err(format!(
            "application {name}: connections = {}: with one connection after another there can be only one client",
            app.connections
        ));
    }
    Ok(())
}

/// What the network has of itself, in place of what the experiment says.
pub(super) fn not_applied(point: &Point) -> Vec<String> {
    let mut words = Vec::new();
    for link in &point.links {
        let keys = link_keys(link);
        if !keys.is_empty() {
            words.push(format!(
                "ignored because the network is real: link: {}",
                keys.join(", ")
            ));
        }
    }
    if point.links.iter().any(|_| point.link_every_ns.is_some()) {
        words.push("ignored because the network is real: run.link_every".into());
    }
    if point.hosts.iter().any(|host| host.offload != Offload::None) {
        words.push("ignored because the network cards are real: host.offload".into());
    }
    words.push(
        "counters cover all traffic of the machines, ssh included; captures show segments as the network cards get \
         them (TSO, GRO)"
            .into(),
    );
    words
}

/// The keys of a link that say something.
fn link_keys(link: &Link) -> Vec<String> {
    let mut keys = Vec::new();
    if link.mtu != 1500 {
        keys.push(format!("mtu {}", link.mtu));
    }
    let (there, back) = (way_keys(&link.a_to_b), way_keys(&link.b_to_a));
    if there == back {
        keys.extend(there);
    } else {
        keys.extend(there.into_iter().map(|key| format!("a_to_b {key}")));
        keys.extend(back.into_iter().map(|key| format!("b_to_a {key}")));
    }
    keys
}

fn way_keys(way: &Direction) -> Vec<String> {
    let time = |ns: i64| exact(ns.max(0).unsigned_abs(), " ", NANOSECONDS);
    let mut keys = Vec::new();
    if let Some(rate) = way.rate_bps {
        keys.push(format!("rate {}", exact(rate, " ", BITS_PER_SECOND)));
    }
    if way.delay_ns > 0 {
        keys.push(format!("delay {}", time(way.delay_ns)));
    }
    if way.jitter_ns > 0 {
        keys.push(format!("jitter {}", time(way.jitter_ns)));
    }
    if way.loss_ppb > 0 {
        keys.push(format!("loss {}", percent(way.loss_ppb.into())));
    }
    let others = [
        (way.faults.burst_loss.is_some(), "burst_loss"),
        (way.faults.reorder_ppb > 0, "reordering"),
        (way.faults.duplicate_ppb > 0, "duplication"),
        (way.faults.corrupt_ppb > 0, "corruption"),
        (way.faults.exponential_jitter_ns > 0, "exponential_jitter"),
        (way.faults.spikes.is_some(), "spikes"),
        (way.queue.is_some() || way.qdisc.is_some(), "qdisc"),
        (way.limit_bytes.is_some(), "limit_bytes"),
        (way.overhead > 0, "overhead"),
        (way.queue_from_ns.is_some(), "queue_from"),
    ];
    let said = others.into_iter().filter(|(is_said, _)| *is_said);
    keys.extend(said.map(|(_, key)| key.to_owned()));
    keys
}
