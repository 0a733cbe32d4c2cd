//! This machine's kernel, in namespaces of its own or at an interface of the user's ([`crate::arena::Arena`]).

use std::time::Duration;

use tcplab_os::tcp_info::TcpInfo;
use tcplab_wire::malformed::{Aim, Case, Family, Fate, Flow, Group};

use super::document::{KernelCounter, SiteRecord};
use super::fields::harmed;
use super::target::{Effect, NOT_BEGUN, Target};
use crate::arena::{Arena, Conn, Destination, IntoError, Standing};
use crate::error::InjectError;

/// Data of a healthy connection between two namespaces is answered in far less; a busy machine is slow.
const LONGEST: Duration = Duration::from_secs(1);
/// Frames that a connection gets before it is made anew: those that hurt it leave no two ends that agree.
const FRAMES: u32 = 100;

/// Counters of the interface that a frame moves when it arrives.
const ARRIVED: [&str; 2] = ["IfInPackets", "IfInErrors"];

const CLOSED: &str = "the listening program closed an open connection without reading from it; tcplab opened it again";
const NO_LOG: &str = "cannot read the kernel's log (/dev/kmsg): kernel warnings were not checked";

/// The target.
pub(super) struct Kernel {
    arena: Arena,
    rate: Option<u64>,
    family: Family,
    live: Vec<(Family, Conn)>,
    victim: Option<(Conn, u32)>,
    /// The target of the group's frames, and the kernel's tcp_info of the connection that must stand.
    aim: Aim,
    before: Option<TcpInfo>,
    begun: std::time::Instant,
    sent: u64,
    /// Frames of the group that the sender's interface took.
    frames: i64,
    group: String,
    notes: Vec<String>,
}

impl Kernel {
    /// Makes the namespaces; frames are sent at most at this rate a second.
    pub(super) fn new(rate: Option<u64>) -> Result<Self, InjectError> {
        let arena = Arena::new().map_err(|e| InjectError::CannotRun(e.to_string()))?;
        Ok(Self::of(arena, rate))
    }

    /// Goes to an interface that there is.
    pub(super) fn at(into: &Destination, rate: Option<u64>) -> Result<Self, InjectError> {
        let arena = Arena::at(into).map_err(|e| match e {
            IntoError::Wrong(why) => InjectError::Wrong(why),
            IntoError::Cannot(why) => InjectError::CannotRun(why),
        })?;
        Ok(Self::of(arena, rate))
    }

    #[allow(clippy::disallowed_methods, reason = "a kernel runs in real time")]
    fn of(arena: Arena, rate: Option<u64>) -> Self {
        let mut notes = arena.notes().to_vec();
        if !arena.reads_log() {
            notes.push(NO_LOG.into());
        }
        Self {
            arena,
            rate,
            family: Family::V4,
            live: Vec::new(),
            victim: None,
            aim: Aim::Live,
            before: None,
            begun: std::time::Instant::now(),
            sent: 0,
            frames: 0,
            group: String::new(),
            notes,
        }
    }

    fn live(&self) -> Result<&Conn, String> {
        let live = self.live.iter().find(|(family, _)| *family == self.family);
        live.map(|(_, conn)| conn).ok_or_else(|| NOT_BEGUN.into())
    }

    fn victim(&mut self) -> Result<&Conn, String> {
        let arena = &mut self.arena;
        let is_over = |(conn, frames): &mut (Conn, u32)| {
            *frames >= FRAMES || arena.standing(conn) != Standing::Open
        };
        if let Some((conn, _)) = self.victim.take_if(is_over) {
            self.arena.abort(conn);
        }
        if self.victim.is_none() {
            let conn = self.arena.connect(self.family)?;
            self.victim = Some((conn, 0));
        }
        match &mut self.victim {
            Some((conn, frames)) => {
                *frames += 1;
                Ok(conn)
            }
            None => Err("there is no connection".into()),
        }
    }

