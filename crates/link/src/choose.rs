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
    events: Vec<Listed>,
    /// Each, and whether a frame came meanwhile.
    outages: Vec<(Outage, bool)>,
    /// When the run starts: outages count from here.
    start: Instant,
    loss_ppb: u32,
    draws: Random,
    /// Faults that few links have.
    seldom: Option<Box<Seldom>>,
    /// The link has no faults at all.
    is_plain: bool,
}

/// A listed event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listed {
    pub(crate) event: Event,
    /// Frames of its kind so far.
    pub(crate) seen: u64,
    /// It changed what became of a frame.
    pub(crate) acted: bool,
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
            outages: way.outages.iter().map(|outage| (*outage, false)).collect(),
            start: Instant::default(),
            events: way.events.iter().map(listed).collect(),
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
        for new in &mut self.events {
            let same = old.events.iter().find(|old| old.event == new.event);
            *new = same.copied().unwrap_or(*new);
        }
        for new in &mut self.outages {
            let same = old.outages.iter().find(|old| old.0 == new.0);
            new.1 = same.is_some_and(|same| same.1);
        }
    }

    /// Listed events that changed nothing.
    pub(crate) fn idle_events(&self) -> impl Iterator<Item = &Listed> {
        self.events.iter().filter(|listed| !listed.acted)
    }

    /// Outages that began before `now`, and met no frame.
    pub(crate) fn idle_outages(&self, now: Instant) -> impl Iterator<Item = &Outage> {
        let since = self.since(now);
        let idle = move |(outage, met): &&(Outage, bool)| !met && outage.from_ns < since;
        self.outages.iter().filter(idle).map(|(outage, _)| outage)
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
        let mut lists = false;
        if !self.events.is_empty() {
            lists = self.listed(kind, &mut choice);
        }
        // Drawn for each frame, so that a listed loss moves no other draw.
        choice.lost |= self.draws.chance(self.loss_ppb);
        choice.lost |= self.is_out(now);
        if let Some(seldom) = &mut self.seldom {
            seldom.draw(&mut choice);
        }
        if lists && !choice.lost {
            self.passes(kind);
        }
        choice
    }

    /// Nanoseconds since the run's start.
    fn since(&self, now: Instant) -> i64 {
        now.as_nanos().saturating_sub(self.start.as_nanos())
    }

    fn is_out(&mut self, now: Instant) -> bool {
        let since = self.since(now);
        let mut is_out = false;
        for (outage, met) in &mut self.outages {
            let is_in = is_in(outage, since);
            *met |= is_in;
            is_out |= is_in;
        }
        is_out
    }

    /// What the lists do with the next frame; whether they name it.
    #[inline(never)]
    fn listed(&mut self, kind: Kind, choice: &mut Choice) -> bool {
        let mut is_named = false;
        for one in &mut self.events {
            let Some(does) = one.counts(kind) else {
                continue;
            };
            is_named = true;
            match does {
                Does::Drop => {
                    one.acted |= !choice.lost;
                    choice.lost = true;
                }
                Does::DelayNs(ns) => choice.later = choice.later + Duration::from_nanos(ns),
                Does::Duplicate => choice.twice = true,
                Does::Mark => choice.mark = true,
            }
        }
        is_named
    }

    /// A frame that the lists name goes on its way.
    #[cold]
    #[inline(never)]
    fn passes(&mut self, kind: Kind) {
        for one in &mut self.events {
            let acts = one.event.does != Does::Mark || kind.ect;
            one.acted |= acts && kind.is(one.event.of) && one.is_in_range();
        }
    }
}

fn listed(event: &Event) -> Listed {
    Listed {
        event: *event,
        seen: 0,
        acted: false,
    }
}

impl Listed {
    /// Counts a frame; what happens to it, if the event names it.
    fn counts(&mut self, kind: Kind) -> Option<Does> {
        if !kind.is(self.event.of) {
            return None;
        }
        self.seen += 1;
        self.is_in_range().then_some(self.event.does)
    }

    /// Whether the event names the frame that was counted last.
    fn is_in_range(&self) -> bool {
        (self.event.first..=self.event.last).contains(&self.seen)
    }

    /// That it changed nothing, at this place.
    pub(crate) fn told(&self, place: &str) -> String {
        let event = &self.event;
        let (word, kind) = (event.does.key(), event.of.word());
        let (first, last) = (event.first, event.last);
        if self.seen < first {
            return format!(
                "{place}.{word}: fewer frames passed, so `{kind} {first}` changed nothing"
            );
        }
        let why = match event.does {
            Does::Drop => "lost anyway",
            Does::Mark => "lost or not ECN-capable",
            Does::DelayNs(_) | Does::Duplicate => "lost",
        };
        let named = match first == last {
            true => format!("this frame was {why}, so `{kind} {first}`"),
            false => format!("these frames were {why}, so `{kind} {first}-{last}`"),
        };
        format!("{place}.{word}: {named} changed nothing")
    }
}

/// That an outage met no frame, at this place.
pub(crate) fn told(outage: &Outage, place: &str) -> String {
    let seconds = |ns: i64| ns as f64 / 1e9;
    let from = seconds(outage.from_ns);
    let until = match outage.until_ns {
        Some(until) => format!("between {from} s and {} s", seconds(until)),
        None => format!("after {from} s"),
    };
    format!("{place}.outage: no frame came {until}, so this outage changed nothing")
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
