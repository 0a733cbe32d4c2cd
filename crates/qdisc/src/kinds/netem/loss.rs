//! Which packets netem loses.

use tcplab_base::Random;

use super::random::{Event, draw};
use super::settings::Loss as Settings;

/// A model of loss with its state.
#[derive(Clone, Debug)]
pub(crate) enum Loss {
    /// Each by itself.
    Random(Event),
    /// Chains.
    Chain(Chain),
}

/// A chain of states.
#[derive(Clone, Debug)]
pub(crate) struct Chain {
    settings: Settings,
    state: State,
    draws: Random,
}

/// States of both chains: Gilbert and Elliott's has the first two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Good,
    /// Packets are lost.
    Burst,
    /// Packets get through inside a burst.
    GoodInBurst,
    /// One packet is lost.
    Single,
}

impl Loss {
    pub fn new(settings: &Settings, draws: Random) -> Self {
        match settings {
            Settings::Random(chance) => Self::Random(Event::new(*chance, draws)),
            _ => Self::Chain(Chain {
                settings: *settings,
                state: State::Good,
                draws,
            }),
        }
    }

    /// Whether the next packet is lost.
    pub fn loses(&mut self) -> bool {
        match self {
            Self::Random(event) => event.happens(),
            Self::Chain(chain) => chain.loses(),
        }
    }
}

impl Chain {
    fn loses(&mut self) -> bool {
        match self.settings {
            Settings::Random(_) => false,
            Settings::Gemodel { p, r, h, k1 } => self.gilbert_elliott([p, r], [h, k1]),
            Settings::State {
                p13,
                p31,
                p32,
                p23,
                p14,
            } => {
                self.state =
                    four_states(self.state, draw(&mut self.draws), [p13, p31, p32, p23, p14]);
                matches!(self.state, State::Burst | State::Single)
            }
        }
    }

    /// `loss_gilb_ell()`: the state before the packet decides on it.
    fn gilbert_elliott(&mut self, [p, r]: [u32; 2], [h, k1]: [u32; 2]) -> bool {
        let (moves, through) = (draw(&mut self.draws), draw(&mut self.draws));
        match self.state {
            State::Good => {
                if moves < p {
                    self.state = State::Burst;
                }
                through < k1
            }
            _ => {
                if moves < r {
                    self.state = State::Good;
                }
                through > h
            }
        }
    }
}

/// The next state (`loss_4state()`): it decides on the packet. Sums of chances wrap, as in the kernel.
fn four_states(state: State, drawn: u32, [p13, p31, p32, p23, p14]: [u32; 5]) -> State {
    match state {
        State::Good if drawn < p14 => State::Single,
        State::Good if drawn < p13.wrapping_add(p14) => State::Burst,
        State::GoodInBurst if drawn < p23 => State::Burst,
        State::GoodInBurst => State::GoodInBurst,
        State::Burst if drawn < p32 => State::GoodInBurst,
        State::Burst if drawn >= p31.wrapping_add(p32) => State::Burst,
        _ => State::Good,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 200,000 packets, how many are lost, and how many losses follow one.
    fn count(settings: Settings) -> (f64, f64) {
        let mut loss = Loss::new(&settings, Random::stream(1, "loss"));
        let lost: Vec<bool> = (0..200_000).map(|_| loss.loses()).collect();
        let sum = lost.iter().filter(|lost| **lost).count() as f64;
        let pairs = lost.windows(2).filter(|w| w[0] && w[1]).count() as f64;
        (sum / 200_000.0, pairs / sum)
    }

    const fn percent(n: u64) -> u32 {
        ((n << 32) / 100) as u32
    }

    /// By hand: the bad state holds p / (p + r) of the time, and a loss is followed by one with 1 - r.
    #[test]
    fn chains_have_their_means() {
        let (p, r) = (percent(2), percent(20));
        let mean = 0.02 / 0.22;
        let gilbert = Settings::Gemodel { p, r, h: 0, k1: 0 };
        let state = Settings::State {
            p13: p,
            p31: r,
            p32: 0,
            p23: u32::MAX,
            p14: 0,
        };
        // Half gets through in the bad state.
        let half = Settings::Gemodel {
            p,
            r,
            h: percent(50),
            k1: 0,
        };
        for (settings, lost, again) in [
            (gilbert, mean, 0.8),
            (state, mean, 0.8),
            (half, mean / 2.0, 0.4),
        ] {
            let (is_lost, is_again) = count(settings);
            // Bursts of 5: five standard errors are about 0.01 and 0.02.
            assert!((is_lost - lost).abs() < 0.01, "{settings:?}: {is_lost}");
            assert!((is_again - again).abs() < 0.02, "{settings:?}: {is_again}");
        }
    }

    #[test]
    fn steps_of_the_four_states() {
        use State::*;
        let chances = [100, 30, 20, 50, 10];
        for (state, drawn, next) in [
            (Good, 9, Single),
            (Good, 10, Burst),
            (Good, 109, Burst),
            (Good, 110, Good),
            (GoodInBurst, 49, Burst),
            (GoodInBurst, 50, GoodInBurst),
            (Burst, 19, GoodInBurst),
            (Burst, 49, Good),
            (Burst, 50, Burst),
            (Single, 0, Good),
        ] {
            assert_eq!(
                four_states(state, drawn, chances),
                next,
                "{state:?} {drawn}"
            );
        }
    }
}
