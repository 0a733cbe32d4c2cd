//! The receiver's window is smaller than what the path could hold (RFC 7323 1.1): the sender fills it in each round
//! trip and waits. It is small because the receive buffer is, or because the program leaves data in it unread.

use tcplab_base::Duration;
use tcplab_base::quantity::{BITS_PER_SECOND, Digits, bytes, figure};

use super::{Detector, Finding, Found, Id, Need, Severity, Side, length, packets};
use crate::conn::{Dir, Level};

pub(crate) const LIMITED: Detector = Detector {
    id: Id("receive_window_limited"),
    severity: "medium",
    said_when: "In eight round trips or more, and a third or more of the transfer (half, if late ACKs spread the round trips), the sender filled the advertised window and waited, though the path had room. The window was not closed. The cause is the receiving program if the window stayed at half of its largest size or below",
    needs: &[Need::Handshake, Need::BothDirections, Need::Data],
    detect: |side, out| look(side, out, limited),
};

pub(crate) const UNSCALED: Detector = Detector {
    id: Id("window_scaling_off"),
    severity: "medium",
    said_when: "As `receive_window_limited`, with a window of at most 65,535 bytes, because the sides did not agree on window scaling",
    needs: LIMITED.needs,
    detect: |side, out| look(side, out, unscaled),
};

/// Windows from here on are as large as 16 bits allow, less what ACKs of two segments take.
const ALL_BUT_SCALED: u32 = 60_000;
/// So many rounds at least.
const ROUNDS: u32 = 8;
/// At least this part of the window passes in a round trip of the idle path: delayed ACKs take some of it, a queue more.
const UNQUEUED: f64 = 0.6;
/// A shorter round trip has other limits first: the programs, the interrupts.
pub(super) const ROUND_TRIP: Duration = Duration::from_millis(2);

/// Rounds of a direction that stayed alike for long, with the time of each.
pub(super) fn level<'a>(
    side: &Side<'a>,
    level: &'a Level,
    least: u32,
) -> Option<(&'a Level, Duration)> {
    if level.rounds < least || side.sender.path_us == u32::MAX {
        return None;
    }
    let each = Duration::from_nanos(level.time.as_nanos() / i64::from(level.rounds));
    let first = side.sender.first_data.get()?;
    let life = side.sender.last_data.since(first);
    let long = level.time.as_nanos() >= life.as_nanos() / 3;
    // Who waits for ACKs takes a round trip at least. A program that writes at times of its own may be
    // sooner.
    let trip = i64::from(side.sender.path_or_zero()) + i64::from(side.receiver.path_or_zero());
    let waits = each.as_micros() >= trip - trip / 20;
    (long && waits && each >= ROUND_TRIP).then_some((level, each))
}

fn at_window(side: &Side<'_>) -> Option<(Level, Duration)> {
    let rounds = side.sender.rounds.as_deref()?;
    let by_rounds = level(side, &rounds.at_window, ROUNDS).map(|(l, each)| (*l, each));
    by_rounds.or_else(|| by_time(side))
}

