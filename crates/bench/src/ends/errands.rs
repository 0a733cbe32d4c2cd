//! What a far side does for a bench: one end of a run, asked for over ssh.

use std::io;
use std::net::{IpAddr, SocketAddr};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tcplab_base::Duration;
use tcplab_kernel::ssh::{Errand, Reply, Request, Way};
use tcplab_os::Scratch;

use super::Spec;
use super::far::{self, Beside};
use super::measure::Side;
use tcplab_os::OsError;

/// What a machine can be asked for, besides runs of experiments.
pub const ERRANDS: &[Errand] = &[
    Errand {
        name: SERVE,
        work: serve,
    },
    Errand {
        name: ASK,
        work: ask,
    },
];

const SERVE: &str = "bench-serve";
const ASK: &str = "bench-ask";

/// The server's end: a note [`Reply::Listening`], notes [`Reply::File`] with the capture, its [`Side`].
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Serve {
    /// What is run.
    pub(super) spec: Spec,
    /// An address of that host.
    pub(super) address: IpAddr,
    /// Captures; so many nanoseconds are added to times.
    pub(super) capture: Option<i64>,
}

/// The client's end: notes [`Reply::File`] with the capture, its [`Side`].
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Ask {
    /// What is run.
    pub(super) spec: Spec,
    /// The server.
    pub(super) to: SocketAddr,
    /// Captures; so many nanoseconds are added to times.
    pub(super) capture: Option<i64>,
}

impl Serve {
    pub(super) fn request(&self) -> serde_json::Result<Request> {
        request(SERVE, self)
    }
}

impl Ask {
    pub(super) fn request(&self) -> serde_json::Result<Request> {
        request(ASK, self)
    }
}

fn request(name: &str, task: &impl Serialize) -> serde_json::Result<Request> {
    let task = serde_json::to_value(task)?;
    let name = name.to_owned();
    Ok(Request::Errand { name, task })
}

fn serve(task: Value, way: &Way) -> Result<Value, String> {
    let task: Serve = serde_json::from_value(task).map_err(|e| e.to_string())?;
    end(task.capture, way, |beside| {
        far::serve(&task.spec, task.address, beside, |port| {
            let note = way.note(Reply::Listening(port), &[]);
            note.map_err(io::Error::other)
        })
    })
}

fn ask(task: Value, way: &Way) -> Result<Value, String> {
    let task: Ask = serde_json::from_value(task).map_err(|e| e.to_string())?;
    end(task.capture, way, |beside| {
        far::ask(&task.spec, task.to, beside)
    })
}

/// An end of a bench, with its capture.
fn end(
    capture: Option<i64>,
    way: &Way,
    run: impl FnOnce(Beside<'_>) -> Result<Option<Side>, OsError>,
) -> Result<Value, String> {
    let folder = Scratch::new().map_err(|e| format!("no folder for a capture: {e}"))?;
    let path = folder.path().join("capture.pcapng");
    let beside = Beside {
        stop: &way.stop,
        capture: capture.map(|shift_ns| (path.as_path(), Duration::from_nanos(shift_ns))),
    };
    let found = run(beside).map_err(|e| e.to_string())?;
    way.files(folder.path())?;
    match found {
        Some(side) => serde_json::to_value(side).map_err(|e| e.to_string()),
        None => Err("stopped".into()),
    }
}
