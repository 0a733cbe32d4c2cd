//! A point in one line, for tables: what it has beside the defaults.

use tcplab_plan::Point;
use tcplab_plan::app::{AppKind, Listening, Reading};
use tcplab_plan::point::{Direction, Does, Ip, QuickAck, Route, SocketOptions};

/// The application, the link, and everything that is not as usual.
pub fn of(point: &Point) -> String {
    let mut words = Vec::new();
    if point.ip == Ip::V6 {
        words.push("IPv6".to_owned());
    }
    for app in &point.apps {
        words.push(kind(&app.does));
        if app.reading != Reading::default() {
            words.push(format!("{:?}", app.reading));
        }
        if app.fastopen {
            words.push("fastopen".to_owned());
        }
        if let Some(at) = app.server_connects_ns {
            words.push(format!("simultaneous open, server at {}", time(at)));
        }
        if app.listening != Listening::default() {
            words.push(format!("{:?}", app.listening));
        }
        if app.connections > 1 {
            words.push(format!(
                "{} connections each {}",
                app.connections,
                time(app.stagger_ns)
            ));
        }
        socket("client", &app.client_socket, &mut words);
        socket("server", &app.server_socket, &mut words);
        for change in &app.changes {
            let side = match change.of_clients {
                true => "client",
                false => "server",
            };
            let end = format!("at {} {side}", time(change.at_ns));
            socket(&end, &change.options, &mut words);
        }
    }
    for link in &point.links {
        if link.mtu != 1_500 {
            words.push(format!("mtu {}", link.mtu));
        }
        way("to server", &link.a_to_b, &mut words);
        way("to client", &link.b_to_a, &mut words);
    }
    for host in &point.hosts {
        for (name, value) in &host.sysctl {
            let short = name.rsplit('.').next().unwrap_or(name);
            words.push(format!("{} {short}={value}", host.name));
        }
        for change in &host.changes {
            let short = change.name.rsplit('.').next().unwrap_or_default();
            let (at, value) = (time(change.at_ns), &change.value);
            words.push(format!("{} {short}={value} at {at}", host.name));
        }
        route(&host.name, &host.route, &mut words);
    }
    words.join("; ")
}

fn kind(does: &AppKind) -> String {
    let text = serde_json::to_string(does).unwrap_or_default();
    text.replace(['{', '}', '"'], " ")
        .replace("null", "-")
        .replace(" :", " ")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

fn socket(end: &str, s: &SocketOptions, words: &mut Vec<String>) {
    let mut say = |name: &str, value: Option<String>| {
        words.extend(value.map(|v| format!("{end} {name} {v}")));
    };
    say("nodelay", s.nodelay.map(|v| v.to_string()));
    let quickack = match s.quickack {
        QuickAck::Leave => None,
        other => Some(format!("{other:?}")),
    };
    say("quickack", quickack);
    say("rcvbuf", s.rcvbuf.map(|v| v.to_string()));
    say("sndbuf", s.sndbuf.map(|v| v.to_string()));
    say("rcvlowat", s.rcvlowat.map(|v| v.to_string()));
    say("user_timeout", s.user_timeout_ns.map(time));
    say("rto_min", s.rto_min_ns.map(time));
    say("delack_max", s.delack_max_ns.map(time));
    say("keepalive", s.keepalive_ns.map(time));
    say("congestion", s.congestion.clone());
    say("notsent_lowat", s.notsent_lowat.map(|v| v.to_string()));
    say("cork", s.cork.map(|v| v.to_string()));
    say("linger", s.linger.map(|v| v.to_string()));
    say("linger2", s.linger2_ns.map(time));
    say("syncnt", s.syncnt.map(|v| v.to_string()));
    say("window_clamp", s.window_clamp.map(|v| v.to_string()));
    let rate = s.max_pacing_rate_bps.map(|v| format!("{} kbit", v / 1_000));
    say("max_pacing_rate", rate);
    say("maxseg", s.maxseg.map(|v| v.to_string()));
}

fn route(host: &str, r: &Route, words: &mut Vec<String>) {
    if *r != Route::default() {
        let text = serde_json::to_string(r).unwrap_or_default();
        let set = text
            .trim_matches(['{', '}'])
            .split(',')
            .filter(|w| !w.ends_with("null"));
        let set: Vec<String> = set.map(|w| w.replace('"', "").replace(':', " ")).collect();
        words.push(format!("{host} route {}", set.join(" ")));
    }
}

fn way(name: &str, d: &Direction, words: &mut Vec<String>) {
    let mut text = format!("{name} {}", time(d.delay_ns));
    if let Some(rate) = d.rate_bps {
        text.push_str(&format!(
            " {} Mbit/s limit {}",
            rate / 1_000_000,
            d.limit_pkts
        ));
    }
    if d.jitter_ns > 0 {
        text.push_str(&format!(" jitter {}", time(d.jitter_ns)));
    }
    if d.loss_ppb > 0 {
        text.push_str(&format!(" loss {} %", f64::from(d.loss_ppb) / 1e7));
    }
    for change in &d.changes {
        text.push_str(&format!(" {change:?}"));
    }
    if let Some(trace) = &d.rate_trace {
        let times = trace.at_ms.len();
        text.push_str(&format!(" a rate trace of {times} times"));
    }
    for rule in &d.middlebox {
        text.push_str(&format!(" middle box {rule:?}"));
    }
    for inject in &d.injects {
        text.push_str(&format!(" {inject:?}"));
    }
    for e in &d.events {
        let of = format!("{:?}", e.of).to_lowercase();
        let range = if e.last > e.first {
            format!("{}-{}", e.first, e.last)
        } else {
            e.first.to_string()
        };
        let does = match e.does {
            Does::Drop => "drop".to_owned(),
            Does::Duplicate => "double".to_owned(),
            Does::Mark => "mark".to_owned(),
            Does::DelayNs(ns) => format!("delay by {}", time(ns)),
        };
        text.push_str(&format!(" {does} {of} {range}"));
    }
    words.push(text);
}

fn time(ns: i64) -> String {
    match ns {
        0 => "0".into(),
        n if n % 1_000_000 == 0 => format!("{}ms", n / 1_000_000),
        n => format!("{}us", n / 1_000),
    }
}
