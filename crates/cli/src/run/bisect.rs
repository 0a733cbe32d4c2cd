//! `tcplab bisect`: the first bad one of an ordered list of stacks.

use std::io::Write;
use std::process::ExitCode;

use serde::Serialize;
use tcplab_lab::bisect::{Found, Judgement, first_bad, judge};
use tcplab_lab::campaign::{self, Campaign};
use tcplab_lab::{Lab, Stack};
use tcplab_os::say;
use tcplab_plan::measure::Expression;

use super::args::BisectArgs;
use super::input::{Changes, Input};
use super::{INCONCLUSIVE, lab, parse_expression, processors, stacks};
use crate::failure::Failure;
use crate::json;
use crate::screen;

/// Schema of the answer.
pub const SCHEMA: &str = "tcplab.bisect/1";

/// The answer of `bisect --json`.
#[derive(Serialize)]
struct Document {
    schema: &'static str,
    experiment: String,
    bad: String,
    steps: Vec<Step>,
    /// How many stacks of the list were not run.
    not_run: usize,
    /// The first bad stack; null when both ends are good or it is not known.
    first_bad: Option<String>,
    /// The one before it; null when it is the first of the list.
    last_good: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cannot_say: Option<String>,
}

impl Document {
    /// The exit code.
    fn code(&self) -> u8 {
        match (&self.first_bad, &self.cannot_say) {
            (_, Some(_)) => INCONCLUSIVE,
            (Some(_), None) => 0,
            (None, None) => 1,
        }
    }
}

/// One run.
#[derive(Serialize)]
struct Step {
    stack: String,
    bad: Option<bool>,
}

/// Runs `tcplab bisect`.
pub fn main(args: &BisectArgs) -> ExitCode {
    json::finish(SCHEMA, args.json, run(args))
}

fn run(args: &BisectArgs) -> Result<ExitCode, Failure> {
    let bad = parse_expression(&args.bad)?;
    let changes = Changes {
        seed: args.seed,
        ..Changes::default()
    };
    let mut input = Input::read(&args.experiment, &changes)?;
    input.also_measure(&bad)?;
    input.check(&args.over)?;
    let lab = lab()?;
    // All names are looked up before the first run: a missing kernel shows at once.
    let stacks = stacks(&lab, args.over.clone())?;
    let mut steps = Vec::new();
    let found = first_bad(stacks.len(), |index| {
        let stack = &stacks[index];
        let judged = judged(&lab, &input, stack, &bad);
        let words = match &judged {
            Ok(Judgement::Bad) => "bad",
            Ok(Judgement::Good) => "good",
            Err(_) => "cannot say",
        };
        let number = steps.len() + 1;
        say(&format!("run {number}: {} is {words}", stack.name));
        steps.push(Step {
            stack: stack.name.clone(),
            bad: judged.as_ref().ok().map(|j| *j == Judgement::Bad),
        });
        judged
    });
    let (first, cannot_say) = match found {
        Ok(Found::FirstBad(first)) => (Some(first), None),
        Ok(Found::GoodEnds) => (None, None),
        Ok(Found::Reversed) => (None, Some(reversed(&stacks))),
        Err(Ended::CannotSay(why)) => (None, Some(why)),
        Err(Ended::Failed(failure)) => return Err(failure),
    };
    let name = |index: usize| stacks[index].name.clone();
    let document = Document {
        schema: SCHEMA,
        experiment: input.name.clone(),
        bad: args.bad.clone(),
        not_run: stacks.len().saturating_sub(steps.len()),
        steps,
        first_bad: first.map(name),
        last_good: first.and_then(|n| n.checked_sub(1)).map(name),
        cannot_say,
    };
    if args.json {
        json::print(&document)?;
    } else {
        writeln!(screen::plain(), "{}", words(&document))?;
    }
    Ok(ExitCode::from(document.code()))
}

/// Why a list whose first stack is bad and whose last one is good has no answer.
fn reversed(stacks: &[Stack]) -> String {
    let name = |stack: Option<&Stack>| stack.map_or("", |stack| stack.name.as_str()).to_owned();
    format!(
        "{} is bad and {} is good; --over wants them in order from good to bad",
        name(stacks.first()),
        name(stacks.last())
    )
}

/// Runs the experiment on a stack.
fn judged(lab: &Lab, input: &Input, stack: &Stack, bad: &Expression) -> Result<Judgement, Ended> {
    let campaign = Campaign {
        experiment: &input.name,
        points: &input.points,
        stacks: std::slice::from_ref(stack),
        measures: &input.measures,
        jobs: processors(),
        ..Campaign::default()
    };
    match campaign::run(lab, &campaign, |_| ()) {
        Ok(document) => judge(bad, &document).map_err(Ended::CannotSay),
        Err(e) => Err(Ended::Failed(e.into())),
    }
}

enum Ended {
    CannotSay(String),
    Failed(Failure),
}

fn words(document: &Document) -> String {
    let runs = document.steps.len();
    match (
        &document.first_bad,
        &document.last_good,
        &document.cannot_say,
    ) {
        (_, _, Some(why)) => format!("undecided after {runs} runs: {why}"),
        (Some(first), Some(good), _) => {
            format!("first bad stack: {first} ({good} is good; {runs} runs)")
        }
        (Some(first), None, _) => {
            format!("first bad stack: {first}, the first of the list ({runs} runs)")
        }
        (None, ..) => match document.not_run {
            0 => format!("no stack is bad ({runs} runs)"),
            n => format!("no stack is bad at the ends ({runs} runs); {n} between were not run"),
        },
    }
}
