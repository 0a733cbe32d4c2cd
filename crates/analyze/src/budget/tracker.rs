//! Gives out the time of one connection, packet by packet.
//!
//! Only packets with payload move the account: each ends a gap since the one before it, and the gap is cut into the
//! stretches that `docs/analyze.md` names. ACKs in between leave notes: what they allowed, and whether they were late.

use tcplab_base::{Duration, Instant};
use tcplab_wire::{TcpFlags, TcpPacket};

use super::Class;
use super::ledger::{Account, Ledger};
use super::recovery::Recovery;
use super::sending::{Gap, Side};
use super::unseen;
use crate::conn::Dir;
use crate::trace::{AckClass, AckRow, SegmentKind};

/// What is known of the time of one connection.
#[derive(Debug)]
pub(crate) struct Tracker {
    ledger: Ledger,
    /// The handshake is not over.
    opening: bool,
    /// Where the last packet with payload passed, and who sent it.
    at: u64,
    by: Option<u8>,
    /// Where the first FIN passed.
    fin: Option<u64>,
    /// A keep-alive passed since the last packet with payload.
    kept_alive: bool,
    /// How often the client, and the server, went on after a pause without an answer.
    pauses: [u32; 2],
    /// The server sent data.
    served: bool,
    /// The account ends before the connection does, to make room for others.
    dropped_early: bool,
    sides: [Side; 2],
    recovery: Recovery,
}

/// A packet, and the connection after it.
pub(crate) struct Event<'a> {
    pub dirs: &'a [Dir; 2],
    /// Who sent it.
    pub dir: usize,
    /// Index of the client's side.
    pub client: usize,
    pub packet: &'a TcpPacket,
    pub number: u64,
    pub kind: SegmentKind,
    pub acked: Option<&'a AckRow>,
    /// Its place on the connection's time, microseconds, and time stamp.
    pub at: u64,
    pub now: Instant,
    pub start: Instant,
    /// The handshake, as far as it was seen, is going on.
    pub opening: bool,
}

impl Tracker {
    /// `opening`: a handshake was seen to begin. `spans`: they are wanted.
    pub(crate) fn new(opening: bool, spans: bool) -> Self {
        Self {
            ledger: Ledger::new(spans),
            opening,
            at: 0,
            by: None,
            fin: None,
            kept_alive: false,
            pauses: [0; 2],
            served: false,
            dropped_early: false,
            sides: [Side::default(), Side::default()],
            recovery: Recovery::default(),
        }
    }

    /// No later packet is taken, though some may come.
    pub(crate) fn drop_early(&mut self) {
        self.dropped_early = true;
    }

    pub(crate) fn was_dropped_early(&self) -> bool {
        self.dropped_early
    }

    /// Takes a packet, but not those without payload that tell nothing.
    #[inline]
    pub(crate) fn packet(&mut self, e: &Event<'_>) {
        let probe = matches!(
            e.kind,
            SegmentKind::KeepAlive | SegmentKind::ZeroWindowProbe
        );
        if self.opening {
            self.handshake(e);
        } else if e.packet.payload_len > 0 && !probe {
            self.message(e);
        } else {
            self.bare(e);
        }
        if e.packet.flags.has(TcpFlags::FIN) {
            self.fin.get_or_insert(e.at);
        }
    }

    /// Whether the next packet of this side matters, of any kind.
    #[inline]
    pub(crate) fn listens(&self, dir: usize) -> bool {
        self.opening || self.fin.is_some() || self.sides[1 - dir].listens()
    }

    /// A packet without payload, after the handshake.
    fn bare(&mut self, e: &Event<'_>) {
        if self.fin.is_some() {
            self.last_flight(e);
        }
        let own = &e.dirs[e.dir];
        let peer = &mut self.sides[1 - e.dir];
        peer.heard(e);
        match e.acked {
            Some(acked) if acked.class == AckClass::Delayed => {
                peer.acked_late(e.at, acked.wait_us.saturating_sub(acked.path_us));
            }
            None if own.window > own.window_before => peer.opened_at = e.at,
            _ => {}
        }
        self.kept_alive |= e.kind == SegmentKind::KeepAlive;
    }

