//! Predicted ACKs beside captured ones.

use std::cmp::Ordering;

use serde::Serialize;

use super::script::Ack;

/// How well a prediction fits.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Fit {
    /// Captured ACKs that were predicted: the same number, at the same time.
    pub(super) matched: usize,
    /// Captured ACKs without a matching prediction.
    pub(super) missed: usize,
    /// Predicted ACKs that were not captured.
    pub(super) extra: usize,
    /// Sum of the differences in time of those that match (nanoseconds).
    pub(super) error: i64,
    /// The largest of them.
    pub(super) worst: i64,
    pub(super) first: Option<Mismatch>,
}

/// First captured ACK that a profile sends at another time, or not at all.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Mismatch {
    /// Frame number of the captured ACK; of the next one if the predicted ACK was not captured.
    pub frame: u64,
    /// Place among the ACKs, from 1.
    pub ack: usize,
    /// Time from the newest data that the ACK covers to the ACK's capture.
    pub captured_us: i64,
    /// Time from the newest covered data to the profile's ACK; absent if the profile sends none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicted_us: Option<i64>,
    /// Time before this ACK at which the profile sends another, uncaptured ACK.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub one_more_us: Option<i64>,
}

impl Fit {
    /// Fewer wrong ACKs, then smaller differences.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        let key = |fit: &Self| (fit.missed + fit.extra, fit.error);
        key(self).cmp(&key(other))
    }

    /// Whether `other` fits as well as this one, the best: times differ by no more than `noise` nanoseconds on average, and
    /// wrong ACKs by chance only (two standard deviations of their count; if the best has no wrong ACK, nor may `other`).
    pub(super) fn is_matched_by(&self, other: &Self, noise: i64) -> bool {
        let mean = |fit: &Self| fit.error / fit.matched.max(1) as i64;
        let wrong = |fit: &Self| fit.missed + fit.extra;
        let chance = (4 * wrong(self)).isqrt();
        wrong(other) <= wrong(self) + chance && (mean(self) - mean(other)).abs() <= noise
    }

    /// Every ACK is as predicted, and no other.
    pub(super) fn is_perfect(&self) -> bool {
        self.missed == 0 && self.extra == 0
    }
}

/// Goes through both in their order; times may differ by `tolerance` nanoseconds.
pub(super) fn compare(captured: &[Ack], predicted: &[Ack], tolerance: i64) -> Fit {
    let mut fit = Fit::default();
    let mut rest = predicted.iter().peekable();
    for (i, ack) in captured.iter().enumerate() {
        // Predicted ACKs of what the capture has acknowledged already, or never by itself.
        while let Some(early) = rest.next_if(|p| is_before(p, ack)) {
            fit.extra += 1;
            let late = Mismatch {
                frame: ack.frame,
                ack: i + 1,
                captured_us: ack.wait / 1000,
                predicted_us: None,
                one_more_us: Some((ack.at - early.at) / 1000),
            };
            fit.first.get_or_insert(late);
        }
        let found = rest.next_if(|p| p.ack == ack.ack && (p.sack == ack.sack || is_near(p, ack)));
        let off = found.map(|p| p.at - ack.at);
        match off {
            Some(off) if off.abs() <= tolerance => {
                fit.matched += 1;
                fit.error += off.abs();
                fit.worst = fit.worst.max(off.abs());
            }
            _ => {
                fit.missed += 1;
                let wrong = Mismatch {
                    frame: ack.frame,
                    ack: i + 1,
                    captured_us: ack.wait / 1000,
                    predicted_us: off.map(|off| (ack.wait + off) / 1000),
                    one_more_us: None,
                };
                fit.first.get_or_insert(wrong);
            }
        }
    }
    // Packets due after the capture's end are no mistake.
    let end = captured.last().map_or(0, |ack| ack.at) + tolerance;
    fit.extra += rest.filter(|p| p.at <= end).count();
    fit
}

/// The prediction stands for something that comes before this ACK.
fn is_before(p: &Ack, ack: &Ack) -> bool {
    p.ack.before(ack.ack) || (p.ack == ack.ack && p.sack != ack.sack && p.at < ack.at)
}

/// SACK blocks at one number may come in another order of the first block.
fn is_near(p: &Ack, ack: &Ack) -> bool {
    p.sack.is_some() == ack.sack.is_some()
}
