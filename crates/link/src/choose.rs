//! What happens to a frame that enters: listed events by number, then the link's chances.

use tcplab_base::{Duration, Instant, Random};
use tcplab_plan::point::{BurstLoss, Direction, Does, Event, Faults, Outage, Spikes};

use crate::kind::Kind;

/// What was decided about one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) lost: bool,
    pub(crate) twice: bool,
    pub(crate) mark: bool,
    pub(crate) corrupt: bool,
    pub(crate) later: Duration,
    /// Time for which the link stands still before this frame leaves.
    pub(crate) stall: Duration,
    /// Exponential jitter.
    pub(crate) slower: Duration,
}

/// Counts frames against the listed events and draws losses and the like.
#[derive(Clone, Debug)]
pub(crate) struct Choose {
    events: Vec<(Event, u64)>,
    outages: Vec<Outage>,
    /// When the run starts: outages count from here.
    start: Instant,
    loss_ppb: u32,
    draws: Random,
    /// Faults that few links have.
    seldom: Option<Box<Seldom>>,
    /// The link has no faults at all.
    is_plain: bool,
}

/// Chances beside that of loss. Each has a stream of its own, and is drawn for each frame, so that
/// one of them moves no other.
#[derive(Clone, Debug)]
struct Seldom {
    faults: Faults,
    bursts: Option<Bursts>,
    reorder: (u32, [Duration; 2], Random),
    duplicate: (u32, Random),
    corrupt: (u32, Random),
    /// Mean of the exponential jitter in nanoseconds.
    jitter: (i64, Random),
    spikes: Option<(Spikes, Random)>,
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
                faults: *faults,
                bursts: faults.burst_loss.map(|chances| Bursts {
                    chances,
                    is_bad: false,
                    draws: stream("burst"),
                }),
                reorder: (
                    faults.reorder_ppb,
                    [faults.reorder_least_ns, faults.reorder_ns].map(Duration::from_nanos),
                    stream("reorder"),
                ),
                duplicate: (faults.duplicate_ppb, stream("duplicate")),
                corrupt: (faults.corrupt_ppb, stream("corrupt")),
                jitter: (faults.exponential_jitter_ns, stream("exponential")),
                spikes: faults.spikes.map(|spikes| (spikes, stream("spikes"))),
            })
        });
        Self {
            is_plain: way.events.is_empty()
                && way.outages.is_empty()
                && way.loss_ppb == 0
                && seldom.is_none(),
            outages: way.outages.clone(),
            start: Instant::default(),
            events: way.events.iter().map(|event| (*event, 0)).collect(),
            loss_ppb: way.loss_ppb,
            draws: stream("loss"),
            seldom,
        }
    }

    /// Other settings: chances of loss go on in their stream, what else has changed begins anew.
    pub(crate) fn change(&mut self, way: &Direction, seed: u64, name: &str) {
        let new = Self::new(way, seed, name);
        let old = std::mem::replace(self, new);
        self.start = old.start;
        self.draws = old.draws;
        if let Some(seldom) = old.seldom.filter(|seldom| seldom.faults == way.faults) {
            self.seldom = Some(seldom);
        }
        for (event, count) in &mut self.events {
            let same = old.events.iter().find(|(old, _)| old == event);
            *count = same.map_or(0, |(_, count)| *count);
        }
    }

    /// A listed event that too few frames of its kind came for.
    pub(crate) fn unreached(&self) -> Option<Event> {
        let unreached = |(event, seen): &&(Event, u64)| *seen < event.first;
        self.events.iter().find(unreached).map(|(event, _)| *event)
    }

    /// Whether listed events ask what kind of frame it is.
    pub(crate) fn asks_kind(&self) -> bool {
        !self.events.is_empty()
    }

    /// Says when the run starts.
    pub(crate) fn begin(&mut self, start: Instant) {
        self.start = start;
    }

    /// The fate of the next frame. `kind` is called only if the link may change frames.
    #[inline]
    pub(crate) fn frame(&mut self, now: Instant, kind: impl FnOnce() -> Kind) -> Choice {
        match self.is_plain {
            true => Choice::default(),
            false => self.chosen(now, kind()),
        }
    }

    #[inline(never)]
    fn chosen(&mut self, now: Instant, kind: Kind) -> Choice {
        let mut choice = Choice::default();
        if !self.events.is_empty() {
            self.listed(kind, &mut choice);
        }
        // Drawn for each frame, so that a listed loss moves no other draw.
        choice.lost |= self.draws.chance(self.loss_ppb);
        choice.lost |= self.is_out(now);
        if let Some(seldom) = &mut self.seldom {
            seldom.draw(&mut choice);
        }
        choice
    }

    fn is_out(&self, now: Instant) -> bool {
        let since = now.as_nanos().saturating_sub(self.start.as_nanos());
        self.outages.iter().any(|outage| is_in(outage, since))
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
        let (ppb, [least, most], draws) = &mut self.reorder;
        if draws.chance(*ppb) {
            choice.later = choice.later + between(draws, *least, *most);
        }
        let (ppb, draws) = &mut self.duplicate;
        choice.twice |= draws.chance(*ppb);
        let (ppb, draws) = &mut self.corrupt;
        choice.corrupt = draws.chance(*ppb);
        let (mean, draws) = &mut self.jitter;
        if *mean > 0 {
            choice.slower = Duration::from_nanos((draws.exponential() * *mean as f64) as i64);
        }
        if let Some((spikes, draws)) = &mut self.spikes
            && draws.chance(spikes.chance_ppb)
        {
            choice.stall = length(spikes, draws);
        }
    }
}

/// A time of `most`, or one drawn from `least` to `most` when there is a least.
fn between(draws: &mut Random, least: Duration, most: Duration) -> Duration {
    if least == Duration::ZERO {
        return most;
    }
    let range = (most.as_nanos() - least.as_nanos()).max(0) as u64;
    least + Duration::from_nanos(draws.below(range + 1) as i64)
}

/// The longest spike: what is drawn beyond it is cut.
const LONGEST_SPIKE_NS: f64 = 1e12;

#[cold]
fn length(spikes: &Spikes, draws: &mut Random) -> Duration {
    let factor = libm::exp(draws.normal() * f64::from(spikes.sigma_ppm) / 1e6);
    let ns = (spikes.median_ns as f64 * factor).clamp(0.0, LONGEST_SPIKE_NS);
    Duration::from_nanos(ns as i64)
}

/// `since`: nanoseconds since the run's start.
fn is_in(outage: &Outage, since: i64) -> bool {
    since >= outage.from_ns && outage.until_ns.is_none_or(|until| since < until)
}
