//! Scripts with one number changed, to measure how strict a run is: almost all of them must fail.
//!
//! Only expectations change: numbers and times of packets that leave, ends of calls that block, results, errors, and
//! values of options, messages and asserts. Actions (packets that arrive, arguments) stay, because changing them may
//! have no effect. What else stays is in [`Unchanged`]. Names stay: descriptors, and the sequence
//! number of a SYN, from which the script counts.

mod unchanged;

use tcplab_base::Random;

pub use unchanged::Unchanged;

use crate::options::Settings;
use crate::script::{
    Action, At, Body, CallSpec, Direction, Expr, Script, TcpOption, TcpSpec, Time,
};

/// A script with one number changed.
#[derive(Clone, PartialEq, Debug)]
pub struct Mutant {
    /// The script.
    pub script: Script,
    /// The line that was changed.
    pub line: u32,
    /// What was changed, for people: `ack 1 -> 2`.
    pub what: String,
}

/// The flag of a segment.
const SYN: u16 = 2;

/// Where a number stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Site {
    Time,
    /// When a call that blocks ends.
    End,
    Seq,
    Len,
    Ack,
    Window,
    /// A number of an option: which option.
    Option(usize),
    Result,
    Errno,
    /// A number among what comes back: which.
    Output(usize),
    /// A number in code: where it begins and ends.
    Code(usize, usize),
}

/// The script with a number changed that `seed` chooses; none: it expects no number.
pub fn mutant(script: &Script, settings: &Settings, seed: u64) -> Option<Mutant> {
    let all = sites(script, settings);
    let mut random = Random::stream(seed, "drill/mutant");
    let (index, site) = *all.get(random.below(all.len() as u64) as usize)?;
    let mut changed = script.clone();
    let event = changed.events.get_mut(index)?;
    let line = event.place.line;
    let what = match (site, &mut event.action) {
        (Site::Time, _) => {
            let before = event.time;
            event.time = moved(event.time, settings);
            format!("time {before:?} -> {:?}", event.time)
        }
        (site, Action::Packet(spec)) => match &mut spec.body {
            Body::Tcp(tcp) => change_tcp(tcp, site, &mut random)?,
            _ => return None,
        },
        (site, Action::Call(call)) => change_call(call, site, settings, &mut random)?,
        (Site::Code(from, to), Action::Code(code)) => {
            let number: i64 = code.value.get(from..to)?.parse().ok()?;
            let new = off(number, &mut random);
            code.value.replace_range(from..to, &new.to_string());
            format!("code {number} -> {new}")
        }
        _ => return None,
    };
    Some(Mutant {
        script: changed,
        line,
        what,
    })
}

/// Every number that may be changed, with the number of its event.
fn sites(script: &Script, settings: &Settings) -> Vec<(usize, Site)> {
    let mut out = Vec::new();
    for (i, event) in script.events.iter().enumerate() {
        let mut add = |site| out.push((i, site));
        match &event.action {
            Action::Packet(spec) if spec.direction == Direction::Out => {
                if event.time != Time::Any {
                    add(Site::Time);
                }
                if let Body::Tcp(tcp) = &spec.body {
                    tcp_sites(tcp, settings, add);
                }
            }
            Action::Call(call) => call_sites(call, add),
            Action::Code(code) => {
                for (from, to) in compared_numbers(&code.value) {
                    add(Site::Code(from, to));
                }
            }
            Action::Packet(_) | Action::Shell(_) => {}
        }
    }
    out
}

fn tcp_sites(tcp: &TcpSpec, settings: &Settings, mut add: impl FnMut(Site)) {
    if tcp.flags.bits & SYN == 0 {
        add(Site::Seq);
    }
    add(Site::Len);
    if tcp.ack.is_some() {
        add(Site::Ack);
    }
    if tcp.window.is_some() {
        add(Site::Window);
    }
    for (i, option) in tcp.options.iter().flatten().enumerate() {
        let has_number = match option {
            TcpOption::Mss(_) | TcpOption::WindowScale(_) | TcpOption::Sack(_) => true,
            TcpOption::Timestamps { .. } => settings.ts_tick_us > 0,
            _ => false,
        };
        if has_number {
            add(Site::Option(i));
        }
    }
}

fn call_sites(call: &CallSpec, mut add: impl FnMut(Site)) {
    if call.ends.is_some() {
        add(Site::End);
    }
    let gives_fd = matches!(
        call.name.value.as_str(),
        "socket" | "accept" | "open" | "epoll_create"
    );
    if !gives_fd {
        add(Site::Result);
    }
    if call.errno.is_some() {
        add(Site::Errno);
    }
    let mut count = 0;
    outputs(&mut call.clone(), &mut |_, _| count += 1);
    (0..count).for_each(|n| add(Site::Output(n)));
}

