//! Commands as the things that are measured: which one has its turn, what each took, what its output says.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;

use serde::Serialize;
use tcplab_compare::import::{self, Format, Input};
use tcplab_compare::{
    Arm as ArmMetrics, Better, Combine, Metric, Metrics, RemarkKind, Role, Run as Value,
};
use tcplab_os::Stop;

use super::folder::now_s;
use super::metrics::noise;
use super::{Arm, Folder, Setting, system};
use crate::ends::{Machine, Shell, Took, command};
use crate::error::BenchError;

/// Runs of an arm after which it is given up, when none was good.
const GIVE_UP: u32 = 3;

/// What is run.
#[derive(Clone, Debug)]
pub struct Commands {
    /// One arm, or two that take turns; what makes each is a command.
    pub arms: Vec<Arm>,
    /// Runs of each that count.
    pub runs: u32,
    /// Runs of each before.
    pub warm_runs: u32,
}

/// One run, as it was found: a line of `runs.jsonl`.
#[derive(Clone, Debug, Serialize)]
struct Run {
    arm: String,
    /// From 1; 0: it warms up.
    run: u32,
    order: u64,
    began_s: f64,
    elapsed_s: f64,
    user_s: f64,
    system_s: f64,
    peak_bytes: u64,
    /// As what its output was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<&'static str>,
    /// Why it does not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<String>,
    #[serde(flatten)]
    machine: Machine,
    /// What its output says.
    #[serde(skip)]
    said: ArmMetrics,
}

impl Commands {
    /// Arm and number of each run, in their order; number 0 warms up.
    fn turns(&self) -> Vec<(usize, u32)> {
        let arms = self.arms.len();
        let warm = (0..self.warm_runs).flat_map(|_| (0..arms).map(|arm| (arm, 0)));
        let counting = (1..=self.runs).flat_map(|run| {
            (0..arms).map(move |at| match run % 2 {
                1 => (at, run),
                _ => (arms - 1 - at, run),
            })
        });
        warm.chain(counting).collect()
    }

    /// How many runs there are.
    pub fn count(&self) -> u64 {
        u64::from(self.runs + self.warm_runs) * self.arms.len() as u64
    }

    /// Runs them all, and makes what is compared; `each` is told the number of a run and its arm. None: the user wanted an end
    /// before one was done.
    ///
    /// # Errors
    /// An arm without a good run; a folder that cannot be written.
    pub fn run(
        &self,
        folder: &mut Folder,
        stop: &Stop,
        mut each: impl FnMut(u64, &str),
    ) -> Result<Option<Metrics>, BenchError> {
        let mut done: Vec<Run> = Vec::new();
        let output = folder.path().join("output");
        fs::create_dir_all(&output).map_err(|e| folder.failed(e))?;
        for (order, (arm, number)) in self.turns().into_iter().enumerate() {
            let arm = &self.arms[arm];
            each(order as u64, &arm.name);
            let Some(run) = one(arm, number, order as u64, &output, stop)? else {
                break;
            };
            folder.add(&run).map_err(|e| folder.failed(e))?;
            done.push(run);
            self.goes_on(arm, &done)?;
        }
        done.retain(|run| run.run > 0);
        Ok((!done.is_empty()).then(|| self.metrics(&done)))
    }

    /// An arm whose runs all fail ends the bench.
    fn goes_on(&self, arm: &Arm, done: &[Run]) -> Result<(), BenchError> {
        let own: Vec<&Run> = done.iter().filter(|run| run.arm == arm.name).collect();
        let all = self.runs + self.warm_runs;
        let first = own.first().and_then(|run| run.failed.as_deref());
        match first {
            Some(why)
                if own.len() as u32 >= GIVE_UP.min(all)
                    && own.iter().all(|run| run.failed.is_some()) =>
            {
                Err(BenchError::CannotRun(format!(
                    "`{}` ({}) failed {} times of {}: {why}",
                    arm.setting.words(),
                    arm.name,
                    own.len(),
                    own.len()
                )))
            }
            _ => Ok(()),
        }
    }

    fn metrics(&self, runs: &[Run]) -> Metrics {
        let rows = rows(runs);
        let arms = self.arms.iter().map(|arm| {
            let own: Vec<&Run> = runs.iter().filter(|run| run.arm == arm.name).collect();
            let mut out = ArmMetrics::named(arm.name.clone());
            out.sources.push(arm.source(system()));
            for run in &own {
                for source in &run.said.sources {
                    if !out.sources.contains(source) {
                        out.sources.push(source.clone());
                    }
                }
                for remark in &run.said.remarks {
                    if !out.remarks.iter().any(|other| other.text == remark.text) {
                        out.remarks.push(remark.clone());
                    }
                }
            }
            for run in &own {
                let mut tests = ArmMetrics::default();
                tests.counts.clone_from(&run.said.counts);
                out.absorb(tests);
            }
            out.metrics = rows.iter().filter_map(|row| row.of(&own)).collect();
            out
        });
        Metrics::of(arms.collect())
    }
}

