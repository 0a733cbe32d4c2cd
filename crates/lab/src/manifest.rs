//! Reading a manifest that somebody sent: it has the rules of an experiment file, and says where one is broken.

use std::path::Path;

use tcplab_plan::{App, Experiment, Point, is_plain_name};

use crate::digest;
use crate::error::LabError;
use crate::folder::{MANIFEST_SCHEMA, Manifest};
use crate::measures;

/// Stacks and measures at most, as an experiment file may have them.
const MAX_STACKS: usize = 64;
const MAX_MEASURES: usize = 1_000;

impl Manifest {
    /// Reads and checks the text of a manifest; `file` is its name, for messages.
    ///
    /// # Errors
    /// What is no manifest, with line and column, or the first value that no experiment could have, with its path.
    pub fn read(file: &str, text: &str) -> Result<Self, LabError> {
        let manifest: Self = serde_json::from_str(text).map_err(|e| {
            LabError::Wrong(format!("{file}: this is not a manifest: {}", plain(&e)))
        })?;
        let checked = manifest.check();
        checked.map_err(|why| {
            LabError::Wrong(format!(
                "{file}: {why}\na manifest follows the rules of experiment files (docs/experiment.md): fix the value, or run the experiment again"
            ))
        })?;
        Ok(manifest)
    }

    /// Refuses files that are not those of the manifest's runs: the points would not be run again, but others.
    ///
    /// # Errors
    /// The first file that is gone or holds something else.
    pub fn check_files(&self) -> Result<(), LabError> {
        for (file, digest) in &self.files {
            let path = Path::new(file);
            if digest::of_file(path).map_err(LabError::at(path))? != *digest {
                return Err(LabError::Wrong(format!(
                    "{file}: not the file of the recorded runs (its SHA-256 differs): restore it, or run the experiment file"
                )));
            }
        }
        Ok(())
    }

    fn check(&self) -> Result<(), String> {
        if self.schema != MANIFEST_SCHEMA {
            return Err(format!("schema: must be {MANIFEST_SCHEMA}"));
        }
        if !is_plain_name(&self.experiment) {
            return Err(
                "experiment: this is not a name: a letter, then letters, digits, `_` or `-`, 64 at most".into(),
            );
        }
        for (key, len, most) in [
            ("stacks", self.stacks.len(), MAX_STACKS),
            ("measures", self.measures.len(), MAX_MEASURES),
            ("points", self.points.len(), Experiment::MAX_POINTS),
        ] {
            if len > most {
                return Err(format!("{key}: more than {most} entries"));
            }
        }
        if self.points.is_empty() {
            return Err("points: the list is empty".to_owned());
        }
        if let Some(view) = &self.view {
            view.check()
                .map_err(|wrong| wrong.under("view").to_string())?;
        }
        for (n, point) in self.points.iter().enumerate() {
            let checked = point.check();
            checked.map_err(|wrong| plain(&wrong.under(format_args!("points[{n}]"))))?;
        }
        let names: Vec<String> = self.measures.iter().map(|one| one.name.clone()).collect();
        let mut before = None;
        for (n, point) in self.points.iter().enumerate() {
            // Points of one variant have the same measures: most need no look of their own.
            if before.is_none_or(|before| !is_alike(before, point)) {
                let checked = measures::check(&names, point);
                checked.map_err(|e| format!("measures: at points[{n}]: {}", plain(&e)))?;
            }
            before = Some(point);
        }
        Ok(())
    }
}

/// An error of a file for people: short, and without what moves a terminal's cursor. Errors of JSON repeat the file's
/// texts as they are; the place, which stands at their end, stays.
pub(crate) fn plain(error: &impl std::fmt::Display) -> String {
    const HALF: usize = 200;
    let clean = |c: char| if c.is_control() { '?' } else { c };
    let text: Vec<char> = error.to_string().chars().map(clean).collect();
    match text.len() > 2 * HALF {
        true => {
            let (first, last) = (&text[..HALF], &text[text.len() - HALF..]);
            format!(
                "{} ... {}",
                String::from_iter(first),
                String::from_iter(last)
            )
        }
        false => text.into_iter().collect(),
    }
}

/// Whether both have the same hosts, applications, links and sets, by their names.
fn is_alike(a: &Point, b: &Point) -> bool {
    let hosts = |p: &'_ Point| {
        p.hosts
            .iter()
            .map(|h| (h.name.clone(), h.group.clone()))
            .collect::<Vec<_>>()
    };
    let apps = |p: &'_ Point| {
        let one = |app: &App| (app.name.clone(), app.group.clone(), app.does.word());
        p.apps.iter().map(one).collect::<Vec<_>>()
    };
    let links = |p: &'_ Point| p.links.iter().map(|l| (l.a, l.b)).collect::<Vec<_>>();
    hosts(a) == hosts(b) && apps(a) == apps(b) && links(a) == links(b) && a.sets == b.sets
}

#[cfg(test)]
mod tests {
    use tcplab_plan::measure::{Described, Unit};

    use super::*;

    #[test]
    fn measures_of_older_manifests_are_names() {
        let experiment = Experiment::parse("x.toml", "[[app]]\nkind = \"echo\"\n").unwrap();
        let old = serde_json::json!({
            "schema": MANIFEST_SCHEMA,
            "experiment": "x",
            "tcplab": "0.1.0",
            "program_sha256": "",
            "stacks": [],
            "measures": ["echo.latency_us.max", "client.tcpi_of_tomorrow"],
            "points": experiment.points().unwrap(),
        });
        let read = Manifest::read("manifest.json", &old.to_string()).unwrap();
        let [known, unknown] = read.measures.as_slice() else {
            panic!("two measures");
        };
        assert_eq!(*known, Described::of("echo.latency_us.max"));
        assert_eq!((known.unit, unknown.kind), (Unit::Microseconds, None));
        let new = serde_json::to_string(&read).unwrap();
        assert_eq!(Manifest::read("manifest.json", &new).unwrap(), read);
    }
}
