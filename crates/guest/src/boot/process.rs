//! A child process with a limit of time, whose output is kept only at its end.

use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tcplab_os::{Context, OsError};

use super::error::GuestError;

/// Bytes of a console that an error shows.
const TAIL: usize = 65536;

/// How a child ended.
#[derive(Debug)]
pub(super) struct Ended {
    /// None: it was ended by the limit.
    pub(super) status: Option<ExitStatus>,
    /// The end of its output, both streams.
    pub(super) console: String,
}

impl Ended {
    /// How it ended, if not by the limit.
    pub(super) fn in_time(&self, limit: Duration) -> Result<ExitStatus, GuestError> {
        self.status.ok_or_else(|| GuestError::TooLong {
            after: limit,
            console: self.console.clone(),
        })
    }

    /// What a guest that left no answer died of.
    pub(super) fn death(self, status: ExitStatus) -> GuestError {
        GuestError::Died {
            status: words(status),
            console: self.console,
        }
    }
}

/// Runs a command to its end, or to the limit; `input` goes to its standard input. The limit begins
/// anew whenever `moved` says that the work has moved on.
pub(super) fn run(
    command: &mut Command,
    input: &[u8],
    limit: Duration,
    stop: &tcplab_os::Stop,
    moved: &mut dyn FnMut() -> bool,
) -> Result<Ended, GuestError> {
    let child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.tried("cannot start a process of our own")?;
    let (done, ended) = mpsc::channel();
    let readers = [
        child.stdout.take().map(|pipe| tail(pipe, done.clone())),
        child.stderr.take().map(|pipe| tail(pipe, done)),
    ];
    if let Some(mut pipe) = child.stdin.take() {
        // A child that has ended already says so by its status.
        let _ = pipe.write_all(input);
    }
    // Both pipes close when the last process of the run has gone.
    let status = wait(&mut child, &ended, limit, (stop, moved))?;
    let console = readers
        .into_iter()
        .flatten()
        .filter_map(|reader| reader.join().ok());
    Ok(Ended {
        status,
        console: console.collect::<Vec<_>>().join("\n"),
    })
}

fn wait(
    child: &mut Child,
    ended: &mpsc::Receiver<()>,
    limit: Duration,
    (stop, moved): (&tcplab_os::Stop, &mut dyn FnMut() -> bool),
) -> Result<Option<ExitStatus>, GuestError> {
    /// How often the wish to stop is looked at.
    const LOOK: Duration = Duration::from_millis(100);
    let mut left = limit;
    let mut open = 2;
    while open > 0 {
        match ended.recv_timeout(left.min(LOOK)) {
            Ok(()) => open -= 1,
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
            Err(mpsc::RecvTimeoutError::Timeout) if stop.wanted() => {
                end(child)?;
                return Err(GuestError::Interrupted);
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {
                left = left.saturating_sub(LOOK);
                if moved() {
                    left = limit;
                }
                if left.is_zero() {
                    end(child)?;
                    return Ok(None);
                }
            }
        }
    }
    Ok(Some(child.wait().tried("cannot wait for a process")?))
}

fn end(child: &mut Child) -> Result<(), OsError> {
    // The stage's children die with it.
    child.kill().tried("cannot end a process")?;
    child.wait().map(drop).tried("cannot wait for a process")
}

fn tail(
    mut pipe: impl Read + Send + 'static,
    done: mpsc::Sender<()>,
) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut kept = Vec::new();
        let mut buffer = [0; 4096];
        while let Ok(n @ 1..) = pipe.read(&mut buffer) {
            kept.extend_from_slice(&buffer[..n]);
            if kept.len() > 2 * TAIL {
                kept.drain(..kept.len() - TAIL);
            }
        }
        // The receiver may have given up.
        let _ = done.send(());
        let from = kept.len().saturating_sub(TAIL);
        String::from_utf8_lossy(&kept[from..]).trim().to_owned()
    })
}

/// An exit status in words.
pub(super) fn words(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (_, Some(signal)) => format!("signal {signal}"),
        _ => "no status".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(text: &str, limit: Duration) -> Ended {
        let mut command = Command::new("sh");
        run(
            command.args(["-c", text]),
            b"in",
            limit,
            &tcplab_os::Stop::never(),
            &mut || false,
        )
        .unwrap()
    }

    #[test]
    fn hung_process_is_ended_and_its_last_output_kept() {
        let ended = shell(
            "echo last words; exec sleep 600",
            Duration::from_millis(300),
        );
        assert!(ended.status.is_none());
        assert_eq!(ended.console, "last words\n");
    }

    #[test]
    fn both_outputs_are_kept_at_their_end_and_the_input_arrives() {
        let ended = shell("cat; echo err >&2; exit 3", Duration::from_secs(60));
        assert_eq!(words(ended.status.unwrap()), "exit code 3");
        assert_eq!(ended.console, "in\nerr");
        let long = shell(
            "yes 0123456789 | head -c 100000; echo end",
            Duration::from_secs(60),
        );
        assert!(long.console.trim().ends_with("end") && long.console.len() <= TAIL + 1);
    }
}