    /// Waits when frames go out faster than they shall.
    #[allow(clippy::disallowed_methods, reason = "--rate is in real time")]
    fn pace(&mut self) {
        self.sent += 1;
        if let Some(rate) = self.rate {
            let due = Duration::from_secs_f64(self.sent as f64 / rate.max(1) as f64);
            std::thread::sleep(due.saturating_sub(self.begun.elapsed()));
        }
    }
}

impl Target for Kernel {
    fn begin(&mut self, group: &Group) -> Result<(), InjectError> {
        self.family = group.family;
        self.frames = 0;
        group.name.clone_into(&mut self.group);
        if self.live().is_err() {
            let conn = self.arena.connect(group.family);
            let conn = conn.map_err(InjectError::CannotRun)?;
            self.arena.carry(&conn).map_err(InjectError::CannotRun)?;
            self.live.push((group.family, conn));
        }
        self.aim = group.aim;
        let state = self.live().map(|live| self.arena.state(live));
        self.before = match state.map_err(InjectError::CannotRun)? {
            Ok(state) => Some(state),
            Err(e) => {
                let note = format!("connections were not compared field by field: {e}");
                self.notes.push(note);
                None
            }
        };
        self.arena.moved();
        Ok(())
    }

    fn flow(&mut self, aim: Aim) -> Result<Flow, String> {
        let flow = match aim {
            Aim::Live | Aim::Listener => {
                let family = self.family;
                let live = self.live.iter().find(|(known, _)| *known == family);
                live.and_then(|(_, conn)| self.arena.flow(conn))
            }
            Aim::Victim => {
                self.victim()?;
                let victim = self.victim.as_ref();
                victim.and_then(|(conn, _)| self.arena.flow(conn))
            }
        };
        flow.ok_or_else(|| "the host has said nothing on the connection".into())
    }

    fn take(&mut self, case: &Case) -> Result<Effect, String> {
        self.pace();
        let mut accepted = true;
        for frame in case.frames() {
            let taken = self.arena.send(frame)?;
            self.frames += i64::from(taken);
            accepted &= taken;
        }
        self.alarms()?;
        self.compare(case.fate)?;
        Ok(Effect {
            accepted,
            changed: false,
        })
    }

    fn end(&mut self, _: &Group) -> Result<(), String> {
        // What the kernel took late.
        let late = self.compare(Fate::Harmless);
        if let Some((victim, _)) = self.victim.take() {
            self.arena.abort(victim);
        }
        let family = self.family;
        let at = self.live.iter().position(|(known, _)| *known == family);
        let Some((_, live)) = at.map(|at| self.live.swap_remove(at)) else {
            return Err(NOT_BEGUN.into());
        };
        let well = late.and_then(|()| match self.arena.standing(&live) {
            Standing::Closed => {
                self.notes.push(CLOSED.into());
                self.check_new(family)
            }
            Standing::Gone => Err("the open connection is gone".into()),
            Standing::Open => {
                let well = self.check(&live);
                well.and_then(|()| self.check_new(family))
            }
        });
        if well.is_ok() && self.arena.standing(&live) == Standing::Open {
            self.live.push((family, live));
        } else {
            self.arena.close(live);
        }
        self.alarms().and(well)
    }

    fn counters(&mut self) -> Vec<KernelCounter> {
        let moved = self.arena.moved();
        self.notes.extend(lost(&self.group, self.frames, &moved));
        let moved = moved.into_iter();
        moved.map(|(name, by)| KernelCounter { name, by }).collect()
    }

    fn notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    fn lacks(&self, group: &Group) -> Option<String> {
        let why = self.arena.speaks(group.family).err()?;
        Some(format!(
            "groups of {} were left out: {why}",
            match group.family {
                Family::V4 => "IPv4",
                Family::V6 => "IPv6",
            }
        ))
    }

    fn site(&self) -> Option<SiteRecord> {
        self.arena.site().cloned()
    }
}

