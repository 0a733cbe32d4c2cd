//! The time that repair of losses took.
//!
//! A timeout and a tail loss probe take the silence before them; all kinds take the time from their first retransmission
//! to the ACK that ends the episode. Whether an episode was needed is often known later: its stretches are kept for that.

use tcplab_base::Instant;

use super::Class;
use super::ledger::Ledger;
use super::sending::Doubt;
use super::tracker::Event;
use super::unseen::{NO_EPISODE, is_unknown};
use crate::conn::{Dir, Episodes, KEPT, scale_known};
use crate::report::EpisodeKind;
use crate::trace::SegmentKind;

/// Most stretches that can still turn out spurious.
const STRETCHES: usize = 2 * KEPT;

/// Two full frames of one burst follow each other as soon on all but slow links, microseconds.
const FRAMES_US: u64 = 200;

/// The recoveries of both sides.
#[derive(Debug, Default)]
pub(crate) struct Recovery {
    /// For each side: the class of its open episode.
    open: [Option<Class>; 2],
    /// How many episodes of each side had ended.
    ended: [u32; 2],
    /// The receiver told of a hole, and no retransmission passed yet; and how many episodes had ended then.
    asked: [bool; 2],
    before_asked: [u32; 2],
    /// A packet of this side ended a silence as a timer does, and the next one has not come.
    alone: [bool; 2],
    stretches: Vec<Stretch>,
}

/// Of no recorded episode: a silence at the receiver that a timer ended, or may have.
const SILENCE: u32 = NO_EPISODE - 1;

/// Time that was given to an episode.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    from: u64,
    to: u64,
    class: Class,
    dir: u8,
    /// Which episode of that side, in the order in which they ended.
    episode: u32,
    /// A packet was lost, independent of the verdict on its retransmission.
    needed: bool,
    /// What it is if nothing was lost.
    needless: Class,
}

fn class_of(kind: EpisodeKind) -> Class {
    match kind {
        EpisodeKind::Fast => Class::FastRecovery,
        EpisodeKind::Rto => Class::Rto,
        EpisodeKind::Tlp => Class::Tlp,
        EpisodeKind::Other => Class::Unknown,
    }
}

impl Recovery {
    /// Gives out what belongs to recovery of the time up to a packet with payload. `lost`: packets of its sender before it
    /// did not come so far.
    #[inline]
    pub(crate) fn goes_on(&mut self, e: &Event<'_>, lost: bool, ledger: &mut Ledger) {
        for dir in [e.dir, 1 - e.dir] {
            let told = matches!(e.kind, SegmentKind::New | SegmentKind::OutOfOrder);
            if !told || !self.is_quiet(dir, &e.dirs[dir]) {
                self.side(dir, e, lost && dir == e.dir, ledger);
            }
        }
    }

    /// Nothing of this side is being repaired, and nothing was when the last packet came.
    #[inline]
    pub(crate) fn is_quiet(&self, dir: usize, side: &Dir) -> bool {
        let Some(loss) = side.loss.as_deref() else {
            return true;
        };
        loss.episodes.open.is_none()
            && loss.asked.is_none()
            && self.open[dir].is_none()
            && !self.asked[dir]
    }

    #[cold]
    fn side(&mut self, dir: usize, e: &Event<'_>, lost: bool, ledger: &mut Ledger) {
        let Some(loss) = e.dirs[dir].loss.as_deref() else {
            return;
        };
        let episodes = &loss.episodes;
        let index = count(episodes);
        let was = self.open[dir];
        let now_open = episodes.open.as_deref();
        let more_ended = index > std::mem::replace(&mut self.ended[dir], index);
        let last = episodes.last().filter(|_| more_ended);
        self.asked(dir, e, index, ledger);
        // The one that was open goes on, or ended.
        match (was, last) {
            (Some(class), Some(ended)) => {
                let class = ended.kind.map_or(class, class_of);
                let to = ended.end.map_or(e.at, |end| place(e.start, end));
                self.give(class, to.min(e.at), (dir, index - 1), ledger);
            }
            (Some(class), None) => {
                let class = now_open.map_or(class, |open| class_of(open.kind));
                self.give(class, e.at, (dir, index), ledger);
            }
            _ => {}
        }
        // The silence before a timeout and a probe is theirs.
        let silence = match e.kind {
            SegmentKind::Rto => Some(Class::Rto),
            SegmentKind::Tlp => Some(Class::Tlp),
            _ => None,
        };
        if let Some(class) = silence.filter(|_| dir == e.dir) {
            let class = now_open.map_or(class, |o| class_of(o.kind));
            let at = index - u32::from(now_open.is_none() && index > 0);
            self.give(class, e.at, (dir, at), ledger);
            if let Some(s) = self.stretches.last_mut().filter(|s| s.to == e.at) {
                s.needed |= lost;
                if class == Class::Tlp && is_full(e) {
                    s.needless = Class::ReceiveWindow;
                } else if is_thinking(e) {
                    s.needless = Class::ServerThinks;
                }
            }
        }
        self.open[dir] = now_open.map(|o| class_of(o.kind));
        if let Some(open) = now_open.filter(|o| silence.is_some() && dir == e.dir && o.record.lost)
        {
            // Its first transmission was lost before the capture, so the peer repeated its request for a reason.
            let began = place(e.start, open.start);
            let since = self.stretches.iter_mut().rev().take_while(|s| s.to > began);
            since
                .filter(|s| usize::from(s.dir) != dir)
                .for_each(|s| s.needed = true);
        }
    }