/// Runs a command once; none: the user wants an end.
fn one(
    arm: &Arm,
    number: u32,
    order: u64,
    output: &Path,
    stop: &Stop,
) -> Result<Option<Run>, BenchError> {
    let Setting::Command(words) = &arm.setting else {
        let text = format!("the arm {} is no command", arm.name);
        return Err(BenchError::Wrong(text));
    };
    let file = |what: &str| output.join(format!("{order}-{}.{what}", arm.name));
    let (out, err) = (file("out"), file("err"));
    let began_s = now_s();
    let shell = Shell {
        command: words,
        env: &[
            ("TCPLAB_ARM", arm.name.clone()),
            ("TCPLAB_RUN", number.to_string()),
        ],
        out: &out,
        err: &err,
    };
    let took = command(&shell, stop).map_err(|e| BenchError::CannotRun(e.to_string()))?;
    let Some(took) = took else { return Ok(None) };
    let failed = failed(&took, &err);
    let (format, said) = match failed {
        None => said(&out, &arm.name),
        Some(_) => (None, ArmMetrics::default()),
    };
    Ok(Some(Run {
        arm: arm.name.clone(),
        run: number,
        order,
        began_s,
        elapsed_s: took.elapsed.as_secs_f64(),
        user_s: took.user.as_secs_f64(),
        system_s: took.system.as_secs_f64(),
        peak_bytes: took.peak_bytes,
        format: format.map(Format::name),
        failed,
        machine: took.machine,
        said,
    }))
}

/// Why a run does not count: how it ended, and the last that it said.
fn failed(took: &Took, err: &Path) -> Option<String> {
    if took.status.success() {
        return None;
    }
    let how = match (took.status.code(), took.status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("ended by signal {signal}"),
        (None, None) => took.status.to_string(),
    };
    let said = fs::read(err).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let last = said.lines().rev().find(|line| !line.trim().is_empty());
    Some(match last {
        Some(line) => format!("{how}: {}", line.trim()),
        None => how,
    })
}

/// What an output says, when it is one that `tcplab compare` knows.
fn said(out: &Path, name: &str) -> (Option<Format>, ArmMetrics) {
    let bytes = fs::read(out).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let Some(format) = Format::of(&text) else {
        return (None, ArmMetrics::default());
    };
    let input = Input { name, text: &text };
    let mut read = match import::read(&input, Some(format)) {
        Ok(read) => read.arms,
        Err(e) => {
            let mut nothing = ArmMetrics::default();
            nothing.remark(RemarkKind::Note, name, format!("its output: {e}"));
            return (Some(format), nothing);
        }
    };
    if read.len() != 1 {
        let mut nothing = ArmMetrics::default();
        let text = format!("its output has {} arms and not one", read.len());
        nothing.remark(RemarkKind::Note, name, text);
        return (Some(format), nothing);
    }
    (Some(format), read.remove(0))
}

/// A row of the table: its metric, and how to get its value from a run.
struct Row {
    metric: Metric,
    value: Of,
}

/// Takes a value out of a run.
type Of = Box<dyn Fn(&Run) -> Option<f64>>;

impl Row {
    /// The metric with the values of an arm's runs; `None` if no run has a value.
    fn of(&self, runs: &[&Run]) -> Option<Metric> {
        let values: Vec<Value> = runs
            .iter()
            .filter_map(|run| {
                let value = (self.value)(run);
                // A run that did well and does not say it: nothing is known of it.
                if value.is_none() && run.failed.is_none() {
                    return None;
                }
                let found = &run.machine.noise;
                let idle = found.idle_percent.map(|idle| ("idle_percent".into(), idle));
                Some(Value {
                    value,
                    block: Some(run.run - 1),
                    order: Some(run.order),
                    began_s: Some(run.began_s),
                    failed: run.failed.clone(),
                    absent: None,
                    noise: Some(noise(found, idle.into_iter().collect())),
                })
            })
            .collect();
        let is_known = values.iter().any(|run| run.value.is_some());
        is_known.then(|| Metric {
            runs: values,
            ..self.metric.clone()
        })
    }
}

