//! Code points to tins (RFC 2474, RFC 4594, RFC 8622), and how the tins share the rate.

use super::settings::TinMode;

/// The tins of a mode.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// Tin of each code point.
    pub of_dscp: [u8; 64],
    /// Tins, lowest priority first.
    pub order: &'static [u8],
    /// For each tin, by index: how far its rate is shifted, and its weight without a shaper.
    shares: Shares,
}

#[derive(Clone, Copy, Debug)]
enum Shares {
    /// Powers of two of the rate, quanta by the same powers.
    Shifts(&'static [(u32, u16)]),
    /// Each seven eighths of the one before.
    SevenEighths,
}

/// Code points.
mod dscp {
    pub(super) const LE: usize = 1;
    pub(super) const TOS2: usize = 2;
    pub(super) const TOS4: usize = 4;
    pub(super) const VA: usize = 44;
    pub(super) const EF: usize = 46;

    /// Class selectors.
    pub(super) const fn cs(n: usize) -> usize {
        n * 8
    }

    /// Assured forwarding, class and drop precedence.
    pub(super) const fn af(class: usize, precedence: usize) -> usize {
        class * 8 + precedence * 2
    }
}

use dscp::{EF, LE, TOS2, TOS4, VA, af, cs};

const EIGHT: &[u8] = &[0, 1, 2, 3, 4, 5, 6, 7];

impl Plan {
    pub fn new(mode: TinMode) -> Self {
        match mode {
            TinMode::Besteffort => Self {
                of_dscp: [0; 64],
                order: &[0],
                shares: Shares::Shifts(&[(0, u16::MAX)]),
            },
            TinMode::Precedence => Self {
                of_dscp: std::array::from_fn(|point| (point / 8) as u8),
                order: EIGHT,
                shares: Shares::SevenEighths,
            },
            TinMode::Diffserv3 => Self {
                of_dscp: points(0, &[(1, &[LE, cs(1)]), (2, &[TOS4, VA, EF, cs(6), cs(7)])]),
                order: &[1, 0, 2],
                shares: Shares::Shifts(&[(0, 1024), (4, 64), (2, 256)]),
            },
            TinMode::Diffserv4 => Self {
                of_dscp: points(
                    0,
                    &[
                        (1, &[LE, cs(1)]),
                        (2, &[TOS4, cs(2), cs(3)]),
                        (
                            2,
                            &[af(2, 1), af(2, 2), af(2, 3), af(3, 1), af(3, 2), af(3, 3)],
                        ),
                        (2, &[af(4, 1), af(4, 2), af(4, 3)]),
                        (3, &[cs(4), cs(5), VA, EF, cs(6), cs(7)]),
                    ],
                ),
                order: &[1, 0, 2, 3],
                shares: Shares::Shifts(&[(0, 1024), (4, 64), (1, 512), (2, 256)]),
            },
            TinMode::Diffserv8 => Self {
                of_dscp: points(
                    2,
                    &[
                        (0, &[LE]),
                        (1, &[TOS2, cs(1), af(1, 1), af(1, 2), af(1, 3)]),
                        (
                            3,
                            &[
                                cs(3),
                                af(3, 1),
                                af(3, 2),
                                af(3, 3),
                                af(4, 1),
                                af(4, 2),
                                af(4, 3),
                            ],
                        ),
                        (4, &[TOS4, af(2, 1), af(2, 2), af(2, 3)]),
                        (5, &[cs(2)]),
                        (6, &[cs(4), cs(5), VA, EF]),
                        (7, &[cs(6), cs(7)]),
                    ],
                ),
                order: EIGHT,
                shares: Shares::SevenEighths,
            },
        }
    }

    /// How many tins.
    pub fn tins(&self) -> usize {
        self.order.len()
    }

    /// For each tin: its threshold, in the unit of `rate`, and its weight.
    pub fn shares(&self, rate: u64) -> Vec<(u64, u16)> {
        match self.shares {
            Shares::Shifts(shifts) => shifts
                .iter()
                .map(|(shift, weight)| (rate >> shift, *weight))
                .collect(),
            Shares::SevenEighths => {
                let step = |(rate, weight): &(u64, u16)| Some(((rate * 7) >> 3, (weight * 7) >> 3));
                std::iter::successors(Some((rate, 256)), step)
                    .take(self.tins())
                    .map(|(rate, weight)| (rate, weight.max(1)))
                    .collect()
            }
        }
    }
}

/// All code points in one tin, but for those that are listed with theirs.
fn points(others: u8, listed: &[(u8, &[usize])]) -> [u8; 64] {
    let mut out = [others; 64];
    for (tin, points) in listed {
        for point in *points {
            out[*point] = *tin;
        }
    }
    out
}
