//! What a stack's name stands for on this machine.

use std::sync::{Arc, OnceLock};

use tcplab_kernel::Stop;
use tcplab_kernel::guest::{GuestError, Initramfs};
use tcplab_kernel::image::Image;
use tcplab_kernel::ssh::{Pair, SshError, SshOptions};
use tcplab_kernel::stack::{StackName, Store, StoreError, UmlKernel};

use crate::check;
use crate::error::LabError;
use crate::model::Model;

/// Something that runs points.
#[derive(Clone, Debug)]
pub struct Stack {
    /// Its name in results, as it was given.
    pub name: String,
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// This machine's kernel, in real time.
    Host,
    /// A kernel that we built, in virtual time.
    Uml(Box<UmlKernel>),
    /// A distribution's kernel in QEMU, in virtual time.
    Qemu(Box<Image>),
    /// The simulator, with a profile.
    Model(Box<Model>),
    /// Two machines and the network between them, in real time.
    Ssh(Arc<Pair>),
}

/// Whether a stack of this name runs in virtual time; what is no name of a stack does not.
pub(crate) fn is_virtual_name(name: &str) -> bool {
    match StackName::parse(name) {
        Ok(StackName::Host | StackName::Ssh(_)) | Err(_) => false,
        Ok(StackName::Uml(_) | StackName::Qemu(_) | StackName::Model(_)) => true,
    }
}

impl Stack {
    /// Whether its runs repeat byte for byte.
    pub fn is_virtual(&self) -> bool {
        !matches!(self.kind, Kind::Host | Kind::Ssh(_))
    }

    /// Which of its kind's settings it honours.
    pub fn honours(&self) -> check::Kind {
        match self.kind {
            Kind::Model(_) => check::Kind::Model,
            Kind::Uml(_) => check::Kind::Uml,
            Kind::Qemu(_) => check::Kind::Qemu,
            Kind::Host => check::Kind::Host,
            Kind::Ssh(_) => check::Kind::Ssh,
        }
    }

    /// What identifies the code that runs: the kernel's hash; empty for a stack that changes by itself.
    pub fn identity(&self) -> &str {
        match &self.kind {
            // The model is this program, which the manifest has a hash of.
            Kind::Host | Kind::Model(_) | Kind::Ssh(_) => "",
            Kind::Uml(kernel) => &kernel.manifest.binary_sha256,
            Kind::Qemu(image) => &image.sha256,
        }
    }
}

/// What all runs of a process share.
#[derive(Debug)]
pub struct Lab {
    /// None: the environment names no home, and only stacks without a folder of kernels can be used.
    store: Option<Store>,
    initramfs: OnceLock<Initramfs>,
    pub(crate) stop: Stop,
    far: Far,
}

/// How other machines are reached.
#[derive(Clone, Debug)]
pub struct Far {
    /// What the user says of the way there.
    pub options: SshOptions,
    /// Where lines of progress go.
    pub say: fn(&str),
}

impl Lab {
    /// With the user's kernels, when the environment names a home. `stop` ends runs early.
    pub fn new(stop: Stop) -> Self {
        Self {
            store: Store::of_user().ok(),
            initramfs: OnceLock::new(),
            stop,
            far: Far {
                options: SshOptions::default(),
                say: |_| {},
            },
        }
    }

    /// The same, which reaches other machines so.
    #[must_use]
    pub fn with_far(mut self, far: Far) -> Self {
        self.far = far;
        self
    }

    /// Finds the stack of this name.
    ///
    /// # Errors
    /// A name that is no stack's, a kernel that is not built or not to be had (with the command that
    /// helps), or a kind of stack that this version has not got.
    pub fn stack(&self, name: &str) -> Result<Stack, LabError> {
        let kind = match StackName::parse(name)? {
            StackName::Host => Kind::Host,
            StackName::Uml(uml) => {
                let store = self.store.as_ref().ok_or(StoreError::NoHome)?;
                Kind::Uml(Box::new(store.find(&uml)?))
            }
            StackName::Qemu(image) => {
                let found = Image::find(self.store.as_ref(), &image);
                let found = found.map_err(|e| LabError::CannotRun(e.to_string()))?;
                Kind::Qemu(Box::new(found))
            }
            StackName::Ssh(hosts) => {
                let Far { options, say } = &self.far;
                let pair = Pair::open(&hosts, options, &self.stop, say);
                Kind::Ssh(Arc::new(pair.map_err(|e| match e {
                    SshError::Interrupted => LabError::Interrupted,
                    e => LabError::CannotRun(e.to_string()),
                })?))
            }
            StackName::Model(name) => Kind::Model(Box::new(Model::named(&name)?)),
        };
        Ok(Stack {
            name: name.to_owned(),
            kind,
        })
    }

    /// The guest's file system, packed at first use.
    pub(crate) fn initramfs(&self) -> Result<&Initramfs, GuestError> {
        match self.initramfs.get() {
            Some(there) => Ok(there),
            None => {
                let made = Initramfs::of_this_program()?;
                Ok(self.initramfs.get_or_init(|| made))
            }
        }
    }
}
