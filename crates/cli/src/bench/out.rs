//! Where runs are kept: the folder of `--out`, or one that goes with this process.

use std::io;

use tcplab_bench::Folder;
use tcplab_compare::Metrics;
use tcplab_os::Scratch;
use tcplab_os::say;

use super::args::BenchArgs;
use crate::failure::Failure;

/// An open folder.
pub struct Out {
    /// For the runs.
    pub folder: Folder,
    /// None: the user keeps it.
    scratch: Option<Scratch>,
}

impl Out {
    /// Opens it.
    pub fn open(args: &BenchArgs) -> Result<Self, Failure> {
        let (path, scratch) = match &args.out {
            Some(path) => (path.clone(), None),
            None => {
                let scratch = Scratch::new()?;
                (scratch.path().join("bench"), Some(scratch))
            }
        };
        let folder = Folder::create(&path);
        let wrong = |e: io::Error| Failure::input(format!("{}: {e}", path.display()));
        Ok(Self {
            folder: folder.map_err(wrong)?,
            scratch,
        })
    }

    /// Keeps what is compared, and says where it is and what lies beside it.
    pub fn finish(&self, metrics: &Metrics, beside: &str) -> Result<(), Failure> {
        let path = self.folder.path();
        let wrong = |e: io::Error| Failure::input(format!("{}: {e}", path.display()));
        let file = self.folder.finish(metrics).map_err(wrong)?;
        if self.scratch.is_none() {
            say(&format!("{beside} and metrics: {}", file.display()));
        }
        Ok(())
    }
}
