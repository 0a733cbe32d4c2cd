//! Tests a bench on this machine: equal arms must not differ, and slowed arms must be found.
//!
//! Each table has all workloads in two equal arms. One workload (the tables take turns) has two more arms, which are
//! slowed: their ends idle for a part of the time. An undecided row then gets the runs that it names.

use schemars::JsonSchema;
use serde::Serialize;
use tcplab_compare::{Comparison, Metric, Options, Verdict, compare};
use tcplab_os::Stop;

use super::{Arm, Plan, Run, Setting, Turn, enough, metrics, one, system};
use crate::ends::Place;
use crate::error::BenchError;

/// `schema` of a [`SelfTest`].
pub const SELF_TEST_SCHEMA: &str = "tcplab.bench-self-test/1";

/// The slowdowns, per cent.
const PLANTED: [u32; 2] = [10, 5];

/// What a self-test came to.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SelfTest {
    /// Always `tcplab.bench-self-test/1`.
    pub schema: String,
    /// This machine.
    pub system: String,
    /// The workloads of each table.
    pub workloads: Vec<String>,
    /// Runs of each workload in each arm; more of those that need more to find what shall be found.
    pub runs: u32,
    /// Nanoseconds of a run.
    pub time_ns: i64,
    /// The tables.
    pub tables: Vec<Table>,
}

/// One table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Table {
    /// Runs a side of each workload.
    pub runs: Vec<u32>,
    /// Rows of two arms that are alike which were worse or better, with their change in per cent.
    pub false_rows: Vec<(String, f64)>,
    /// What was found of the slowdowns.
    pub planted: Vec<Planted>,
}

/// What was found of a slowdown.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Planted {
    /// The workload that was slowed.
    pub workload: String,
    /// Per cent of its time that was taken.
    pub percent: u32,
    /// What the table said.
    pub first: Said,
    /// What it said with the runs that it had asked for; null: it asked for none, or for more than are sensible.
    pub then: Option<Said>,
}

/// A row in short.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Said {
    /// Runs a side.
    pub runs: u32,
    /// The verdict.
    pub verdict: Verdict,
    /// The change in per cent.
    pub change_percent: Option<f64>,
    /// Runs that would decide it.
    pub needs: Option<u32>,
}

impl SelfTest {
    /// Tables of like arms with a row that is worse or better.
    pub fn false_tables(&self) -> usize {
        let is_false = |table: &&Table| !table.false_rows.is_empty();
        self.tables.iter().filter(is_false).count()
    }

    /// Slowdowns of so many per cent.
    pub fn planted(&self, percent: u32) -> impl Iterator<Item = &Planted> {
        let all = self.tables.iter().flat_map(|table| &table.planted);
        all.filter(move |planted| planted.percent == percent)
    }
}

/// Runs a self-test of so many tables; the arms of the plan are not asked. An answer with fewer tables: the user wanted an end.
///
/// # Errors
/// What a workload cannot do here.
pub fn self_test(
    plan: &Plan,
    tables: u32,
    options: &Options,
    stop: &Stop,
    mut each: impl FnMut(u32, &Turn),
) -> Result<SelfTest, BenchError> {
    let plan = Plan {
        arms: arms(),
        pinning: plan.pinning.iter().take(1).copied().collect(),
        ..plan.clone()
    };
    let mut result = SelfTest {
        schema: SELF_TEST_SCHEMA.into(),
        system: system(),
        workloads: plan.workloads.iter().map(ToString::to_string).collect(),
        runs: plan.runs.least(),
        time_ns: plan.time.as_nanos(),
        tables: Vec::new(),
    };
    for number in 0..tables {
        let mut bench = Bench {
            plan: &plan,
            planted: number as usize % plan.workloads.len().max(1),
            options,
            stop,
            runs: Vec::new(),
        };
        match bench.table(&mut |turn| each(number, turn))? {
            Some(table) => result.tables.push(table),
            None => break,
        }
    }
    Ok(result)
}

/// Two alike, and one for each slowdown.
fn arms() -> Vec<Arm> {
    let slowed = PLANTED.map(|percent| format!("slowed by {percent} %"));
    let names = ["before".to_owned(), "after".to_owned()];
    let arm = |name| Arm {
        name,
        setting: Setting::AsItIs,
    };
    names.into_iter().chain(slowed).map(arm).collect()
}

/// A table while it is made.
struct Bench<'a> {
    plan: &'a Plan,
    /// Index of the workload that is slowed.
    planted: usize,
    options: &'a Options,
    stop: &'a Stop,
    runs: Vec<Run>,
}