    /// After a FIN data is still on its way until it is ACKed; not the time that the receiver held the ACK.
    #[cold]
    fn last_flight(&mut self, e: &Event<'_>) {
        let Some(acked) = e.acked.filter(|a| a.segments > 0) else {
            return;
        };
        if self.by == Some(1 - e.dir as u8) {
            let held = match acked.class {
                AckClass::Delayed => acked.wait_us.saturating_sub(acked.path_us),
                _ => 0,
            };
            self.ledger
                .until(Class::Path, e.at.saturating_sub(held.into()));
        }
    }

    /// A packet of the handshake.
    #[cold]
    fn handshake(&mut self, e: &Event<'_>) {
        self.ledger.until(Class::Handshake, e.at);
        self.opening = e.opening && e.packet.payload_len == 0;
        if !self.opening && e.packet.payload_len > 0 {
            self.message(e);
        } else {
            self.at = e.at;
        }
    }

    /// Takes a packet with new data that goes on with what its sender does: most packets of a bulk transfer. `false`: this
    /// is another one, for [`Tracker::packet`].
    #[inline]
    pub(crate) fn goes_on(&mut self, dirs: &[Dir; 2], dir: usize, p: &TcpPacket, at: u64) -> bool {
        let [a, b] = dirs;
        let (tx, rx) = if dir == 0 { (a, b) } else { (b, a) };
        let side = &mut self.sides[dir];
        let steady = self.by == Some(dir as u8)
            && side.goes_on(self.ledger.cursor(), at)
            && rx.zero.is_none()
            && self.recovery.is_quiet(0, a)
            && self.recovery.is_quiet(1, b)
            && !p.flags.has(TcpFlags::FIN);
        if steady {
            self.ledger.until(side.last_class(), at);
            self.at = at;
            side.sent((tx, rx), p, at);
        }
        steady
    }

    /// A packet with payload that may begin something, or end a pause.
    fn message(&mut self, e: &Event<'_>) {
        let known = matches!(e.kind, SegmentKind::New | SegmentKind::OutOfOrder);
        let again = !known && !self.sides[e.dir].is_fresh(e);
        let turn = !again && self.by != Some(e.dir as u8);
        let asks = turn && e.dir == e.client;
        let sent = || {
            let bytes = |dir: usize| e.dirs[dir].unique_bytes;
            let own = bytes(e.client);
            [
                own - own.min(e.packet.payload_len.into()),
                bytes(1 - e.client),
            ]
        };
        if self.recovery.is_alone(e.dir) {
            let near = e.dirs[e.dir].path_or_zero();
            self.recovery.followed(e.dir, e.at, near);
        }
        if asks {
            self.ledger.answered(sent());
        }
        if e.at > self.ledger.cursor() {
            match self.misses(e) {
                Some(true) => self.ledger.until(Class::Unknown, e.at),
                Some(false) => {
                    let from = self.ledger.cursor();
                    let quiet = [0, 1].map(|d| self.recovery.is_quiet(d, &e.dirs[d]));
                    self.gap(e, again, turn);
                    if quiet == [true; 2] {
                        self.recovery.unseen(e.dir, self.ledger.newest(from));
                    }
                }
                None => self.gap(e, again, turn),
            }
        } else if again {
            self.recovery.goes_on(e, false, &mut self.ledger);
        }
        if asks {
            self.ledger.ask(e.number, sent());
        }
        self.ledger.until(Class::Unknown, e.at);
        if again {
            return;
        }
        self.served |= e.dir != e.client;
        self.kept_alive = false;
        self.at = e.at;
        self.by = Some(e.dir as u8);
        if turn {
            self.sides[e.dir].begins(e);
        }
        let ends = (&e.dirs[e.dir], &e.dirs[1 - e.dir]);
        self.sides[e.dir].sent(ends, e.packet, e.at);
    }