    /// Seen from the receiver the retransmission comes a round trip after the hole: all of that is recovery, unless the
    /// hole closes without one.
    fn asked(&mut self, dir: usize, e: &Event<'_>, index: u32, ledger: &mut Ledger) {
        let side = &e.dirs[dir];
        let Some(loss) = side.loss.as_deref() else {
            return;
        };
        let open = loss.episodes.open.is_some() || index > self.before_asked[dir];
        if self.asked[dir] {
            if loss.asked.is_some() || open {
                self.give(
                    Class::FastRecovery,
                    e.at,
                    (dir, self.before_asked[dir]),
                    ledger,
                );
            } else {
                // It is among the last: those of ended episodes come before.
                let of_it = |s: &Stretch| (usize::from(s.dir), s.episode) == (dir, index);
                let is_older = |s: &&Stretch| usize::from(s.dir) != dir || s.episode >= index;
                let last = self.stretches.iter().rev().take_while(is_older).count();
                let rest = self.stretches.split_off(self.stretches.len() - last);
                for s in rest.iter().filter(|s| of_it(s)) {
                    ledger.turn((s.from, s.to), s.class, Class::Path);
                }
                self.stretches
                    .extend(rest.into_iter().filter(|s| !of_it(s)));
            }
        }
        let far = e.dirs[1 - dir].path_or_zero();
        let at_sender = u64::from(side.path_or_zero()) * 4 <= u64::from(far);
        self.asked[dir] = loss.asked.is_some() && loss.episodes.open.is_none() && !at_sender;
        self.before_asked[dir] = index;
    }

    /// Gives the time up to `to` to an episode.
    fn give(&mut self, class: Class, to: u64, (dir, episode): (usize, u32), ledger: &mut Ledger) {
        let from = ledger.cursor();
        if to <= from {
            return;
        }
        ledger.until(class, to);
        let dir = dir as u8;
        let room = self.stretches.len() < STRETCHES;
        match self.stretches.last_mut() {
            Some(s) if (s.to, s.class, s.dir, s.episode) == (from, class, dir, episode) => {
                s.to = to
            }
            _ if room => self.stretches.push(Stretch {
                from,
                to,
                class,
                dir,
                episode,
                needed: false,
                needless: Class::Spurious,
            }),
            _ => {}
        }
    }

    /// A gap of this side before data behind a hole, and its class: the capture may lack packets of that time.
    #[cold]
    pub(crate) fn unseen(&mut self, dir: usize, (from, to, class): (u64, u64, Class)) {
        // The congestion window's time may still be given to the sender.
        if class != Class::CongestionWindow {
            self.keep(dir, (from, to, class), NO_EPISODE);
        }
    }

    /// Keeps a stretch of no recorded episode. Gives whether there was room.
    fn keep(&mut self, dir: usize, (from, to, class): (u64, u64, Class), episode: u32) -> bool {
        let fits = from < to && self.stretches.len() < STRETCHES;
        if fits {
            self.stretches.push(Stretch {
                from,
                to,
                class,
                dir: dir as u8,
                episode,
                needed: true,
                needless: Class::Spurious,
            });
        }
        fits
    }

    /// A silence of this side, seen from far away, and its class.
    #[cold]
    pub(crate) fn silence(&mut self, dir: usize, doubt: Doubt, stretch: (u64, u64, Class)) {
        let kept = self.keep(dir, stretch, SILENCE);
        self.alone[dir] = kept && doubt == Doubt::Perhaps;
    }

