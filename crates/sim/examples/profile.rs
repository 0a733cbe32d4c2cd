//! Runs the points of an experiment file on the model and nothing else: for perf and callgrind, and
//! quick to build. The authoritative speed is `tcplab run`'s; see benches/model.py.
//!
//! `cargo build --release -p tcplab-sim --example profile && perf stat -e instructions:u target/release/examples/profile FILE [--digest]`

use std::error::Error;
use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use tcplab_plan::Experiment;
use tcplab_plan::profile::Profile;
use tcplab_sim::World;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args()
        .nth(1)
        .ok_or("which experiment file? profile FILE")?;
    let digest = std::env::args().any(|a| a == "--digest");
    let experiment = Experiment::parse(&path, &std::fs::read_to_string(&path)?)?;
    for point in experiment.points()? {
        let default = Profile::default();
        let profiles: Result<Vec<_>, _> = point.hosts.iter().map(|h| default.of_host(h)).collect();
        let mut world = World::new(&point, &profiles?)?;
        let outcome = world.run(None, || true);
        let work = world.work();
        print!(
            "{} packets, {} connections, {} events",
            work.tcp_packets, work.connections, work.events
        );
        if digest {
            // Two builds that print the same did the same.
            let word = FixedState::default().hash_one(format!("{outcome:?}"));
            print!(", outcome {word:016x}");
        }
        println!();
    }
    Ok(())
}
