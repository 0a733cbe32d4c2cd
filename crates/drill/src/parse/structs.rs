//! What stands in braces: the structures that system calls take and give.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::call::{array, expression, list};
use super::cursor::Cursor;
use crate::error::ScriptError;
use crate::lex::Kind;
use crate::script::{At, EpollData, Expr, Gre, MplsLabel, MsgHdr};

/// Most entries of an MPLS label stack (packetdrill's own limit).
const MAX_LABELS: usize = 6;

/// `{...}`: its first word says which structure it is.
pub fn braces(cursor: &mut Cursor<'_>) -> Result<Expr, ScriptError> {
    cursor.expect('{')?;
    let value = match cursor.peek() {
        Some(Kind::Keyword("sa_family")) => sock_addr(cursor)?,
        Some(Kind::Keyword("msg_name")) => msg_hdr(cursor)?,
        Some(Kind::Keyword("cmsg_level")) => Expr::Cmsg(Box::new(fields(
            cursor,
            ["cmsg_level", "cmsg_type", "cmsg_data"],
        )?)),
        Some(Kind::Keyword("scm_sec")) => scm_timestamping(cursor)?,
        Some(Kind::Keyword("ee_errno")) => Expr::ExtendedErr(Box::new(fields(
            cursor,
            [
                "ee_errno",
                "ee_origin",
                "ee_type",
                "ee_code",
                "ee_info",
                "ee_data",
            ],
        )?)),
        Some(Kind::Keyword("fd")) => poll_fd(cursor)?,
        Some(Kind::Keyword("events")) => epoll_event(cursor)?,
        Some(Kind::Keyword("onoff")) => linger(cursor)?,
        Some(Kind::Keyword("flags" | "Flags")) => Expr::Gre(gre(cursor)?),
        Some(Kind::Char('}')) => Expr::MplsStack(Vec::new()),
        Some(Kind::Char('(')) => Expr::MplsStack(mpls_stack(cursor)?),
        Some(Kind::Ellipsis) if cursor.peek_at(1) == Some(Kind::Char(',')) => iovec(cursor)?,
        _ => Expr::Group(list(cursor)?),
    };
    cursor.expect('}')?;
    Ok(value)
}

