//! Packets: `> [ect0] ipv4 1.1.1.1 > 2.2.2.2: gre: S. 0:0(0) ack 1 win 65535 <mss 1460,nop>`.

use std::str::FromStr;

use super::cursor::Cursor;
use super::{structs, tcp_option};
use crate::error::ScriptError;
use crate::lex::Kind;
use crate::script::{
    Body, Direction, Flags, Gre, IcmpSpec, IpInfo, Outer, PacketSpec, Quoted, SeqRange, TcpSpec,
    Tos,
};

/// Most headers of a packet, the innermost two with them (packetdrill's own limit).
const MAX_HEADERS: usize = 6;

pub fn packet(cursor: &mut Cursor<'_>) -> Result<PacketSpec, ScriptError> {
    let place = cursor.place();
    let direction = match cursor.eat("<") {
        true => Direction::In,
        false => {
            cursor.expect(">")?;
            Direction::Out
        }
    };
    let outer = outer(cursor)?;
    let early_quote = early_quote(cursor)?;
    let ip_place = cursor.place();
    let ip = ip_info(cursor)?;
    if ip.tos == Tos::EitherEct && direction == Direction::In {
        return Err(ScriptError::new(
            ip_place,
            "`ect01` is for packets that leave (`>`) only: say which of the two arrives",
        ));
    }
    let (psp_spi, mut body) = body(cursor, direction)?;
    if let Some(quoted) = early_quote {
        match &mut body {
            Body::Icmp(icmp) if icmp.quoted.is_none() => icmp.quoted = Some(quoted),
            _ => {
                return Err(
                    cursor.error("only `icmp` quotes a packet (`[1:1461(1460)]`), and only one")
                );
            }
        }
    }
    if matches!(body, Body::Udp { .. }) && matches!(ip.tos, Tos::Ecn(_)) {
        return Err(ScriptError::new(
            ip_place,
            "ECN marks are for TCP and ICMP packets only; `tos 0x..` says the whole byte",
        ));
    }
    Ok(PacketSpec {
        place,
        direction,
        outer,
        ip,
        psp_spi,
        body,
    })
}

fn outer(cursor: &mut Cursor<'_>) -> Result<Vec<Outer>, ScriptError> {
    let mut out = Vec::new();
    loop {
        let place = cursor.place();
        let header = if cursor.eat("ipv4") {
            let ip = ip_info(cursor)?;
            let (src, dst) = addresses(cursor, "an IPv4 address")?;
            Outer::Ipv4 { src, dst, ip }
        } else if cursor.eat("ipv6") {
            let ip = ip_info(cursor)?;
            let (src, dst) = addresses(cursor, "an IPv6 address")?;
            Outer::Ipv6 { src, dst, ip }
        } else if cursor.eat("gre") || cursor.eat("GREv0") {
            Outer::Gre(gre(cursor)?)
        } else if cursor.eat("mpls") {
            let stack = structs::mpls_stack(cursor)?;
            cursor.expect(":")?;
            Outer::Mpls(stack)
        } else {
            return Ok(out);
        };
        if out.len() + 2 >= MAX_HEADERS {
            return Err(ScriptError::new(
                place,
                "too many headers around the packet: packetdrill takes 4",
            ));
        }
        out.push(header);
    }
}

/// `SRC > DST:`
fn addresses<T: FromStr>(
    cursor: &mut Cursor<'_>,
    what: &'static str,
) -> Result<(T, T), ScriptError> {
    let src = address(cursor, what)?;
    cursor.expect(">")?;
    let dst = address(cursor, what)?;
    cursor.expect(":")?;
    Ok((src, dst))
}

fn address<T: FromStr>(cursor: &mut Cursor<'_>, what: &'static str) -> Result<T, ScriptError> {
    let address = match cursor.peek() {
        Some(Kind::Ipv4(text) | Kind::Ipv6(text)) => text.parse().ok(),
        _ => None,
    };
    let address = address.ok_or_else(|| cursor.fail(what))?;
    cursor.bump();
    Ok(address)
}

fn gre(cursor: &mut Cursor<'_>) -> Result<Gre, ScriptError> {
    if cursor.eat(":") {
        return Ok(Gre::default());
    }
    cursor.eat(",");
    let gre = structs::gre(cursor)?;
    cursor.expect(":")?;
    Ok(gre)
}

/// What stands in `(...)` or `[...]`, if it stands there.
fn ip_info(cursor: &mut Cursor<'_>) -> Result<IpInfo, ScriptError> {
    let mut info = IpInfo::default();
    let close = if cursor.eat("[") {
        "]"
    } else if cursor.eat("(") {
        ")"
    } else {
        return Ok(info);
    };
    loop {
        if cursor.eat("flowlabel") {
            info.flow_label = cursor.bits(20, "the flow label")?;
        } else if cursor.eat("ttl") || cursor.eat_foreign("hlim") {
            info.ttl = cursor.unsigned("the time to live")?;
        } else {
            info.tos = tos(cursor)?;
        }
        if !cursor.eat(",") {
            cursor.expect(close)?;
            return Ok(info);
        }
    }
}

