//! What differs between the packet that a script expects and the one that came: every field, as the original compares.
//!
//! Compared are the headers in number and kind, lengths, flags, sequence numbers, the window where it is said, options
//! in their order, payload. Not compared, as there: addresses (they chose the packet), the identification and flags of
//! IP, the echoed time stamp, and the stamp itself unless `--tcp_ts_tick_usecs` says how long a tick is.

use super::text::option_text;
use super::{ANY_TTL, Icmp, Ip, Key, Layer, Packet, Tcp, Udp, flag};
use crate::script::{Body, PacketSpec, TcpOption, Tos};

/// A field that differs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Difference {
    /// The column of the text that shows it.
    pub(crate) key: Key,
    /// Its name.
    pub(crate) name: String,
    /// Both values, where the columns do not show them.
    pub(crate) values: Option<(String, String)>,
}

/// What a script's options say about the comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Rules {
    /// Microseconds of a tick of TSval; 0: not compared.
    pub(crate) ts_tick_us: u32,
    /// How far TSval may be off, in microseconds.
    pub(crate) ts_tolerance_us: i64,
    /// Whether wrong checksums of TCP and UDP count.
    pub(crate) sums: bool,
}

/// Everything that differs; `actual` is in the script's numbers.
pub(crate) fn compare(
    spec: &PacketSpec,
    script: &Packet,
    actual: &Packet,
    rules: Rules,
) -> Vec<Difference> {
    let mut found = Found(Vec::new());
    if script.layers.len() != actual.layers.len() {
        let [s, a] = [script, actual].map(|p| format!("{} headers", p.layers.len()));
        found.add(Key::Outer, "number of headers", s, a);
        return found.0;
    }
    let same_length = script.payload_len == actual.payload_len;
    if !same_length {
        found.shown(Key::Seq, "length");
    }
    // Options that are not looked at may have any length.
    let allowance = match (&spec.body, actual.tcp()) {
        (Body::Tcp(tcp), Some(header)) if tcp.options.is_none() => header.header_len - 20,
        _ => 0,
    };
    let count = script.layers.len();
    for (i, (s, a)) in script.layers.iter().zip(&actual.layers).enumerate() {
        let key = if i + 2 < count { Key::Outer } else { Key::Ip };
        match (s, a) {
            (Layer::Ip(s), Layer::Ip(a)) => {
                found.ip(key, s, a, spec.ip.tos);
                if same_length
                    && s.total_len + u32::from(allowance) != a.total_len
                    && script.tcp().map(|t| &t.options) == actual.tcp().map(|t| &t.options)
                {
                    found.number(key, "total length", s.total_len, a.total_len);
                }
            }
            (Layer::Tcp(s), Layer::Tcp(a)) => found.tcp(spec, s, a, rules),
            (Layer::Udp(Udp { len: s, .. }), Layer::Udp(Udp { len: a, .. })) => {
                if same_length && s != a {
                    found.number(Key::Body, "UDP length", *s, *a);
                }
            }
            (Layer::Icmp(s), Layer::Icmp(a)) => found.icmp(s, a),
            (Layer::Gre(..), Layer::Gre(..)) | (Layer::Mpls(_), Layer::Mpls(_)) => {
                if s != a {
                    found.shown(Key::Outer, "outer header");
                }
            }
            _ => found.add(key, "kind of header", kind_of(s), kind_of(a)),
        }
    }
    // Scripts describe only part of an ICMP message, so its payload is not compared.
    if !actual.is_icmp() && actual.is_dirty {
        found.add(Key::Seq, "payload", "zeros".into(), "other bytes".into());
    }
    if rules.sums && actual.has_bad_sum {
        found.add(Key::Body, "checksum", "right".into(), "wrong".into());
    }
    found.0
}

fn kind_of(layer: &Layer) -> String {
    match layer {
        Layer::Ip(ip) if ip.src.is_ipv6() => "IPv6",
        Layer::Ip(_) => "IPv4",
        Layer::Gre(..) => "GRE",
        Layer::Mpls(_) => "MPLS",
        Layer::Tcp(_) => "TCP",
        Layer::Udp(_) => "UDP",
        Layer::Icmp(icmp) if icmp.is_v6 => "ICMPv6",
        Layer::Icmp(_) => "ICMP",
    }
    .into()
}

struct Found(Vec<Difference>);

impl Found {
    /// A difference that its column shows.
    fn shown(&mut self, key: Key, name: impl Into<String>) {
        self.0.push(Difference {
            key,
            name: name.into(),
            values: None,
        });
    }

    /// A difference that no column shows.
    fn add(&mut self, key: Key, name: &str, expected: String, actual: String) {
        self.0.push(Difference {
            key,
            name: name.into(),
            values: Some((expected, actual)),
        });
    }

