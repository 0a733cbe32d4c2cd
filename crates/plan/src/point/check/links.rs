//! The links of a point.

use std::collections::BTreeSet;

use super::{
    Checked, Wrong, at_most, chance, each, in_order, number, number_if, of, text, time, time_if,
};
use crate::experiment::keys::links as keys;
use crate::experiment::link::wrong_mtu;
use crate::experiment::way_rules::{two_rates, unchangeable};
use crate::point::{By, Change, Direction, Does, Event, Faults, Host, Ip, Link, Outage, Point};
use crate::point::{Inject, Injected, RateTrace, Rewrite};
use crate::rules::{INJECTED_DATA, MAX_INJECTS, MAX_REWRITES, MSS_OPTION};
use crate::rules::{MAX_ALL_LINKS, MAX_EVENT, MAX_EVENTS, MAX_OUTAGES, MAX_SIGMA, MAX_TEXT, MTU};
use tcplab_base::quantity::RATE;
use tcplab_qdisc::Settings;

pub(super) fn check(point: &Point) -> Checked {
    let (links, hosts) = (point.links.as_slice(), point.hosts.as_slice());
    at_most("links", links.len(), MAX_ALL_LINKS, "links")?;
    each("links", links, |link| one(link, (hosts, point.ip)))?;
    let mut there = BTreeSet::new();
    for (index, link) in links.iter().enumerate() {
        if !there.insert((link.a.min(link.b), link.a.max(link.b))) {
            let name = |host: usize| hosts.get(host).map_or("", |host| host.name.as_str());
            let (a, b) = (name(link.a), name(link.b));
            let message = format!("duplicate link between `{a}` and `{b}`");
            return Err(Wrong::at(format!("links[{index}]"), message));
        }
    }
    Ok(())
}

/// An index into the hosts.
pub(super) fn host(path: &str, index: usize, hosts: &[Host]) -> Checked {
    match index < hosts.len() {
        true => Ok(()),
        false => {
            let message = match hosts.len() {
                0 => "there is no host".to_owned(),
                1 => format!("{index}, but there is 1 host: write 0"),
                n => format!("{index}, but there are {n} hosts: write 0 to {}", n - 1),
            };
            Err(Wrong::at(path, message))
        }
    }
}

fn one(link: &Link, (hosts, ip): (&[Host], Ip)) -> Checked {
    host("a", link.a, hosts)?;
    host("b", link.b, hosts)?;
    if link.a == link.b {
        return Err(Wrong::at("b", "a link must join two different hosts"));
    }
    number("mtu", link.mtu, MTU)?;
    if let Some(message) = wrong_mtu(link, (hosts, ip)) {
        return Err(Wrong::at("mtu", message));
    }
    for (path, way) in [("a_to_b", &link.a_to_b), ("b_to_a", &link.b_to_a)] {
        let checked = match link.by {
            By::Tcplab => own(way),
            By::Kernel => kernels(way),
        };
        checked.map_err(|wrong| wrong.under(path))?;
    }
    Ok(())
}

/// One way of tcplab's own link.
fn own(way: &Direction) -> Checked {
    if way.qdisc.is_some() {
        let message = "applies to by = \"kernel\" only; the qdisc of tcplab's own link is `queue`";
        return Err(Wrong::at("qdisc", message));
    }
    number_if("rate_bps", way.rate_bps, (1, RATE.max))?;
    if let Some(trace) = &way.rate_trace {
        rate_trace(trace, way).map_err(|wrong| wrong.under("rate_trace"))?;
    }
    time("delay_ns", way.delay_ns, 0)?;
    time("jitter_ns", way.jitter_ns, 0)?;
    if way.jitter_ns > way.delay_ns {
        return Err(Wrong::at(
            "jitter_ns",
            "the jitter is larger than the delay",
        ));
    }
    of("limit_pkts", Some(way.limit_pkts), &keys::LIMIT)?;
    of("limit_bytes", way.limit_bytes, &keys::LIMIT_BYTES)?;
    of("overhead", Some(way.overhead), &keys::OVERHEAD)?;
    time_if("queue_from_ns", way.queue_from_ns, 0)?;
    chance("loss_ppb", way.loss_ppb)?;
    faults(&way.faults).map_err(|wrong| wrong.under("faults"))?;
    at_most("events", way.events.len(), MAX_EVENTS, "listed events")?;
    each("events", &way.events, event)?;
    at_most("outages", way.outages.len(), MAX_OUTAGES, "outages")?;
    each("outages", &way.outages, outage)?;
    at_most("changes", way.changes.len(), MAX_OUTAGES, "changes")?;
    each("changes", &way.changes, change)?;
    let mut times = way.changes.windows(2);
    in_order("changes", times.all(|two| two[0].at_ns < two[1].at_ns))?;
    if let Some(why) = unchangeable(way) {
        return Err(Wrong::at("changes", why));
    }
    at_most("middlebox", way.middlebox.len(), MAX_REWRITES, "rules")?;
    each("middlebox", &way.middlebox, rewrite)?;
    at_most("injects", way.injects.len(), MAX_INJECTS, "segments")?;
    each("injects", &way.injects, inject)?;
    in_order(
        "injects",
        way.injects.is_sorted_by_key(|inject| inject.at_ns),
    )?;
    let Some(queue) = &way.queue else {
        return Ok(());
    };
    text("queue", queue.words(), MAX_TEXT)?;
    match way.rate_bps.is_none() && queue.kind().asks_rate() {
        true => Err(Wrong::at(
            "queue",
            format!(
                "`{}` needs a link rate: add a rate to the link, or the words `rate 10gbit`",
                queue.words()
            ),
        )),
        false => Ok(()),
    }
}

