//! A point's sets of applications as flent's data files, beside its captures: `NAME.flent.gz`.

use std::io::{self, Write};
use std::path::Path;

use flate2::{Compression, GzBuilder};
use tcplab_plan::Point;
use tcplab_plan::network::BOOT_DATE_NS;
use tcplab_plan::result::PointResult;
use tcplab_plan::set::flent::{About, SUFFIX, document};

use crate::error::LabError;
use crate::stack::Stack;

/// Writes a file for each set.
pub(crate) fn write(
    point: &Point,
    stack: &Stack,
    result: &PointResult,
    folder: &Path,
) -> Result<(), LabError> {
    let about = About {
        // The same run gives the same file.
        epoch_ns: BOOT_DATE_NS,
        stack: &stack.name,
        kernel: &result.kernel,
        version: env!("CARGO_PKG_VERSION"),
    };
    for set in &point.sets {
        let text = document(set, point, &result.flows, &about).to_string();
        let path = folder.join(format!("{}{SUFFIX}", set.name));
        pack(&text)
            .and_then(|bytes| std::fs::write(&path, bytes))
            .map_err(LabError::at(&path))?;
    }
    Ok(())
}

/// No name and no date of its own: equal texts are equal files.
fn pack(text: &str) -> io::Result<Vec<u8>> {
    let mut packed = GzBuilder::new().write(Vec::new(), Compression::default());
    packed.write_all(text.as_bytes())?;
    packed.finish()
}