/// `NAME = VALUE, NAME = VALUE ...` in this order.
fn fields<const N: usize>(
    cursor: &mut Cursor<'_>,
    names: [&'static str; N],
) -> Result<[At<Expr>; N], ScriptError> {
    let mut out = Vec::with_capacity(N);
    for name in names {
        if !out.is_empty() {
            cursor.expect(',')?;
        }
        out.push(field(cursor, name)?);
    }
    out.try_into().map_err(|_| cursor.fail("another field"))
}

/// `NAME = VALUE`
fn field(cursor: &mut Cursor<'_>, name: &'static str) -> Result<At<Expr>, ScriptError> {
    cursor.expect_word(name)?;
    cursor.expect('=')?;
    expression(cursor)
}

/// `NAME = NUMBER`
fn number(cursor: &mut Cursor<'_>, name: &'static str) -> Result<i64, ScriptError> {
    cursor.expect_word(name)?;
    cursor.expect('=')?;
    cursor.int("a number")
}

fn sock_addr(cursor: &mut Cursor<'_>) -> Result<Expr, ScriptError> {
    cursor.expect_word("sa_family")?;
    cursor.expect('=')?;
    let family = cursor.word("`AF_INET` or `AF_INET6`")?;
    cursor.expect(',')?;
    cursor.expect_word("sin_port")?;
    cursor.expect('=')?;
    cursor.expect_word("htons")?;
    cursor.expect('(')?;
    let port = cursor.unsigned("the port")?;
    cursor.expect(')')?;
    cursor.expect(',')?;
    cursor.expect_word("sin_addr")?;
    cursor.expect('=')?;
    cursor.expect_word("inet_addr")?;
    let ip = match family.value.as_str() {
        "AF_INET" => IpAddr::V4(address::<Ipv4Addr>(cursor, "an IPv4 address")?),
        "AF_INET6" => IpAddr::V6(address::<Ipv6Addr>(cursor, "an IPv6 address")?),
        other => {
            return Err(ScriptError {
                place: family.place,
                what: format!("found `{other}`, expected `AF_INET` or `AF_INET6`"),
            });
        }
    };
    Ok(Expr::SockAddr(SocketAddr::new(ip, port)))
}

/// `("ADDRESS")`
pub fn address<T: std::str::FromStr>(
    cursor: &mut Cursor<'_>,
    what: &'static str,
) -> Result<T, ScriptError> {
    cursor.expect('(')?;
    let address = match cursor.peek() {
        Some(Kind::Str(text)) => text
            .parse()
            .map_err(|_| cursor.error(format!("\"{text}\" is not {what}")))?,
        _ => return Err(cursor.fail("an address in quotes")),
    };
    cursor.bump();
    cursor.expect(')')?;
    Ok(address)
}

fn msg_hdr(cursor: &mut Cursor<'_>) -> Result<Expr, ScriptError> {
    cursor.expect_word("msg_name")?;
    cursor.expect('(')?;
    cursor.expect_ellipsis()?;
    cursor.expect(')')?;
    cursor.expect('=')?;
    cursor.expect_ellipsis()?;
    cursor.expect(',')?;
    cursor.expect_word("msg_iov")?;
    cursor.expect('(')?;
    let iov_len = At {
        place: cursor.place(),
        value: cursor.int("the number of buffers")?,
    };
    cursor.expect(')')?;
    cursor.expect('=')?;
    let iov = array(cursor)?;
    cursor.expect(',')?;
    let flags = field(cursor, "msg_flags")?;
    let control = match cursor.eat(',') {
        true => {
            cursor.expect_word("msg_control")?;
            cursor.expect('=')?;
            array(cursor)?
        }
        false => At {
            place: cursor.place(),
            value: Expr::List(Vec::new()),
        },
    };
    Ok(Expr::MsgHdr(Box::new(MsgHdr {
        iov_len,
        iov,
        flags,
        control,
    })))
}

fn scm_timestamping(cursor: &mut Cursor<'_>) -> Result<Expr, ScriptError> {
    let sec = number(cursor, "scm_sec")?;
    cursor.expect(',')?;
    let nsec = number(cursor, "scm_nsec")?;
    Ok(Expr::ScmTimestamping { sec, nsec })
}

fn poll_fd(cursor: &mut Cursor<'_>) -> Result<Expr, ScriptError> {
    let [fd, events] = fields(cursor, ["fd", "events"])?;
    let revents = match cursor.eat(',') {
        true => field(cursor, "revents")?,
        false => At {
            place: cursor.place(),
            value: Expr::Int(0),
        },
    };
    Ok(Expr::PollFd(Box::new([fd, events, revents])))
}

fn epoll_event(cursor: &mut Cursor<'_>) -> Result<Expr, ScriptError> {
    let events = Box::new(field(cursor, "events")?);
    cursor.expect(',')?;
    for (word, member) in [
        ("fd", EpollData::Fd),
        ("ptr", EpollData::Ptr),
        ("u32", EpollData::U32),
        ("u64", EpollData::U64),
    ] {
        if cursor.eat_word(word) {
            cursor.expect('=')?;
            let data = Box::new(expression(cursor)?);
            return Ok(Expr::EpollEvent {
                events,
                member,
                data,
            });
        }
    }
    Err(cursor.fail(""))
}

fn linger(cursor: &mut Cursor<'_>) -> Result<Expr, ScriptError> {
    let onoff = number(cursor, "onoff")?;
    cursor.expect(',')?;
    let linger = number(cursor, "linger")?;
    Ok(Expr::Linger { onoff, linger })
}

/// `..., N`
fn iovec(cursor: &mut Cursor<'_>) -> Result<Expr, ScriptError> {
    cursor.expect_ellipsis()?;
    cursor.expect(',')?;
    let place = cursor.place();
    let value = Expr::Int(cursor.int("the buffer's length")?);
    Ok(Expr::Iovec(Box::new(At { place, value })))
}

/// `(label N, tc N, [S], ttl N) (...)`
pub fn mpls_stack(cursor: &mut Cursor<'_>) -> Result<Vec<MplsLabel>, ScriptError> {
    let mut out = Vec::new();
    while cursor.eat('(') {
        if out.len() >= MAX_LABELS {
            return Err(cursor.error(format!("more than {MAX_LABELS} labels")));
        }
        cursor.expect_word("label")?;
        let label = cursor.bits(20, "the label")?;
        cursor.expect(',')?;
        cursor.expect_word("tc")?;
        let tc = cursor.bits(3, "the traffic class")?;
        cursor.expect(',')?;
        let bottom = cursor.eat('[');
        if bottom {
            match cursor.peek() {
                Some(Kind::Word("S")) => cursor.bump(),
                _ => return Err(cursor.fail("`S`, the bottom of the stack")),
            }
            cursor.expect(']')?;
            cursor.expect(',')?;
        }
        cursor.expect_word("ttl")?;
        let ttl = cursor.unsigned("the time to live")?;
        cursor.expect(')')?;
        out.push(MplsLabel {
            label,
            tc: u8::try_from(tc).unwrap_or(0),
            bottom,
            ttl,
        });
    }
    Ok(out)
}

/// `flags [key present], sum 0x0, off 0x0, key = 0x1, seq 0x0`; the commas may be missing.
pub fn gre(cursor: &mut Cursor<'_>) -> Result<Gre, ScriptError> {
    if !cursor.eat_word("flags") {
        cursor.expect_word("Flags")?;
    }
    let flags = match cursor.eat('[') {
        true => gre_flags(cursor)?,
        false => cursor.unsigned("the GRE flags")?,
    };
    cursor.eat(',');
    cursor.expect_word("sum")?;
    let sum = cursor.unsigned("the checksum")?;
    cursor.eat(',');
    cursor.expect_word("off")?;
    let off = cursor.unsigned("the offset")?;
    cursor.eat(',');
    cursor.expect_word("key")?;
    cursor.eat('=');
    let key = cursor.unsigned("the key")?;
    cursor.eat(',');
    cursor.expect_word("seq")?;
    let seq = cursor.unsigned("the sequence number")?;
    Ok(Gre {
        flags,
        sum,
        off,
        key,
        seq,
    })
}

fn gre_flags(cursor: &mut Cursor<'_>) -> Result<u16, ScriptError> {
    let mut flags = 0;
    loop {
        let mut flag = None;
        for (word, bit) in [("checksum", 0x8000), ("key", 0x2000), ("sequence#", 0x1000)] {
            if flag.is_none() && cursor.eat_word(word) {
                cursor.expect_word("present")?;
                flag = Some(bit);
            }
        }
        match flag {
            Some(bit) => flags |= bit,
            None => cursor.expect_word("none")?,
        }
        if !cursor.eat(',') {
            cursor.expect(']')?;
            return Ok(flags);
        }
    }
}
