//! Stacks that run a real kernel: this machine's, one in a guest, those of two machines over ssh. `real_elsewhere.rs` takes the
//! place of this file on systems other than Linux.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use tcplab_guest::boot::{GuestError, Initramfs, Limits, Qemu, Uml, run_on_host};
use tcplab_guest::image::Image;
use tcplab_guest::stack::StackName;
use tcplab_guest::store::{Store, StoreError, UmlKernel};
use tcplab_kernel::ssh::{Pair, SshError, SshOptions};
use tcplab_os::Stop;
use tcplab_os::noise::{Noise, Watch};
use tcplab_plan::result::Cost;
use tcplab_plan::{Outcome, Point};

use crate::check;
use crate::error::LabError;

/// A stack of a real kernel.
#[derive(Clone, Debug)]
pub(crate) enum Real {
    /// This machine's kernel, in real time.
    Host,
    /// A kernel that we built, in virtual time.
    Uml(Box<UmlKernel>),
    /// A distribution's kernel in QEMU, in virtual time.
    Qemu(Box<Image>),
    /// Two machines and the network between them, in real time.
    Ssh(Arc<Pair>),
}

/// How other machines are reached.
#[derive(Clone, Debug)]
pub struct Far {
    /// What the user says of the way there.
    pub options: SshOptions,
    /// Where lines of progress go.
    pub say: fn(&str),
}

/// What all runs on real kernels share.
#[derive(Debug)]
pub(crate) struct Reals {
    /// None: the environment names no home, and only stacks without a folder of kernels can be used.
    store: Option<Store>,
    initramfs: OnceLock<Initramfs>,
    pub(crate) far: Far,
}

/// Why two machines cannot run this point.
pub(crate) fn refused_between_machines(point: &Point) -> Option<String> {
    tcplab_kernel::ssh::refuse(point).err()
}

impl Real {
    /// Which of its kind's settings it honours.
    pub(crate) fn honours(&self) -> check::Kind {
        match self {
            Self::Uml(_) => check::Kind::Uml,
            Self::Qemu(_) => check::Kind::Qemu,
            Self::Host => check::Kind::Host,
            Self::Ssh(_) => check::Kind::Ssh,
        }
    }

    /// Timer frequency of a kernel whose time passes by events alone.
    pub(crate) fn hz(&self) -> Option<u32> {
        match self {
            Self::Uml(kernel) => Some(kernel.manifest.hz),
            Self::Host | Self::Ssh(_) | Self::Qemu(_) => None,
        }
    }

    /// The kernel that a stack in real time runs now.
    pub(crate) fn kernel_of(&self, point: &Point) -> Option<String> {
        match self {
            Self::Host => Some(tcplab_kernel::run::kernel_name()),
            Self::Ssh(pair) => Some(pair.kernel(point)),
            Self::Uml(_) | Self::Qemu(_) => None,
        }
    }

    /// What identifies the code that runs: the kernel's hash; empty for one that changes by itself.
    pub(crate) fn identity(&self) -> &str {
        match self {
            Self::Host | Self::Ssh(_) => "",
            Self::Uml(kernel) => &kernel.manifest.binary_sha256,
            Self::Qemu(image) => &image.sha256,
        }
    }
}

impl Reals {
    /// With the user's kernels, when the environment names a home.
    pub(crate) fn new() -> Self {
        Self {
            store: Store::of_user().ok(),
            initramfs: OnceLock::new(),
            far: Far {
                options: SshOptions::default(),
                say: |_| {},
            },
        }
    }

    /// Finds the stack of this name; none: the model.
    pub(crate) fn find(&self, name: &StackName, stop: &Stop) -> Result<Option<Real>, LabError> {
        Ok(Some(match name {
            StackName::Host => Real::Host,
            StackName::Uml(uml) => {
                let store = self.store.as_ref().ok_or(StoreError::NoHome)?;
                Real::Uml(Box::new(store.find(uml)?))
            }
            StackName::Qemu(image) => {
                let found = Image::find(self.store.as_ref(), image);
                let found = found.map_err(|e| LabError::CannotRun(e.to_string()))?;
                Real::Qemu(Box::new(found))
            }
            StackName::Ssh(hosts) => {
                let Far { options, say } = &self.far;
                let pair = Pair::open(hosts, options, stop, say);
                Real::Ssh(Arc::new(pair.map_err(|e| match e {
                    SshError::Interrupted => LabError::Interrupted,
                    e => LabError::CannotRun(e.to_string()),
                })?))
            }
            StackName::Model(_) => return Ok(None),
        }))
    }

