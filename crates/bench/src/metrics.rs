//! What of the runs is compared: a figure of each, with what the machine did beside it.

use std::collections::BTreeMap;

use tcplab_base::Duration;
use tcplab_compare::{
    Arm as ArmMetrics, Better, Combine, Metric, Metrics, Noise, Role, Run as Value, Source,
};

use super::{Arm, Pinning, Plan, Run};
use crate::ends::{Measured, Over, Work, Workload};

/// The document that `tcplab compare` reads; `systems`: the machines of each arm in a line.
pub fn metrics(plan: &Plan, runs: &[Run], systems: &[String]) -> Metrics {
    let arms = plan.arms.iter().enumerate().map(|(number, arm)| {
        let own: Vec<&Run> = runs.iter().filter(|run| run.arm == arm.name).collect();
        let mut out = ArmMetrics::named(arm.name.clone());
        out.sources.push(Source {
            settings: settings(plan),
            ..arm.source(systems.get(number).cloned().unwrap_or_default())
        });
        for pinning in &plan.pinning {
            for workload in &plan.workloads {
                let name = workload.to_string();
                let cpus = pinning.of(workload).word();
                let of_it = own
                    .iter()
                    .filter(|run| run.workload == name && run.cpus == cpus);
                let of_it: Vec<&Run> = of_it.copied().collect();
                out.metrics
                    .extend(rows(workload, plan.row(*pinning, workload), &of_it));
            }
        }
        out
    });
    Metrics::of(arms.collect())
}

impl Plan {
    /// The name of a workload's row.
    fn row(&self, pinning: Pinning, workload: &Workload) -> String {
        match self.pinning.len() {
            1 => workload.to_string(),
            _ => format!("{} {workload}", pinning.word()),
        }
    }

    /// The names of the rows, one for each of [`Plan::kinds`].
    pub(super) fn names(&self) -> Vec<String> {
        let at = |pinning: &Pinning| {
            let pinning = *pinning;
            self.workloads
                .iter()
                .map(move |workload| self.row(pinning, workload))
        };
        self.pinning.iter().flat_map(at).collect()
    }
}

/// What workloads were run with.
fn settings(plan: &Plan) -> BTreeMap<String, String> {
    let ms = |time: Duration| format!("{} ms", time.as_nanos() as f64 / 1e6);
    let cpus: Vec<&str> = plan.pinning.iter().map(|pinning| pinning.word()).collect();
    let mut settings = BTreeMap::from([
        ("cpus".to_owned(), cpus.join(",")),
        ("time".to_owned(), ms(plan.time)),
        ("warm-up".to_owned(), ms(plan.warm)),
    ]);
    if let Some(congestion) = &plan.congestion {
        settings.insert("congestion".into(), congestion.clone());
    }
    settings
}

/// The figures of a workload.
fn rows(workload: &Workload, name: String, runs: &[&Run]) -> Vec<Metric> {
    let mbit = |bps: f64| bps / 1e6;
    match (workload.work, workload.over) {
        (Work::Stream, Over::Udp) => vec![
            row(&name, "Mbit/s", Better::Higher, runs, |run| {
                mbit(run.measured.client.bps())
            })
            .at(Role::Client),
            row(&name, "Mbit/s", Better::Higher, runs, |run| {
                mbit(run.measured.server.bps())
            })
            .at(Role::Server),
        ],
        // What arrives.
        (Work::Stream, _) => vec![row(&name, "Mbit/s", Better::Higher, runs, |run| {
            mbit(run.measured.server.bps())
        })],
        // A time, as lmbench tells it.
        (Work::Request, Over::Unix | Over::Pipe) => {
            vec![row(&name, "us", Better::Lower, runs, |run| {
                1e6 / run.measured.client.rate()
            })]
        }
        (Work::Request | Work::Connect, _) => {
            vec![row(&name, "1/s", Better::Higher, runs, |run| {
                run.measured.client.rate()
            })]
        }
    }
}

/// Why a run does not count.
fn nothing(found: f64) -> Option<String> {
    (!found.is_finite() || found == 0.0).then(|| "nothing went by".into())
}

fn row(
    name: &str,
    unit: &str,
    better: Better,
    runs: &[&Run],
    value: impl Fn(&Run) -> f64,
) -> Metric {
    let mut metric = Metric::new(name, unit, better);
    // What something else on the machine took away in a few runs is not the arm's.
    metric.combine = Combine::Trimmed;
    metric.runs = runs
        .iter()
        .map(|run| {
            let found = value(run);
            Value {
                value: Some(found).filter(|value| value.is_finite()),
                block: Some(run.block),
                order: Some(run.order),
                began_s: Some(run.began_s),
                failed: nothing(found),
                absent: None,
                noise: Some(noise(&run.measured.noise, others(&run.measured))),
            }
        })
        .collect();
    metric
}

/// A machine's noise in the words of a comparison.
pub(super) fn noise(of: &tcplab_os::noise::Noise, others: BTreeMap<String, f64>) -> Noise {
    Noise {
        steal_percent: of.steal_percent,
        frequency_mhz: of.frequency_mhz,
        interrupts_per_s: of.interrupts_per_s,
        load: of.load,
        others,
    }
}

impl Arm {
    /// Where its figures are from.
    pub(super) fn source(&self, system: String) -> Source {
        Source {
            name: format!("tcplab bench, arm {}", self.name),
            format: "tcplab bench".into(),
            tool: concat!("tcplab ", env!("CARGO_PKG_VERSION")).into(),
            command: self.setting.words(),
            system,
            settings: BTreeMap::new(),
        }
    }
}

/// What a machine's noise has no field for, and the server's machine's.
fn others(measured: &Measured) -> BTreeMap<String, f64> {
    let server = measured
        .server_machine
        .as_ref()
        .map(|machine| machine.noise);
    let named = [
        ("idle_percent", measured.noise.idle_percent),
        ("server_steal_percent", server.and_then(|n| n.steal_percent)),
        ("server_idle_percent", server.and_then(|n| n.idle_percent)),
        (
            "server_interrupts_per_s",
            server.and_then(|n| n.interrupts_per_s),
        ),
        ("server_load", server.and_then(|n| n.load)),
    ];
    let told = named
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    told.collect()
}
