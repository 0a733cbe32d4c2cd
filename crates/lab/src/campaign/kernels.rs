//! One kernel for all points of a stack in real time. The manifest knows the kernels that tcplab boots by their hashes;
//! this machine's, and those of two others, may be another one at each run.

use std::collections::BTreeMap;
use std::path::Path;

use tcplab_plan::Point;
use tcplab_plan::result::PointResult;

use super::Campaign;
use crate::error::LabError;
use crate::folder::Folder;
use crate::stack::is_virtual_name;

/// Refuses to run more points into a folder whose finished ones ran on another kernel than this.
///
/// # Errors
/// Names both kernels; those of results.
pub(super) fn can_continue(
    campaign: &Campaign<'_>,
    folder: &Folder,
    path: &Path,
) -> Result<(), LabError> {
    let mut kernels = Kernels::default();
    let tasks = campaign.tasks();
    let in_real_time = |number: &usize| !campaign.task(*number).0.is_virtual();
    let mut left = Vec::new();
    for number in (0..campaign.count()).filter(in_real_time) {
        let (stack, point) = campaign.task(number);
        match folder.finished(number, |result| campaign.takes((stack, point), result))? {
            Some((result, _)) => kernels.check(number, (&stack.name, point), &result)?,
            None if tasks.contains(&number) => left.push((stack, point)),
            None => {}
        }
    }
    for (stack, point) in left {
        let ran = kernels.0.get(stack.name.as_str());
        let now = stack.kernel_of(point);
        if let (Some((first, kernel)), Some(now)) = (ran, now)
            && *kernel != now
        {
            let path = path.display();
            return Err(LabError::Wrong(format!(
                "{path}: {} ran point {first} on {kernel}, but this is {now}: the figures of two kernels would be one result; \
                 choose another folder, or remove {path} to run all points again",
                stack.name
            )));
        }
    }
    Ok(())
}

/// The kernel of each stack in real time, as the points come.
#[derive(Default)]
pub(super) struct Kernels<'a>(BTreeMap<&'a str, (usize, String)>);

impl<'a> Kernels<'a> {
    /// Refuses a point that ran on another kernel than one before.
    ///
    /// # Errors
    /// Names both kernels.
    pub(super) fn check(
        &mut self,
        number: usize,
        (stack, _): (&'a str, &Point),
        result: &PointResult,
    ) -> Result<(), LabError> {
        if is_virtual_name(stack) || result.kernel.is_empty() {
            return Ok(());
        }
        let first = self.0.entry(stack);
        let (first, kernel) = first.or_insert_with(|| (number, result.kernel.clone()));
        match *kernel == result.kernel {
            true => Ok(()),
            false => Err(LabError::Wrong(format!(
                "{stack} ran point {first} on {kernel}, but point {number} on {}: these are not one result; merge folders of \
                 one kernel, or run the shards again on one",
                result.kernel
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_of_one_stack_ran_on_one_kernel() {
        let point = Point::default();
        let ran = |kernel: &str| PointResult {
            kernel: kernel.to_owned(),
            ..PointResult::default()
        };
        let mut kernels = Kernels::default();
        let mut check = |number, stack: &'static str, kernel: &str| {
            let checked = kernels.check(number, (stack, &point), &ran(kernel));
            checked.err().map(|e| e.to_string()).unwrap_or_default()
        };
        assert_eq!(check(0, "host", "Linux 6.1.0"), "");
        assert_eq!(check(1, "host", "Linux 6.1.0"), "");
        assert_eq!(check(2, "ssh:a,b", "Linux 5.10.0"), "");
        // A model's profile may be another one at each point.
        assert_eq!(check(3, "model", "linux-6.1"), "");
        assert_eq!(check(4, "model", "linux-7.2"), "");
        let error = check(5, "host", "Linux 2.6.78");
        for what in ["point 0 on Linux 6.1.0", "point 5 on Linux 2.6.78", "merge"] {
            assert!(error.contains(what), "{what}: {error}");
        }
    }
}
