//! Cases on a real kernel, which runs them where it lives.

use std::num::NonZeroUsize;

use tcplab_drill::run::Report;
use tcplab_kernel::drill::{self, Kernel};

use super::{Captures, CaseResult, Job, Text, one};
use crate::error::LabError;
use crate::real::Real;
use crate::stack::Lab;

/// All cases on this kernel.
pub(super) fn run(
    lab: &Lab,
    job: &Job<'_>,
    texts: Vec<Text>,
    real: &Real,
    progress: &(impl Fn(usize) + Sync),
) -> Result<Vec<CaseResult>, LabError> {
    let why = match real {
        Real::Uml(kernel) => {
            let kernel = Kernel::Uml(kernel.path.clone());
            return on_kernel(lab, job, texts, &kernel, progress);
        }
        Real::Host => return on_kernel(lab, job, texts, &Kernel::Host, progress),
        Real::Ssh(_) => "",
        Real::Qemu(_) => "; qemu: guests have no TUN device",
    };
    Err(LabError::CannotRun(format!(
        "{}: scripts run on model:, uml: and host{why}",
        job.stack.name
    )))
}

/// All cases on a kernel, which reads the scripts itself.
fn on_kernel(
    lab: &Lab,
    job: &Job<'_>,
    texts: Vec<Text>,
    kernel: &Kernel,
    progress: &(impl Fn(usize) + Sync),
) -> Result<Vec<CaseResult>, LabError> {
    // Files that are no scripts get their result here, without a kernel.
    let mut results: Vec<Option<CaseResult>> = Vec::new();
    let mut cases = Vec::new();
    for (case, text) in job.cases.iter().zip(texts) {
        let wrong = one::prepare(job, case, &text).err();
        results.push(wrong.map(|wrong| one::unreadable(case, &wrong)));
        if results.last().is_some_and(Option::is_some) {
            continue;
        }
        let defines = job.defines(case)?;
        cases.push(drill::Case {
            text: text.script,
            defaults: text.defaults,
            mode: case.mode,
            options: job.options(),
            defines: (defines.iter())
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            with_entries: job.logs || job.captures == Captures::All,
        });
    }
    let jobs = NonZeroUsize::new(job.jobs).unwrap_or(NonZeroUsize::MIN);
    let mut done = job.cases.len() - cases.len();
    let mut heard = |_, _: &Report| {
        done += 1;
        progress(done);
    };
    let run = drill::run_cases(&cases, kernel, jobs, &lab.stop, &mut heard);
    let reports = run?.reports;
    let mut reports = reports.iter();
    for (case, result) in job.cases.iter().zip(&mut results) {
        if result.is_none() {
            *result = reports.next().map(|report| one::result(job, case, report));
        }
    }
    Ok(results.into_iter().flatten().collect())
}
