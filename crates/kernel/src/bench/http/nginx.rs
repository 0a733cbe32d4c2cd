//! An nginx of the run's own: in the foreground, one worker, its files in the run's folder, the listening socket ours.
//!
//! Nothing of the machine's nginx is read or written: configuration, prefix, logs, temporary files and the process id
//! are in the folder. It ends when the end that started it does, however that ends: its master gets SIGTERM then.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::client::Client;
use super::tls::Identity;
use super::{Ready, Server, spans, spent};
use crate::bench::Spec;
use crate::bench::clock::now;
use crate::bench::measure::EndReport;
use crate::bench::workload::{Over, Work};

/// The first argument of a process that becomes another program and ends with its parent.
pub(in crate::bench) const EXEC: &str = "__bench-exec";

/// How long it may take to begin and to end.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where it may lie: sbin is not in every user's PATH.
const PLACES: [&str; 4] = [
    "/usr/local/sbin",
    "/usr/sbin",
    "/sbin",
    "/usr/local/nginx/sbin",
];

/// Becomes another program. Only an error comes back.
pub(in crate::bench) fn exec(mut words: impl Iterator<Item = OsString>) -> ExitCode {
    let program = words.next().unwrap_or_default();
    let failed = match set_pdeathsig(Signal::SIGTERM) {
        Ok(()) => Command::new(&program).args(words).exec(),
        Err(e) => e.into(),
    };
    crate::say(&format!("{}: {failed}", program.to_string_lossy()));
    ExitCode::FAILURE
}

/// The program, if it is installed and runs.
pub(super) fn find() -> Option<Server> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&path).chain(PLACES.map(PathBuf::from));
    let program = places
        .map(|place| place.join("nginx"))
        .find(|program| program.is_file())?;
    // `nginx version: nginx/1.22.1`, on standard error.
    let said = Command::new(&program).arg("-v").output().ok()?;
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    let version = said
        .split_whitespace()
        .find(|word| word.contains('/'))?
        .to_owned();
    Some(Server::Nginx { program, version })
}

/// How to start it.
pub(super) struct Nginx<'a> {
    pub(super) program: &'a Path,
    pub(super) version: &'a str,
    /// The run's folder.
    pub(super) folder: &'a Path,
}

impl Nginx<'_> {
    /// Serves until standard input ends.
    pub(super) fn serve(&self, spec: &Spec, listener: TcpListener) -> io::Result<EndReport> {
        let address = listener.local_addr()?;
        let prefix = self.folder.join("nginx");
        write_files(spec, &prefix, address)?;
        let mut running = self.start(&prefix, listener)?;
        let id = running.child.id();
        running.answers(spec, address)?;
        Ready::say(address)?;
        let [warm, time] = spans(spec);
        let mut goes_on = waits(warm)?;
        let (begun, before) = (now(), spent::of_all(id)?);
        goes_on = goes_on && waits(time)?;
        let (ended, after) = (now(), spent::of_all(id)?);
        while goes_on && waits(PATIENCE)? {}
        running.end()?;
        Ok(EndReport {
            time_ns: ended.since(begun).as_nanos(),
            cpu_user_s: after[0] - before[0],
            cpu_system_s: after[1] - before[1],
            ..EndReport::default()
        })
    }

    fn start(&self, prefix: &Path, listener: TcpListener) -> io::Result<Running> {
        let log = prefix.join("error.log");
        let mut command = Command::new("/proc/self/exe");
        command.arg(EXEC).arg(self.program);
        command.arg("-p").arg(prefix).args(["-c", "nginx.conf"]);
        // Before its configuration is read it writes into the log it was built with; since 1.19.5 it can be told another.
        if is_at_least(self.version, [1, 19, 5]) {
            command.args(["-e", "stderr"]);
        }
        // Sockets that an older nginx left to this one: ours is descriptor 0.
        command.env("NGINX", "0;");
        let child = command
            .stdin(Stdio::from(OwnedFd::from(listener)))
            .stdout(Stdio::null())
            .stderr(File::create(&log)?)
            .spawn()?;
        Ok(Running { child, log })
    }
}

/// A process that ends with this value.
struct Running {
    child: Child,
    log: PathBuf,
}

impl Running {
    /// Waits until a request is answered as it shall be.
    fn answers(&mut self, spec: &Spec, address: SocketAddr) -> io::Result<()> {
        let mut client = Client::new(spec, address, 1)?;
        let end = now() + tcplab_base::Duration::from_nanos(PATIENCE.as_nanos() as i64);
        while client.found.transactions == 0 && client.found.errors == 0 && now() < end {
            if self.child.try_wait()?.is_some() {
                return Err(self.failed("ended"));
            }
            client.turn()?;
        }
        match (client.found.error.take(), client.found.transactions) {
            (Some(error), _) => Err(self.failed(&format!("does not serve: {error}"))),
            (None, 0) => Err(self.failed("does not answer")),
            _ => client.drain(),
        }
    }

