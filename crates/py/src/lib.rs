//! The Python module `tcplab._native`: tables of captures and results for Arrow, the simulator in steps. Level 9 of the map.
//!
//! Thin: what a user sees is `python/tcplab`, which says what each function is for. Experiments, scripts and kernels are run
//! by the command, whose documents come here as JSON.

mod analysis;
mod arrow;
mod html;
mod source;
mod table;
mod world;

use pyo3::prelude::*;

/// The module.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::analysis::{analyze, report};
    #[pymodule_export]
    use crate::table::{Table, run_tables, run_verdicts};
    #[pymodule_export]
    use crate::world::{Ack, Change, View, World};

    use pyo3::prelude::*;

    /// The experiments that ship with tcplab, and the starters of `tcplab new`: their text by name.
    #[pyfunction]
    fn examples() -> Vec<(&'static str, &'static str)> {
        let starters = tcplab_examples::STARTERS.iter();
        let all = tcplab_examples::EXAMPLES.iter().chain(starters);
        all.map(|file| (file.name, file.text)).collect()
    }

    /// Why the results of a model's profile are less certain; None: the profile is verified, or `name` is no profile.
    #[pyfunction]
    fn unverified(name: &str) -> Option<String> {
        tcplab_plan::profile::unverified(name)
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
