//! The captures that replays of a point name: read, selected, and given to the run.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;

use tcplab_capture::Reader;
use tcplab_link::{Choice, Trace};
use tcplab_plan::Point;
use tcplab_plan::app::{App, AppKind};
use tcplab_plan::network::direct_link;

/// The number of each replay among the point's applications, and its frames.
pub type Traces = Vec<(usize, Arc<Trace>)>;

/// Reads the files of all replays of a point.
///
/// # Errors
/// The file and what is wrong with it.
pub fn load(point: &Point) -> Result<Traces, String> {
    let mut traces = Traces::new();
    for (number, app) in point.apps.iter().enumerate() {
        let AppKind::Replay {
            file,
            interface,
            from,
        } = &app.does
        else {
            continue;
        };
        let choice = Choice {
            interface: interface.clone(),
            from: *from,
        };
        let trace = read(Path::new(file), &choice, mtu(point, app));
        let trace = trace.map_err(|why| format!("application {}: {file}: {why}", app.name))?;
        traces.push((number, Arc::new(trace)));
    }
    Ok(traces)
}

/// The file of a replay's frames in the folder of a run.
#[cfg(target_os = "linux")]
pub fn name(app: usize) -> String {
    format!("replay-{app}.frames")
}

/// Whether a file of that folder has frames of a replay.
#[cfg(target_os = "linux")]
pub fn is_name(name: &str) -> bool {
    name.starts_with("replay-") && name.ends_with(".frames")
}

/// Reads what [`load`] chose, in the folder of a run.
#[cfg(target_os = "linux")]
pub fn load_from(folder: &Path, point: &Point) -> Result<Traces, String> {
    let replays = point.apps.iter().enumerate();
    let replays = replays.filter(|(_, app)| app.does.is_replay());
    replays
        .map(|(number, app)| {
            let path = folder.join(name(number));
            let trace = read(&path, &Choice::default(), mtu(point, app))?;
            Ok((number, Arc::new(trace)))
        })
        .collect()
}

fn read(path: &Path, choice: &Choice, mtu: u32) -> Result<Trace, String> {
    let file = File::open(path).map_err(|e| e.to_string())?;
    let mut reader = Reader::new(BufReader::new(file)).map_err(|e| e.to_string())?;
    Trace::read(&mut reader, choice, mtu).map_err(|e| e.to_string())
}

fn mtu(point: &Point, app: &App) -> u32 {
    let link = direct_link(&point.links, app.client, app.server);
    link.map_or(1500, |number| point.links[number].mtu)
}
