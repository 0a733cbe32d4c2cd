//! `tcplab run` and `tcplab bisect`: experiments on stacks.

mod agreement;
pub mod args;
mod bisect;
mod csv;
mod dask;
pub mod input;
mod notes;
pub mod page;
pub mod part;
pub mod pending;
pub mod plan;
pub mod progress;
mod remarks;
mod table;

use std::process::ExitCode;

use tcplab_lab::bisect::{Judgement, judge};
use tcplab_lab::campaign::{self, Campaign};
use tcplab_lab::{Lab, LabError, Stack};
use tcplab_os::Stop;
use tcplab_os::say;
use tcplab_plan::Population;
use tcplab_plan::measure::Expression;
use tcplab_plan::outcome::Flow;
use tcplab_plan::result::{ErrorRecord, RUN_SCHEMA, RunDocument};

use args::RunArgs;

pub use bisect::main as bisect;
use input::Input;

use crate::args::Color;
use crate::failure::Failure;
use crate::files;
use crate::json;
use crate::population;
use crate::terminal;

/// Exit code of `--bisect-exit` for what cannot be judged.
const SKIP: u8 = 125;

/// Exit code of an answer that is not known.
pub const INCONCLUSIVE: u8 = 3;

/// Runs `tcplab run`.
pub fn main(args: &RunArgs, color: Color) -> ExitCode {
    // Read once: it may be a pipe.
    let text = (args.check()).and_then(|()| files::experiment(&args.experiment));
    let text = text.and_then(|text| match &args.dask {
        Some(address) => dask::spread(args, address).map(|()| text),
        None => Ok(text),
    });
    if let Ok(text) = &text
        && Population::is_population(text)
    {
        return population::run(args, text, color);
    }
    let done = text.and_then(|text| {
        let done = run(args, &text, color);
        done.map_err(|e| e.resumable("points", args.out.as_deref()))
    });
    let code = json::finish(RUN_SCHEMA, args.json, done);
    if args.bisect_exit && ![ExitCode::SUCCESS, ExitCode::from(1)].contains(&code) {
        return ExitCode::from(SKIP);
    }
    code
}

fn run(args: &RunArgs, text: &str, color: Color) -> Result<ExitCode, Failure> {
    refuse_of_populations(args)?;
    let bad = args.bad.as_deref().map(parse_expression).transpose()?;
    let mut input = Input::of(&args.experiment, text, &args.changes())?;
    if let Some(bad) = &bad {
        input.also_measure(bad)?;
    }
    for warning in &input.warnings {
        say(&format!("tcplab: warning: {warning}"));
    }
    let on = input::whole_names(&args.on);
    input.check(&on)?;
    for remark in remarks::all(&input.points) {
        say(&format!("note: {remark}"));
    }
    if args.dry_run {
        let plan = input.plan(&on);
        match args.json {
            true => json::print(&plan)?,
            false => plan.print(input.view.title.as_deref(), &terminal::theme(color, false))?,
        }
        missing(&lab()?, &input.stacks(&on));
        return Ok(ExitCode::SUCCESS);
    }
    let lab = lab()?;
    #[cfg(target_os = "linux")]
    let lab = lab.with_far(far(args));
    let names = input.stacks(&on);
    each_once(&names)?;
    let stacks = stacks(&lab, names)?;
    args.csv.as_deref().map_or(Ok(()), csv::prepare)?;
    let mut campaign = Campaign {
        experiment: &input.name,
        points: &input.points,
        stacks: &stacks,
        measures: &input.measures,
        jobs: args.jobs.unwrap_or_else(processors),
        out: args.out.as_deref(),
        view: Some(&input.view),
        ..Campaign::default()
    };
    if args.pending {
        return pending::of_points(&campaign);
    }
    let only = part::chosen(args, campaign.count())?;
    campaign.only = only.as_deref();
    let progress = progress::Progress::new();
    let document = campaign::run(&lab, &campaign, |p| progress.show(p))?;
    progress.clear();
    let mut document = without_ports(with_error(document));
    for point in &mut document.points {
        point.warnings.extend(input.warnings.iter().cloned());
    }
    tell(args, &document, &input, color)?;
    exit(&document, bad.as_ref())
}

/// Writes and prints a result in the forms that are asked for.
fn tell(
    args: &RunArgs,
    document: &RunDocument,
    input: &Input,
    color: Color,
) -> Result<(), Failure> {
    if let Some(file) = &args.html {
        let shown = (document.measures.as_slice(), &input.view);
        page::write(file, document, &input.points, shown)?;
    }
    if let Some(place) = &args.csv {
        csv::write(place, document)?;
        say(&format!("tables: {}", place.display()));
    }
    if args.json {
        json::print(document)?;
    } else {
        let theme = terminal::theme(color, false);
        table::print(document, input, args, &theme)?;
        if let Some(out) = &args.out {
            say(&format!("results: {}", out.display()));
        }
    }
    for words in notes::of_result(&document.points) {
        say(&format!("tcplab: warning: {words}"));
    }
    Ok(())
}

/// Refuses options that only populations take.
fn refuse_of_populations(args: &RunArgs) -> Result<(), Failure> {
    let given = [
        ("--connections", args.connections.is_some()),
        ("--variant", !args.variant.is_empty()),
        ("--rows", args.rows.is_some()),
        ("--no-table", args.no_table),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((name, _)) => Err(Failure::usage(format!(
            "{name} applies to populations only (files with a [population] table)"
        ))),
        None => Ok(()),
    }
}

