//! `cargo xtask fidelity`: the comparison of `tcplab diff` between a kernel and the model, with the reasons that are known
//! of what differs, and the shares that are promised. It writes docs/fidelity.md.

mod document;
mod reasons;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use tcplab_diff::{Judged, Runs, keys, list, random, table};
use tcplab_lab::Lab;
use tcplab_os::Stop;

use document::Findings;
use reasons::Reasons;

/// What `cargo xtask fidelity` takes.
#[derive(clap::Args)]
pub struct Args {
    /// Only scenarios whose name matches (`*` stands for anything)
    #[arg(long, value_name = "GLOB")]
    only: Option<String>,
    /// Draw this many scenarios; alone, or after the list with --document
    #[arg(long, value_name = "N")]
    random: Option<u64>,
    /// Seed of the drawn scenarios
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Write the findings into docs/fidelity.md, with a small scenario of each class among those drawn
    #[arg(long, conflicts_with = "only")]
    document: bool,
    /// The kernel
    #[arg(long, value_name = "STACK", default_value = "uml:6.1@1000")]
    oracle: String,
    /// What is compared with it
    #[arg(long, value_name = "STACK", default_value = "model:linux-6.1@1000")]
    model: String,
    /// Runs at once
    #[arg(long, value_name = "N", default_value_t = 2)]
    jobs: usize,
    /// Run the kernel again, where a result of it is kept
    #[arg(long)]
    fresh: bool,
    /// Least share of equal scenarios, in percent; below it the exit code is 1
    #[arg(long, value_name = "PERCENT", default_value_t = 90.0)]
    least: f64,
    /// The same of drawn scenarios
    #[arg(long, value_name = "PERCENT", default_value_t = 80.0)]
    least_random: f64,
}

/// Runs the command.
pub fn run(root: &Path, args: &Args) -> Result<ExitCode> {
    let stacks = [args.oracle.as_str(), args.model.as_str()];
    let kept = root.join("target/fidelity");
    let runs = Runs::new(Lab::new(Stop::never()), stacks, kept, args.fresh)?;
    let reasons = Reasons::read()?;
    let (mut list, mut random) = (Vec::new(), Vec::new());
    if args.random.is_none() || args.document {
        list = list::scenarios()?;
    }
    if let Some(count) = args.random {
        random = random::scenarios(args.seed, count)?;
    }
    if let Some(glob) = &args.only {
        for scenarios in [&mut list, &mut random] {
            scenarios.retain(|s| tcplab_diff::matches(glob, &s.name));
        }
    }
    if list.is_empty() && random.is_empty() {
        bail!("no scenario has such a name");
    }
    let list = tcplab_diff::judge(&runs, list, args.jobs, || ())?;
    let random = tcplab_diff::judge(&runs, random, args.jobs, || ())?;
    let known = |j: &Judged| reasons.of(&j.scenario.name, &j.verdict.class());
    let note = |j: &Judged| known(j).and((!j.verdict.is_equal()).then_some("reason stated"));
    for judged in [&list, &random].into_iter().filter(|j| !j.is_empty()) {
        print!(
            "{}\n{}",
            table::each(judged, note),
            table::summary(&runs, judged)
        );
    }
    if args.document {
        let minimal = tcplab_diff::smallest(&runs, &random, args.jobs, || ())?;
        let findings = Findings {
            list: &list,
            random: &random,
            minimal: &minimal,
            keys: &keys::table(&random, &random::base()?),
            command: std::env::args()
                .skip(1)
                .fold("cargo xtask".into(), |c, a| c + " " + &a),
            stacks: (args.oracle.clone(), args.model.clone()),
        };
        document::write(root, &findings, &reasons)?;
    }
    let enough = is_enough(&list, &random, args, &reasons);
    Ok(ExitCode::from(u8::from(!enough)))
}

/// Whether what was promised holds: the shares, and no promised counter that differs without a reason.
fn is_enough(list: &[Judged], random: &[Judged], args: &Args, reasons: &Reasons) -> bool {
    let share = |judged: &[Judged], least| judged.is_empty() || table::share(judged) >= least;
    let stated = |j: &Judged| {
        let broken = j.verdict.broken_promises();
        let class = j.verdict.class();
        broken.is_empty() || reasons.of(&j.scenario.name, &class).is_some()
    };
    share(list, args.least) && share(random, args.least_random) && list.iter().all(stated)
}
