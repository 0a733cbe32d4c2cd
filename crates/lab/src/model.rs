//! Points on the model: the simulator, in this thread.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use tcplab_guest::stack::HZ_CHOICES;
use tcplab_os::Stop;
use tcplab_os::cpu::Meter;
use tcplab_plan::network::{capture_file, interfaces};
use tcplab_plan::profile::{self, KNOWN, Profile};
use tcplab_plan::result::Cost;
use tcplab_plan::{Outcome, Point};
use tcplab_sim::{Captures, World};

use crate::error::LabError;

/// What a point on the model came to.
pub(crate) struct Run {
    pub(crate) outcome: Outcome,
    pub(crate) cost: Cost,
}

/// What a stack's name says: `model:linux-6.1`, `model:linux-6.1@1000`.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    profile: Profile,
    /// Timer frequency of all hosts, in place of their profiles'.
    hz: Option<u32>,
}

impl Model {
    /// The model of a name, without its kind.
    pub(crate) fn named(name: &str) -> Result<Self, LabError> {
        let (base, hz) = match name.split_once('@') {
            None => (name, None),
            Some((base, hz)) => (base, Some(hz)),
        };
        let profile = profile::named(base).ok_or_else(|| {
            let names: Vec<String> = KNOWN.iter().map(|k| format!("model:{}", k.name)).collect();
            LabError::Wrong(format!(
                "no profile `{base}`; the profiles are {}",
                names.join(", ")
            ))
        })?;
        let frequency = |text: &str| {
            let hz = text.parse().ok();
            let known = hz.filter(|hz| HZ_CHOICES.contains(hz));
            known.ok_or_else(|| {
                LabError::Wrong(format!(
                    "`@{text}` in `model:{name}` is not a timer frequency: write @100, @250, @300 or @1000"
                ))
            })
        };
        let hz = hz.map(frequency).transpose()?;
        Ok(Self { profile, hz })
    }

    /// The profile of a host that no point changes, and its timer frequency.
    pub(crate) fn of_host(&self) -> (&Profile, u32) {
        (&self.profile, self.hz.unwrap_or(self.profile.hz))
    }

    /// Timer frequency of each host of a point.
    pub(crate) fn hz(&self, point: &Point) -> Result<Vec<u32>, LabError> {
        let profiles = self.profiles(point)?;
        Ok(profiles.iter().map(|profile| profile.hz).collect())
    }

    /// The profile of each host of a point.
    fn profiles(&self, point: &Point) -> Result<Vec<Profile>, LabError> {
        let hosts = point.hosts.iter().map(|host| {
            let profile = self.profile.of_host(host);
            let mut profile = profile.map_err(|e| LabError::Point(e.to_string()))?;
            profile.hz = self.hz.unwrap_or(profile.hz);
            Ok(profile)
        });
        hosts.collect()
    }
}

/// Runs a point; captures go into `folder`.
pub(crate) fn run(
    point: &Point,
    model: &Model,
    folder: &Path,
    stop: &Stop,
) -> Result<Run, LabError> {
    let meter = Meter::start();
    let point = &*tcplab_guest::rates::filled(point).map_err(LabError::Point)?;
    let profiles = model.profiles(point)?;
    let cannot = |e: tcplab_sim::SimError| LabError::Point(e.to_string());
    let mut world = World::new(point, &profiles).map_err(cannot)?;
    world.set_traces(tcplab_guest::replay::load(point).map_err(LabError::Point)?);
    let captures = match point.captures {
        true => Some(open(point, world.epoch_ns(), folder)?),
        false => None,
    };
    let outcome = world.run(captures, || !stop.wanted());
    let outcome = outcome.ok_or(LabError::Interrupted)?;
    if let Some(why) = world.exhausted() {
        return Err(LabError::Limit(why.to_owned()));
    }
    if let Some(captures) = world.take_captures() {
        captures.finish().map_err(LabError::at(folder))?;
    }
    let work = world.work();
    let spent = meter.stop();
    let cost = Cost {
        user_s: spent.cpu_s,
        wall_s: spent.wall_s,
        virtual_s: outcome.virtual_ns as f64 / 1e9,
        tcp_packets: Some(work.tcp_packets),
        data_segments: Some(work.data_segments),
        connections: Some(work.connections),
        events: Some(work.events),
        peak_rss_bytes: Some(peak_rss_bytes()),
    };
    Ok(Run { outcome, cost })
}

fn open(point: &Point, epoch_ns: i64, folder: &Path) -> Result<Captures, LabError> {
    let mut outputs: Vec<(String, Box<dyn Write + Send>)> = Vec::new();
    for (host, interface) in interfaces(point) {
        let path = folder.join(capture_file(&point.hosts[host].name, &interface));
        let file = File::create(&path).map_err(LabError::at(&path))?;
        let file = BufWriter::with_capacity(1 << 18, file);
        outputs.push((interface, Box::new(file)));
    }
    Captures::new(point, epoch_ns, outputs).map_err(LabError::at(folder))
}

/// The most memory that this process held so far (proc(5), VmHWM); 0 when it is not known.
pub(crate) fn peak_rss_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    let kb = line.and_then(|l| l.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    kb.unwrap_or(0) * 1024
}
