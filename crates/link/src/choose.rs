//! What happens to a frame that enters: listed events by number, then the link's chance.

use tcplab_base::{Duration, Random};
use tcplab_plan::point::{Direction, Does, Event};

use crate::kind::Kind;

/// What was decided about one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) lost: bool,
    pub(crate) twice: bool,
    pub(crate) mark: bool,
    pub(crate) later: Duration,
}

/// Counts frames against the listed events and draws losses.
#[derive(Clone, Debug)]
pub(crate) struct Choose {
    events: Vec<(Event, u64)>,
    loss_ppb: u32,
    draws: Random,
}

impl Choose {
    pub(crate) fn new(way: &Direction, draws: Random) -> Self {
        Self {
            events: way.events.iter().map(|event| (*event, 0)).collect(),
            loss_ppb: way.loss_ppb,
            draws,
        }
    }

    pub(crate) fn frame(&mut self, kind: Kind) -> Choice {
        let mut choice = Choice::default();
        for (event, seen) in &mut self.events {
            if !kind.is(event.of) {
                continue;
            }
            *seen += 1;
            if *seen < event.first || *seen > event.last {
                continue;
            }
            match event.does {
                Does::Drop => choice.lost = true,
                Does::DelayNs(ns) => choice.later = choice.later + Duration::from_nanos(ns),
                Does::Duplicate => choice.twice = true,
                Does::Mark => choice.mark = true,
            }
        }
        // Drawn for each frame, so that a listed loss moves no other draw.
        choice.lost |= self.draws.chance(self.loss_ppb);
        choice
    }
}