/// ACKs that are delayed by turns spread the window over the round trip, and its rounds are not alike. The time at a full
/// window tells then: half of the transfer at least, nothing was lost, and as much passed in a round trip of the idle path
/// as the window holds, so nothing queued.
fn by_time(side: &Side<'_>) -> Option<(Level, Duration)> {
    let (tx, rx) = (side.sender, side.receiver);
    let tracker = side.connection.tracker.as_deref()?;
    let each = i64::from(tx.path_or_zero()) + i64::from(rx.path_or_zero());
    let known = tx.path_us != u32::MAX && rx.path_us != u32::MAX;
    let harmed = tx.loss.is_some() || rx.zero.is_some() || rx.unique_bytes > tx.unique_bytes;
    let each = Duration::from_micros(each);
    if !known || harmed || each < ROUND_TRIP {
        return None;
    }
    let life = tx.last_data.since(tx.first_data.get()?);
    let full = tracker.at_window();
    let rounds = u32::try_from(full.as_nanos() / each.as_nanos()).ok()?;
    let window = rx.window;
    let passed = tx.unique_bytes as f64 * each.as_nanos() as f64 / life.as_nanos().max(1) as f64;
    let mut level = Level::default();
    (level.rounds, level.window, level.bytes, level.time) = (rounds, window, window, full);
    // A sender waits long before it sends less than a segment into such a window.
    let tiny = window < tx.full_payload(rx.mss);
    // The path keeps no data in the receive buffer.
    let limited = full.as_nanos().saturating_add(low_window(rx).as_nanos());
    let unread = limited.saturating_mul(2) >= life.as_nanos().saturating_mul(3);
    let unqueued = tiny || unread || passed >= f64::from(window) * UNQUEUED;
    let fits = unqueued && full.as_nanos().saturating_mul(2) >= life.as_nanos();
    (rounds >= ROUNDS && fits).then_some((level, each))
}

fn low_window(rx: &Dir) -> Duration {
    let seldom = rx.seldom();
    seldom.map_or(Duration::ZERO, |s| s.low_window)
}

/// Why the window is small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    /// It stays near its largest size: the buffer.
    Buffer,
    /// It is at half of its largest size or below for most of the time: unread data.
    Program,
    /// In between: the packets do not tell.
    Untold,
}

impl Cause {
    fn of(side: &Side<'_>, level: &Level) -> Self {
        let (tx, rx) = (side.sender, side.receiver);
        let first = tx.first_data.get();
        let life = first.map_or(Duration::ZERO, |first| tx.last_data.since(first));
        // The ACK of two segments leaves before they are read.
        let window = u64::from(level.window) + 2 * u64::from(tx.full_payload(rx.mss));
        if low_window(rx).as_nanos().saturating_mul(2) > life.as_nanos() {
            Self::Program
        } else if window * 8 >= u64::from(rx.window_range.1) * 7 {
            Self::Buffer
        } else {
            Self::Untold
        }
    }
}

/// Looks for a full window, or says why nobody can tell.
fn look(side: &Side<'_>, out: &mut Found, find: fn(&Side<'_>) -> Option<Finding>) {
    let Some(rounds) = side.sender.rounds.as_deref() else {
        return;
    };
    let level = at_window(side);
    if level.is_none() {
        unsteady(side, out, &rounds.at_window, ROUNDS);
    }
    match side.scale_lacks() {
        // It looks full all the time.
        Some(lacks) if level.is_some() => out.cannot_tell(lacks),
        _ => out.extend(find(side)),
    }
}

/// Packets that the capture missed part rounds that were alike.
pub(super) fn unsteady(side: &Side<'_>, out: &mut Found, level: &Level, least: u32) {
    if level.rounds >= least / 4 && !side.has(Need::EveryPacket) {
        out.cannot_tell(Need::EveryPacket);
    }
}

/// Bits a second of `bytes` in each `time`, for a sentence.
pub(super) fn rate(bytes: u32, time: Duration) -> String {
    let bps = f64::from(bytes) * 8e9 / time.as_nanos().max(1) as f64;
    figure(bps, BITS_PER_SECOND, Digits::Three)
}

/// The window that 100 Mbit/s need over this round trip.
fn needed(time: Duration) -> String {
    bytes(time.as_nanos().max(0).unsigned_abs() / 80)
}

