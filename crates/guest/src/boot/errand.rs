//! Work that a crate above this one knows how to do, in a guest or in namespaces of this machine.
//!
//! This executable is a guest's init too, so `main` hands what its crates can do to [`super::stage`]; which of them is wanted, the
//! file of the question in the folder says.

use std::path::Path;

use tcplab_os::clock::Pace;

/// Something that can be done there.
#[derive(Clone, Copy, Debug)]
pub struct Errand {
    /// Name of the question's file, in the folder that the guest sees.
    pub question: &'static str,
    /// Whether it needs /sys in a guest: parameters of modules.
    pub needs_sysfs: bool,
    /// Reads the question there and writes the answer there. An error is for the guest's console.
    pub work: fn(&Path, Pace) -> Result<(), String>,
}

/// The one whose question lies in the folder.
pub(super) fn asked<'a>(errands: &'a [Errand], folder: &Path) -> Result<&'a Errand, String> {
    errands
        .iter()
        .find(|errand| folder.join(errand.question).exists())
        .ok_or_else(|| format!("there is no question in {}", folder.display()))
}
