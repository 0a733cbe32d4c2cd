//! Claims about the estimator of the retransmission timeout alone: round trips go in, timeouts come out, in
//! microseconds and before they count ticks (the endpoint's own code, without a connection).

use std::collections::BTreeMap;

use serde::Deserialize;
use tcplab_plan::profile;

/// What `net.ipv4.tcp_rto_min_us` is by default.
const RTO_MIN_US: u32 = 200_000;

/// An estimator, what it is fed and what it shall say.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Estimator {
    /// What of the profile is set to what, as in an experiment's host.
    behaviour: BTreeMap<String, String>,
    /// Round trips.
    samples_ms: Vec<f64>,
    /// The published timeout after each of them.
    timeouts_ms: Vec<f64>,
}

/// What an estimator said.
#[derive(Debug)]
pub(super) struct Timeouts {
    us: Vec<u32>,
    difference_us: f64,
}

impl Estimator {
    /// Runs it with the profile of a stack such as `model:linux-6.1`.
    pub(super) fn run(&self, stack: &str) -> Result<Timeouts, String> {
        let name = stack.strip_prefix("model:").unwrap_or_default();
        let mut profile =
            profile::named(name).ok_or_else(|| format!("no profile of the model in {stack}"))?;
        for (name, value) in &self.behaviour {
            profile.set(name, value).map_err(|e| e.to_string())?;
        }
        if self.samples_ms.len() != self.timeouts_ms.len() {
            return Err("there is not one timeout for each sample".into());
        }
        let samples: Vec<u32> = self.samples_ms.iter().map(|ms| in_us(*ms) as u32).collect();
        let us = tcplab_tcp::timeouts_us(&profile, RTO_MIN_US, &samples);
        let pairs = us.iter().zip(&self.timeouts_ms);
        let apart = pairs.map(|(us, ms)| (f64::from(*us) - in_us(*ms)).abs());
        let difference_us = apart.fold(0.0, f64::max);
        Ok(Timeouts { us, difference_us })
    }
}

impl Timeouts {
    /// A value by its name in a claim: `last_us`, or `difference_us`, the largest from what was published.
    pub(super) fn value(&self, name: &str) -> Option<f64> {
        match name {
            "last_us" => self.us.last().map(|us| f64::from(*us)),
            "difference_us" => Some(self.difference_us),
            _ => None,
        }
    }

    /// What to show beside the value: `timeouts_ms` is all of them.
    pub(super) fn shown(&self, name: &str) -> Option<String> {
        let each = self.us.iter().map(|us| (f64::from(*us) / 1e3).to_string());
        (name == "timeouts_ms").then(|| format!("{} ms", each.collect::<Vec<_>>().join(", ")))
    }
}

fn in_us(ms: f64) -> f64 {
    (ms * 1e3).round()
}
