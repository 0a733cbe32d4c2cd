//! What a link does to frames by chance, beside losing each by itself: `burst_loss`, `reordering`,
//! `duplication`, `corruption`.

use super::error::Fault;
use super::fields::Fields;
use super::units::{PERCENT, TIME};
use crate::point::{BurstLoss, By, Faults};

/// What a table says; none: what stands around it holds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Own {
    burst_loss: Option<BurstLoss>,
    reordering: Option<(u32, i64)>,
    duplicate_ppb: Option<u32>,
    corrupt_ppb: Option<u32>,
}

impl Own {
    /// These, and what only `other` says.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            burst_loss: self.burst_loss.or(other.burst_loss),
            reordering: self.reordering.or(other.reordering),
            duplicate_ppb: self.duplicate_ppb.or(other.duplicate_ppb),
            corrupt_ppb: self.corrupt_ppb.or(other.corrupt_ppb),
        }
    }

    pub(crate) fn faults(self) -> Faults {
        let (reorder_ppb, reorder_ns) = self.reordering.unwrap_or_default();
        Faults {
            burst_loss: self.burst_loss,
            reorder_ppb,
            reorder_ns,
            duplicate_ppb: self.duplicate_ppb.unwrap_or(0),
            corrupt_ppb: self.corrupt_ppb.unwrap_or(0),
        }
    }
}

/// Reads the four keys of a link or of one of its ways.
pub(crate) fn read(fields: &Fields<'_>, by: By) -> Result<Own, Fault> {
    for key in ["burst_loss", "reordering", "duplication", "corruption"] {
        if let (Some(node), By::Kernel) = (fields.node(key), by) {
            let message = "is for tcplab's own link; write the kernel's qdisc in tc's words";
            return Err(fields.fault(key, node, message));
        }
    }
    let chance = |key| {
        let ppb = fields.quantity(key, &PERCENT)?;
        Ok::<_, Fault>(ppb.and_then(|n| u32::try_from(n).ok()))
    };
    Ok(Own {
        burst_loss: words(fields, "burst_loss", burst_loss)?,
        reordering: words(fields, "reordering", reordering)?,
        duplicate_ppb: chance("duplication")?,
        corrupt_ppb: chance("corruption")?,
    })
}

fn words<T>(
    fields: &Fields<'_>,
    key: &str,
    read: impl Fn(&[&str]) -> Result<T, String>,
) -> Result<Option<T>, Fault> {
    let (Some(node), Some(text)) = (fields.node(key), fields.text(key)?) else {
        return Ok(None);
    };
    let split: Vec<&str> = text.split_whitespace().collect();
    match read(&split) {
        Ok(value) => Ok(Some(value)),
        Err(why) => Err(fields.fault(key, node, why)),
    }
}

fn percent(text: &str) -> Result<u32, String> {
    let ppb = PERCENT.parse(text)?;
    Ok(u32::try_from(ppb).unwrap_or(1_000_000_000))
}

/// `p [r [1-h [1-k]]]`, as tc-netem(8) has them, with its defaults.
fn burst_loss(words: &[&str]) -> Result<BurstLoss, String> {
    const ALL: u32 = 1_000_000_000;
    if words.is_empty() || words.len() > 4 {
        return Err("write P [R [1-H [1-K]]] in percent, such as \"1% 10%\"".to_owned());
    }
    let given: Result<Vec<u32>, String> = words.iter().map(|word| percent(word)).collect();
    let given = given?;
    let nth = |n: usize| given.get(n).copied();
    let good_to_bad_ppb = nth(0).unwrap_or(0);
    Ok(BurstLoss {
        good_to_bad_ppb,
        bad_to_good_ppb: nth(1).unwrap_or(ALL - good_to_bad_ppb.min(ALL)),
        loss_bad_ppb: nth(2).unwrap_or(ALL),
        loss_good_ppb: nth(3).unwrap_or(0),
    })
}

/// `PERCENT by TIME`.
fn reordering(words: &[&str]) -> Result<(u32, i64), String> {
    let [chance, "by", time] = words else {
        return Err("write PERCENT by TIME, such as \"1% by 5ms\"".to_owned());
    };
    let ns = TIME.parse(time)?;
    Ok((percent(chance)?, i64::try_from(ns).unwrap_or(i64::MAX)))
}