    fn number(&mut self, key: Key, name: &str, expected: impl Into<u64>, actual: impl Into<u64>) {
        let (e, a): (u64, u64) = (expected.into(), actual.into());
        if e != a {
            self.add(key, name, e.to_string(), a.to_string());
        }
    }

    fn ip(&mut self, key: Key, s: &Ip, a: &Ip, tos: Tos) {
        if s.src.is_ipv6() != a.src.is_ipv6() {
            let version = |ip: &Ip| if ip.src.is_ipv6() { "6" } else { "4" }.to_string();
            self.add(key, "IP version", version(s), version(a));
            return;
        }
        self.number(key, "IP protocol", s.protocol, a.protocol);
        self.number(key, "IP header length", s.header_len, a.header_len);
        let ecn = a.tos & 3;
        let is_wrong = match tos {
            Tos::NotSaid => false,
            Tos::EitherEct => ecn != 1 && ecn != 2,
            Tos::Ecn(_) => ecn != s.tos & 3,
            Tos::Byte(_) => a.tos != s.tos,
        };
        if is_wrong {
            self.shown(
                key,
                if matches!(tos, Tos::Byte(_)) {
                    "tos"
                } else {
                    "ECN"
                },
            );
        }
        if s.ttl != ANY_TTL && s.ttl != a.ttl {
            self.shown(key, "ttl");
        }
    }

    fn tcp(&mut self, spec: &PacketSpec, s: &Tcp, a: &Tcp, rules: Rules) {
        let Body::Tcp(said) = &spec.body else { return };
        if s.flags != a.flags {
            self.shown(Key::Flags, "flags");
        }
        self.number(Key::Flags, "reserved bits", s.reserved, a.reserved);
        if s.seq != a.seq {
            self.shown(Key::Seq, "seq");
        }
        if s.ack != a.ack {
            self.shown(Key::Ack, "ack");
        }
        if said.window.is_some() && s.window != a.window {
            self.shown(Key::Window, "win");
        }
        if s.urgent != a.urgent {
            self.shown(Key::Urgent, "urg");
        }
        if said.options.is_some() {
            self.options(s, a, rules);
        }
    }

    fn options(&mut self, s: &Tcp, a: &Tcp, rules: Rules) {
        if a.is_malformed {
            self.add(
                Key::Option(a.options.len()),
                "options",
                "whole".into(),
                "cut".into(),
            );
        }
        for i in 0..s.options.len().max(a.options.len()) {
            let (name, is_equal) = match (s.options.get(i), a.options.get(i)) {
                (Some(s), Some(a)) => (s, option_equals(s, a, rules)),
                (Some(o), None) | (None, Some(o)) => (o, false),
                (None, None) => continue,
            };
            if !is_equal {
                let text = option_text(name);
                let name = text.split(' ').next().unwrap_or_default();
                self.shown(Key::Option(i), format!("option {name}"));
            }
        }
    }

    fn icmp(&mut self, s: &Icmp, a: &Icmp) {
        if (s.kind, s.code) != (a.kind, a.code) {
            self.shown(Key::Body, "ICMP type or code");
        }
    }
}

fn option_equals(s: &TcpOption, a: &TcpOption, rules: Rules) -> bool {
    match (s, a) {
        (TcpOption::Timestamps { val: s, .. }, TcpOption::Timestamps { val: a, .. }) => {
            let off = i64::from(a.wrapping_sub(*s) as i32).abs();
            rules.ts_tick_us == 0 || off * i64::from(rules.ts_tick_us) <= rules.ts_tolerance_us
        }
        _ => s == a,
    }
}

/// Whether `current` may be the next piece of what `previous` began, so that both stand for one packet of a script.
///
/// # Errors
/// It may not: why.
pub(crate) fn continues(previous: &Packet, current: &Packet) -> Result<(), String> {
    let (Some(p), Some(c)) = (previous.tcp(), current.tcp()) else {
        return Err("only segments of TCP continue each other".into());
    };
    // FIN and PSH stand on the last piece, CWR on the first.
    let flags = |t: &Tcp| t.flags & !(flag::FIN | flag::PSH | flag::CWR);
    let ttl = |p: &Packet| p.ip().map(|ip| (ip.src.is_ipv6(), ip.header_len, ip.ttl));
    let parts = [
        ("headers", previous.layers.len() == current.layers.len()),
        ("IP header", ttl(previous) == ttl(current)),
        ("flags", flags(p) == flags(c) && p.reserved == c.reserved),
        ("seq", p.seq.wrapping_add(previous.payload_len) == c.seq),
        ("ack", p.ack == c.ack),
        ("win", p.window == c.window),
        ("urg", p.urgent == c.urgent),
        ("length of options", p.header_len == c.header_len),
    ];
    match parts.iter().find(|(_, same)| !same) {
        Some((name, _)) => Err(format!("its `{name}` does not go on from the piece before")),
        None => Ok(()),
    }
}
