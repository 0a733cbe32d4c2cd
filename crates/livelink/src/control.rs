//! `--control` and `--change`: orders over a Unix socket, one a line; each is answered with `ok` or with what is wrong.

use std::fs;
use std::io::{self, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use tcplab_os::say;

use crate::orders::{Desk, WAYS, line_of, settings};
use crate::private_socket;

/// The answer to an order that was taken.
const OK: &str = "ok";

/// The longest silence of a caller.
const PATIENCE: Duration = Duration::from_secs(1);

/// Why orders do not come through.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// Words that are wrong, or that the link refuses.
    #[error("{0}")]
    Words(String),
    /// The socket cannot be listened at, or nobody listens there.
    #[error("{0}")]
    Socket(String),
    /// The link ended meanwhile.
    #[error("the link ended before it answered")]
    Ended,
}

/// The socket; it vanishes with this.
#[derive(Debug)]
pub struct Socket(PathBuf);

impl Socket {
    /// Listens at `path` for this user's orders. A socket that nobody listens at any more is replaced.
    ///
    /// # Errors
    /// It cannot be made, or another link listens there.
    pub fn listen(path: &Path, desk: Desk) -> Result<Self, ControlError> {
        let failed =
            |e: io::Error| ControlError::Socket(format!("{}: cannot listen: {e}", path.display()));
        if UnixStream::connect(path).is_ok() {
            let why = format!("{}: another link listens there", path.display());
            return Err(ControlError::Socket(why));
        }
        let is_socket = fs::symlink_metadata(path)
            .is_ok_and(|meta| std::os::unix::fs::FileTypeExt::is_socket(&meta.file_type()));
        if is_socket {
            fs::remove_file(path).map_err(failed)?;
        }
        let listener = private_socket(path).map_err(failed)?;
        let socket = Self(path.to_owned());
        // One caller after another: there is one link.
        thread::spawn(move || {
            for stream in listener.incoming() {
                match stream {
                    Ok(stream) => serve(&stream, &desk),
                    Err(_) => thread::sleep(PATIENCE),
                }
            }
        });
        Ok(socket)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Answers one caller until it goes, or has said nothing for a while.
fn serve(mut stream: &UnixStream, desk: &Desk) {
    if stream.set_read_timeout(Some(PATIENCE)).is_err() {
        return;
    }
    let mut input = BufReader::new(stream);
    // A line that was cut off is no order.
    while let Ok(Some(line)) = line_of(&mut input)
        && line.ends_with('\n')
    {
        let answer = match desk.line(&line) {
            Ok(how) => format!("{OK} {how}"),
            Err(why) => why,
        };
        // One line: the text of an error may have several.
        let answer = answer.lines().collect::<Vec<_>>().join(" | ");
        if writeln!(stream, "{answer}").is_err() {
            return;
        }
    }
}

/// Gives the link at `path` new settings for these ways.
///
/// # Errors
/// Wrong words, no link.
pub fn change(path: &Path, ways: [Option<&str>; 2]) -> Result<(), ControlError> {
    let failed = |e: io::Error| {
        ControlError::Socket(format!(
            "{}: no link listens there: {e}; start one with --control",
            path.display()
        ))
    };
    // All of it is right, or nothing is changed.
    for (name, words) in WAYS.iter().zip(ways) {
        let Some(words) = words else { continue };
        settings(&format!("--{name}"), words).map_err(ControlError::Words)?;
    }
    let stream = UnixStream::connect(path).map_err(failed)?;
    let mut input = BufReader::new(&stream);
    for (name, words) in WAYS.iter().zip(ways) {
        let Some(words) = words else { continue };
        if words.contains('\n') {
            return Err(ControlError::Words(format!("--{name}: write one line")));
        }
        writeln!(&stream, "{name} {words}").map_err(failed)?;
        let answer = line_of(&mut input).map_err(failed)?.unwrap_or_default();
        match (answer.trim_end(), answer.strip_prefix(OK)) {
            ("", _) => return Err(ControlError::Ended),
            (_, Some(how)) => say(&format!("tcplab: {name}:{}", how.trim_end())),
            (why, None) => return Err(ControlError::Words(why.to_owned())),
        }
    }
    Ok(())
}