/// Calls `f` with each number among what a call shall give back, and whether it is a time in nanoseconds.
fn outputs(call: &mut CallSpec, f: &mut dyn FnMut(&mut i64, bool)) {
    let index = match call.name.value.as_str() {
        "getsockopt" => 3,
        "ioctl" => 2,
        "recvmsg" => 1,
        _ => return,
    };
    let Some(arg) = call.args.get_mut(index) else {
        return;
    };
    match &mut arg.value {
        Expr::List(list) => list.iter_mut().for_each(|at| number(at, f)),
        Expr::MsgHdr(header) => {
            let Expr::List(list) = &mut header.control.value else {
                return;
            };
            for at in list {
                if let Expr::Cmsg(parts) = &mut at.value {
                    let [_, _, data] = parts.as_mut();
                    number(data, f);
                }
            }
        }
        _ => {}
    }
}

fn number(at: &mut At<Expr>, f: &mut dyn FnMut(&mut i64, bool)) {
    match &mut at.value {
        Expr::Int(n) => f(n, false),
        // A time of 0 is not looked at.
        Expr::ScmTimestamping { sec, nsec } if (*sec, *nsec) != (0, 0) => f(nsec, true),
        Expr::ExtendedErr(parts) => parts.iter_mut().for_each(|part| number(part, f)),
        _ => {}
    }
}

/// Another number near by, never the same.
fn off(n: i64, random: &mut Random) -> i64 {
    let by = 1 + random.below(3) as i64;
    match random.below(2) {
        0 if n >= by => n - by,
        _ => n.saturating_add(by),
    }
}

fn off_u32(n: u32, random: &mut Random) -> u32 {
    off(n.into(), random) as u32
}

fn change_tcp(tcp: &mut TcpSpec, site: Site, random: &mut Random) -> Option<String> {
    Some(match site {
        Site::Seq => {
            let before = tcp.seq.start;
            tcp.seq.start = off_u32(before, random);
            format!("seq {before} -> {}", tcp.seq.start)
        }
        Site::Len => {
            let before = tcp.seq.len;
            tcp.seq.len = off(before.into(), random) as u16;
            format!("length {before} -> {}", tcp.seq.len)
        }
        Site::Ack => {
            let ack = tcp.ack.as_mut()?;
            let before = *ack;
            *ack = off_u32(before, random);
            format!("ack {before} -> {ack}")
        }
        Site::Window => {
            let window = tcp.window.as_mut()?;
            let before = *window;
            *window = off(before.into(), random) as u16;
            format!("win {before} -> {window}")
        }
        Site::Option(i) => {
            let option = tcp.options.as_mut()?.get_mut(i)?;
            let before = option.clone();
            match option {
                TcpOption::Mss(mss) => *mss = off((*mss).into(), random) as u16,
                TcpOption::WindowScale(shift) => *shift = off((*shift).into(), random) as u8,
                TcpOption::Timestamps { val, .. } => *val = val.wrapping_add(1 << 20),
                TcpOption::Sack(blocks) => {
                    let which = random.below(blocks.len() as u64) as usize;
                    let (left, right) = blocks.get_mut(which)?;
                    match random.below(2) {
                        0 => *left = off_u32(*left, random),
                        _ => *right = off_u32(*right, random),
                    }
                }
                _ => return None,
            }
            format!("{before:?} -> {option:?}")
        }
        _ => return None,
    })
}

fn change_call(
    call: &mut CallSpec,
    site: Site,
    settings: &Settings,
    random: &mut Random,
) -> Option<String> {
    let name = call.name.value.clone();
    Some(match site {
        Site::End => {
            let before = call.ends?;
            call.ends = Some(later(before, settings));
            format!("end of {name}() {before} us -> {:?}", call.ends)
        }
        Site::Result => {
            let Expr::Int(before) = call.result.value else {
                return None;
            };
            let new = off(before, random);
            call.result.value = Expr::Int(new);
            format!("result of {name}() {before} -> {new}")
        }
        Site::Errno => {
            let errno = call.errno.as_mut()?;
            let new = if errno.value == "EDOM" {
                "ERANGE"
            } else {
                "EDOM"
            };
            let before = std::mem::replace(&mut errno.value, new.into());
            format!("error of {name}() {before} -> {new}")
        }
        Site::Output(wanted) => {
            let mut count = 0;
            let mut text = String::new();
            outputs(call, &mut |n, is_time| {
                if count == wanted {
                    let before = *n;
                    *n = if is_time {
                        before.saturating_add(3_000 * settings.tolerance_us)
                    } else {
                        off(before, random)
                    };
                    text = format!("output of {name}() {before} -> {n}");
                }
                count += 1;
            });
            text
        }
        _ => return None,
    })
}

