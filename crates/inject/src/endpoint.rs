//! Our own TCP behind [`tcplab_wire::receive`]: a host with two connections, one that must stand and one that may be hurt.

use tcplab_base::Duration;
use tcplab_wire::Refused;
use tcplab_wire::malformed::{Aim, Case, Family, Fate, Flow, Group};

use super::digest::Digest;
use super::pair::{Conn, Pair};
use super::target::{Effect, NOT_BEGUN, Target};
use crate::error::InjectError;

/// Between two frames.
const STEP: Duration = Duration::from_micros(10);
/// A round trip of a check takes four ways of 50 us, and what a retransmission would add.
const LONGEST: Duration = Duration::from_millis(100);

/// The host under test, for one IP version.
struct Host {
    pair: Pair,
    live: Conn,
    victim: Option<Conn>,
    before: Digest,
}

/// The target.
pub(super) struct OwnEndpoint {
    seed: u64,
    hosts: Vec<(Family, Host)>,
    at: usize,
}

impl OwnEndpoint {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            seed,
            hosts: Vec::new(),
            at: 0,
        }
    }

    fn host(&mut self) -> Result<&mut Host, String> {
        let host = self.hosts.get_mut(self.at).map(|(_, host)| host);
        host.ok_or_else(|| NOT_BEGUN.into())
    }
}

impl Host {
    fn new(family: Family, seed: u64) -> Result<Self, String> {
        let mut pair = Pair::new(family, seed);
        let live = pair.connect()?;
        pair.carry(&live)?;
        let before = Digest::of(&mut pair, &live);
        Ok(Self {
            pair,
            live,
            victim: None,
            before,
        })
    }

    /// The connection that may be hurt; a new one when it was.
    fn victim(&mut self) -> Result<Conn, String> {
        if let Some(victim) = self.victim {
            if self.pair.stands(&victim) {
                return Ok(victim);
            }
            self.pair.close(&victim);
        }
        let victim = self.pair.connect()?;
        self.pair.carry(&victim)?;
        self.victim = Some(victim);
        self.before = Digest::of(&mut self.pair, &self.live);
        Ok(victim)
    }

    fn take(&mut self, case: &Case) -> Result<Effect, String> {
        let mut accepted = Err(Refused::Short);
        for frame in case.frames() {
            accepted = self.pair.arrive(frame).or(accepted);
        }
        let after = Digest::of(&mut self.pair, &self.live);
        let before = std::mem::replace(&mut self.before, after.clone());
        let changed = after != before;
        if case.fate == Fate::Refused {
            if accepted.is_ok() {
                return Err("the endpoint accepted a frame that it must reject".into());
            }
            if let Some(what) = before.differs(&after) {
                return Err(format!(
                    "the endpoint rejected the frame, but state changed: {what}"
                ));
            }
        } else if let Some(what) = before.differs_in_stream(&after) {
            return Err(format!("an unrelated connection changed: {what}"));
        }
        self.pair.check();
        if self.pair.has_answer() {
            // The peer hears the answer, and its own answers come back.
            self.pair.rest(STEP);
            let again = Digest::of(&mut self.pair, &self.live);
            if let Some(what) = after.differs_in_stream(&again) {
                return Err(format!("an answer changed an unrelated connection: {what}"));
            }
            self.pair.check();
            self.before = again;
        }
        Ok(Effect {
            accepted: accepted.is_ok(),
            changed,
        })
    }

    fn end(&mut self) -> Result<(), String> {
        if !self.pair.stands(&self.live) {
            return Err("the open connection is gone".into());
        }
        let took = self.pair.carry(&self.live);
        let took = took.map_err(|e| format!("the open connection: {e}"))?;
        if took > LONGEST {
            return Err(format!("data was answered after {took:?}"));
        }
        let fresh = self.pair.connect()?;
        let carried = self.pair.carry(&fresh);
        carried.map_err(|e| format!("a new connection: {e}"))?;
        self.pair.close(&fresh);
        if let Some(victim) = self.victim.take() {
            self.pair.close(&victim);
        }
        // Requests of floods time out.
        self.pair.rest(Duration::from_secs(130));
        self.pair.carry(&self.live)?;
        self.pair.check();
        self.before = Digest::of(&mut self.pair, &self.live);
        Ok(())
    }
}

impl Target for OwnEndpoint {
    fn begin(&mut self, group: &Group) -> Result<(), InjectError> {
        let known = (self.hosts.iter()).position(|(family, _)| *family == group.family);
        self.at = match known {
            Some(at) => at,
            None => {
                let host = Host::new(group.family, self.seed);
                let host = host.map_err(InjectError::CannotRun)?;
                self.hosts.push((group.family, host));
                self.hosts.len() - 1
            }
        };
        Ok(())
    }

    fn flow(&mut self, aim: Aim) -> Result<Flow, String> {
        let host = self.host()?;
        let conn = match aim {
            Aim::Live | Aim::Listener => host.live,
            Aim::Victim => host.victim()?,
        };
        let flow = host.pair.flow(&conn);
        flow.ok_or_else(|| "the connection is gone".into())
    }

    fn take(&mut self, case: &Case) -> Result<Effect, String> {
        let host = self.host()?;
        host.pair.pass(STEP);
        host.take(case)
    }

    fn end(&mut self, _: &Group) -> Result<(), String> {
        self.host()?.end()
    }
}
