//! Worlds with their captures in memory.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use tcplab_plan::network::interfaces;
use tcplab_plan::profile::Profile;
use tcplab_plan::{Experiment, Outcome, Point};
use tcplab_sim::{Captures, World};

/// A file in memory.
#[derive(Clone, Default)]
struct File(Arc<Mutex<Vec<u8>>>);

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A run and the captures at its interfaces.
pub struct Run {
    pub world: World,
    files: Vec<File>,
}

/// All that a run gave.
#[derive(PartialEq, Debug)]
pub struct Came {
    pub outcome: Outcome,
    pub captures: Vec<Vec<u8>>,
}

/// The only point of an experiment.
pub fn point(text: &str) -> Point {
    let experiment = Experiment::parse("test.toml", text).expect("a right experiment");
    let points = experiment.points().expect("points");
    points.into_iter().next().expect("one")
}

impl Run {
    /// A run before its start.
    pub fn new(text: &str) -> Self {
        let point = point(text);
        let profiles = vec![Profile::default(); point.hosts.len()];
        let mut world = World::new(&point, &profiles).expect("the model can do it");
        let mut files = Vec::new();
        let outputs = interfaces(&point).into_iter().map(|(_, name)| {
            let file = File::default();
            files.push(file.clone());
            (name, Box::new(file) as Box<dyn Write + Send>)
        });
        let captures = Captures::new(&point, world.epoch_ns(), outputs.collect());
        world.set_captures(captures.expect("memory takes all"));
        Self { world, files }
    }

    /// What it came to.
    pub fn came(mut self) -> Came {
        let captures = self.world.take_captures().expect("they were given");
        captures.finish().expect("memory takes all");
        let bytes = |file: &File| file.0.lock().map(|all| all.clone()).unwrap_or_default();
        Came {
            captures: self.files.iter().map(bytes).collect(),
            outcome: self.world.into_outcome(),
        }
    }
}