/// A time that is later by more than any tolerance.
fn later(us: i64, settings: &Settings) -> i64 {
    let share = i128::from(us) * i128::from(settings.tolerance_ppm) / 1_000_000;
    let share = i64::try_from(share).unwrap_or(i64::MAX / 8);
    us.saturating_add(2 * settings.tolerance_us)
        .saturating_add(share.saturating_mul(2))
}

fn moved(time: Time, settings: &Settings) -> Time {
    // The tolerance grows with the time, and with a range both ends move past the old one.
    let past = |from: i64, to: i64| later(to, settings).saturating_sub(from);
    match time {
        Time::Absolute(at) => Time::Absolute(later(at, settings)),
        Time::Relative(at) => Time::Relative(later(at, settings)),
        Time::AbsoluteRange(from, to) => {
            let by = past(from, to);
            Time::AbsoluteRange(from.saturating_add(by), to.saturating_add(by))
        }
        Time::RelativeRange(from, to) => {
            let by = past(from, to);
            Time::RelativeRange(from.saturating_add(by), to.saturating_add(by))
        }
        Time::Any => Time::Any,
    }
}

/// The decimal numbers of code that stand right of `==`.
fn compared_numbers(code: &str) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    let mut rest = 0;
    while let Some(at) = code.get(rest..).and_then(|c| c.find("==")) {
        let begin = rest + at + 2;
        let after = code.get(begin..).unwrap_or_default();
        let blanks = after.len() - after.trim_start_matches(' ').len();
        let digits = after
            .trim_start_matches(' ')
            .bytes()
            .take_while(u8::is_ascii_digit)
            .count();
        let next = after.as_bytes().get(blanks + digits);
        if digits > 0 && !next.is_some_and(|c| c.is_ascii_alphanumeric() || *c == b'.') {
            out.push((begin + blanks, begin + blanks + digits));
        }
        rest = begin;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Settings;
    use crate::target::IpMode;
    use crate::{Defines, parse};

    const TEXT: &str = "\
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 getsockopt(3, SOL_TCP, TCP_MAXSEG, [536], [4]) = 0
+0 connect(3, ..., ...) = -1 EINPROGRESS (in progress)
+0 > S 0:0(0) win 65535 <mss 1460,sackOK,nop,nop,nop,wscale 8>
+.1 < S. 0:0(0) ack 1 win 100 <mss 1000>
+0~+.1 > . 1:1(0) ack 1 <nop,nop,sack 1:2>
+0 %{ assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd; assert tcpi_x==7 }%
+0 ...0.5 read(3, ..., 10) = 10
";

    #[test]
    fn every_expected_number_is_found_and_changed() {
        let script = parse(TEXT, &Defines::new()).unwrap();
        let settings = Settings::new(IpMode::Ipv4);
        let found = sites(&script, &settings);
        // Mutable places per event: getsockopt: value, result. connect: result, error. SYN: five. ACK: time, seq,
        // length, ack, SACK. Two asserts. read: end, result.
        let count = |event| found.iter().filter(|(i, _)| *i == event).count();
        let counts: Vec<usize> = (0..script.events.len()).map(count).collect();
        assert_eq!(counts, [0, 2, 2, 5, 0, 5, 2, 2]);
        let mut lines = std::collections::BTreeSet::new();
        for seed in 0..400 {
            let mutant = mutant(&script, &settings, seed).unwrap();
            assert_ne!(mutant.script, script, "{}", mutant.what);
            let what = mutant.what.split("->").next().unwrap().to_string();
            lines.insert((mutant.line, what));
        }
        assert_eq!(lines.len(), found.len(), "{lines:?}");
    }

    #[test]
    fn times_move_beyond_the_tolerance() {
        let settings = Settings::new(IpMode::Ipv4);
        for us in [0, 1, 10_000, 32_000, 1_000_000, 3_600_000_000] {
            let new = later(us, &settings);
            let tolerance = (new / 8).max(4_000);
            assert!(new - us > tolerance, "{us} -> {new}");
        }
    }
}