    /// Whether a packet of this side waits for the next one, which may show that no timer sent it.
    #[inline]
    pub(crate) fn is_alone(&self, dir: usize) -> bool {
        self.alone[dir]
    }

    /// The next packet of this side passes at `at`; `near` is the way to its sender and back.
    #[cold]
    pub(crate) fn followed(&mut self, dir: usize, at: u64, near: u32) {
        self.alone[dir] = false;
        let own = |s: &&mut Stretch| usize::from(s.dir) == dir && s.episode == SILENCE;
        if let Some(s) = self.stretches.iter_mut().rev().find(own) {
            // After a timeout the next segment waits for an ACK (RFC 5681 3.1), after a probe as well (RFC 8985 7.3).
            let soon = (u64::from(near) * 3 / 4).max(FRAMES_US);
            s.needed = at - s.to.min(at) >= soon;
        }
    }

    /// A timer ended a silence of this side, or may have, and no recovery was seen.
    pub(crate) fn has_silence(&self, dir: usize) -> bool {
        let own = |s: &Stretch| usize::from(s.dir) == dir && s.episode == SILENCE && s.needed;
        self.stretches.iter().any(own)
    }

    /// The capture ends at `end`: an episode that is open takes the rest.
    pub(crate) fn close(
        &mut self,
        dirs: &[Dir; 2],
        (start, end): (Instant, u64),
        ledger: &mut Ledger,
    ) {
        for (dir, side) in dirs.iter().enumerate() {
            let Some(class) = self.open[dir] else {
                continue;
            };
            let Some(loss) = side.loss.as_deref() else {
                continue;
            };
            // The connection closed what was open: such an episode has no end.
            let own = loss.episodes.ended.get(self.ended[dir] as usize);
            let to = own.and_then(|r| r.end).map_or(end, |t| place(start, t));
            let to = to.min(end);
            self.give(class, to, (dir, self.ended[dir]), ledger);
        }
    }

    /// Moves the time of episodes that were not needed, and of gaps in which the capture lacks packets.
    pub(crate) fn judge(&self, dirs: &[Dir; 2], ledger: &mut Ledger) {
        for s in &self.stretches {
            if s.episode == SILENCE {
                if s.needed && s.class == Class::Sender {
                    ledger.turn((s.from, s.to), s.class, Class::Unknown);
                }
                continue;
            }
            if s.episode == NO_EPISODE {
                if is_unknown(s.class, &dirs[usize::from(s.dir)]) {
                    ledger.turn((s.from, s.to), s.class, Class::Unknown);
                }
                continue;
            }
            let loss = dirs[usize::from(s.dir)].loss.as_deref();
            let record = loss.and_then(|l| l.episodes.ended.get(s.episode as usize));
            let was_timeout = s.class == Class::Tlp && record.is_some_and(|r| r.seemed_probe);
            let was = if was_timeout { Class::Rto } else { s.class };
            if was != s.class {
                ledger.turn((s.from, s.to), s.class, was);
            }
            let spurious = record.filter(|r| r.spurious().is_some() && !r.is_of_outage(dirs));
            if !s.needed && spurious.is_some() {
                ledger.turn((s.from, s.to), was, s.needless);
            }
        }
    }

    /// Bytes behind it, about.
    pub(crate) fn weight(&self) -> usize {
        self.stretches.capacity() * size_of::<Stretch>()
    }
}

/// The receiver's window has no room for another segment of the event's sender.
fn is_full(e: &Event<'_>) -> bool {
    let (tx, rx) = (&e.dirs[e.dir], &e.dirs[1 - e.dir]);
    let flight = tx.nxt - tx.una.min(tx.nxt);
    scale_known(rx, tx) && flight.saturating_add(tx.full_payload(rx.mss)) > rx.window
}

/// Next to the server, a request is sent again that the server had ACKed, as all that the server had sent was: its program
/// kept the client waiting.
fn is_thinking(e: &Event<'_>) -> bool {
    let (client, server) = (&e.dirs[e.dir], &e.dirs[1 - e.dir]);
    let all = client.una == client.nxt && server.una == server.nxt;
    e.dir == e.client && all && server.is_here(client)
}

/// How many episodes ended.
fn count(episodes: &Episodes) -> u32 {
    u32::try_from(episodes.count()).unwrap_or(u32::MAX)
}

/// Where an instant lies on the time of a connection that began at `start`.
fn place(start: Instant, at: Instant) -> u64 {
    at.since(start).as_micros().max(0) as u64
}
