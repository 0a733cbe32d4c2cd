//! What else the machine did: time that a hypervisor took, interrupts, frequency, load.

use std::fs;

use serde::{Deserialize, Serialize};
use tcplab_base::Instant;

use crate::clock::monotonic as now;

/// What a machine did beside a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// Time that the hypervisor took, per cent of all processors' (`steal` of proc_stat(5)).
    pub steal_percent: Option<f64>,
    /// Time in which no processor had anything to do, per cent of all processors'.
    pub idle_percent: Option<f64>,
    /// Interrupts a second, all of them.
    pub interrupts_per_s: Option<f64>,
    /// Mean frequency of the processors at the end, MHz.
    pub frequency_mhz: Option<f64>,
    /// Load average over a minute at the beginning.
    pub load: Option<f64>,
}

/// Looks at the beginning of a run.
#[derive(Clone, Debug)]
pub struct Watch {
    stat: Option<Stat>,
    load: Option<f64>,
    begun: Instant,
}

impl Watch {
    /// From now on.
    pub fn start() -> Self {
        let load = read("/proc/loadavg").and_then(|text| text.split(' ').next()?.parse().ok());
        Self {
            stat: read("/proc/stat").and_then(|text| Stat::parse(&text)),
            load,
            begun: now(),
        }
    }

    /// Until now.
    pub fn stop(&self) -> Noise {
        let after = read("/proc/stat").and_then(|text| Stat::parse(&text));
        let both = self.stat.zip(after);
        let seconds = now().since(self.begun).as_secs_f64();
        let share = |of: fn(&Stat) -> u64| {
            let (before, after) = both?;
            let all = after.all.checked_sub(before.all).filter(|n| *n > 0)?;
            let part = of(&after).saturating_sub(of(&before));
            Some(100.0 * part as f64 / all as f64)
        };
        Noise {
            steal_percent: share(|stat| stat.steal),
            idle_percent: share(|stat| stat.idle),
            interrupts_per_s: both.filter(|_| seconds > 0.0).map(|(before, after)| {
                after.interrupts.saturating_sub(before.interrupts) as f64 / seconds
            }),
            frequency_mhz: read("/proc/cpuinfo").and_then(|text| frequency(&text)),
            load: self.load,
        }
    }
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(path).ok()
}

/// What /proc/stat counts, in ticks, and interrupts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stat {
    all: u64,
    idle: u64,
    steal: u64,
    interrupts: u64,
}

impl Stat {
    fn parse(text: &str) -> Option<Self> {
        let line = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
        let ticks: Vec<u64> = line("cpu ")?
            .split_whitespace()
            .map_while(|word| word.parse().ok())
            .collect();
        // user nice system idle iowait irq softirq steal; guests' time is in user's already.
        let eight = ticks.get(..8)?;
        Some(Self {
            all: eight.iter().sum(),
            idle: eight[3] + eight[4],
            steal: eight[7],
            interrupts: line("intr ")?.split(' ').next()?.parse().ok()?,
        })
    }
}

/// The mean of `cpu MHz` of /proc/cpuinfo.
fn frequency(text: &str) -> Option<f64> {
    let each = text.lines().filter_map(|line| {
        let value = line.strip_prefix("cpu MHz")?.split(':').nth(1)?;
        value.trim().parse::<f64>().ok()
    });
    let (sum, n) = each.fold((0.0, 0), |(sum, n), mhz| (sum + mhz, n + 1));
    (n > 0).then(|| sum / f64::from(n))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proc_stat_is_read() {
        let text = "cpu  10 1 20 300 5 2 3 40 7 0\ncpu0 1 2 3\nintr 12345 0 9\nctxt 5\n";
        let stat = Stat::parse(text).unwrap();
        let want = Stat {
            all: 381,
            idle: 305,
            steal: 40,
            interrupts: 12_345,
        };
        assert_eq!(stat, want);
        for text in ["", "cpu 1 2\nintr 5", "cpu  1 2 3 4 5 6 7 8\n"] {
            assert_eq!(Stat::parse(text), None, "{text}");
        }
        assert_eq!(
            frequency("cpu MHz\t\t: 2000.5\ncpu MHz : 1000.5\n"),
            Some(1500.5)
        );
        assert_eq!(frequency(""), None);
    }
}
