//! What a call gave, compared with what the script expects: result, errno, then all else that came back.

use std::fmt::{Display, LowerHex};
use std::net::SocketAddr;

use super::args::{int, list, number};
use super::fds::Fd;
use super::prepare::After;
use super::socket::State;
use super::{Runner, Stop, fail, msg};
use crate::call::{Control, EpollEvent, OptValue, Outcome, Output};
use crate::script::{At, CallSpec, EpollData, Expr, Place};
use crate::target::Target;

impl<T: Target + ?Sized> Runner<'_, T> {
    pub(super) fn check(
        &mut self,
        spec: &CallSpec,
        after: After<'_>,
        outcome: &Outcome,
    ) -> Result<(), Stop> {
        result(spec, &after, outcome)?;
        errno(spec, outcome)?;
        let place = spec.result.place;
        match after {
            After::Nothing => Ok(()),
            After::NewSocket(_) | After::NewFile | After::Accept if outcome.result < 0 => Ok(()),
            After::NewSocket(protocol) => {
                let number = self.new_socket(State::New, protocol);
                if let Some(socket) = self.sockets.get_mut(number) {
                    socket.fd = Some(outcome.result as i32);
                }
                self.give_fd(spec, outcome.result as i32, Fd::Socket(number))
            }
            After::NewFile => self.give_fd(spec, outcome.result as i32, Fd::Other),
            After::Accept => self.accepted(spec, outcome),
            After::Listen(fd) => {
                let socket = self.fds.socket(fd).and_then(|i| self.sockets.get_mut(i));
                if let Some(socket) = socket {
                    socket.state = State::Listening;
                }
                Ok(())
            }
            After::Close(fd) => {
                self.fds.close(fd);
                Ok(())
            }
            After::Pipe(fds) => self.pipe(place, fds, outcome),
            After::Getsockopt { value, len } => option_value(value, len, outcome),
            // These leave what the script handed in as it is when they fail.
            _ if outcome.result < 0 && !matches!(after, After::Epoll { .. }) => Ok(()),
            After::Ioctl(expected) => ioctl_value(expected, outcome),
            After::Recvmsg { flags, control } => self.message(place, flags, &control, outcome),
            After::Poll(expected) => revents(place, &expected, outcome),
            After::Epoll { expected, member } => epoll_event(spec, expected, member, outcome),
        }
    }

    fn pipe(&mut self, place: Place, fds: [i32; 2], outcome: &Outcome) -> Result<(), Stop> {
        let Output::Pipe(live) = outcome.out else {
            return Ok(());
        };
        for (script, live) in fds.into_iter().zip(live) {
            let added = self.fds.add(script, live, Fd::Other);
            added.map_err(|why| fail(place, why))?;
        }
        Ok(())
    }

    /// Flags and control messages of recvmsg(2).
    fn message(
        &self,
        place: Place,
        flags: i32,
        control: &[Control],
        outcome: &Outcome,
    ) -> Result<(), Stop> {
        let Output::Message {
            flags: actual,
            control: came,
        } = &outcome.out
        else {
            return Ok(());
        };
        if flags != *actual {
            return Err(differs(place, "msg_flags was", Hex(flags), Hex(*actual)));
        }
        let begin_ns = self.begin.as_nanos();
        match msg::compare(control, came, begin_ns, self.settings.tolerance_us) {
            Some(why) => Err(fail(place, why)),
            None => Ok(()),
        }
    }

    fn give_fd(&mut self, spec: &CallSpec, live: i32, what: Fd) -> Result<(), Stop> {
        let script = int(&spec.result)?;
        self.fds
            .add(script, live, what)
            .map_err(|why| fail(spec.result.place, why))
    }

    /// accept(2) gave the connection whose handshake the script played.
    fn accepted(&mut self, spec: &CallSpec, outcome: &Outcome) -> Result<(), Stop> {
        let peer = match outcome.out {
            Output::Addr(addr) => Some(unmapped(addr)),
            _ => None,
        };
        let found = self.sockets.iter().rposition(|s| {
            matches!(s.state, State::SynAckSent | State::SynAckAcked)
                && peer.is_none_or(|p| p == s.live.remote.addr)
        });
        let number = found.ok_or_else(|| {
            fail(
                spec.result.place,
                "accept() gave a connection whose handshake is not in the script",
            )
        })?;
        let live = outcome.result as i32;
        if let Some(socket) = self.sockets.get_mut(number) {
            socket.fd = Some(live);
        }
        self.fds
            .add_accepted(int(&spec.result)?, live, Fd::Socket(number))
            .map_err(|why| fail(spec.result.place, why))
    }
}

/// What a part of the answer should be, and is.
fn differs(place: Place, what: &str, expected: impl Display, actual: impl Display) -> Stop {
    let is = match what.ends_with("were") {
        true => "are",
        false => "is",
    };
    fail(
        place,
        format!("{what} expected to be {expected}, and {is} {actual}"),
    )
}

/// Bits in hexadecimal digits.
struct Hex<T>(T);

impl<T: LowerHex> Display for Hex<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// `revents` of each entry of poll(2).
fn revents(place: Place, expected: &[i16], outcome: &Outcome) -> Result<(), Stop> {
    let Output::Poll(actual) = &outcome.out else {
        return Ok(());
    };
    let mut both = expected.iter().zip(actual).zip(1..);
    match both.find(|((e, a), _)| e != a) {
        Some(((e, a), entry)) => {
            let what = format!("revents of entry {entry} was");
            Err(differs(place, &what, Hex(*e), Hex(*a)))
        }
        None => Ok(()),
    }
}

