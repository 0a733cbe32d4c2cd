//! What `run` was given: an experiment file, or the manifest of an earlier result.

use std::path::Path;

use tcplab_guest::stack::StackName;
use tcplab_lab::{LabError, Manifest, campaign, check, measures};
use tcplab_plan::measure::Expression;
use tcplab_plan::view::View;
use tcplab_plan::{Experiment, Point};

use super::plan::Plan;
use crate::failure::Failure;
use crate::files;

/// Points to run, and what to show of them.
pub struct Input {
    /// The experiment's name.
    pub name: String,
    /// How the result is shown.
    pub view: View,
    /// All points, in order.
    pub points: Vec<Point>,
    /// Names of the measures.
    pub measures: Vec<String>,
    stacks: Vec<String>,
    /// Where it stands.
    file: String,
    /// What its author may have meant otherwise.
    pub warnings: Vec<String>,
    /// What the command line changes of the file: `link.a-b.rate=1mbit`.
    pub changed: Vec<String>,
    /// The variants, each with what it sets.
    pub variants: Vec<(String, String)>,
}

/// What the command line changes of a file.
#[derive(Clone, Copy, Default)]
pub struct Changes<'a> {
    /// `--set`.
    pub set: &'a [String],
    /// `--repeat`.
    pub repeat: Option<u32>,
    /// `--seed`.
    pub seed: Option<u64>,
}

impl Changes<'_> {
    /// An error when there is any, with the first option's name.
    pub fn refuse(&self, why: &str) -> Result<(), Failure> {
        let there = [
            ("--set", !self.set.is_empty()),
            ("--repeat", self.repeat.is_some()),
            ("--seed", self.seed.is_some()),
        ];
        match there.iter().find(|(_, is)| *is) {
            Some((name, _)) => Err(Failure::usage(format!("{name}: {why}"))),
            None => Ok(()),
        }
    }
}

impl Input {
    /// Reads a file.
    pub fn read(path: &Path, changes: &Changes<'_>) -> Result<Self, Failure> {
        Self::of(path, &files::experiment(path)?, changes)
    }

    /// Of a file's text.
    pub fn of(path: &Path, text: &str, changes: &Changes<'_>) -> Result<Self, Failure> {
        if text.trim_start().starts_with('{') {
            changes.refuse(
                "does not apply to a manifest, which repeats its own run: name the experiment file",
            )?;
            return Self::from_manifest(path, text);
        }
        let name = files::name_of(path);
        let wrong = |e: &dyn std::fmt::Display| Failure::input(e.to_string());
        let mut experiment = Experiment::parse_with(&name, text, changes.set, changes.repeat)
            .map_err(|e| wrong(&e))?;
        if let Some(seed) = changes.seed {
            experiment.set_seed(seed);
        }
        let points = experiment.points().map_err(|e| wrong(&e))?;
        let mut input = Self {
            name: experiment.name.clone(),
            view: experiment.view.clone(),
            points,
            measures: experiment.measures.clone(),
            stacks: experiment.stacks.clone(),
            file: name,
            warnings: experiment.warnings(),
            changed: changes.set.to_vec(),
            variants: experiment.variants(),
        };
        if let (true, Some(first)) = (input.measures.is_empty(), input.points.first()) {
            input.measures = measures::of_applications(first);
        }
        input.check_measures()?;
        Ok(input)
    }

    fn from_manifest(path: &Path, text: &str) -> Result<Self, Failure> {
        let manifest = Manifest::read(&path.display().to_string(), text);
        let manifest = manifest.map_err(|e| Failure::input(e.to_string()))?;
        manifest.check_files()?;
        Ok(Self {
            name: manifest.experiment,
            view: manifest.view.unwrap_or_default(),
            points: manifest.points,
            measures: manifest.measures.into_iter().map(|one| one.name).collect(),
            stacks: manifest.stacks.into_iter().map(|(name, _)| name).collect(),
            file: path.display().to_string(),
            warnings: Vec::new(),
            changed: Vec::new(),
            variants: Vec::new(),
        })
    }

    /// Measures that an expression needs besides those to show.
    pub fn also_measure(&mut self, bad: &Expression) -> Result<(), Failure> {
        for name in bad.names() {
            if !self.measures.iter().any(|there| there == name) {
                self.measures.push(name.to_owned());
            }
        }
        self.check_measures()
    }

    fn check_measures(&self) -> Result<(), Failure> {
        match self.points.first() {
            Some(point) => Ok(measures::check(&self.measures, point)?),
            None => Ok(()),
        }
    }

    /// The stacks of the command line, or those of the file, or the model.
    pub fn stacks(&self, on: &[String]) -> Vec<String> {
        let chosen = if on.is_empty() { &self.stacks } else { on };
        match chosen.is_empty() {
            true => vec!["model:linux-6.1".into()],
            false => chosen.to_vec(),
        }
    }

    /// Checks all that needs no machine: that a file may choose the stacks, their names, that each honours the points'
    /// settings, that each run can end.
    pub fn check(&self, on: &[String]) -> Result<(), Failure> {
        self.check_stacks(on)?;
        let names = self.stacks(on);
        let kind = |name: &String| check::kind_of(name);
        let kinds: Result<Vec<_>, _> = names.iter().map(kind).collect();
        let stacks: Vec<_> = names.iter().map(String::as_str).zip(kinds?).collect();
        check::points(&self.points, &stacks).map_err(|e| match e {
            LabError::Refused(lines) => {
                let lines = lines.iter().map(|line| format!("{}: {line}", self.file));
                Failure::cannot_run(lines.collect::<Vec<_>>().join("\n"))
            }
            e => e.into(),
        })?;
        Ok(campaign::can_end(
            &self.points,
            names.iter().map(String::as_str),
        )?)
    }

    /// Refuses stacks that only a user may choose: the author of a file must not decide what runs on a real machine.
    fn check_stacks(&self, on: &[String]) -> Result<(), Failure> {
        let chosen = self.stacks.iter().filter(|_| on.is_empty());
        for name in chosen {
            if StackName::parse(name)?.may_be_chosen_by_a_file() {
                continue;
            }
            let all = self.stacks.join(",");
            return Err(Failure::usage(format!(
                "{}: the file asks for the stack `{name}`, but a file may choose only `model:` and `uml:` stacks\n\
                 if you trust the file, name the stack yourself: --on {all}",
                self.file
            )));
        }
        Ok(())
    }

    /// What would be run.
    pub fn plan(&self, on: &[String]) -> Plan<'_> {
        Plan {
            schema: "tcplab.plan/1",
            experiment: &self.name,
            stacks: self.stacks(on),
            measures: &self.measures,
            warnings: &self.warnings,
            variants: &self.variants,
            points: &self.points,
        }
    }
}

/// Words of `--on` that were split at commas, where `ssh:A` and `B` belong together.
pub fn whole_names(on: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut words = on.iter();
    while let Some(word) = words.next() {
        let is_half = word.starts_with("ssh:") && !word.contains(',');
        match words.clone().next() {
            Some(other) if is_half => {
                names.push(format!("{word},{other}"));
                words.next();
            }
            _ => names.push(word.clone()),
        }
    }
    names
}
