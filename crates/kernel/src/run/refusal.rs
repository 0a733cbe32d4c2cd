//! A setting that the kernel refuses: an error, or left out.

use tcplab_os::OsError;
use tcplab_plan::{Point, Refusal};

/// A setting cannot be applied: an error, or left out where the point tolerates it.
pub(crate) fn leave_out(
    point: &Point,
    refusal: &Refusal,
    left_out: &mut Vec<String>,
) -> Result<(), OsError> {
    if !refusal.is_tolerated(point) {
        return Err(OsError::Cannot(refusal.to_string()));
    }
    left_out.push(refusal.left_out());
    Ok(())
}
