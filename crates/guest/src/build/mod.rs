//! Builds kernels for `uml:` stacks: a source (Debian's package or a tree), edits on top, the configuration in
//! `uml.config`, and the result in the [`crate::store::Store`], named and with its manifest.
//!
//! The unedited source is built once for each HZ. An edited kernel starts from a copy of that build folder and
//! compiles only the edited files. The edits are in the source only during the compilation (`overlay`). The source's
//! lock is held throughout.

mod apt;
mod builder;
mod command;
mod error;
mod folder;
mod hash;
mod make;
mod overlay;
mod package;
mod request;
mod source;
mod tools;

pub use apt::known_series;
pub use error::BuildError;
pub use hash::of_bytes as hash_of_bytes;
pub(crate) use hash::of_file as hash_of_file;
pub(crate) use request::folder_name;
pub use request::{Built, Origin, Request, Step, build, prebuilt, prebuilt_version};
pub(crate) use tools::{find_program, free_bytes, missing_tools};