fn rate_trace(trace: &RateTrace, way: &Direction) -> Checked {
    if let Some(why) = two_rates(way) {
        return Err(Wrong::at("", why));
    }
    text("file", &trace.file, MAX_TEXT)?;
    at_most("at_ms", trace.at_ms.len(), RateTrace::MAX_LINES, "times")?;
    match trace.at_ms.is_sorted() && trace.at_ms.last() != Some(&0) {
        true => Ok(()),
        false => Err(Wrong::at(
            "at_ms",
            "the times must stand in order and not end with 0",
        )),
    }
}

fn rewrite(rewrite: &Rewrite) -> Checked {
    match rewrite {
        Rewrite::SetMss(mss) => number("set-mss", *mss, MSS_OPTION),
        Rewrite::EcnIpEct(bits) => number("ecn-ip-ect", *bits, (0, 3)),
        Rewrite::StripOptions(list) | Rewrite::DropOptions(list) => {
            let longest = crate::point::TcpOption::ALL.len();
            at_most("", list.len(), longest, "options")
        }
        Rewrite::EcnTcpRemove | Rewrite::DropEcnSyn => Ok(()),
    }
}

fn inject(inject: &Inject) -> Checked {
    time("at_ns", inject.at_ns, 0)?;
    match inject.what {
        Injected::Data(bytes) => number("what.data", bytes, INJECTED_DATA),
        _ => Ok(()),
    }
}

fn change(change: &Change) -> Checked {
    time("at_ns", change.at_ns, 0)?;
    number_if("rate_bps", change.rate_bps, (1, RATE.max))?;
    time_if("delay_ns", change.delay_ns, 0)?;
    time_if("jitter_ns", change.jitter_ns, 0)?;
    of("limit_pkts", change.limit_pkts, &keys::LIMIT)?;
    chance("loss_ppb", change.loss_ppb.unwrap_or(0))?;
    let words = change.queue.as_ref().map_or("", Settings::words);
    text("queue", words, MAX_TEXT)
}

/// One way of the kernel's link: all is in the words of its qdisc.
fn kernels(way: &Direction) -> Checked {
    let plain = Direction {
        limit_pkts: way.limit_pkts,
        qdisc: way.qdisc.clone(),
        ..Direction::default()
    };
    if *way != plain {
        let message = "has a value that is for tcplab's own link; write the kernel's qdisc in tc's words, in `qdisc`";
        return Err(Wrong::at("", message));
    }
    of("limit_pkts", Some(way.limit_pkts), &keys::LIMIT)?;
    let Some(words) = &way.qdisc else {
        return Ok(());
    };
    text("qdisc", words, MAX_TEXT)?;
    let parsed = Settings::parse(words);
    parsed.map_err(|wrong| Wrong::at("qdisc", wrong.why))?;
    Ok(())
}

fn faults(faults: &Faults) -> Checked {
    if let Some(burst) = faults.burst_loss {
        for (path, ppb) in [
            ("burst_loss.good_to_bad_ppb", burst.good_to_bad_ppb),
            ("burst_loss.bad_to_good_ppb", burst.bad_to_good_ppb),
            ("burst_loss.loss_bad_ppb", burst.loss_bad_ppb),
            ("burst_loss.loss_good_ppb", burst.loss_good_ppb),
        ] {
            chance(path, ppb)?;
        }
    }
    chance("reorder_ppb", faults.reorder_ppb)?;
    time("reorder_ns", faults.reorder_ns, 0)?;
    time("reorder_least_ns", faults.reorder_least_ns, 0)?;
    if faults.reorder_least_ns > faults.reorder_ns {
        return Err(Wrong::at("reorder_least_ns", "is more than `reorder_ns`"));
    }
    chance("duplicate_ppb", faults.duplicate_ppb)?;
    chance("corrupt_ppb", faults.corrupt_ppb)?;
    time("exponential_jitter_ns", faults.exponential_jitter_ns, 0)?;
    let Some(spikes) = faults.spikes else {
        return Ok(());
    };
    chance("spikes.chance_ppb", spikes.chance_ppb)?;
    time("spikes.median_ns", spikes.median_ns, 0)?;
    number(
        "spikes.sigma_ppm",
        spikes.sigma_ppm,
        (0, (MAX_SIGMA * 1e6) as u64),
    )
}

fn event(event: &Event) -> Checked {
    number("first", event.first, (1, MAX_EVENT))?;
    number("last", event.last, (event.first, MAX_EVENT))?;
    match event.does {
        Does::DelayNs(ns) => time("does.delayns", ns, 0),
        Does::Drop | Does::Duplicate | Does::Mark => Ok(()),
    }
}

fn outage(outage: &Outage) -> Checked {
    time("from_ns", outage.from_ns, 0)?;
    time_if("until_ns", outage.until_ns, 0)?;
    match outage.until_ns.is_some_and(|until| until <= outage.from_ns) {
        true => Err(Wrong::at("until_ns", "it ends before it begins")),
        false => Ok(()),
    }
}
