//! Sets of applications that are measured together, as flent's tests are: series by flent's names, on one time axis.
//!
//! `kind = "rrul"` in an experiment file becomes single applications (`experiment/rrul.rs`) and one [`AppSet`], which
//! maps applications to series. [`Table`] makes the series of a run; [`flent`] writes them as flent's data files.

pub mod flent;
mod series;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use series::Received;
pub use series::{STATISTICS, Series, Table};

/// A set of applications.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AppSet {
    /// Its name in measures and files.
    pub name: String,
    /// The test of flent that it stands for, such as `rrul_be`: flent has the plots for it.
    pub test: String,
    /// When it begins, after the run's start.
    pub start_ns: i64,
    /// Time from then to the start of the load, and from the load's end to the end.
    pub delay_ns: i64,
    /// How long the load lasts.
    pub duration_ns: i64,
    /// Time at the load's begin that statistics leave out.
    pub settle_ns: i64,
    /// Time between two values of a series.
    pub step_ns: i64,
    /// Its series but for averages and sums, in flent's order.
    pub series: Vec<SetSeries>,
}

/// Where a series comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetSeries {
    /// flent's name.
    pub name: String,
    /// The application, or the group of applications, whose goodput or pings it shows.
    pub app: String,
}

/// flent's words at the begin of a series' name.
pub(crate) const UPLOAD: &str = "TCP upload";
pub(crate) const DOWNLOAD: &str = "TCP download";
pub(crate) const PING: &str = "Ping (ms)";
/// The series that sums uploads and downloads up.
const TOTALS: &str = "TCP totals";

impl AppSet {
    /// From its begin to its end.
    pub(crate) fn total_ns(&self) -> i64 {
        let around = self.delay_ns.saturating_mul(2);
        self.duration_ns.saturating_add(around)
    }

    /// The series that are computed from others: name, what the others begin with, and whether it is their sum.
    pub(crate) fn computed(&self) -> Vec<(String, &'static str, bool)> {
        let has = |prefix: &str| self.series.iter().any(|s| s.name.starts_with(prefix));
        let mut all = Vec::new();
        for prefix in [UPLOAD, DOWNLOAD] {
            if has(prefix) {
                all.push((format!("{prefix} avg"), prefix, false));
                all.push((format!("{prefix} sum"), prefix, true));
            }
        }
        if !all.is_empty() {
            all.push((TOTALS.to_owned(), "TCP", true));
        }
        if has(PING) {
            all.push((format!("{PING} avg"), PING, false));
        }
        all
    }

    /// The names of all its series.
    pub fn names(&self) -> Vec<String> {
        let own = self.series.iter().map(|s| s.name.clone());
        own.chain(self.computed().into_iter().map(|(name, ..)| name))
            .collect()
    }

    /// The measures that say most, for a run that names none.
    pub fn headline(&self) -> Vec<String> {
        let computed = self.computed();
        let mut all = Vec::new();
        for (name, _, is_sum) in computed {
            match (is_sum, name.starts_with(PING)) {
                (_, true) => {
                    all.extend(["median", "p99"].map(|of| format!("{}.{name}.{of}", self.name)));
                }
                (true, _) => all.push(format!("{}.{name}.mean", self.name)),
                (false, _) => {}
            }
        }
        all
    }

    /// Whether a host or application of this name, or of this group, gives one of its series.
    pub fn uses(&self, app: &str) -> bool {
        self.series.iter().any(|s| s.app == app)
    }
}