    /// Whether the capture lacks packets of a time without payload that is longer than a round trip. `Some(true)`: an
    /// ACK says so; `Some(false)`: data goes on behind a hole, which may be a loss.
    #[inline]
    fn misses(&self, e: &Event<'_>) -> Option<bool> {
        let round: u64 = e.dirs.iter().map(|d| u64::from(d.path_or_zero())).sum();
        if e.at - self.ledger.cursor() <= round {
            return None;
        }
        unseen::misses(e, self.at, &self.sides[e.dir])
    }

    /// The time since the last packet with payload.
    fn gap(&mut self, e: &Event<'_>, again: bool, turn: bool) {
        let lost = e.kind != SegmentKind::New && self.sides[e.dir].lost_before(e);
        if turn && !again {
            self.before_timer(e);
        }
        self.recovery.goes_on(e, lost, &mut self.ledger);
        if self.ledger.cursor() >= e.at {
            return;
        }
        let rx = &e.dirs[1 - e.dir];
        if rx.zero.is_some() {
            self.zero_window(e);
        }
        if again {
            // The time until duplicate ACKs told of the loss.
            let class = self.sides[e.dir].last_class();
            self.ledger.until(class, e.at);
        } else if turn {
            self.turn(e);
        } else {
            let gap = Gap {
                from: self.ledger.cursor(),
            };
            let from = gap.from;
            let judged = self.sides[e.dir].gap(gap, e, &mut self.ledger);
            let who = usize::from(e.dir != e.client);
            self.pauses[who] = self.pauses[who].saturating_add(u32::from(judged.paused));
            if let Some(doubt) = judged.doubt {
                self.recovery
                    .silence(e.dir, doubt, self.ledger.newest(from));
            }
        }
    }

    /// A message begins with what was lost before the capture: the program had the time that is too long for its timers.
    #[inline]
    fn before_timer(&mut self, e: &Event<'_>) {
        let tx = &e.dirs[e.dir];
        let open = tx.loss.as_deref().and_then(|l| l.episodes.open.as_deref());
        let Some(open) = open.filter(|o| o.record.lost && o.number == e.number) else {
            return;
        };
        let silence = open.record.longest_idle.as_micros().max(0) as u64;
        let began = e.at.saturating_sub(silence);
        let there = self.at + u64::from(tx.path_or_zero());
        if began > there.max(self.ledger.cursor()) {
            self.ledger.until(Class::Path, there);
            let class = self.thinks(e);
            self.ledger.until(class, began);
        }
    }

    /// The other side begins to send: the path to it and back, and its program.
    fn turn(&mut self, e: &Event<'_>) {
        let tx = &e.dirs[e.dir];
        if self.by.is_none() && !e.opening && e.dirs.iter().all(|d| d.mss.is_none()) {
            // Without the handshake nobody knows what came before.
            self.ledger.until(Class::Unknown, e.at);
            return;
        }
        let there = (self.at + u64::from(tx.path_or_zero())).min(e.at);
        let late = e.at - there.max(self.ledger.cursor()).min(e.at);
        let repair = if e.dir == e.client {
            None
        } else {
            self.sides[e.dir].begins_after_loss(e, late)
        };
        let class = match repair {
            Some(repair) => {
                self.ledger.until(Class::Path, there);
                repair
            }
            None => {
                let acked = self.sides[1 - e.dir].arrived(self.at, e);
                self.ledger.until(Class::Path, there);
                let way = match is_queue(self.at, acked, e) {
                    true => Class::Path,
                    // Or an ACK is missing in the capture.
                    false => Class::Unknown,
                };
                self.ledger.until(way, there.max(acked).min(e.at));
                self.thinks(e)
            }
        };
        self.ledger.until(class, e.at);
    }

    /// Whose program was busy before it began to send.
    fn thinks(&self, e: &Event<'_>) -> Class {
        if e.dir != e.client {
            Class::ServerThinks
        } else if self.kept_alive {
            Class::Idle
        } else {
            Class::ClientThinks
        }
    }

