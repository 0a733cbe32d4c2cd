//! Makes a world, before its first event, from the text of an experiment.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use tcplab_plan::contract::{self, Kind};
use tcplab_plan::network::interfaces;
use tcplab_plan::profile::{self, Profile};
use tcplab_plan::{Experiment, Point};
use tcplab_sim::{Captures, World};

/// A capture in memory.
#[derive(Clone, Default)]
pub(super) struct Memory(Arc<Mutex<Vec<u8>>>);

impl Memory {
    /// What was written so far.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.clone()
    }
}

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The capture at an interface of a host.
pub(super) struct Captured {
    pub(super) host: String,
    pub(super) interface: String,
    pub(super) file: Memory,
}

/// An error of `tcplab.errors` by its class.
pub(super) fn error(py: Python<'_>, class: &str, message: String) -> PyErr {
    let class = py.import("tcplab.errors").and_then(|m| m.getattr(class));
    match class.and_then(|class| class.call1((message,))) {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

/// The point of an experiment that a world runs, and warnings about its text.
pub(super) fn point(
    py: Python<'_>,
    (file, text): (&str, &str),
    set: &[String],
    variant: Option<&str>,
) -> PyResult<(Point, Vec<String>)> {
    let input = |e: tcplab_plan::ParseError| error(py, "InputError", e.to_string());
    let experiment = Experiment::parse_with(file, text, set, Some(1)).map_err(input)?;
    let mut points = experiment.points().map_err(input)?;
    if let Some(variant) = variant {
        points.retain(|point| point.axes.get("variant").and_then(|v| v.as_str()) == Some(variant));
        if points.is_empty() {
            let names: Vec<String> = experiment.variants().into_iter().map(|v| v.0).collect();
            let message = format!(
                "{file}: no variant `{variant}`; it has {}",
                names.join(", ")
            );
            return Err(error(py, "UsageError", message));
        }
    }
    if points.len() > 1 {
        let axes = points.first().map(|point| point.axes.keys().cloned());
        let axes: Vec<String> = axes.into_iter().flatten().collect();
        let message = format!(
            "{file}: a world runs one point, and the experiment has {} (axes: {}); choose one with `variant` and `set`",
            points.len(),
            axes.join(", ")
        );
        return Err(error(py, "UsageError", message));
    }
    let point = points.pop();
    let point = point.ok_or_else(|| error(py, "InputError", format!("{file}: it has no point")))?;
    Ok((point, experiment.warnings()))
}

/// Settings that a stack left out, and profiles that were never compared with a kernel.
pub(super) fn shortcomings(py: Python<'_>, stack: &str, point: &Point) -> PyResult<Vec<String>> {
    let found = contract::refusals(point, Kind::Model).into_iter();
    let found = found.chain(tcplab_sim::refusals(point));
    let left_out = found.map(|refusal| refusal.left_out());
    let profiles = profiles(py, stack, point)?;
    let unverified = profiles
        .iter()
        .filter_map(|one| profile::unverified(one.name));
    let mut all: Vec<String> = left_out.chain(unverified).collect();
    all.dedup();
    Ok(all)
}

/// What the stack `model`, or `model:PROFILE`, is for each host.
fn profiles(py: Python<'_>, stack: &str, point: &Point) -> PyResult<Vec<Profile>> {
    let profile = match stack.split_once(':') {
        None if stack == "model" => Some(Profile::default()),
        Some(("model", name)) => profile::named(name),
        _ => None,
    };
    let profile = profile.ok_or_else(|| {
        let known: Vec<String> = (profile::KNOWN.iter())
            .map(|known| format!("model:{}", known.name))
            .collect();
        let message = format!(
            "a world runs on the model, not on `{stack}`: its stacks are model, {}",
            known.join(", ")
        );
        error(py, "UsageError", message)
    })?;
    let hosts = point.hosts.iter().map(|host| {
        let profile = profile.of_host(host);
        profile.map_err(|e| error(py, "InputError", e.to_string()))
    });
    hosts.collect()
}

/// What the model does not honour is refused, in the words of `tcplab run`.
fn check(py: Python<'_>, file: &str, point: &Point, stack: &str) -> PyResult<()> {
    let found = contract::refusals(point, Kind::Model).into_iter();
    let found = found.chain(tcplab_sim::refusals(point));
    let mut lines: Vec<String> = found
        .filter(|refusal| !refusal.is_tolerated(point))
        .map(|refusal| format!("{file}: {stack}: {refusal}"))
        .collect();
    let replays = point.apps.iter().filter(|app| app.does.is_replay());
    lines.extend(replays.map(|app| {
        format!(
            "{file}: {stack}: app.{}: a world replays no capture; run it with tcplab.run",
            app.name
        )
    }));
    lines.dedup();
    match lines.is_empty() {
        true => Ok(()),
        false => Err(error(py, "CannotRun", lines.join("\n"))),
    }
}

/// The world of a point, and its captures if they are asked for.
pub(super) fn world(
    py: Python<'_>,
    file: &str,
    point: &Point,
    stack: &str,
) -> PyResult<(World, Vec<Captured>)> {
    check(py, file, point, stack)?;
    let cannot = |e: tcplab_sim::SimError| error(py, "CannotRun", e.to_string());
    let mut world = World::new(point, &profiles(py, stack, point)?).map_err(cannot)?;
    world.count_whole_frames();
    let mut captured = Vec::new();
    if point.captures {
        let outputs = interfaces(point).into_iter().map(|(host, interface)| {
            let file = Memory::default();
            captured.push(Captured {
                host: point.hosts[host].name.clone(),
                interface: interface.clone(),
                file: file.clone(),
            });
            (interface, Box::new(file) as Box<dyn Write + Send>)
        });
        let outputs: Vec<_> = outputs.collect();
        world.set_captures(Captures::new(point, world.epoch_ns(), outputs)?);
    }
    Ok((world, captured))
}