/// Frames that the sender's interface took and the host's never counted: a link that was down, a qdisc that dropped. (Frames of
/// tcplab's connections count, too, and hide a few.)
fn lost(group: &str, frames: i64, moved: &[(String, i64)]) -> Option<String> {
    let counted = moved
        .iter()
        .filter(|(name, _)| ARRIVED.contains(&name.as_str()));
    let arrived: i64 = counted.map(|(_, by)| by).sum();
    (arrived < frames).then(|| {
        format!(
            "{group}: the interface received {arrived} packets, but {frames} frames were sent: the others were lost before \
             the kernel (its link was down, or the sender's qdisc dropped them)"
        )
    })
}

impl Kernel {
    /// Whether a field of the connection that must stand has changed since it was last looked at. Frames are taken while they
    /// are sent, as a rule; a busy kernel takes one a little later, and the next one's number is told.
    fn compare(&mut self, fate: Fate) -> Result<(), String> {
        let Some(before) = &self.before else {
            return Ok(());
        };
        let Ok(now) = self.arena.state(self.live()?) else {
            // It is gone, which the check after the group says.
            return Ok(());
        };
        let what = harmed(before, &now, self.aim, fate);
        self.before = Some(now);
        match what {
            Some(what) => Err(format!("an unrelated connection changed: {what}")),
            None => Ok(()),
        }
    }

    /// Whether the kernel's log is quiet.
    fn alarms(&mut self) -> Result<(), String> {
        let alarms = self.arena.alarms();
        match alarms.is_empty() {
            true => Ok(()),
            false => Err(format!("the kernel's log: {}", alarms.join("; "))),
        }
    }

    fn check(&mut self, live: &Conn) -> Result<(), String> {
        let took = self.arena.carry(live);
        let took = took.map_err(|e| format!("the open connection: {e}"))?;
        if took > LONGEST {
            return Err(format!("data was answered after {took:?}"));
        }
        Ok(())
    }

    fn check_new(&mut self, family: Family) -> Result<(), String> {
        let fresh = self.arena.connect(family)?;
        let carried = self.arena.carry(&fresh);
        self.arena.close(fresh);
        carried
            .map(drop)
            .map_err(|e| format!("a new connection: {e}"))
    }
}

#[cfg(test)]
mod tests {
    use tcplab_wire::malformed::{group, question};

    use super::*;

    /// The fields are looked at after each frame: data that a host may take, said to be data that it may not.
    #[test]
    fn a_changed_field_of_a_kernel_s_connection_is_harm() {
        let mut kernel = match Kernel::new(None) {
            Ok(kernel) => kernel,
            Err(e) => return eprintln!("skipped: {e}"),
        };
        for name in ["tcp-flags", "cut-v6"] {
            let of = group(name).unwrap();
            kernel.begin(of).unwrap();
            let flow = kernel.flow(Aim::Live).unwrap();
            let asks = Case {
                frame: question(&flow),
                rest: Vec::new(),
                fate: Fate::Harmless,
            };
            assert_eq!(kernel.take(&asks).map(|effect| effect.accepted), Ok(true));
            // The same to another connection than the one that must stand: not even a count may change.
            kernel.aim = Aim::Victim;
            let what = kernel.take(&asks).unwrap_err();
            assert!(what.contains("tcpi_segs_"), "{what}");
            kernel.aim = Aim::Live;
            assert_eq!(kernel.end(of), Ok(()), "{name}");
        }
        kernel.begin(group("tcp-flags").unwrap()).unwrap();
        let flow = kernel.flow(Aim::Live).unwrap();
        // One byte with URG, the next that the host expects.
        let next = group("tcp-urgent").unwrap().case(&flow, 1 << 16, 1);
        let next = Case {
            fate: Fate::Harmless,
            ..next
        };
        let what = kernel.take(&next).unwrap_err();
        assert!(what.contains("tcpi_"), "{what}");
    }

    #[test]
    fn frames_that_did_not_arrive_are_named() {
        let moved = |n| {
            [
                ("IfInPackets".to_owned(), n),
                ("IfInDropped".to_owned(), 90),
            ]
        };
        assert_eq!(lost("cut", 100, &moved(104)), None);
        let told = lost("cut", 100, &moved(60)).unwrap();
        assert!(
            told.starts_with("cut: the interface received 60 packets, but 100 frames"),
            "{told}"
        );
    }
}