impl Bench<'_> {
    /// None: the user wants an end.
    fn table(&mut self, each: &mut dyn FnMut(&Turn)) -> Result<Option<Table>, BenchError> {
        let Some(counts) = self.runs(each)? else {
            return Ok(None);
        };
        let planted = counts[self.planted];
        let mut table = Table {
            runs: counts,
            ..Table::default()
        };
        for row in self.compare(None, planted).rows {
            if matches!(row.verdict, Verdict::Worse | Verdict::Better) {
                let change = row.change_percent.unwrap_or_default();
                table.false_rows.push((row.label(), change));
            }
        }
        for (index, percent) in PLANTED.into_iter().enumerate() {
            let arm = 2 + index;
            let first = self.said(arm, planted);
            let then = match self.more(arm, &first, each)? {
                More::Made(runs) => Some(self.said(arm, runs)),
                More::NotSensible => None,
                More::Interrupted => return Ok(None),
            };
            table.planted.push(Planted {
                workload: self.plan.workloads[self.planted].to_string(),
                percent,
                first,
                then,
            });
        }
        Ok(Some(table))
    }

    /// The runs of all workloads: the answer has how many a side. None: the user wants an end.
    fn runs(&mut self, each: &mut dyn FnMut(&Turn)) -> Result<Option<Vec<u32>>, BenchError> {
        let mut done = vec![0; self.plan.workloads.len()];
        let mut wanted = vec![self.plan.runs.least(); done.len()];
        while done != wanted {
            for block in 0..wanted.iter().copied().max().unwrap_or(0) {
                for workload in 0..wanted.len() {
                    let goes = (done[workload]..wanted[workload]).contains(&block);
                    let arms: &[usize] = match workload == self.planted {
                        true => &[0, 1, 2, 3],
                        false => &[0, 1],
                    };
                    if goes && !self.block(block, workload, arms, each)? {
                        return Ok(None);
                    }
                }
            }
            let more = enough::wanted(self.plan, &self.runs, &wanted);
            done = std::mem::replace(&mut wanted, more);
        }
        Ok(Some(wanted))
    }

    /// A workload once in each of these arms; every second time the other way round. False: the user wants an end.
    fn block(
        &mut self,
        block: u32,
        workload: usize,
        arms: &[usize],
        each: &mut dyn FnMut(&Turn),
    ) -> Result<bool, BenchError> {
        let workload = self.plan.workloads[workload];
        let turn = |arm: &usize| Turn {
            block,
            workload,
            pinning: self.plan.pinning[0].of(&workload),
            arm: *arm,
        };
        let mut turns: Vec<Turn> = arms.iter().map(turn).collect();
        if block % 2 == 1 {
            turns.reverse();
        }
        for turn in turns {
            each(&turn);
            let held = match turn.arm {
                0 | 1 => 0,
                slowed => PLANTED[slowed - 2],
            };
            let number = self.runs.len();
            match one(
                self.plan,
                &turn,
                number,
                (&Place::Here, None),
                held,
                self.stop,
            )? {
                Some(run) => self.runs.push(run),
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// The runs that an undecided row asked for.
    fn more(
        &mut self,
        arm: usize,
        first: &Said,
        each: &mut dyn FnMut(&Turn),
    ) -> Result<More, BenchError> {
        let most = self.options.rules.most_runs;
        let needs = match (first.verdict, first.needs) {
            (Verdict::Undecided, Some(needs)) if needs <= most => needs,
            _ => return Ok(More::NotSensible),
        };
        for block in first.runs..needs {
            // Another slowdown may have had a run of the first arm already.
            let missing: Vec<usize> = [0, arm]
                .into_iter()
                .filter(|arm| !self.has(block, *arm))
                .collect();
            if !self.block(block, self.planted, &missing, each)? {
                return Ok(More::Interrupted);
            }
        }
        Ok(More::Made(needs))
    }

    fn has(&self, block: u32, arm: usize) -> bool {
        let arm = &self.plan.arms[arm].name;
        let workload = self.slowed();
        let is_it = |run: &Run| run.block == block && run.arm == *arm && run.workload == workload;
        self.runs.iter().any(is_it)
    }

    /// Name of the workload that is slowed.
    fn slowed(&self) -> String {
        self.plan.workloads[self.planted].to_string()
    }

    /// What the table of so many runs says of the slowed workload in this arm.
    fn said(&self, arm: usize, runs: u32) -> Said {
        let name = self.slowed();
        let rows = self.compare(Some(arm), runs).rows;
        let row = rows.into_iter().find(|row| row.metric == name);
        Said {
            runs,
            verdict: row.as_ref().map_or(Verdict::Missing, |row| row.verdict),
            change_percent: row.as_ref().and_then(|row| row.change_percent),
            needs: row.as_ref().and_then(|row| row.needs),
        }
    }

    /// The table of the like arms, the slowed workload with so many runs; with an arm that is slowed, its workload's figures stand in it.
    fn compare(&self, slowed: Option<usize>, runs: u32) -> Comparison {
        let name = self.slowed();
        let counts = |run: &&Run| run.block < runs || run.workload != name;
        let kept: Vec<Run> = self.runs.iter().filter(counts).cloned().collect();
        let mut arms = metrics(self.plan, &kept, &[]).arms;
        if let Some(arm) = slowed {
            let is_it = |metric: &Metric| metric.name == name;
            let figures: Vec<Metric> = arms[arm]
                .metrics
                .iter()
                .filter(|m| is_it(m))
                .cloned()
                .collect();
            arms[1].metrics.retain(|metric| !is_it(metric));
            arms[1].metrics.extend(figures);
        }
        compare(&arms[0], &arms[1], self.options)
    }
}

/// What became of the runs that a row asked for.
enum More {
    /// There are so many a side now.
    Made(u32),
    /// It asked for none, or for more than are sensible.
    NotSensible,
    /// The user wants an end.
    Interrupted,
}