/// How other machines are reached.
#[cfg(target_os = "linux")]
fn far(args: &RunArgs) -> tcplab_lab::Far {
    let mut options = args.ssh.options();
    options.sets_sysctls = args.ssh_sysctl;
    tcplab_lab::Far { options, say }
}

/// The first failed point is the document's error; one that cannot be run before one that a limit ended.
fn with_error(mut document: RunDocument) -> RunDocument {
    let failed = |inconclusive| {
        let mut points = document.points.iter();
        points.find_map(|p| {
            let error = p.error.as_ref().filter(|_| p.inconclusive == inconclusive);
            error.map(|e| (p, e))
        })
    };
    let failed = failed(false).or_else(|| failed(true));
    document.error = failed.map(|(point, e)| ErrorRecord {
        kind: match point.inconclusive {
            true => "inconclusive".into(),
            false => "cannot_run".into(),
        },
        message: format!("{}: {e}", point.stack),
    });
    document
}

/// The errno of a connection, and of a datagram socket, for which its host had no port left.
const NO_PORT: [&str; 2] = ["EADDRNOTAVAIL", "EAGAIN"];

/// Connections that could not be made for want of a port are the document's error when there is no other: the result is
/// of a smaller load than the experiment asks for.
fn without_ports(mut document: RunDocument) -> RunDocument {
    let lacks = |flow: &&Flow| {
        let error = flow.client.error.as_deref();
        error.is_some_and(|error| NO_PORT.contains(&error))
    };
    let counted = document.points.iter().map(|point| {
        let without = point.flows.iter().filter(lacks).count();
        (without, point.flows.len(), &point.stack)
    });
    let Some((without, all, stack)) = counted.into_iter().find(|(without, ..)| *without > 0) else {
        return document;
    };
    let message = format!(
        "{stack}: {without} of {all} clients found no free port in net.ipv4.ip_local_port_range, so the load was smaller than the \
         experiment asks for: use fewer connections, a wider range, or more applications on different server ports"
    );
    document.error.get_or_insert(ErrorRecord {
        kind: "inconclusive".into(),
        message,
    });
    document
}

fn exit(document: &RunDocument, bad: Option<&Expression>) -> Result<ExitCode, Failure> {
    match (bad, &document.error) {
        (Some(bad), _) => match judge(bad, document) {
            Ok(Judgement::Bad) => {
                say(&format!("bad: {}", bad.text()));
                Ok(ExitCode::from(1))
            }
            Ok(Judgement::Good) => Ok(ExitCode::SUCCESS),
            Err(why) => {
                say(&format!("cannot say: {why}"));
                Ok(ExitCode::from(INCONCLUSIVE))
            }
        },
        // The table, or the document, has said what.
        (None, Some(error)) if error.kind == "inconclusive" => {
            if document.points.iter().all(|point| point.error.is_none()) {
                say(&format!("tcplab: {}", error.message));
            }
            Ok(ExitCode::from(INCONCLUSIVE))
        }
        (None, Some(_)) => Ok(ExitCode::from(4)),
        (None, None) => Ok(ExitCode::SUCCESS),
    }
}

fn parse_expression(text: &str) -> Result<Expression, Failure> {
    Expression::parse(text).map_err(|e| Failure::usage(format!("--bad: {e}")))
}

/// The laboratory; Ctrl-C ends its runs.
pub fn lab() -> Result<Lab, Failure> {
    let stop = Stop::on_signals().map_err(|e| Failure::cannot_run(format!("signals: {e}")))?;
    Ok(Lab::new(stop))
}

/// A second run of the same seed would count as another sample.
fn each_once(names: &[String]) -> Result<(), Failure> {
    let twice = (1..names.len()).find(|n| names[..*n].contains(&names[*n]));
    match twice {
        None => Ok(()),
        Some(n) => Err(Failure::usage(format!(
            "the stack `{}` is named twice: name it once, and repeat runs with --repeat",
            names[n]
        ))),
    }
}

/// Says which stacks of a dry run would not run here, and what helps.
fn missing(lab: &Lab, names: &[String]) {
    let here = names.iter().filter(|name| !name.starts_with("ssh:"));
    for error in here.filter_map(|name| lab.stack(name).err()) {
        say(&format!("note: {error}"));
    }
}

fn stacks(lab: &Lab, names: Vec<String>) -> Result<Vec<Stack>, Failure> {
    let found = names
        .iter()
        .map(|name| lab.stack(name).map_err(Failure::from));
    found.collect()
}

/// How many points at once when nothing else is said.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

impl From<LabError> for Failure {
    fn from(e: LabError) -> Self {
        match e {
            LabError::Name(e) => e.into(),
            LabError::Store(e) => e.into(),
            LabError::Wrong(text) => Failure::usage(text),
            LabError::CannotRun(text) | LabError::Point(text) | LabError::Run(text) => {
                Failure::cannot_run(text)
            }
            LabError::Refused(_) => Failure::cannot_run(e.to_string()),
            LabError::Interrupted => Failure::interrupted(e.to_string()),
            LabError::Limit(text) => Failure::inconclusive(text),
            LabError::Io { .. } => Failure::input(e.to_string()),
        }
    }
}