fn tos(cursor: &mut Cursor<'_>) -> Result<Tos, ScriptError> {
    for (word, tos) in [
        ("noecn", Tos::Ecn(0)),
        ("ect1", Tos::Ecn(1)),
        ("ect0", Tos::Ecn(2)),
        ("ce", Tos::Ecn(3)),
        ("ect01", Tos::EitherEct),
    ] {
        if cursor.eat(word) {
            return Ok(tos);
        }
    }
    if !cursor.eat_foreign("class") {
        cursor.expect("tos")?;
    }
    cursor.unsigned("the traffic class").map(Tos::Byte)
}

fn body(cursor: &mut Cursor<'_>, direction: Direction) -> Result<(Option<u32>, Body), ScriptError> {
    if cursor.eat("udp") {
        return Ok((None, udp(cursor)?));
    }
    if cursor.eat("icmp") {
        return Ok((None, Body::Icmp(icmp(cursor)?)));
    }
    other_protocol(cursor)?;
    let mut psp_spi = None;
    if cursor.eat("encap") {
        cursor.expect("psp spi")?;
        psp_spi = Some(cursor.bits(32, "the SPI")?);
    }
    Ok((psp_spi, Body::Tcp(tcp(cursor, direction)?)))
}

/// Packets of protocols that no target has: what follows has a grammar of its own.
fn other_protocol(cursor: &mut Cursor<'_>) -> Result<(), ScriptError> {
    match cursor.peek() {
        Some(Kind::Word(word @ ("sctp" | "udplite"))) => {
            let what = format!("{word} is not supported: packets are TCP, UDP or ICMP");
            Err(cursor.give_up(cursor.place(), what))
        }
        _ => Ok(()),
    }
}

/// `SRC > DST`, if it stands there.
fn ports(cursor: &mut Cursor<'_>) -> Result<Option<(u16, u16)>, ScriptError> {
    if cursor.number()?.is_none() || cursor.peek_at(1) != Some(Kind::Char('>')) {
        return Ok(None);
    }
    let src = cursor.unsigned("the source port")?;
    cursor.expect(">")?;
    let dst = cursor.unsigned("the destination port")?;
    Ok(Some((src, dst)))
}

fn udp(cursor: &mut Cursor<'_>) -> Result<Body, ScriptError> {
    let ports = ports(cursor)?;
    let len = in_parentheses(cursor)?;
    Ok(Body::Udp { ports, len })
}

/// `(LEN)`
fn in_parentheses(cursor: &mut Cursor<'_>) -> Result<u16, ScriptError> {
    cursor.expect("(")?;
    let len = cursor.unsigned("the payload's length")?;
    cursor.expect(")")?;
    Ok(len)
}

fn tcp(cursor: &mut Cursor<'_>, direction: Direction) -> Result<TcpSpec, ScriptError> {
    let begin = cursor.place();
    let ports = ports(cursor)?;
    let flags = flags(cursor)?;
    let seq = seq(cursor)?;
    let ack = cursor.number_of("ack", "the acknowledgement number")?;
    let window = cursor.number_of("win", "the window")?;
    let urgent = cursor.number_of("urg", "the urgent pointer")?.unwrap_or(0);
    let place = cursor.place();
    let options = match cursor.eat("<") {
        true => tcp_option::options(cursor, place)?,
        false => Some(Vec::new()),
    };
    udp_around(cursor)?;
    if direction == Direction::In {
        if options.is_none() {
            return Err(ScriptError::new(
                place,
                "`<...>` is for packets that leave (`>`) only",
            ));
        }
        if window.is_none() {
            return Err(ScriptError::new(
                begin,
                "a packet that arrives needs its window (`win N`)",
            ));
        }
    }
    Ok(TcpSpec {
        ports,
        flags,
        seq,
        ack,
        window,
        urgent,
        options,
    })
}

/// `/udp(SRC > DST)` behind a segment: TCP inside UDP, as FreeBSD has it.
fn udp_around(cursor: &mut Cursor<'_>) -> Result<(), ScriptError> {
    let place = cursor.place();
    if cursor.eat_foreign("/") {
        cursor.expect("udp (")?;
        ports(cursor)?.ok_or_else(|| cursor.fail("`SRC > DST`, two ports"))?;
        cursor.expect(")")?;
        cursor.lack(place, "TCP inside UDP (`/udp`) is not supported");
    }
    Ok(())
}

