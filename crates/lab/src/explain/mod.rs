//! `tcplab explain`: which stack sent these ACKs.
//!
//! Each receiver of a captured connection is played again to the endpoint of every profile: the
//! same segments at the same times, the same writes, and reads as soon as data come. The ACKs that
//! each profile sends are compared with the captured ones. Timers count ticks, so HZ and the phase
//! of the tick are fitted too. Differences within one tick and the path's noise are ignored.

mod compare;
mod fit;
mod gather;
mod replay;
mod script;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

pub use compare::Mismatch;
pub use gather::Gather;
pub use script::{Lack, Tags};

use script::Script;
use tcplab_plan::profile::{KNOWN, Known};

/// Receiver, and what the profiles say of its ACKs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Receiver {
    /// Number of the connection in the file.
    pub stream: usize,
    /// `ip:port` of the data's receiver.
    pub receiver: String,
    /// `ip:port` of the data's sender.
    pub sender: String,
    /// Why there is no result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lacks: Option<&'static str>,
    /// Result for this receiver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<Found>,
}

/// Result for a receiver.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Found {
    /// Captured ACKs of new data or with SACK blocks.
    pub acks: usize,
    /// From the capture to the receiver and back.
    pub path_us: i64,
    /// Extra time of an ACK that nothing held.
    pub noise_us: i64,
    /// Receive window in the receiver's SYN or SYN-ACK.
    pub syn_window: u16,
    /// Data segments that were captured and then lost.
    pub lost_behind: usize,
    /// The connection is longer than the replay.
    pub cut: bool,
    /// Tags, if the connection agreed on CAQM: every profile then runs with CAQM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caqm: Option<Tags>,
    /// Best profile, and those that fit equally well.
    pub best: Vec<&'static str>,
    /// The best profile sends all these ACKs and no other.
    pub is_exact: bool,
    /// All profiles, best first.
    pub profiles: Vec<Ranked>,
}

/// A profile, and how well it explains the ACKs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Ranked {
    /// Its name.
    pub profile: &'static str,
    /// Captured ACKs that the profile sends at the captured times.
    pub matched: usize,
    /// Captured ACKs that the profile does not send at the captured times.
    pub missed: usize,
    /// ACKs of the profile that were not captured.
    pub extra: usize,
    /// Mean time difference of the matching ACKs.
    pub mean_error_us: i64,
    /// Largest time difference of a matching ACK.
    pub worst_error_us: i64,
    /// Best-fitting ticks per second.
    pub hz: u32,
    /// Best-fitting memory per received frame; absent: as small as the allocator makes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rx_truesize_bytes: Option<u32>,
    /// Best-fitting time from data to read.
    pub read_delay_us: i64,
    /// First ACK that the profile does not explain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_mismatch: Option<Mismatch>,
}

impl Found {
    /// Whether the best profile explains most of the ACKs.
    pub fn is_answer(&self) -> bool {
        let best = self.profiles.first();
        best.is_some_and(|b| b.matched * 10 >= 9 * (b.matched + b.missed + b.extra))
    }
}

/// Explains the ACKs of every receiver; of these connections only, when some are named.
pub fn explain(gather: &Gather, only: &[usize]) -> Vec<Receiver> {
    let mut receivers = Vec::new();
    let played = played(gather, only);
    for (number, stream) in gather.streams.iter().enumerate() {
        if !only.is_empty() && !only.contains(&number) {
            continue;
        }
        for side in [0, 1] {
            let [client, server] = stream.ends;
            let (receiver, sender) = match side {
                0 => (client, server),
                _ => (server, client),
            };
            let script = match played.contains(&number) {
                true => Script::of(stream, side),
                false => Err(Lack::Many),
            };
            let found = script.and_then(|script| found(&script, KNOWN));
            // Most connections carry data one way: the other receiver is no news.
            if matches!(found, Err(Lack::Data)) {
                continue;
            }
            let (found, lacks) = match found {
                Ok(found) => (Some(found), None),
                Err(lack) => (None, Some(lack.text())),
            };
            receivers.push(Receiver {
                stream: number,
                receiver: receiver.text(),
                sender: sender.text(),
                lacks,
                found,
            });
        }
    }
    receivers
}

/// The connections with the most packets, when there are too many and none is named.
fn played(gather: &Gather, only: &[usize]) -> BTreeSet<usize> {
    const MOST: usize = 500;
    let mut numbers: Vec<usize> = (0..gather.streams.len()).collect();
    if only.is_empty() {
        let packets = |n: &usize| gather.streams.get(*n).map_or(0, |s| s.packets.len());
        numbers.sort_by_key(|n| std::cmp::Reverse(packets(n)));
        numbers.truncate(MOST);
    }
    numbers.into_iter().collect()
}

fn found(script: &Script, known: &[Known]) -> Result<Found, Lack> {
    let mut fitted = fit::all(script, known)?;
    fitted.sort_by(|a, b| a.fit.order(&b.fit));
    let best = fit::ties(script, &fitted);
    let ranked = |f: &fit::Fitted| Ranked {
        profile: f.profile.name,
        matched: f.fit.matched,
        missed: f.fit.missed,
        extra: f.fit.extra,
        mean_error_us: f.fit.error / 1000 / (f.fit.matched.max(1) as i64),
        worst_error_us: f.fit.worst / 1000,
        hz: f.setup.hz,
        rx_truesize_bytes: f.setup.truesize,
        read_delay_us: f.setup.read_delay / 1000,
        first_mismatch: f.fit.first.clone(),
    };
    Ok(Found {
        acks: script.acks.len(),
        path_us: script.gap / 1000,
        noise_us: script.noise / 1000,
        syn_window: script.own_syn().window,
        lost_behind: script.lost,
        cut: script.cut,
        caqm: script.caqm,
        best,
        is_exact: fitted.first().is_some_and(|f| f.fit.is_perfect()),
        profiles: fitted.iter().map(ranked).collect(),
    })
}