fn limited(side: &Side<'_>) -> Option<Finding> {
    let (level, each) = at_window(side)?;
    // Without scaling no window is larger: the other finding says so.
    if unscaled(side).is_some() && level.window >= ALL_BUT_SCALED {
        return None;
    }
    let mut f = side.finding(LIMITED.id, Severity::Medium);
    f.packets = packets([level.number].into_iter().filter(|n| *n > 0));
    let (sender, receiver) = (side.sender_end.ip, side.receiver_end.ip);
    let cause = Cause::of(side, &level);
    let most = bytes(side.receiver.window_range.1.into());
    let changed = side.has(Need::AtSender).then(|| {
        format!(
            "A device between the two can make the window smaller than {receiver} advertises it: capture there too, and \
             compare (`tcplab analyze --pair A B`)."
        )
    });
    if cause == Cause::Program {
        // What was measured are small buffers.
        f.confidence = None;
        f.title = format!(
            "the program on {receiver} reads slowly: {sender} waits for room in its receive buffer"
        );
        f.cause = format!(
            "{sender} filled the window that {receiver} advertises and waited. For most of the transfer that window was at \
             most half of its largest size ({most}): the rest of the buffer held data that the program had not read, unless \
             a device on the way changed the window. The path had room for more."
        );
        f.remedy = vec![format!(
            "On {receiver}: find what keeps the program from reading (`ss -tmi` shows unread data as Recv-Q; `perf top`, \
             `strace -p PID`). A larger buffer only delays the wait."
        )];
        f.remedy.extend(changed);
        return Some(f);
    }
    f.title = format!(
        "{receiver} accepts at most {} per round trip of {}: {}",
        bytes(level.window.into()),
        length(each),
        rate(level.window, each)
    );
    f.remedy = vec![
        format!(
            "On {receiver}: let the receive buffer grow, `sysctl -w net.ipv4.tcp_rmem='4096 131072 33554432'`; 100 Mbit/s \
             over {} need a window of {}. It changes nothing for a program that sets SO_RCVBUF.",
            length(each),
            needed(each)
        ),
        format!(
            "In the program on {receiver}: do not set SO_RCVBUF (it switches Linux's automatic growth off), or set it to \
             twice that window, and net.core.rmem_max to as much."
        ),
    ];
    f.remedy.extend(changed);
    let program = match cause {
        Cause::Untold => format!(
            "The window had been larger ({most}): the buffer is small, or the program reads slowly and leaves data in it."
        ),
        _ => {
            "The window stayed near its largest size, so the program reads fast enough.".to_owned()
        }
    };
    f.cause = format!(
        "In each of {} round trips {sender} filled the window that {receiver} advertises ({} bytes) and waited for the ACKs. \
         The path had room for more: nothing was lost and nothing queued. {program} A sender cannot exceed one window in \
         a round trip.",
        level.rounds, level.window
    );
    Some(f)
}

/// Which sides offered the window scale option, when not both did.
fn unscaled(side: &Side<'_>) -> Option<Finding> {
    let offers = [side.sender.window_scale, side.receiver.window_scale].map(|w| w.is_some());
    let (level, each) = at_window(side).filter(|_| offers != [true, true])?;
    let mut f = side.finding(UNSCALED.id, Severity::Medium);
    f.packets = packets([level.number].into_iter().filter(|n| *n > 0));
    let (sender, receiver) = (side.sender_end.ip, side.receiver_end.ip);
    let who = match offers {
        [false, false] => format!("neither {sender} nor {receiver} offers"),
        [true, _] => format!("{receiver} does not offer"),
        [_, _] => format!("{sender} does not offer"),
    };
    f.title = format!("{who} window scaling, so no window can be larger than 65 kB");
    f.remedy = vec![
        "Switch it on at both ends: `sysctl -w net.ipv4.tcp_window_scaling=1`.".to_owned(),
        "If it is on at both, a device on the way removes the option: compare the SYN and the SYN-ACK in captures of \
         both ends."
            .to_owned(),
    ];
    f.cause = format!(
        "The window field has 16 bits. Only if both SYNs carry the window scale option (RFC 7323 2) may a window be \
         larger than 65,535 bytes, which is {} at most over a round trip of {}.",
        rate(65_535, each),
        length(each)
    );
    Some(f)
}
