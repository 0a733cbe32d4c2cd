//! What a capture does not say, tried out for each profile: HZ, the tick's phase, frame memory, the reader's delay.

use tcplab_plan::profile::{Known, Profile};

use super::compare::{Fit, compare};
use super::replay::{Setup, replay};
use super::script::{Lack, Script};

/// Ticks a second of the usual kernels.
const HZ: [u32; 3] = [250, 1000, 100];
/// Parts of a tick that are tried as its phase.
const PHASES: i64 = 16;
/// Cards with buffers of 2 kB count each frame as these bytes.
const CARD: u32 = 2304;
/// A reader that is slower than the arrival of a burst.
const SLOW_READ: i64 = 100_000;

/// A profile and what fits best.
#[derive(Clone, Debug)]
pub(super) struct Fitted {
    pub(super) profile: Profile,
    pub(super) setup: Setup,
    pub(super) fit: Fit,
}

/// All profiles, each with its best setup.
pub(super) fn all(script: &Script, known: &[Known]) -> Result<Vec<Fitted>, Lack> {
    known
        .iter()
        .map(|known| one(script, known.profile()))
        .collect()
}

fn one(script: &Script, profile: Profile) -> Result<Fitted, Lack> {
    let mut best: Option<Fitted> = None;
    let mut consider = |setup: Setup| -> Result<Setup, Lack> {
        let fit = tried(script, &profile, &setup)?;
        let better = best.as_ref().is_none_or(|b| fit.order(&b.fit).is_lt());
        if better {
            best = Some(Fitted {
                profile: profile.clone(),
                setup,
                fit,
            });
        }
        Ok(best.as_ref().map_or(setup, |b| b.setup))
    };
    let plain = |hz| Setup {
        hz,
        phase: 0,
        truesize: (profile.rx_truesize > 0).then_some(profile.rx_truesize),
        read_delay: 0,
    };
    let mut setup = plain(HZ[0]);
    // A long capture tells them apart with fewer tries.
    let parts = if script.events.len() > 5_000 {
        2
    } else {
        PHASES
    };
    for hz in HZ {
        for phase in phases(hz, parts) {
            setup = consider(Setup { phase, ..plain(hz) })?;
        }
    }
    for truesize in [None, Some(CARD)] {
        setup = consider(Setup { truesize, ..setup })?;
    }
    setup = consider(Setup {
        read_delay: SLOW_READ,
        ..setup
    })?;
    for phase in phases(setup.hz, PHASES) {
        setup = consider(Setup { phase, ..setup })?;
    }
    best.ok_or(Lack::Model)
}

fn phases(hz: u32, parts: i64) -> impl Iterator<Item = i64> {
    let tick = tick(hz);
    (0..parts).map(move |part| tick * part / parts)
}

const fn tick(hz: u32) -> i64 {
    1_000_000_000 / hz as i64
}

fn tried(script: &Script, profile: &Profile, setup: &Setup) -> Result<Fit, Lack> {
    let predicted = replay(script, profile, setup)?;
    let tolerance = tick(setup.hz) + script.noise;
    Ok(compare(&script.acks, &predicted, tolerance))
}

/// The best profile, with those that fit as well.
pub(super) fn ties(script: &Script, fitted: &[Fitted]) -> Vec<&'static str> {
    let Some(best) = fitted.first() else {
        return Vec::new();
    };
    let fits_as_well = |other: &&Fitted| best.fit.is_matched_by(&other.fit, script.noise);
    let tied = fitted.iter().filter(fits_as_well);
    tied.map(|fitted| fitted.profile.name).collect()
}
