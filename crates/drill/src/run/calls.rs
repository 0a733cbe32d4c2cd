//! When calls are made, and when those that block are over.
//!
//! One call at a time blocks. Whoever comes after it waits up to a second for its end, as in the original: a script whose
//! times overlap fails by its times then.

use tcplab_base::{Duration, Instant};

use super::prepare::{After, Prepared};
use super::time::{Due, Kind};
use super::{Runner, Stop, What, cannot, fail};
use crate::call::Outcome;
use crate::script::{CallSpec, Place};
use crate::target::{Made, Target};

/// How long another call waits for one that blocks, in microseconds.
const PATIENCE_US: i64 = 1_000_000;
/// How long a call may block of which the script does not say that it does.
const SILENT_US: i64 = 60_000_000;

/// A call that blocks.
pub(super) struct Blocked<'a> {
    /// The target's number of it.
    number: u32,
    spec: &'a CallSpec,
    after: After<'a>,
    /// When it began; its end is checked, where the script says it.
    due: Due,
    has_end: bool,
}

impl Blocked<'_> {
    pub(super) fn place(&self) -> Place {
        self.due.place
    }
}

impl<'a, T: Target + ?Sized> Runner<'a, T> {
    pub(super) fn call(&mut self, spec: &'a CallSpec, due: &Due) -> Result<(), Stop> {
        let is_idle = self.await_call(due.place)?;
        if !is_idle && spec.ends.is_some() {
            return Err(fail(
                due.place,
                "this call would block while another one does",
            ));
        }
        self.wait_for(due, "call")?;
        let Prepared { call, after } = self.prepare(spec)?;
        let made = self
            .target
            .call(&call, spec.ends.is_some())
            .map_err(|e| cannot(spec.name.place, e))?;
        match made {
            Made::Done(outcome) => {
                let now = self.target.now();
                self.finish(spec, after, &outcome, now)?;
                self.check_end(spec, due, now)
            }
            Made::Blocks(number) => {
                let has_end = spec.ends.is_some();
                if let Some(other) = &self.blocked {
                    return Err(fail(
                        due.place,
                        format!(
                            "it blocks while the call of line {} does",
                            other.place().line
                        ),
                    ));
                }
                self.blocked = Some(Blocked {
                    number,
                    spec,
                    after,
                    due: *due,
                    has_end,
                });
                if has_end {
                    return Ok(());
                }
                // The script goes on when it is over.
                if self.await_for(SILENT_US, due.place)? {
                    return Ok(());
                }
                Err(fail(due.place, "this call blocks, and nothing ends it"))
            }
        }
    }

    /// Waits for the end of a call that blocks; false: it blocks still.
    pub(super) fn await_call(&mut self, place: Place) -> Result<bool, Stop> {
        self.await_for(PATIENCE_US, place)
    }

    fn await_for(&mut self, patience_us: i64, place: Place) -> Result<bool, Stop> {
        let until = self.target.now() + Duration::from_micros(patience_us);
        while self.blocked.is_some() {
            match self.step(until, place)? {
                Some((at, happening)) => self.happened(at, happening, place)?,
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// A call that blocked is over.
    pub(super) fn returned(
        &mut self,
        number: u32,
        at: Instant,
        outcome: Outcome,
        place: Place,
    ) -> Result<(), Stop> {
        let Some(blocked) = self.blocked.take_if(|b| b.number == number) else {
            return Err(fail(place, "a call returned that the script did not make"));
        };
        self.finish(blocked.spec, blocked.after, &outcome, at)?;
        if blocked.has_end {
            self.check_end(blocked.spec, &blocked.due, at)?;
        }
        Ok(())
    }

    fn finish(
        &mut self,
        spec: &CallSpec,
        after: After<'_>,
        outcome: &Outcome,
        at: Instant,
    ) -> Result<(), Stop> {
        let text = super::check::text(spec, outcome);
        self.note(at, spec.name.place.line, What::Call(text));
        self.check(spec, after, outcome)
    }

    /// Whether a call that the script lets block ended in time; its tolerance counts from its begin.
    fn check_end(&self, spec: &CallSpec, due: &Due, at: Instant) -> Result<(), Stop> {
        let Some(ends) = spec.ends else { return Ok(()) };
        let ends_us = ends.saturating_add(due.offset_us);
        let end = Due {
            kind: Kind::At,
            from_us: ends_us,
            to_us: ends_us,
            last_us: Some(due.from_us),
            ..*due
        };
        let at_us = self.us(at);
        end.check(at_us, self.tolerance()).map_err(|off| {
            let did = if at_us <= due.from_us {
                "did not block"
            } else {
                "ended"
            };
            let name = &spec.name.value;
            fail(
                due.place,
                format!(
                    "{name}() {did}: its end was expected at {}, and came at {}: {off}",
                    end.text(),
                    super::report::seconds(at_us)
                ),
            )
        })
    }
}
