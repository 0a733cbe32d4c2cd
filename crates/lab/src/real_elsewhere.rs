//! Takes the place of `real.rs` on systems other than Linux: refuses every stack but the model.

use std::path::Path;

use tcplab_guest::stack::StackName;
use tcplab_os::Stop;
use tcplab_plan::result::Cost;
use tcplab_plan::{Outcome, Point};

use crate::check;
use crate::error::LabError;

/// No stack of a real kernel exists here.
#[derive(Clone, Debug)]
pub(crate) enum Real {}

/// Real stacks need Linux: there is nothing to share.
#[derive(Debug)]
pub(crate) struct Reals;

/// Nothing runs between machines.
pub(crate) fn refused_between_machines(_: &Point) -> Option<String> {
    None
}

impl Real {
    pub(crate) fn honours(&self) -> check::Kind {
        match *self {}
    }

    pub(crate) fn hz(&self) -> Option<u32> {
        match *self {}
    }

    pub(crate) fn kernel_of(&self, _: &Point) -> Option<String> {
        match *self {}
    }

    pub(crate) fn identity(&self) -> &str {
        match *self {}
    }
}

impl Reals {
    pub(crate) fn new() -> Self {
        Self
    }

    pub(crate) fn find(&self, name: &StackName, _: &Stop) -> Result<Option<Real>, LabError> {
        match name {
            StackName::Model(_) => Ok(None),
            name => Err(LabError::CannotRun(format!(
                "{name}: needs Linux; this system runs the model: --on model"
            ))),
        }
    }

    pub(crate) fn run(
        &self,
        (_, real): (&Point, &Real),
        _: &Path,
        _: Option<usize>,
        _: &Stop,
    ) -> Result<(Outcome, Cost), LabError> {
        match *real {}
    }
}