/// `S.`, `.`, `-`, `SEW`, `P.5`
fn flags(cursor: &mut Cursor<'_>) -> Result<Flags, ScriptError> {
    let place = cursor.place();
    let text = match cursor.peek() {
        Some(Kind::Char('-')) => "",
        Some(Kind::Char('.')) => ".",
        Some(Kind::Word(text) | Kind::Float(text)) => text,
        _ => return Err(cursor.fail("TCP's flags (`S`, `P.`, `.`, `-`)")),
    };
    let is_word = matches!(cursor.peek(), Some(Kind::Word(_)));
    cursor.bump();
    let more = match cursor.peek() {
        Some(Kind::Float(ace)) if is_word => ace,
        Some(Kind::Char('.')) if is_word => ".",
        _ => "",
    };
    if !more.is_empty() {
        cursor.bump();
    }
    letters(&format!("{text}{more}")).map_err(|what| ScriptError::new(place, what))
}

fn letters(text: &str) -> Result<Flags, String> {
    let mut flags = Flags::default();
    let mut ecn = false;
    for c in text.chars() {
        flags.bits |= match c {
            'F' => 1,
            'S' => 2,
            'R' => 4,
            'P' => 8,
            '.' => 16,
            'U' => 32,
            'E' => 64,
            'W' => 128,
            'A' => 256,
            // The ACE field is AE, CWR, ECE from the highest bit to the lowest.
            '0'..='7' if !flags.is_ace => (c as u16 - '0' as u16) << 6,
            _ => {
                return Err(format!(
                    "`{c}` in `{text}` is not a flag of TCP: they are . F S R P U E W A, and 0 to 7 for ACE"
                ));
            }
        };
        flags.is_ace |= c.is_ascii_digit();
        ecn |= matches!(c, 'E' | 'W' | 'A');
    }
    match ecn && flags.is_ace {
        true => Err(format!(
            "`{text}` says E, W or A and the ACE field, which is the same bits"
        )),
        false => Ok(flags),
    }
}

/// `first:last(len)`
fn seq(cursor: &mut Cursor<'_>) -> Result<SeqRange, ScriptError> {
    let place = cursor.place();
    if cursor.eat_foreign("...") {
        let len = in_parentheses(cursor)?;
        cursor.lack(place, "any sequence number (`...`) is not supported");
        return Ok(SeqRange { start: 0, len });
    }
    let start: u32 = cursor.unsigned("the first sequence number (`1:1001(1000)`)")?;
    cursor.expect(":")?;
    let end: u32 = cursor.unsigned("the last sequence number")?;
    let len = in_parentheses(cursor)?;
    if u64::from(start) + u64::from(len) != u64::from(end) {
        return Err(ScriptError::new(
            place,
            format!(
                "{start}:{end}({len}) does not add up: {start} + {len} is {}",
                u64::from(start) + u64::from(len)
            ),
        ));
    }
    let mark = cursor.place();
    if cursor.eat_foreign("!") {
        cursor.lack(mark, "sequence numbers of the wire (`!`) are not supported");
    }
    Ok(SeqRange { start, len })
}

fn icmp(cursor: &mut Cursor<'_>) -> Result<IcmpSpec, ScriptError> {
    let kind = cursor.word("the ICMP type (`unreachable`, `echo_request`, `type_N`)")?;
    if kind.value == "router_advertisement" {
        cursor.lack(
            kind.place,
            "router advertisements are not supported: the route is given",
        );
    }
    let code = match cursor.peek() {
        Some(Kind::Word(_)) => Some(cursor.word("an ICMP code")?),
        _ => None,
    };
    let mtu = cursor.number_of("mtu", "the MTU")?;
    let echo_id = cursor.number_of("id", "the identifier")?.unwrap_or(0);
    let quoted = match cursor.eat("[") {
        true => Some(quoted(cursor)?),
        false => None,
    };
    Ok(IcmpSpec {
        kind,
        code,
        mtu,
        echo_id,
        quoted,
    })
}

/// What stands behind `[`, up to `]`.
fn quoted(cursor: &mut Cursor<'_>) -> Result<Quoted, ScriptError> {
    other_protocol(cursor)?;
    let quoted = if cursor.eat("udp") {
        Quoted::Udp(in_parentheses(cursor)?)
    } else if cursor.eat("raw") {
        Quoted::Raw(in_parentheses(cursor)?)
    } else {
        let seq = seq(cursor)?;
        udp_around(cursor)?;
        Quoted::Tcp(seq)
    };
    cursor.expect("]")?;
    Ok(quoted)
}

/// `[1:1461(1460)] icmp ...`: what is quoted stands before the message, as in packetdrill's first release.
fn early_quote(cursor: &mut Cursor<'_>) -> Result<Option<Quoted>, ScriptError> {
    let is_quote = match (cursor.peek(), cursor.peek_at(1)) {
        (Some(Kind::Char('[')), Some(next)) => {
            matches!(next, Kind::Int(_))
                || next.is("udp")
                || next.is("raw")
                || matches!(next, Kind::Word("sctp" | "udplite"))
        }
        _ => false,
    };
    if !is_quote {
        return Ok(None);
    }
    cursor.expect("[")?;
    quoted(cursor).map(Some)
}
