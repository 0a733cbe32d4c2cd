//! Which side is the client where the capture has no handshake: by the ports, or by the side that asks.
//!
//! Decided when the connection ends. Until then the higher port counts as the client's; what that got wrong is turned.

use super::Connection;
use crate::budget::{Account, Class};

/// Ports below need rights to listen on (RFC 6335: system ports).
const SYSTEM: u16 = 1_024;
/// Ports from here on are given out to clients (Linux `net.ipv4.ip_local_port_range`; RFC 6335: from 49,152 on).
const GIVEN_OUT: u16 = 32_768;
/// A person or a timer pauses this long before a request; answers that take as long are rare.
const PAUSE_US: u32 = 1_000_000;
/// So many times longer than any wait for the other side.
const FAR_LONGER: u32 = 10;
/// Turns of each side that tell.
const TURNS: u32 = 2;

/// The ports are of different kinds, so the higher one is the client's.
fn tell(a: u16, b: u16) -> bool {
    let kind = |port| u8::from(port >= SYSTEM) + u8::from(port >= GIVEN_OUT);
    kind(a) != kind(b)
}

impl Connection {
    /// The client's side by its port: the higher one.
    fn by_ports(&self) -> usize {
        usize::from(self.key.b.port > self.key.a.port)
    }

    /// Index of the client's side: the one that sent the SYN or asks; else the one with the higher port.
    pub(crate) fn client_index(&self) -> usize {
        self.client.map_or_else(|| self.by_ports(), usize::from)
    }

    /// Something tells which side is the client.
    pub(crate) fn roles_known(&self) -> bool {
        self.client.is_some() || tell(self.key.a.port, self.key.b.port)
    }

    /// The connection is over: the direction of its requests tells, where nothing else did.
    pub(super) fn settle_roles(&mut self) {
        if !self.roles_known() {
            self.client = self.asks();
        }
    }

    /// The side whose program pauses before it speaks, while the other one answers soon and sends no less.
    fn asks(&self) -> Option<u8> {
        let sides = &self.turns.as_deref()?.sides;
        let asks = |d: usize| {
            let (own, peer) = (&sides[d], &sides[1 - d]);
            own.turns >= TURNS
                && peer.turns >= TURNS
                && own.longest_us >= PAUSE_US
                && own.longest_us / FAR_LONGER >= peer.longest_us
                && self.dirs[d].unique_bytes <= self.dirs[1 - d].unique_bytes
        };
        (0..2).find(|d| asks(usize::from(*d)))
    }

    /// Its time was counted with the sides taken for each other.
    fn was_turned(&self) -> bool {
        !self.handshake.is_begun() && self.client_index() != self.by_ports()
    }

    /// Puts right what was counted with the wrong roles. Requests were cut at the packets of the other side: they go.
    pub(super) fn put_right(&self, account: &mut Account) {
        if !self.was_turned() {
            return;
        }
        let (client, server) = (Class::ClientThinks, Class::ServerThinks);
        let (paused, thought) = (account.budget.of(client), account.budget.of(server));
        account.budget.turn(client, server, paused);
        account.budget.turn(server, client, thought);
        for span in &mut account.spans {
            span.class = match span.class {
                Class::ClientThinks => server,
                Class::ServerThinks => client,
                other => other,
            };
        }
        account.requests.clear();
        account.not_listed = 0;
        account.asked = crate::budget::Budget::default();
    }
}
