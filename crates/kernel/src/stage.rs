//! This executable as a stage or as a guest's init.

use std::process::ExitCode;

use tcplab_guest::boot::{self, Errand};

use crate::{drill, run};

/// Acts as a stage or as a guest's init when this process was started as one; `more` are what a guest can be asked for
/// besides points and scripts. The first thing that `main` does: there must be no other thread.
pub fn stage(more: &[Errand]) -> Option<ExitCode> {
    boot::stage(&[more, &[drill::SCRIPTS, run::POINT]].concat())
}