    /// Runs a point; captures go into `folder`. `cpu` is the processor that a guest stays on.
    pub(crate) fn run(
        &self,
        (point, real): (&Point, &Real),
        folder: &Path,
        cpu: Option<usize>,
        stop: &Stop,
    ) -> Result<(Outcome, Cost), LabError> {
        let (outcome, spent) = match real {
            Real::Host => {
                let watch = Watch::start();
                let (mut outcome, spent) = run_on_host(point, folder, stop)?;
                outcome.warnings.extend(doubt(&watch.stop()));
                (outcome, spent)
            }
            Real::Ssh(pair) => {
                let (outcome, wall_s) = pair.run(point, folder, stop)?;
                let virtual_s = outcome.virtual_ns as f64 / 1e9;
                let cost = Cost {
                    wall_s,
                    virtual_s,
                    ..Cost::default()
                };
                return Ok((outcome, cost));
            }
            Real::Uml(kernel) => {
                let uml = Uml {
                    kernel: kernel.path.clone(),
                    initramfs: self.initramfs()?,
                    limits: Limits::default(),
                    cpu,
                };
                uml.run(point, folder, stop)?
            }
            Real::Qemu(image) => {
                let qemu = Qemu {
                    image,
                    initramfs: self.initramfs()?,
                    limits: Limits::default(),
                    cpu,
                };
                qemu.run(point, folder, stop)?
            }
        };
        let cost = Cost {
            user_s: spent.user_s,
            wall_s: spent.wall_s,
            virtual_s: outcome.virtual_ns as f64 / 1e9,
            peak_rss_bytes: Some(spent.max_rss_bytes),
            ..Cost::default()
        };
        Ok((outcome, cost))
    }

    /// The guest's file system, packed at first use.
    fn initramfs(&self) -> Result<&Initramfs, GuestError> {
        match self.initramfs.get() {
            Some(there) => Ok(there),
            None => {
                let made = Initramfs::of_this_program()?;
                Ok(self.initramfs.get_or_init(|| made))
            }
        }
    }
}

/// Least part of a run in which processors of a machine with room for more are idle, per cent.
const LEAST_IDLE_PERCENT: f64 = 10.0;

/// Why times of a run may be this machine's instead of the network's, if they may.
fn doubt(noise: &Noise) -> Option<String> {
    let most = tcplab_compare::Noise::STOLEN_PERCENT;
    let stolen = noise.steal_percent.filter(|n| *n > most);
    let stolen = stolen.map(|n| {
        format!("the hypervisor took {n:.0} % of this machine's processor time during the run")
    });
    let busy = noise.idle_percent.filter(|n| *n < LEAST_IDLE_PERCENT);
    let busy = busy.map(|n| format!("this machine's processors were busy for {:.0} % of the run, with it and with other programs", 100.0 - n));
    let why = stolen.or(busy)?;
    Some(format!(
        "{why}: times may be this machine's, not the network's"
    ))
}

impl From<GuestError> for LabError {
    fn from(e: GuestError) -> Self {
        match e {
            GuestError::Interrupted => Self::Interrupted,
            e @ GuestError::TooLong { .. } => Self::Limit(e.to_string()),
            e => Self::Run(e.to_string()),
        }
    }
}

impl From<SshError> for LabError {
    fn from(e: SshError) -> Self {
        match e {
            SshError::Interrupted => Self::Interrupted,
            // A far side says what its half could not do; other points may be other ones.
            SshError::Far { host, words } if host == "ssh:" => Self::Point(words),
            e => Self::Point(e.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_machine_is_doubted() {
        let noise = |steal, idle| Noise {
            steal_percent: Some(steal),
            idle_percent: Some(idle),
            ..Noise::default()
        };
        assert_eq!(doubt(&noise(5.0, 10.0)), None);
        assert_eq!(doubt(&Noise::default()), None);
        assert!(
            doubt(&noise(6.0, 50.0))
                .unwrap()
                .starts_with("the hypervisor took 6 %")
        );
        let busy = doubt(&noise(0.0, 3.0)).unwrap();
        assert!(busy.contains("busy for 97 % of the run"), "{busy}");
    }

    #[test]
    fn a_limit_is_told_from_what_cannot_be_run() {
        let too_long = GuestError::TooLong {
            after: std::time::Duration::from_secs(600),
            console: String::new(),
        };
        assert!(LabError::from(too_long).is_inconclusive());
        assert!(LabError::Limit(String::new()).is_inconclusive());
        let died = GuestError::Died {
            status: String::new(),
            console: String::new(),
        };
        assert!(!LabError::from(died).is_inconclusive());
        assert!(!LabError::Point(String::new()).is_inconclusive());
    }
}
