//! Two machines for tests: network namespaces with an sshd each, and a third one between them, where the command runs.
//!
//! Everything is of the test's own: keys, configuration, ports, home folders. What was started ends by its process id, at
//! the latest with the thread that started it. The machine's own sshd and ~/.ssh are not touched.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use super::{Run, folder, root};

/// The program; sbin is not in every PATH.
const SSHD: &str = "/usr/sbin/sshd";

/// The port of both.
const PORT: u16 = 2222;

/// A process that ends with this value.
struct Ends(Child);

impl Drop for Ends {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The machines `a` (10.99.1.2, fd99:1::2) and `b` (10.99.2.2, fd99:2::2), as ssh's configuration names them.
pub struct Machines {
    /// In the order of their start; they end first to last.
    _running: Vec<Ends>,
    /// Process ids that stand for the namespaces: between, a, b.
    spaces: Vec<u32>,
    place: tempfile::TempDir,
}

impl Machines {
    /// None, with a message: without root or without sshd.
    pub fn start() -> Option<Self> {
        let lacks = match () {
            () if !is_root() => "root",
            () if !Path::new(SSHD).exists() => "sshd (package openssh-server)",
            () if !works("ssh", &["-V"]) => "ssh (package openssh-client)",
            () => "",
        };
        if !lacks.is_empty() {
            eprintln!("skipped: this test needs {lacks}");
            return None;
        }
        let mut machines = Self {
            _running: Vec::new(),
            spaces: Vec::new(),
            place: folder(),
        };
        for _ in 0..3 {
            machines.namespace();
        }
        machines.inside(0, &["sysctl", "-qw", "net.ipv4.ip_forward=1"]);
        machines.inside(0, &["sysctl", "-qw", "net.ipv6.conf.all.forwarding=1"]);
        // sshd wants this folder of the machine; it stays empty.
        fs::create_dir_all("/run/sshd").unwrap();
        machines.key("host_key");
        machines.key("key");
        machines.key("other_key");
        let public = fs::read_to_string(machines.path("key.pub")).unwrap();
        fs::write(machines.path("authorized"), public).unwrap();
        for n in [1, 2] {
            machines.connect(n);
            machines.sshd(n);
        }
        machines.configure("config", "key", true);
        machines.configure("no_key", "other_key", true);
        machines.configure("not_known", "key", false);
        Some(machines)
    }

    /// A file of the test's folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    /// The command, between the machines.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = self.within(0, &[env!("CARGO_BIN_EXE_tcplab")]);
        command
            .args(args)
            .current_dir(root())
            .env_remove("COLUMNS")
            .stdin(Stdio::null());
        command
    }

    /// The command with an ssh configuration of the test: `config`, `no_key`, `not_known`.
    pub fn tcplab(&self, args: &[&str], config: &str) -> Run {
        let config = self.path(config);
        let config = ["--ssh-config", config.to_str().unwrap()];
        let args = [args, &config].concat();
        Run::new(self.command(&args).output().unwrap())
    }

    /// Runs a program in a namespace: 0 is between the machines, 1 is a, 2 is b.
    pub fn inside(&self, space: usize, words: &[&str]) -> String {
        let output = self.within(space, words).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {errors}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Processes on the machines that run a copy of the command.
    pub fn far_sides(&self) -> usize {
        let place = self.place.path().to_string_lossy().into_owned();
        let all = fs::read_dir("/proc").unwrap().flatten();
        let commands = all.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
        commands
            .filter(|words| {
                let words = String::from_utf8_lossy(words);
                words.starts_with(&place) && words.contains("__remote")
            })
            .count()
    }

    fn within(&self, space: usize, words: &[&str]) -> Command {
        let mut command = Command::new("nsenter");
        let target = self.spaces[space].to_string();
        command
            .args(["--target", &target, "--net", "--"])
            .args(words);
        command
    }

    fn namespace(&mut self) {
        let child = Command::new("setpriv")
            .args(["--pdeathsig", "KILL", "unshare", "--net"])
            .args(["sh", "-c", "echo ready; exec sleep 600"])
            .stdout(Stdio::piped())
            .spawn();
        let mut child = child.unwrap();
        let mut line = [0; 6];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut line).unwrap();
        self.spaces.push(child.id());
        self._running.push(Ends(child));
        let space = self.spaces.len() - 1;
        self.inside(space, &["ip", "link", "set", "lo", "up"]);
    }

