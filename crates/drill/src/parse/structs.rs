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
    cursor.expect("{")?;
    let value = match cursor.peek() {
        Some(Kind::Keyword("sa_family")) => sock_addr(cursor)?,
        Some(Kind::Keyword("msg_name")) => msg_hdr(cursor)?,
        Some(Kind::Keyword("cmsg_level" | "cmsg_len")) => cmsg(cursor)?,
        Some(Kind::Keyword("scm_sec")) => {
            let [sec, nsec] = fields(cursor, "scm_sec scm_nsec", number)?;
            Expr::ScmTimestamping { sec, nsec }
        }
        Some(Kind::Keyword("ee_errno")) => {
            let names = "ee_errno ee_origin ee_type ee_code ee_info ee_data";
            Expr::ExtendedErr(fields(cursor, names, expression)?.into())
        }
        Some(Kind::Keyword("fd")) => poll_fd(cursor)?,
        Some(Kind::Keyword("events")) => epoll_event(cursor)?,
        Some(Kind::Keyword("onoff")) => {
            let [onoff, linger] = fields(cursor, "onoff linger", number)?;
            Expr::Linger { onoff, linger }
        }
        Some(Kind::Keyword("flags" | "Flags")) => Expr::Gre(gre(cursor)?),
        Some(Kind::Char('}')) => Expr::MplsStack(Vec::new()),
        Some(Kind::Char('(')) => Expr::MplsStack(mpls_stack(cursor)?),
        Some(Kind::Keyword("iov_base")) => {
            cursor.expect("iov_base = ... , iov_len =")?;
            iov_len(cursor)?
        }
        Some(Kind::Ellipsis) if cursor.peek_at(1) == Some(Kind::Char(',')) => iovec(cursor)?,
        _ => Expr::Group(list(cursor)?),
    };
    cursor.expect("}")?;
    Ok(value)
}

