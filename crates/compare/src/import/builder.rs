//! An arm that grows as a file is read.

use super::Input;
use crate::metrics::{Arm, Count, Metric, Places, Run, Source};

/// An arm, and where each of its metrics is: a file may have very many.
pub(super) struct Builder {
    pub arm: Arm,
    places: Places,
}

impl Builder {
    /// For an arm named after its file.
    pub fn new(input: &Input) -> Self {
        let mut arm = Arm::named(input.name);
        arm.sources.push(Source {
            name: input.name.into(),
            ..Source::default()
        });
        Self {
            arm,
            places: Places::default(),
        }
    }

    /// Adds a run to the metric of that name, role and unit, which is made when it is new.
    pub fn run(&mut self, metric: Metric, run: Run) {
        let runs = vec![run];
        let metric = Metric { runs, ..metric };
        self.places.put(&mut self.arm.metrics, metric);
    }

    /// Adds a value, when it is a finite number.
    pub fn value(&mut self, metric: Metric, value: Option<f64>) {
        if let Some(value) = value.filter(|value| value.is_finite()) {
            self.run(metric, Run::of(value));
        }
    }

    /// A load generator's report in which no request succeeded: rates and latencies belong to errors and do not count.
    /// The counts of errors do.
    pub fn no_success(&mut self, why: &str) {
        let counts_errors = |name: &str| {
            ["errors", "responses", "failed requests"]
                .iter()
                .any(|end| name.ends_with(end))
        };
        for metric in &mut self.arm.metrics {
            if !counts_errors(&metric.name) {
                for run in &mut metric.runs {
                    run.failed = Some(why.to_owned());
                }
            }
        }
    }

    /// Adds a count of tests.
    pub fn count(&mut self, count: Count) {
        self.arm.counts.push(count);
    }

    /// The provenance of the file.
    pub fn source(&mut self) -> &mut Source {
        if self.arm.sources.is_empty() {
            self.arm.sources.push(Source::default());
        }
        &mut self.arm.sources[0]
    }

    /// The arm.
    pub fn done(self) -> Vec<Arm> {
        vec![self.arm]
    }
}