    /// A veth pair from machine n to what lies between, and its route to the other one.
    fn connect(&self, n: usize) {
        let near = format!("to-{n}");
        let (own, gate) = (format!("10.99.{n}.2/24"), format!("10.99.{n}.1/24"));
        let pid = self.spaces[n].to_string();
        let peer = ["peer", "name", "eth0", "netns", &pid];
        let add = [&["ip", "link", "add", &near, "type", "veth"][..], &peer].concat();
        self.inside(0, &add);
        self.inside(0, &["ip", "addr", "add", &gate, "dev", &near]);
        self.inside(0, &["ip", "link", "set", &near, "up"]);
        self.inside(n, &["ip", "addr", "add", &own, "dev", "eth0"]);
        self.inside(n, &["ip", "link", "set", "eth0", "up"]);
        let gate = format!("10.99.{n}.1");
        self.inside(n, &["ip", "route", "add", "default", "via", &gate]);
        let (own, gate) = (format!("fd99:{n}::2/64"), format!("fd99:{n}::1"));
        let near_gate = format!("{gate}/64");
        self.inside(0, &["ip", "addr", "add", &near_gate, "dev", &near, "nodad"]);
        self.inside(n, &["ip", "addr", "add", &own, "dev", "eth0", "nodad"]);
        self.inside(n, &["ip", "-6", "route", "add", "default", "via", &gate]);
    }

    fn key(&self, name: &str) {
        let path = self.path(name);
        let args = ["-q", "-t", "ed25519", "-N", "", "-C", "", "-f"];
        let made = Command::new("ssh-keygen").args(args).arg(path).status();
        assert!(made.unwrap().success(), "ssh-keygen");
    }

    fn sshd(&mut self, n: usize) {
        let home = self.path(&format!("home-{n}"));
        fs::create_dir(&home).unwrap();
        let text = format!(
            "Port {PORT}\nListenAddress 10.99.{n}.2\nHostKey {}\nPidFile none\nUsePAM no\nStrictModes no\n\
             AuthorizedKeysFile {}\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n\
             PermitRootLogin prohibit-password\nMaxStartups 50\nSetEnv HOME={home} XDG_CACHE_HOME={home}/cache\n",
            self.path("host_key").display(),
            self.path("authorized").display(),
            home = home.display(),
        );
        let file = self.path(&format!("sshd_config-{n}"));
        fs::write(&file, text).unwrap();
        let log = self.path(&format!("sshd-{n}.log"));
        let words = ["setpriv", "--pdeathsig", "KILL", SSHD, "-D", "-f"];
        let mut command = self.within(n, &words);
        command.arg(file).arg("-E").arg(&log).stdin(Stdio::null());
        self._running.push(Ends(command.spawn().unwrap()));
        // It speaks when it listens.
        for _ in 0..1_000 {
            let said = fs::read_to_string(&log).unwrap_or_default();
            if said.contains("listening on") {
                return;
            }
            sleep(Duration::from_millis(10));
        }
        panic!("sshd: {}", fs::read_to_string(&log).unwrap_or_default());
    }

    /// What the client knows of the machines, and of one that is not there.
    fn configure(&self, name: &str, key: &str, knows_hosts: bool) {
        let known = self.path(&format!("{name}.known"));
        let public = fs::read_to_string(self.path("host_key.pub")).unwrap();
        let mut hosts = String::new();
        let mut text = String::new();
        for (word, n) in [("a", 1), ("b", 2)] {
            hosts.push_str(&format!("[10.99.{n}.2]:{PORT} {public}"));
            text.push_str(&format!("Host {word}\n  HostName 10.99.{n}.2\n"));
        }
        fs::write(&known, if knows_hosts { hosts.as_str() } else { "" }).unwrap();
        text.push_str(&format!(
            "Host *\n  Port {PORT}\n  User root\n  IdentityFile {}\n  IdentitiesOnly yes\n  IdentityAgent none\n  \
             UserKnownHostsFile {}\n  GlobalKnownHostsFile /dev/null\n  StrictHostKeyChecking yes\n",
            self.path(key).display(),
            known.display()
        ));
        fs::write(self.path(name), text).unwrap();
    }
}

fn works(program: &str, args: &[&str]) -> bool {
    let status = Command::new(program)
        .args(args)
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|s| s.success())
}

/// Whether this process is root, as the kernel says it.
fn is_root() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("Uid:"));
    line.is_some_and(|line| line.split_whitespace().nth(2) == Some("0"))
}
