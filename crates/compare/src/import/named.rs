//! Results of single tests by name. Tests of one name in one file are several tests: `foo`, `foo (2)`.

use std::collections::BTreeMap;

use crate::metrics::TestResult;

/// Tests as a file names them.
#[derive(Debug, Default)]
pub(super) struct Tests {
    results: BTreeMap<String, TestResult>,
    /// The last number that a repeated name got.
    numbers: BTreeMap<String, u64>,
}

impl Tests {
    /// Adds a test.
    pub fn add(&mut self, name: String, result: TestResult) {
        let mut own = name.clone();
        while self.results.contains_key(&own) {
            let number = self.numbers.entry(name.clone()).or_insert(1);
            *number += 1;
            own = format!("{name} ({number})");
        }
        self.results.insert(own, result);
    }

    /// Tests that ended so.
    pub fn ended(&self, result: TestResult) -> u64 {
        let same = self.results.values().filter(|r| **r == result);
        same.count() as u64
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.results.is_empty()
    }

    /// All of them.
    pub fn done(self) -> BTreeMap<String, TestResult> {
        self.results
    }
}