/// `NAME = VALUE, NAME = VALUE ...` in the order of `names`, which has blanks between.
fn fields<T, const N: usize>(
    cursor: &mut Cursor<'_>,
    names: &'static str,
    value: fn(&mut Cursor<'_>) -> Result<T, ScriptError>,
) -> Result<[T; N], ScriptError> {
    let mut out = Vec::with_capacity(N);
    for name in names.split(' ') {
        if !out.is_empty() {
            cursor.expect(",")?;
        }
        cursor.expect(name)?;
        cursor.expect("=")?;
        out.push(value(cursor)?);
    }
    out.try_into().map_err(|_| cursor.fail("another field"))
}

/// `NAME = VALUE`
fn field(cursor: &mut Cursor<'_>, name: &'static str) -> Result<At<Expr>, ScriptError> {
    fields(cursor, name, expression).map(|[value]| value)
}

fn number(cursor: &mut Cursor<'_>) -> Result<i64, ScriptError> {
    cursor.int("a number")
}

fn sock_addr(cursor: &mut Cursor<'_>) -> Result<Expr, ScriptError> {
    cursor.expect("sa_family =")?;
    let family = cursor.word("`AF_INET` or `AF_INET6`")?;
    cursor.expect(", sin_port = htons (")?;
    let port = cursor.unsigned("the port")?;
    cursor.expect(") , sin_addr = inet_addr")?;
    let ip = match family.value.as_str() {
        "AF_INET" => IpAddr::V4(address::<Ipv4Addr>(cursor, "an IPv4 address")?),
        "AF_INET6" => IpAddr::V6(address::<Ipv6Addr>(cursor, "an IPv6 address")?),
        other => {
            return Err(ScriptError::new(
                family.place,
                format!("found `{other}`, expected `AF_INET` or `AF_INET6`"),
            ));
        }
    };
    Ok(Expr::SockAddr(SocketAddr::new(ip, port)))
}

/// `("ADDRESS")`
pub fn address<T: std::str::FromStr>(
    cursor: &mut Cursor<'_>,
    what: &'static str,
) -> Result<T, ScriptError> {
    cursor.expect("(")?;
    let address = match cursor.peek() {
        Some(Kind::Str(text)) => text
            .parse()
            .map_err(|_| cursor.error(format!("\"{text}\" is not {what}")))?,
        _ => return Err(cursor.fail("an address in quotes")),
    };
    cursor.bump();
    cursor.expect(")")?;
    Ok(address)
}

fn msg_hdr(cursor: &mut Cursor<'_>) -> Result<Expr, ScriptError> {
    cursor.expect("msg_name ( ... ) = ... , msg_iov (")?;
    let iov_len = At::new(cursor.place(), cursor.int("the number of buffers")?);
    cursor.expect(") =")?;
    let iov = array(cursor)?;
    cursor.expect(",")?;
    // FreeBSD's packetdrill has them the other way round.
    let early = cursor.is("msg_control");
    let mut control = At::new(cursor.place(), Expr::List(Vec::new()));
    if early {
        control = msg_control(cursor)?;
        cursor.expect(",")?;
    }
    let flags = field(cursor, "msg_flags")?;
    if !early && cursor.eat(",") {
        control = msg_control(cursor)?;
    }
    Ok(Expr::MsgHdr(Box::new(MsgHdr {
        iov_len,
        iov,
        flags,
        control,
    })))
}

/// `msg_control=[...]`; `msg_control(LEN)=[...]` says its bytes, which are counted here in any case.
fn msg_control(cursor: &mut Cursor<'_>) -> Result<At<Expr>, ScriptError> {
    cursor.expect("msg_control")?;
    if cursor.eat("(") {
        cursor.unsigned::<u32>("the length of the control messages")?;
        cursor.expect(")")?;
    }
    cursor.expect("=")?;
    array(cursor)
}

/// `cmsg_level=, cmsg_type=, cmsg_data=`, perhaps with `cmsg_len=` before: it follows from the data.
fn cmsg(cursor: &mut Cursor<'_>) -> Result<Expr, ScriptError> {
    if cursor.is("cmsg_len") {
        field(cursor, "cmsg_len")?;
        cursor.expect(",")?;
    }
    let parts = fields(cursor, "cmsg_level cmsg_type cmsg_data", expression)?;
    Ok(Expr::Cmsg(parts.into()))
}

fn poll_fd(cursor: &mut Cursor<'_>) -> Result<Expr, ScriptError> {
    let [fd, events] = fields(cursor, "fd events", expression)?;
    let revents = match cursor.eat(",") {
        true => field(cursor, "revents")?,
        false => At::new(cursor.place(), Expr::Int(0)),
    };
    Ok(Expr::PollFd(Box::new([fd, events, revents])))
}

fn epoll_event(cursor: &mut Cursor<'_>) -> Result<Expr, ScriptError> {
    let events = Box::new(field(cursor, "events")?);
    cursor.expect(",")?;
    for (word, member) in [
        ("fd", EpollData::Fd),
        ("ptr", EpollData::Ptr),
        ("u32", EpollData::U32),
        ("u64", EpollData::U64),
    ] {
        if cursor.eat(word) {
            cursor.expect("=")?;
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

/// `..., N`
fn iovec(cursor: &mut Cursor<'_>) -> Result<Expr, ScriptError> {
    cursor.expect("... ,")?;
    iov_len(cursor)
}

fn iov_len(cursor: &mut Cursor<'_>) -> Result<Expr, ScriptError> {
    let len = At::new(
        cursor.place(),
        Expr::Int(cursor.int("the buffer's length")?),
    );
    Ok(Expr::Iovec(Box::new(len)))
}

/// `(label N, tc N, [S], ttl N) (...)`
pub fn mpls_stack(cursor: &mut Cursor<'_>) -> Result<Vec<MplsLabel>, ScriptError> {
    let mut out = Vec::new();
    while cursor.eat("(") {
        if out.len() >= MAX_LABELS {
            return Err(cursor.error(format!("more than {MAX_LABELS} labels")));
        }
        cursor.expect("label")?;
        let label = cursor.bits(20, "the label")?;
        cursor.expect(", tc")?;
        let tc = cursor.bits(3, "the traffic class")?;
        cursor.expect(",")?;
        let bottom = cursor.eat("[");
        if bottom {
            match cursor.peek() {
                Some(Kind::Word("S")) => cursor.bump(),
                _ => return Err(cursor.fail("`S`, the bottom of the stack")),
            }
            cursor.expect("] ,")?;
        }
        cursor.expect("ttl")?;
        let ttl = cursor.unsigned("the time to live")?;
        cursor.expect(")")?;
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
    if !cursor.eat("flags") {
        cursor.expect("Flags")?;
    }
    let flags = match cursor.eat("[") {
        true => gre_flags(cursor)?,
        false => cursor.unsigned("the GRE flags")?,
    };
    cursor.eat(",");
    cursor.expect("sum")?;
    let sum = cursor.unsigned("the checksum")?;
    cursor.eat(",");
    cursor.expect("off")?;
    let off = cursor.unsigned("the offset")?;
    cursor.eat(",");
    cursor.expect("key")?;
    cursor.eat("=");
    let key = cursor.unsigned("the key")?;
    cursor.eat(",");
    cursor.expect("seq")?;
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
            if flag.is_none() && cursor.eat(word) {
                cursor.expect("present")?;
                flag = Some(bit);
            }
        }
        match flag {
            Some(bit) => flags |= bit,
            None => cursor.expect("none")?,
        }
        if !cursor.eat(",") {
            cursor.expect("]")?;
            return Ok(flags);
        }
    }
}
