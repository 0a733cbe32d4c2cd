//! Work in a guest that a crate above this one knows how to do.
//!
//! This executable is a guest's init too, so `main` hands what its crates can do to [`super::stage`]; which of them is wanted, the
//! file of the question in the guest's folder says.

use std::path::Path;

/// Something that can be done in a guest.
#[derive(Clone, Copy, Debug)]
pub struct Errand {
    /// Name of the question's file, in the folder that the guest sees.
    pub question: &'static str,
    /// Reads the question there and writes the answer there. An error is for the guest's console.
    pub work: fn(&Path) -> Result<(), String>,
}

/// The one whose question lies in the folder.
pub(super) fn asked<'a>(errands: &'a [Errand], folder: &Path) -> Option<&'a Errand> {
    errands
        .iter()
        .find(|errand| folder.join(errand.question).exists())
}
