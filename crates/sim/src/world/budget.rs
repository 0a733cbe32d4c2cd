//! What a run may spend before it is ended without an answer: events, events at one instant, memory.
//!
//! Virtual time costs nothing by itself, so `max` alone ends no run in which time stands still. All limits count what the
//! run does, never the machine's time or memory: a run ends at the same event everywhere.

use tcplab_base::Instant;

use super::World;

/// Steps of the loop after which limits are looked at, and the owner is asked whether the run shall go on.
pub(super) const STEPS: u64 = 1 << 12;

/// Events at one instant where the point sets no limit of its own: this many, and some for each connection (a million may begin at once).
const STILL: u64 = 10_000_000;
const STILL_EACH: u64 = 100;

/// Lines of the log, samples of tcp_info and frames on their way that are held at once, each some hundred bytes, and some
/// for each end.
const HELD: u64 = 5_000_000;
const HELD_EACH: u64 = 20;

/// What a run has spent.
#[derive(Debug, Default)]
pub(super) struct Budget {
    spent: u64,
    /// Of these at the present instant.
    still: u64,
    /// Why it was ended; also what the point asks for in the middle of it and cannot be.
    pub(super) exhausted: Option<String>,
}

impl Budget {
    /// So many steps were taken.
    pub(super) fn spend(&mut self, steps: u64) {
        self.spent += steps;
    }

    /// Steps until the limits are looked at again.
    pub(super) fn next(&self, most: u64) -> u64 {
        STEPS.min(most.saturating_sub(self.spent)).max(1)
    }
}

impl World {
    /// Why the run was ended without an answer; none: it was not. Its results until then do not answer anything.
    pub fn exhausted(&self) -> Option<&str> {
        self.budget.exhausted.as_deref()
    }

    /// Steps were taken since `began`. False: the run has spent all that it may.
    pub(super) fn may_go_on(&mut self, began: Instant, steps: u64) -> bool {
        let budget = &mut self.budget;
        budget.spent += steps;
        budget.still = match began == self.net.now {
            true => budget.still + steps,
            false => 0,
        };
        let most = self.net.point.max_events();
        let of_all = STILL + STILL_EACH * self.drive.ends().len() as u64;
        let most_still = self.net.point.max_events.unwrap_or(of_all);
        let at = seconds(self.net.now);
        let why = if budget.spent >= most {
            format!(
                "it was ended at {at} of its time after {most} events (`run.max_events`): it has no answer; write a larger \
                 `max_events`, or a smaller experiment"
            )
        } else if budget.still >= most_still {
            format!(
                "it was ended at {at} of its time after {} events at this instant: time stands still; give a link on the \
                 way a `rate` or a `delay`, or the application a `pause`; if it would have ended, write `run.max_events`",
                budget.still
            )
        } else {
            return !self.holds_too_much();
        };
        self.budget.exhausted = Some(why);
        false
    }

    /// Whether the run holds more than it may; it is over then.
    pub(super) fn holds_too_much(&mut self) -> bool {
        let held = self.held();
        if held < HELD + HELD_EACH * self.drive.ends().len() as u64 {
            return false;
        }
        self.budget.exhausted = Some(format!(
            "it was ended at {} of its time: it holds {held} lines of the log, samples and packets on their way; write a \
             longer `tcp_info_every` or `every`, or leave out `log`",
            seconds(self.net.now)
        ));
        true
    }

    /// What grows with the length of a run.
    fn held(&self) -> u64 {
        let ways = self.net.network.ways.iter().map(|way| way.way.on_the_way());
        self.drive.noted() + ways.sum::<usize>() as u64
    }
}

fn seconds(at: Instant) -> String {
    format!("{:.6} s", at.as_nanos() as f64 / 1e9)
}
