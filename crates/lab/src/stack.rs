//! What a stack's name stands for on this machine.

use std::path::Path;

use tcplab_guest::stack::StackName;
#[cfg(target_os = "linux")]
use tcplab_inject::Guest;
use tcplab_inject::TargetName;
use tcplab_os::Stop;
use tcplab_plan::Point;

use crate::check;
use crate::error::LabError;
use crate::model::Model;
#[cfg(target_os = "linux")]
use crate::real::Far;
use crate::real::{Real, Reals};

/// Something that runs points.
#[derive(Clone, Debug)]
pub struct Stack {
    /// Its name in results, as it was given.
    pub name: String,
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// The simulator, with a profile.
    Model(Box<Model>),
    /// A real kernel.
    Real(Real),
}

/// Whether a stack of this name runs in virtual time; what is no name of a stack does not.
pub(crate) fn is_virtual_name(name: &str) -> bool {
    let kind = StackName::parse(name).map(|name| check::of(&name));
    kind.is_ok_and(is_virtual)
}

fn is_virtual(kind: check::Kind) -> bool {
    !matches!(kind, check::Kind::Host | check::Kind::Ssh)
}

impl Stack {
    /// Whether its runs repeat byte for byte.
    pub fn is_virtual(&self) -> bool {
        is_virtual(self.honours())
    }

    /// Whether its time passes by events alone, so that packets of two such stacks can be compared to the microsecond.
    pub(crate) fn is_exact(&self) -> bool {
        matches!(self.honours(), check::Kind::Model | check::Kind::Uml)
    }

    /// Timer frequency of each host of a point, if time advances only by events. `None` if work takes time too, on the
    /// machine or (in QEMU) in the guest.
    ///
    /// # Errors
    /// A host asks for an unknown profile.
    pub fn hz(&self, point: &Point) -> Result<Option<Vec<u32>>, LabError> {
        match &self.kind {
            Kind::Model(model) => model.hz(point).map(Some),
            Kind::Real(real) => Ok(real.hz().map(|hz| vec![hz; point.hosts.len()])),
        }
    }

    /// Which of its kind's settings it honours.
    pub fn honours(&self) -> check::Kind {
        match &self.kind {
            Kind::Model(_) => check::Kind::Model,
            Kind::Real(real) => real.honours(),
        }
    }

    /// The kernel that we built and that a run boots.
    pub fn kernel(&self) -> Option<&Path> {
        match &self.kind {
            #[cfg(target_os = "linux")]
            Kind::Real(Real::Uml(kernel)) => Some(&kernel.path),
            _ => None,
        }
    }

    /// The kernel on which a stack in real time would run this point now, as [`PointResult::kernel`] names it.
    ///
    /// [`PointResult::kernel`]: tcplab_plan::result::PointResult::kernel
    pub fn kernel_of(&self, point: &Point) -> Option<String> {
        match &self.kind {
            Kind::Model(_) => None,
            Kind::Real(real) => real.kernel_of(point),
        }
    }

    /// What identifies the code that runs: the kernel's hash; empty for a stack that changes by itself.
    pub fn identity(&self) -> &str {
        match &self.kind {
            // The model is this program, which the manifest has a hash of.
            Kind::Model(_) => "",
            Kind::Real(real) => real.identity(),
        }
    }
}

impl Stack {
    /// A kernel in a guest, as the target of malformed frames.
    ///
    /// # Errors
    /// Another kind of stack.
    pub fn as_target(&self) -> Result<TargetName, LabError> {
        #[cfg(target_os = "linux")]
        if let Kind::Real(Real::Uml(kernel)) = &self.kind {
            return Ok(TargetName::Guest(Guest {
                name: self.name.clone(),
                kernel: kernel.path.clone(),
            }));
        }
        Err(LabError::CannotRun(format!(
            "{}: malformed frames go into uml: stacks, and into this machine's kernel (--target kernel)",
            self.name
        )))
    }
}

/// What all runs of a process share.
#[derive(Debug)]
pub struct Lab {
    pub(crate) reals: Reals,
    pub(crate) stop: Stop,
}

impl Lab {
    /// With the user's kernels, when the environment names a home. `stop` ends runs early.
    pub fn new(stop: Stop) -> Self {
        Self {
            reals: Reals::new(),
            stop,
        }
    }

    /// The same, which reaches other machines so.
    #[cfg(target_os = "linux")]
    #[must_use]
    pub fn with_far(mut self, far: Far) -> Self {
        self.reals.far = far;
        self
    }

    /// Finds the stack of this name.
    ///
    /// # Errors
    /// The name is unknown, the kernel is not built or not available (with the command that helps),
    /// or this version lacks this kind of stack.
    pub fn stack(&self, name: &str) -> Result<Stack, LabError> {
        let parsed = StackName::parse(name)?;
        let kind = match (&parsed, self.reals.find(&parsed, &self.stop)?) {
            (_, Some(real)) => Kind::Real(real),
            (StackName::Model(name), None) => Kind::Model(Box::new(Model::named(name)?)),
            (name, None) => return Err(LabError::CannotRun(format!("{name}: cannot run here"))),
        };
        Ok(Stack {
            name: name.to_owned(),
            kind,
        })
    }
}
