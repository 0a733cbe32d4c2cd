//! Zero windows: how long a receiver's window was closed, and whether its peer waited for it
//! (RFC 9293 3.8.6.1).

use tcplab_base::{Duration, Instant};

use super::data::At;
use super::dir::Dir;
use tcplab_wire::{TcpFlags, TcpPacket};

/// No probe comes earlier: the sender's retransmission timer sends it (RFC 9293 3.8.6.1, Linux `tcp_probe_timer()`).
const PROBED_AFTER: Duration = Duration::from_millis(150);

/// The zero windows that one side advertised.
#[derive(Clone, Debug, Default)]
pub(crate) struct ZeroWindow {
    /// Since when the window is closed, and the frame that closed it.
    pub since: Option<(Instant, u64)>,
    /// The frame that opened it last, when, and how long it was closed: the peer may go on now.
    pub opened: Option<(Instant, u64, Duration)>,
    /// Times when the peer was seen to wait.
    pub stalls: u32,
    /// Time that the peer waited.
    pub stalled: Duration,
    pub longest: Duration,
    /// A probe was sent while the window is closed.
    pub probed: bool,
    pub packets: Vec<u64>,
}

impl ZeroWindow {
    /// The peer waited from `since` for `length`.
    fn stall(&mut self, length: Duration, packets: [u64; 2]) {
        self.stalls += 1;
        self.stalled = self.stalled + length;
        self.longest = self.longest.max(length);
        if self.packets.len() < 8 {
            self.packets.extend(packets);
        }
    }
}

/// Whether the scale of the windows that `side` advertises to `peer` is known (RFC 7323 2.2). A scale applies only if
/// both SYNs have the option, and a SYN-ACK may have it only if the SYN has it.
pub(crate) fn scale_known(side: &Dir, peer: &Dir) -> bool {
    let without = |d: &Dir| d.options_seen && d.window_scale.is_none();
    without(side) || without(peer) || (side.window_scale.is_some() && peer.window_scale.is_some())
}

/// The window scale option holds from now on, if both sides sent it (RFC 7323 2.2).
pub(super) fn agree_on_scale([a, b]: &mut [Dir; 2]) {
    if let (Some(of_a), Some(of_b)) = (a.window_scale, b.window_scale) {
        (a.shift, b.shift) = (of_a.min(14), of_b.min(14));
    }
}

/// What can be said of the scale of the windows that `side` advertised, at the end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// The windows are in bytes.
    pub known: bool,
    /// The smallest shift that explains what the peer had in flight, where the scale is not known.
    pub at_least: Option<u8>,
}

impl Scale {
    pub(super) fn of(side: &Dir, peer: &Dir) -> Self {
        let known = scale_known(side, peer);
        let whole = |d: &Dir| d.rare.as_deref().is_none_or(|r| r.missed.bytes == 0);
        let (low, high) = side.window_range;
        // A sender keeps within the window; data or ACKs that the capture missed make the flight look longer.
        let told = !known && peer.acks_seen && low <= high && whole(side) && whole(peer);
        let explains = |k: &u8| u64::from(high) << k >= u64::from(peer.max_in_flight);
        let at_least = told.then(|| (1..=14).find(explains)).flatten();
        let beyond = peer.max_in_flight > high;
        Self {
            known,
            at_least: at_least.filter(|_| beyond),
        }
    }
}

impl Dir {
    /// Follows the window that this side advertises with `p`.
    ///
    /// Without the peer's packets its probes show in the answers: the same zero window again, much later.
    pub(crate) fn follow_window(&mut self, p: &TcpPacket, peer: &Self, at: At) {
        let (number, now) = (at.number, at.now);
        self.window_before = self.window;
        if p.flags.has(TcpFlags::SYN) {
            self.window = u32::from(p.window);
            return;
        }
        self.window = u32::from(p.window) << self.shift;
        if p.flags.has(TcpFlags::RST) {
            return;
        }
        let (low, high) = self.window_range;
        // A program that has read tells so at once: Linux announces a window that doubles (__tcp_cleanup_rbuf()).
        if u64::from(self.window_before) * 2 <= u64::from(high) {
            let before = self.last_packet;
            let time = &mut self.seldom_mut().low_window;
            *time = *time + now.since(before);
        }
        self.window_range = (low.min(self.window), high.max(self.window));
        if self.window == 0 && !p.flags.has(TcpFlags::FIN) {
            let z = self.zero.get_or_insert_default();
            let since = z.since.get_or_insert((now, number)).0;
            z.probed |= peer.packets == 0 && p.ack == peer.una && now.since(since) >= PROBED_AFTER;
        } else if let Some(z) = self.zero.as_deref_mut() {
            z.reopen(number, now);
        }
    }
}

impl ZeroWindow {
    fn reopen(&mut self, number: u64, now: Instant) {
        let Some((since, closed_by)) = self.since.take() else {
            return;
        };
        let length = now.since(since);
        if self.probed {
            self.probed = false;
            self.stall(length, [closed_by, number]);
        } else {
            self.opened = Some((now, number, length));
        }
    }

    /// The peer sends data. It had waited when it goes on at once after the window opened.
    pub(crate) fn peer_sends(&mut self, now: Instant, rtt: Duration) {
        if let Some((at, number, length)) = self.opened.take() {
            let at_once = now.since(at) <= rtt + rtt + Duration::from_millis(5);
            if at_once {
                self.stall(length, [number, number]);
            }
        }
    }
}
