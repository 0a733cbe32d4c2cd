//! Messages of recvmsg(2) and sendmsg(2): buffers, flags, control messages, and how those compare.

use super::args::{int, iovec, list, number};
use super::{Stop, fail};
use crate::call::{Control, ControlData, ExtendedError};
use crate::script::{At, Expr};

const SOL_IP: i32 = 0;

/// A message header of a script.
pub(super) struct Message {
    pub(super) lens: Vec<u64>,
    pub(super) flags: i32,
    pub(super) control: Vec<Control>,
}

/// Evaluates a message header.
pub(super) fn message(at: &At<Expr>) -> Result<Message, Stop> {
    let Expr::MsgHdr(header) = &at.value else {
        return Err(fail(at.place, "a message header is expected here"));
    };
    Ok(Message {
        lens: iovec(&header.iov, header.iov_len.value)?,
        flags: int(&header.flags)?,
        control: list(&header.control)?
            .iter()
            .map(control)
            .collect::<Result<_, _>>()?,
    })
}

fn control(at: &At<Expr>) -> Result<Control, Stop> {
    let Expr::Cmsg(parts) = &at.value else {
        return Err(fail(at.place, "a control message is expected here"));
    };
    let [level, kind, data] = parts.as_ref();
    Ok(Control {
        level: int(level)?,
        kind: int(kind)?,
        data: control_data(data)?,
    })
}

fn control_data(at: &At<Expr>) -> Result<ControlData, Stop> {
    match &at.value {
        Expr::ScmTimestamping { sec, nsec } => Ok(ControlData::TimestampNs(
            sec.saturating_mul(1_000_000_000).saturating_add(*nsec),
        )),
        Expr::ExtendedErr(parts) => {
            let [errno, origin, kind, code, info, data] = parts.as_ref();
            let byte = |at: &At<Expr>| {
                let n = number(at)?;
                if !(-128..=255).contains(&n) {
                    return Err(fail(at.place, format!("{n} does not fit into a byte")));
                }
                Ok(n as u8)
            };
            Ok(ControlData::Error(ExtendedError {
                errno: int(errno)? as u32,
                origin: byte(origin)?,
                kind: byte(kind)?,
                code: byte(code)?,
                info: int(info)? as u32,
                data: int(data)? as u32,
            }))
        }
        Expr::List(_) | Expr::Group(_) => Err(Stop::Skip {
            line: at.place.line,
            why: "statistics of time stamps (SCM_TIMESTAMPING_OPT_STATS) are not supported".into(),
        }),
        _ => Ok(ControlData::Int(i64::from(int(at)?))),
    }
}

/// Bytes of room for the control messages that the script expects (CMSG_SPACE), as in the original.
pub(super) fn control_space(control: &[Control]) -> u64 {
    let len = |c: &Control| match c.data {
        ControlData::Int(_) => 4,
        // Three of `struct timespec`.
        ControlData::TimestampNs(_) => 48,
        // With the address that follows: sockaddr_in, sockaddr_in6.
        ControlData::Error(_) if c.level == SOL_IP => 16 + 16,
        ControlData::Error(_) => 16 + 28,
    };
    control
        .iter()
        .map(|c| 16 + u64::next_multiple_of(len(c), 8))
        .sum()
}

/// What differs between expected and received control messages; `tolerance_us` is for time stamps, which count from
/// `begin_ns` in the received ones.
pub(super) fn compare(
    expected: &[Control],
    actual: &[Control],
    begin_ns: i64,
    tolerance_us: i64,
) -> Option<String> {
    if expected.len() != actual.len() {
        let (e, a) = (expected.len(), actual.len());
        return Some(format!("{e} control messages were expected, {a} came"));
    }
    let both = expected.iter().zip(actual).enumerate();
    both.map(|(i, (e, a))| (i + 1, one(e, a, begin_ns, tolerance_us)))
        .find_map(|(i, why)| Some(format!("control message {i}: {}", why?)))
}

fn one(e: &Control, a: &Control, begin_ns: i64, tolerance_us: i64) -> Option<String> {
    let differs = |name: &str, e: i64, a: i64| {
        (e != a).then(|| format!("{name} was expected to be {e}, and is {a}"))
    };
    differs("its level", e.level.into(), a.level.into())
        .or_else(|| differs("its type", e.kind.into(), a.kind.into()))
        .or_else(|| match (&e.data, &a.data) {
            (ControlData::Int(e), ControlData::Int(a)) => differs("its value", *e, *a),
            (ControlData::Error(e), ControlData::Error(a)) => extended(e, a, differs),
            // A time of 0 is not looked at.
            (ControlData::TimestampNs(0), ControlData::TimestampNs(_)) => None,
            (ControlData::TimestampNs(e), ControlData::TimestampNs(a)) => {
                let (e, a) = (e / 1_000, a.saturating_sub(begin_ns) / 1_000);
                let off = a.saturating_sub(e).saturating_abs();
                (off > tolerance_us).then(|| {
                    format!("its time was expected to be {e} us, and is {a} us (tolerance {tolerance_us} us)")
                })
            }
            (e, a) => Some(format!("{e:?} was expected, {a:?} came")),
        })
}

fn extended(
    e: &ExtendedError,
    a: &ExtendedError,
    differs: impl Fn(&str, i64, i64) -> Option<String>,
) -> Option<String> {
    let fields = [
        ("ee_errno", e.errno, a.errno),
        ("ee_origin", e.origin.into(), a.origin.into()),
        ("ee_type", e.kind.into(), a.kind.into()),
        ("ee_code", e.code.into(), a.code.into()),
        ("ee_info", e.info, a.info),
        ("ee_data", e.data, a.data),
    ];
    fields
        .iter()
        .find_map(|(name, e, a)| differs(name, (*e).into(), (*a).into()))
}