/// An IPv4 address that an IPv6 socket shows.
fn unmapped(addr: SocketAddr) -> SocketAddr {
    SocketAddr::new(addr.ip().to_canonical(), addr.port())
}

/// A call with its result, for the transcript.
pub(super) fn text(spec: &CallSpec, outcome: &Outcome) -> String {
    let name = &spec.name.value;
    let fd = match spec.args.first() {
        Some(At {
            value: Expr::Int(fd),
            ..
        }) => format!("{fd}, ..."),
        _ => "...".into(),
    };
    format!("{name}({fd}) = {}{}", outcome.result, error(outcome))
}

/// The error's name behind a result.
fn error(outcome: &Outcome) -> String {
    match outcome.errno {
        0 => String::new(),
        n => format!(" {}", tcplab_base::Errno(n)),
    }
}

fn result(spec: &CallSpec, after: &After<'_>, outcome: &Outcome) -> Result<(), Stop> {
    let expected = int(&spec.result)?;
    let actual = outcome.result as i32;
    let is_new_fd = matches!(after, After::NewSocket(_) | After::NewFile | After::Accept);
    // Which number a new descriptor has is the target's business.
    let is_right = if is_new_fd && expected >= 0 {
        actual >= 0
    } else {
        actual == expected
    };
    if is_right {
        return Ok(());
    }
    let (name, error) = (&spec.name.value, error(outcome));
    Err(fail(
        spec.result.place,
        format!("{name}() was expected to give {expected}, and gave {actual}{error}"),
    ))
}

fn errno(spec: &CallSpec, outcome: &Outcome) -> Result<(), Stop> {
    let Some(word) = &spec.errno else {
        return Ok(());
    };
    let expected =
        crate::symbols::number_or_hint(&word.value).map_err(|why| fail(word.place, why))?;
    if expected == i64::from(outcome.errno) {
        return Ok(());
    }
    let (name, expected) = (&spec.name.value, &word.value);
    let actual = tcplab_base::Errno(outcome.errno);
    Err(fail(
        word.place,
        format!("{name}() was expected to fail with {expected}, and failed with {actual}"),
    ))
}

fn ioctl_value(expected: &At<Expr>, outcome: &Outcome) -> Result<(), Stop> {
    let Output::Int(actual) = outcome.out else {
        return Ok(());
    };
    let wanted = int(expected)?;
    match actual as i32 == wanted {
        true => Ok(()),
        false => Err(differs(expected.place, "the value was", wanted, actual)),
    }
}

/// The value of getsockopt(2). When the call failed, it is zeros, as what the original hands in.
fn option_value(value: &At<Expr>, len: &At<Expr>, outcome: &Outcome) -> Result<(), Stop> {
    let room = int(len)? as u32 as usize;
    let actual = match &outcome.out {
        Output::Opt(actual) if outcome.result >= 0 => bytes_of(actual),
        _ => vec![0; room.min(1 << 16)],
    };
    if actual.len() != room {
        return Err(differs(len.place, "the length was", room, actual.len()));
    }
    let expected = match &value.value {
        Expr::Str(bytes) | Expr::StrPrefix(bytes) => bytes.clone(),
        Expr::Inet6Addr(ip) => ip.octets().to_vec(),
        Expr::Linger { onoff, linger } => [*onoff as i32, *linger as i32]
            .iter()
            .flat_map(|n| n.to_le_bytes())
            .collect(),
        Expr::List(_) | Expr::Group(_) => {
            let numbers = list(value)?.iter().map(number);
            let numbers: Vec<i64> = numbers.collect::<Result<_, _>>()?;
            numbers
                .iter()
                .flat_map(|n| (*n as u32).to_le_bytes())
                .collect()
        }
        _ => return Err(fail(value.place, "this can be no value of a socket option")),
    };
    if expected == actual {
        return Ok(());
    }
    let show = |bytes: &[u8]| match bytes {
        [a, b, c, d] => i32::from_le_bytes([*a, *b, *c, *d]).to_string(),
        _ => format!("\"{}\"", bytes.escape_ascii()),
    };
    let (expected, actual) = (show(&expected), show(&actual));
    Err(differs(value.place, "the value was", expected, actual))
}

/// The value as the kernel lays it out.
fn bytes_of(value: &OptValue) -> Vec<u8> {
    match value {
        OptValue::Int(n) => (*n as u32).to_le_bytes().to_vec(),
        OptValue::Ints(numbers) => numbers.iter().flat_map(|n| n.to_le_bytes()).collect(),
        OptValue::Bytes(bytes) => bytes.clone(),
        OptValue::Linger { onoff, linger } => [onoff.to_le_bytes(), linger.to_le_bytes()].concat(),
        OptValue::Null => Vec::new(),
    }
}

/// The first event of epoll_wait(2); none came: zeros.
fn epoll_event(
    spec: &CallSpec,
    expected: EpollEvent,
    member: EpollData,
    outcome: &Outcome,
) -> Result<(), Stop> {
    let none = EpollEvent { events: 0, data: 0 };
    let actual = match &outcome.out {
        Output::Epoll(events) => events.first().copied().unwrap_or(none),
        _ => none,
    };
    let place = spec.result.place;
    if expected.events != actual.events {
        let (e, a) = (Hex(expected.events), Hex(actual.events));
        return Err(differs(place, "the events were", e, a));
    }
    let part = |data: u64| match member {
        EpollData::Fd | EpollData::U32 => u64::from(data as u32),
        EpollData::Ptr | EpollData::U64 => data,
    };
    let (e, a) = (part(expected.data), part(actual.data));
    match e == a {
        true => Ok(()),
        false => Err(differs(place, "the data of the event was", e, a)),
    }
}