    /// The part of the gap in which the sender waited for a closed window.
    #[cold]
    fn zero_window(&mut self, e: &Event<'_>) {
        let Some(zero) = e.dirs[1 - e.dir].zero.as_deref() else {
            return;
        };
        let stalled = zero.stalled.as_micros().max(0) as u64;
        let new = stalled.saturating_sub(std::mem::replace(
            &mut self.sides[e.dir].stalled_us,
            stalled,
        ));
        if new > 0 {
            let begins = e.at.saturating_sub(new);
            self.ledger.until(self.sides[e.dir].last_class(), begins);
            self.ledger.until(Class::ZeroWindow, e.at);
        }
    }

    /// The connection ended, or the capture did: `e.at` is where.
    pub(crate) fn close(
        mut self,
        dirs: &[Dir; 2],
        client: usize,
        (start, end): (Instant, u64),
    ) -> Account {
        if self.opening {
            self.ledger.until(Class::Handshake, end);
            return self.ledger.close();
        }
        let quiet_to = self.fin.unwrap_or(end);
        self.recovery
            .close(dirs, (start, quiet_to), &mut self.ledger);
        let last = self.by.map(usize::from);
        let unanswered = self.is_unanswered(client);
        let sent = [client, 1 - client].map(|dir| dirs[dir].unique_bytes);
        if !unanswered {
            self.ledger.answered(sent);
        }
        if let Some(by) = last {
            let rx = &dirs[1 - by];
            let closed = rx.zero.as_deref().filter(|z| z.probed && z.since.is_some());
            if closed.is_some() {
                self.ledger.until(Class::ZeroWindow, quiet_to);
            }
            let path = self.at + u64::from(rx.path_or_zero());
            self.ledger.until(Class::Path, path.min(quiet_to));
        }
        let class = if unanswered {
            Class::ServerThinks
        } else if last.is_none() && dirs.iter().all(|d| d.mss.is_none()) {
            Class::Unknown
        } else {
            Class::Idle
        };
        self.ledger.until(class, quiet_to);
        self.ledger.answered(sent);
        self.ledger.until(Class::Closing, end);
        self.recovery.judge(dirs, &mut self.ledger);
        self.ledger.close()
    }

    /// The client spoke last, and expects an answer: it got one before, or it has said one thing only.
    fn is_unanswered(&self, client: usize) -> bool {
        let last = self.by.map(usize::from);
        last == Some(client) && (self.served || self.pauses[0] == 0)
    }

    /// The request that nothing answered: its frame, when its first and its last data passed, and when the connection
    /// began to close, microseconds after the first packet.
    pub(crate) fn unanswered(&self, client: usize) -> Option<(u64, [u64; 2], Option<u64>)> {
        let (packet, began) = self.ledger.asked().filter(|_| self.is_unanswered(client))?;
        Some((packet, [began, self.at], self.fin))
    }

    /// How long the sender waited for room in the receiver's window, so far.
    pub(crate) fn at_window(&self) -> Duration {
        let us = self.ledger.given(Class::ReceiveWindow);
        Duration::from_micros(i64::try_from(us).unwrap_or(i64::MAX))
    }

    /// A silence of this side, seen from far away, was ended by a timer or may have been, and no recovery was seen.
    pub(crate) fn has_silence(&self, dir: usize) -> bool {
        self.recovery.has_silence(dir)
    }

    /// Bytes behind it, about.
    pub(crate) fn weight(&self) -> usize {
        size_of::<Self>() + self.ledger.weight() + self.recovery.weight()
    }
}

/// Whether data that passed at `sent` was under way until `arrived`, as the event's packet is the first to show: the round
/// trips before were about as long.
fn is_queue(sent: u64, arrived: u64, e: &Event<'_>) -> bool {
    let own = &e.dirs[1 - e.dir];
    if own.progress < e.now {
        return true;
    }
    let idle: u64 = e.dirs.iter().map(|d| u64::from(d.path_or_zero())).sum();
    let (wait, newest) = (e.at - sent.min(e.at), u64::from(own.srtt_us));
    if newest >= wait {
        // No round trip was seen before.
        return true;
    }
    // The newest sample is this one (RFC 6298 2.3).
    let before = (newest * 8).saturating_sub(wait) / 7 + u64::from(own.path_or_zero());
    arrived.saturating_sub(sent) <= 2 * before.max(idle)
}
