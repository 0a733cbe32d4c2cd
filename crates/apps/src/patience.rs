//! When an end gives up waiting for its socket: `client_timeout` and `server_timeout`.
//!
//! An end gives up (ETIME) when it has waited that long in vain: for a connection, for a byte or datagram to read,
//! for room to write. A datagram that it sends by its schedule meanwhile is no answer. A sleep of its own (`every`,
//! `pause`, `hold`) is no wait, nor is the time between two pings when all were answered.

use tcplab_base::{Duration, Instant};

use crate::doing::Wants;

/// What an end waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// Nothing of its socket.
    Nothing,
    /// Something to read.
    Data,
    /// A connection, or room to write.
    Room,
    /// Something to read, or room to write.
    Either,
}

impl Wants {
    /// What this is a wait for.
    pub fn awaited(self) -> Awaited {
        match self {
            Self::Readable(_) => Awaited::Data,
            Self::Writable => Awaited::Room,
            Self::Either => Awaited::Either,
            Self::Until(_) | Self::Reconnect | Self::Close => Awaited::Nothing,
        }
    }
}

/// A step of an end, as far as its patience goes.
#[derive(Clone, Copy, Debug)]
pub struct Stepped {
    /// What it waited for before the step.
    pub before: Awaited,
    /// What it waits for now.
    pub after: Awaited,
    /// Whether the step read something.
    pub read: bool,
    /// Whether the step wrote something.
    pub wrote: bool,
    /// [`crate::Program::is_owed`].
    pub is_owed: bool,
}

impl Stepped {
    /// When the end gives up, after this step at `now`; none: not by itself. `old` is what the step before it said.
    pub fn gives_up_at(
        &self,
        old: Option<Instant>,
        now: Instant,
        timeout: Duration,
    ) -> Option<Instant> {
        let came = match self.after {
            Awaited::Nothing => return None,
            Awaited::Data if !self.is_owed => return None,
            Awaited::Data => self.read,
            Awaited::Room => self.wrote,
            Awaited::Either => self.read || self.wrote,
        };
        let goes_on = self.before == self.after && !came;
        old.filter(|_| goes_on).or(Some(now + timeout))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Before, after, read, wrote, owed; the time that stood before; what holds after a step at 50 with a patience of 100.
    type Row = (
        Awaited,
        Awaited,
        (bool, bool, bool),
        Option<i64>,
        Option<i64>,
    );

    #[test]
    fn only_awaited_data_renews_patience() {
        use Awaited::{Data, Nothing, Room};
        let rows: [Row; 12] = [
            // The first wait.
            (Nothing, Data, (false, true, true), None, Some(150)),
            // Nothing came.
            (Data, Data, (false, false, true), Some(120), Some(120)),
            // A datagram was sent by the schedule, and none came.
            (Data, Data, (false, true, true), Some(120), Some(120)),
            (Data, Data, (true, false, true), Some(120), Some(150)),
            (Data, Data, (true, true, true), Some(120), Some(150)),
            // Another wait: what was waited for has come.
            (Room, Data, (false, false, true), Some(120), Some(150)),
            (Data, Room, (true, true, true), Some(120), Some(150)),
            (Room, Room, (false, false, true), Some(120), Some(120)),
            (Room, Room, (false, true, true), Some(120), Some(150)),
            // All was answered: nobody waits.
            (Data, Data, (true, false, false), Some(120), None),
            (Data, Data, (false, true, true), None, Some(150)),
            (Data, Nothing, (true, false, true), Some(120), None),
        ];
        let at = Instant::from_nanos;
        for (before, after, (read, wrote, is_owed), old, wanted) in rows {
            let step = Stepped {
                before,
                after,
                read,
                wrote,
                is_owed,
            };
            let found = step.gives_up_at(old.map(at), at(50), Duration::from_nanos(100));
            assert_eq!(found, wanted.map(at), "{step:?}, {old:?}");
        }
    }
}