/// The rows of all arms: what each run has, what outputs say, the counters that moved.
fn rows(runs: &[Run]) -> Vec<Row> {
    let own = |name: &str, unit: &str, of: fn(&Run) -> f64| Row {
        metric: trimmed(Metric::new(name, unit, Better::Lower)),
        value: Box::new(move |run| Some(of(run))),
    };
    let mut rows = vec![
        own("elapsed", "ms", |run| run.elapsed_s * 1e3),
        own("user CPU", "ms", |run| run.user_s * 1e3),
        own("system CPU", "ms", |run| run.system_s * 1e3),
        own("peak memory", "MB", |run| run.peak_bytes as f64 / 1e6),
    ];
    let mut add = |metric: &Metric, value: Of| {
        if !rows.iter().any(|row| key(&row.metric) == key(metric)) {
            let runs = Vec::new();
            let metric = Metric {
                runs,
                ..metric.clone()
            };
            rows.push(Row { metric, value });
        }
    };
    for metric in runs.iter().flat_map(|run| &run.said.metrics) {
        let key = key(metric);
        add(metric, Box::new(move |run| stated(run, &key)));
    }
    for metric in &moved(runs) {
        let name = metric.name.clone();
        let value = move |run: &Run| {
            let grown = run.machine.counters.get(&name).copied().unwrap_or(0);
            Some(grown as f64)
        };
        add(metric, Box::new(value));
    }
    rows
}

fn trimmed(mut metric: Metric) -> Metric {
    metric.combine = Combine::Trimmed;
    metric
}

/// The identity of a metric.
fn key(metric: &Metric) -> (String, Role, String) {
    (metric.name.clone(), metric.role, metric.unit.clone())
}

/// What a run's output says of a metric: the mean, where it says more than one value.
fn stated(run: &Run, wanted: &(String, Role, String)) -> Option<f64> {
    let metric = run.said.metrics.iter().find(|m| key(m) == *wanted)?;
    let values: Vec<f64> = metric.runs.iter().filter_map(Value::counts).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The counters that moved in one run or more, as nstat's importer makes metrics of them.
fn moved(runs: &[Run]) -> Vec<Metric> {
    let names: BTreeMap<&String, i64> = runs
        .iter()
        .flat_map(|run| run.machine.counters.keys().map(|name| (name, 1)))
        .collect();
    let lines: String = names
        .iter()
        .map(|(name, count)| format!("{name} {count} 0.0\n"))
        .collect();
    let text = format!("#kernel\n{lines}");
    let input = Input {
        name: "nstat",
        text: &text,
    };
    let read = import::read(&input, Some(Format::Nstat));
    let arms = read.map_or(Vec::new(), |read| read.arms);
    arms.into_iter()
        .flat_map(|arm| arm.metrics)
        .map(trimmed)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(texts: &[&str], runs: u32) -> Commands {
        let arms = texts
            .iter()
            .zip(["before", "after"])
            .map(|(text, name)| Arm {
                name: name.into(),
                setting: Setting::Command((*text).into()),
            });
        Commands {
            arms: arms.collect(),
            runs,
            warm_runs: 1,
        }
    }

    fn run(texts: &[&str], runs: u32) -> Result<Metrics, BenchError> {
        let place = tempfile::tempdir().unwrap();
        let mut folder = Folder::create(&place.path().join("out")).unwrap();
        let found = commands(texts, runs).run(&mut folder, &Stop::never(), |_, _| {});
        found.map(|metrics| metrics.unwrap())
    }

    #[test]
    fn arms_take_turns_after_their_warm_up() {
        let order = commands(&["true", "true"], 3).turns();
        assert_eq!(
            order,
            [
                (0, 0),
                (1, 0),
                (0, 1),
                (1, 1),
                (1, 2),
                (0, 2),
                (0, 3),
                (1, 3)
            ]
        );
    }

    #[test]
    fn figures_of_the_output_are_rows_and_failed_runs_do_not_count() {
        let before = r#"test $TCPLAB_RUN = 2 && { echo broken >&2; exit 7; }
            echo '{"schema":"tcplab.metrics/1","arms":[{"name":"x","metrics":[{"name":"goodput","unit":"Mbit/s","runs":[{"value":5},{"value":7}]}]}]}'"#;
        let metrics = run(&[before], 3).unwrap();
        let arm = &metrics.arms[0];
        let metric = |name: &str| arm.metrics.iter().find(|m| m.name == name).unwrap();
        let goodput = metric("goodput");
        let counted: Vec<f64> = goodput.runs.iter().filter_map(Value::counts).collect();
        assert_eq!(counted, [6.0, 6.0]);
        assert_eq!(
            goodput.runs[1].failed.as_deref(),
            Some("exit code 7: broken")
        );
        for name in ["elapsed", "user CPU", "system CPU", "peak memory"] {
            assert_eq!(metric(name).runs.len(), 3, "{name}");
        }
    }

    #[test]
    fn an_arm_without_a_good_run_is_an_error() {
        let e = run(&["true", "echo never >&2; false"], 5).unwrap_err();
        let text = e.to_string();
        for part in ["after", "3 times of 3", "exit code 1: never"] {
            assert!(text.contains(part), "{text}");
        }
    }
}
