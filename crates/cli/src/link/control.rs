//! `--control` and `--change`: orders over a Unix socket, one a line; each is answered with `ok` or with what is wrong.

use std::fs;
use std::io::{self, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::thread;

use super::orders::{Desk, WAYS, line_of};
use crate::failure::Failure;

/// The answer to an order that was taken.
const OK: &str = "ok";

/// The socket; it vanishes with this.
pub struct Socket(PathBuf);

impl Socket {
    /// Listens at `path` for this user's orders. A socket that nobody listens at any more is replaced.
    pub fn listen(path: &Path, desk: Desk) -> Result<Self, Failure> {
        let failed =
            |e: io::Error| Failure::input(format!("{}: cannot listen: {e}", path.display()));
        if UnixStream::connect(path).is_ok() {
            let why = format!("{}: another link listens there", path.display());
            return Err(Failure::input(why));
        }
        let is_socket = fs::symlink_metadata(path)
            .is_ok_and(|meta| std::os::unix::fs::FileTypeExt::is_socket(&meta.file_type()));
        if is_socket {
            fs::remove_file(path).map_err(failed)?;
        }
        let listener = UnixListener::bind(path).map_err(failed)?;
        let socket = Self(path.to_owned());
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map_err(failed)?;
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let desk = desk.clone();
                thread::spawn(move || serve(&stream, &desk));
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

/// Answers one caller until it goes.
fn serve(mut stream: &UnixStream, desk: &Desk) {
    let mut input = BufReader::new(stream);
    while let Ok(Some(line)) = line_of(&mut input) {
        let answer = desk.line(&line).err().unwrap_or_else(|| OK.into());
        // One line: the text of an error may have several.
        let answer = answer.lines().collect::<Vec<_>>().join(" | ");
        if writeln!(stream, "{answer}").is_err() {
            return;
        }
    }
}

/// Gives the link at `path` new settings for these ways.
pub fn change(path: &Path, ways: [Option<&str>; 2]) -> Result<(), Failure> {
    let failed = |e: io::Error| {
        Failure::input(format!(
            "{}: no link listens there: {e}; start one with --control",
            path.display()
        ))
    };
    let stream = UnixStream::connect(path).map_err(failed)?;
    let mut input = BufReader::new(&stream);
    for (name, words) in WAYS.iter().zip(ways) {
        let Some(words) = words else { continue };
        if words.contains('\n') {
            return Err(Failure::usage(format!("--{name}: write one line")));
        }
        writeln!(&stream, "{name} {words}").map_err(failed)?;
        let answer = line_of(&mut input).map_err(failed)?.unwrap_or_default();
        if answer.trim_end() != OK {
            return Err(Failure::usage(answer.trim_end()));
        }
    }
    Ok(())
}
