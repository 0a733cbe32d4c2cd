//! What happens to a frame that enters: listed events by number, then the link's chances.

use tcplab_base::{Duration, Random};
use tcplab_plan::point::{BurstLoss, Direction, Does, Event};

use crate::kind::Kind;

/// What was decided about one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) lost: bool,
    pub(crate) twice: bool,
    pub(crate) mark: bool,
    pub(crate) corrupt: bool,
    pub(crate) later: Duration,
}

/// Counts frames against the listed events and draws losses and the like.
#[derive(Clone, Debug)]
pub(crate) struct Choose {
    events: Vec<(Event, u64)>,
    loss_ppb: u32,
    draws: Random,
    /// What few links have.
    seldom: Option<Box<Seldom>>,
    /// Nothing of all this.
    is_plain: bool,
}

/// Chances beside that of loss. Each has a stream of its own, and is drawn for each frame, so that
/// one of them moves no other.
#[derive(Clone, Debug)]
struct Seldom {
    bursts: Option<Bursts>,
    reorder: (u32, Duration, Random),
    duplicate: (u32, Random),
    corrupt: (u32, Random),
}

/// Gilbert-Elliott: a chain of two states, each with a chance of loss (tc-netem(8), `gemodel`).
#[derive(Clone, Debug)]
struct Bursts {
    chances: BurstLoss,
    is_bad: bool,
    draws: Random,
}

impl Bursts {
    /// As netem's `loss_gilb_ell()`: the state before the frame says how likely it is lost.
    fn loses(&mut self) -> bool {
        let c = self.chances;
        let (leaves, loss) = match self.is_bad {
            true => (c.bad_to_good_ppb, c.loss_bad_ppb),
            false => (c.good_to_bad_ppb, c.loss_good_ppb),
        };
        self.is_bad ^= self.draws.chance(leaves);
        self.draws.chance(loss)
    }
}

impl Choose {
    pub(crate) fn new(way: &Direction, seed: u64, name: &str) -> Self {
        let stream = |what: &str| Random::stream(seed, &format!("{name}/{what}"));
        let faults = &way.faults;
        let seldom = (!faults.is_none()).then(|| {
            Box::new(Seldom {
                bursts: faults.burst_loss.map(|chances| Bursts {
                    chances,
                    is_bad: false,
                    draws: stream("burst"),
                }),
                reorder: (
                    faults.reorder_ppb,
                    Duration::from_nanos(faults.reorder_ns),
                    stream("reorder"),
                ),
                duplicate: (faults.duplicate_ppb, stream("duplicate")),
                corrupt: (faults.corrupt_ppb, stream("corrupt")),
            })
        });
        Self {
            is_plain: way.events.is_empty() && way.loss_ppb == 0 && seldom.is_none(),
            events: way.events.iter().map(|event| (*event, 0)).collect(),
            loss_ppb: way.loss_ppb,
            draws: stream("loss"),
            seldom,
        }
    }

    /// What becomes of the next frame; its kind is asked for when something may become of it.
    #[inline]
    pub(crate) fn frame(&mut self, kind: impl FnOnce() -> Kind) -> Choice {
        match self.is_plain {
            true => Choice::default(),
            false => self.chosen(kind()),
        }
    }

    #[inline(never)]
    fn chosen(&mut self, kind: Kind) -> Choice {
        let mut choice = Choice::default();
        if !self.events.is_empty() {
            self.listed(kind, &mut choice);
        }
        // Drawn for each frame, so that a listed loss moves no other draw.
        choice.lost |= self.draws.chance(self.loss_ppb);
        if let Some(seldom) = &mut self.seldom {
            seldom.draw(&mut choice);
        }
        choice
    }

    #[inline(never)]
    fn listed(&mut self, kind: Kind, choice: &mut Choice) {
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
    }
}

impl Seldom {
    #[inline(never)]
    fn draw(&mut self, choice: &mut Choice) {
        if let Some(bursts) = &mut self.bursts {
            choice.lost |= bursts.loses();
        }
        let (ppb, by, draws) = &mut self.reorder;
        if draws.chance(*ppb) {
            choice.later = choice.later + *by;
        }
        let (ppb, draws) = &mut self.duplicate;
        choice.twice |= draws.chance(*ppb);
        let (ppb, draws) = &mut self.corrupt;
        choice.corrupt = draws.chance(*ppb);
    }
}