    /// Ends it.
    fn end(&mut self) -> io::Result<()> {
        // `nginx -s stop`: at once.
        kill(Pid::from_raw(self.child.id() as i32), Signal::SIGTERM)?;
        let end = now() + tcplab_base::Duration::from_nanos(PATIENCE.as_nanos() as i64);
        while now() < end {
            if self.child.try_wait()?.is_some() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Err(self.failed("does not end"))
    }

    fn failed(&self, how: &str) -> io::Error {
        let said = fs::read_to_string(&self.log).unwrap_or_default();
        let said = said.trim();
        io::Error::other(format!(
            "nginx {how}: {said}: `--http-server own` does without it"
        ))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            // SIGKILL would leave its worker behind.
            let _ = self.end();
        }
    }
}

/// Waits for the time; false: standard input has ended before.
fn waits(time: Duration) -> io::Result<bool> {
    let stdin = io::stdin();
    let mut fds = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)];
    let time = PollTimeout::try_from(time).unwrap_or(PollTimeout::MAX);
    match poll(&mut fds, time) {
        Ok(0) | Err(nix::errno::Errno::EINTR) => Ok(true),
        Ok(_) => Ok(stdin.lock().read(&mut [0; 64])? > 0),
        Err(e) => Err(e.into()),
    }
}

/// `nginx/1.22.1`.
fn is_at_least(version: &str, least: [u32; 3]) -> bool {
    let numbers = version.split('/').nth(1).unwrap_or_default();
    let mut numbers = numbers.split('.').map(|word| word.parse().unwrap_or(0));
    let mut next = || numbers.next().unwrap_or(0);
    [next(), next(), next()] >= least
}

/// The configuration, the file that is asked for, and what TLS needs.
fn write_files(spec: &Spec, prefix: &Path, address: SocketAddr) -> io::Result<()> {
    let files = prefix.join("files");
    fs::create_dir_all(&files)?;
    let size = spec.workload.size;
    fs::write(files.join(size.to_string()), vec![b'x'; size as usize])?;
    if spec.workload.over == Over::Https {
        let [certificate, key] = Identity::make()?.pem();
        fs::write(prefix.join("cert.pem"), certificate)?;
        fs::write(prefix.join("key.pem"), key)?;
    }
    fs::write(prefix.join("nginx.conf"), configuration(spec, address))
}

fn configuration(spec: &Spec, address: SocketAddr) -> String {
    let ssl = match (spec.workload.over, spec.http.resume) {
        (Over::Https, resume) => {
            let resume = match resume {
                true => "ssl_session_cache builtin; ssl_session_tickets on;",
                false => "ssl_session_cache off; ssl_session_tickets off;",
            };
            format!(
                "ssl_certificate cert.pem; ssl_certificate_key key.pem; ssl_protocols TLSv1.3; {resume}"
            )
        }
        _ => String::new(),
    };
    let listen = match ssl.is_empty() {
        true => "",
        false => " ssl",
    };
    // Its worker would become another user, who may not read the folder.
    let user = match nix::unistd::geteuid().is_root() {
        true => "user root;\n",
        false => "",
    };
    // Short ones are there twice for a moment.
    let connections = spec.http.connections as usize
        * match spec.workload.work {
            Work::Connect => 4,
            _ => 2,
        }
        + 64;
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .iter()
        .map(|what| format!("  {what}_temp_path temporary;\n"))
        .collect();
    format!(
        "{user}daemon off;\nworker_processes 1;\npid nginx.pid;\nerror_log stderr warn;\n\
         events {{ worker_connections {connections}; }}\n\
         http {{\n{temporary}  access_log off;\n  default_type application/octet-stream;\n  sendfile on;\n  \
         tcp_nopush on;\n  keepalive_timeout 1h;\n  keepalive_requests 1000000000;\n  \
         open_file_cache max=16 inactive=1h;\n  open_file_cache_valid 1h;\n  \
         server {{\n    listen {address} backlog=4096{listen};\n    root files;\n    {ssl}\n  }}\n}}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        assert!(is_at_least("nginx/1.22.1", [1, 19, 5]));
        assert!(is_at_least("nginx/1.19.5", [1, 19, 5]));
        assert!(is_at_least("openresty/2", [1, 19, 5]));
        for old in ["nginx/1.18.0", "nginx/1.9.10", "nginx"] {
            assert!(!is_at_least(old, [1, 19, 5]), "{old}");
        }
    }
}
