//! Debian's archive for packages that the system's apt does not know: an apt with a configuration of
//! its own in the store (sources, state and cache), which needs no root and leaves the system alone.
//!
//! Only the suites that have the wanted series are asked for. Their signatures are verified with
//! Debian's keyring as it is installed here.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tcplab_os::output::write_own;

use super::BuildError;
use super::command::{Log, output};
use crate::store::{Store, remove};

/// Where Debian's keys lie, by the package debian-archive-keyring.
const KEYRINGS: [&str; 2] = [
    "/usr/share/keyrings/debian-archive-keyring.gpg",
    "/usr/share/keyrings/debian-archive-keyring.pgp",
];

/// Where packages come from when the system's apt names no mirror of Debian.
const DEFAULT_MIRROR: &str = "http://deb.debian.org/debian/";

/// The same for security updates.
const DEFAULT_SECURITY: &str = "http://deb.debian.org/debian-security/";

/// Series of Linux and the suites of Debian that have their source.
const SUITES: &[(&str, &[&str])] = &[
    ("5.10", &["bullseye", "bullseye-security"]),
    ("6.1", &["bookworm", "bookworm-security"]),
    ("6.12", &["trixie", "trixie-security"]),
    ("7.2", &["sid"]),
];

/// The series whose source Debian has, oldest first.
pub fn known_series() -> impl Iterator<Item = &'static str> {
    SUITES.iter().map(|(series, _)| *series)
}

/// Where any other series may be: the newest ones.
const ELSEWHERE: &[&str] = &["trixie-backports", "sid"];

/// The suites to ask for a series.
fn suites(series: &str) -> &'static [&'static str] {
    let row = SUITES.iter().find(|(s, _)| *s == series);
    row.map_or(ELSEWHERE, |(_, suites)| suites)
}

/// Debian's mirrors.
#[derive(Debug, PartialEq, Eq)]
struct Mirrors {
    main: String,
    security: String,
}

impl Mirrors {
    /// Those that the system's apt uses.
    fn of_system() -> Self {
        let format = "$(REPO_URI)";
        let targets = ["indextargets", "--format", format, "Created-By: Packages"];
        Self::among(&output(Command::new("apt-get").args(targets)).unwrap_or_default())
    }

    /// The first of each kind in a list of addresses, one a line.
    fn among(list: &str) -> Self {
        let first = |folder: &str, default: &str| {
            let is_mirror = |l: &&str| {
                l.starts_with("http") && l.trim_end_matches('/').ends_with(&format!("/{folder}"))
            };
            let found = list.lines().map(str::trim).find(is_mirror);
            found.unwrap_or(default).to_owned()
        };
        Self {
            main: first("debian", DEFAULT_MIRROR),
            security: first("debian-security", DEFAULT_SECURITY),
        }
    }

    fn of_suite(&self, suite: &str) -> &str {
        if suite.ends_with("-security") {
            &self.security
        } else {
            &self.main
        }
    }

    /// The sources of apt: one line a suite, and of each suite the list of packages only.
    fn sources(&self, suites: &[&str], keyring: &str) -> String {
        let line = |suite: &&str| {
            let mirror = self.of_suite(suite);
            format!("deb [signed-by={keyring} target=Packages] {mirror} {suite} main\n")
        };
        suites.iter().map(line).collect()
    }
}

/// An apt: the system's, or one of its own.
#[derive(Debug)]
pub(crate) struct Apt {
    /// The private one's folder.
    folder: Option<PathBuf>,
}

impl Apt {
    /// The system's.
    pub(crate) fn system() -> Self {
        Self { folder: None }
    }

    /// One that knows the suites of a series (`5.10`), with lists as they are now.
    pub(crate) fn of_series(
        store: &Store,
        series: &str,
        log: &mut Log,
    ) -> Result<Self, BuildError> {
        let keyring = KEYRINGS.iter().find(|k| Path::new(k).is_file());
        let keyring = keyring.ok_or(BuildError::NoKeyring)?;
        let folder = store.root().join("apt").join(series);
        let (suites, mirrors) = (suites(series), Mirrors::of_system());
        set_up(&folder, &mirrors.sources(suites, keyring))?;
        let apt = Self {
            folder: Some(folder),
        };
        let mut update = apt.command("apt-get");
        update.arg("update");
        let what = format!("apt-get update for Debian {}", suites.join(" and "));
        log.run(&what, &mut update, |_| ())
            .map_err(|e| refusal(e, suites, &mirrors, series))?;
        Ok(apt)
    }

    /// A program of apt.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        if let Some(folder) = &self.folder {
            command.env("APT_CONFIG", folder.join("apt.conf"));
        }
        command
    }

    /// Removes what the private one has on disk, which the next one gets again.
    pub(crate) fn clean(self) -> Result<(), BuildError> {
        if let Some(folder) = self.folder {
            remove(&folder)?;
        }
        Ok(())
    }
}

/// Writes the configuration and makes the folders that it names.
fn set_up(folder: &Path, sources: &str) -> Result<(), BuildError> {
    remove(folder)?;
    for below in ["state/lists/partial", "cache/archives/partial", "none"] {
        let path = folder.join(below);
        fs::create_dir_all(&path).map_err(BuildError::io(&path))?;
    }
    for (name, text) in [
        ("apt.conf", configuration(folder)),
        ("sources.list", sources.to_owned()),
        ("status", String::new()),
    ] {
        let path = folder.join(name);
        write_own(&path, text).map_err(BuildError::io(&path))?;
    }
    Ok(())
}

/// What apt reads last, after the system's configuration: a proxy that is set there stays.
fn configuration(folder: &Path) -> String {
    let f = folder.display();
    // The user `_apt` may not enter somebody's home.
    format!(
        "Dir::State \"{f}/state\";\n\
         Dir::State::status \"{f}/status\";\n\
         Dir::Cache \"{f}/cache\";\n\
         Dir::Etc::sourcelist \"{f}/sources.list\";\n\
         Dir::Etc::sourceparts \"{f}/none\";\n\
         Dir::Etc::preferences \"/dev/null\";\n\
         Dir::Etc::preferencesparts \"{f}/none\";\n\
         APT::Sandbox::User \"root\";\n\
         APT::Update::Error-Mode \"any\";\n\
         Acquire::GzipIndexes \"true\";\n\
         Acquire::Languages \"none\";\n\
         Acquire::Retries \"2\";\n"
    )
}

/// What apt's words mean, and the way out.
const CAUSES: &[(&[&str], &str)] = &[
    (
        &[
            "NO_PUBKEY",
            "not signed",
            "couldn't be verified",
            "EXPKEYSIG",
        ],
        "the keyring here cannot verify their signatures; update it: sudo apt-get install debian-archive-keyring",
    ),
    (
        &[
            "does not have a Release file",
            "404  Not Found",
            "File not found",
        ],
        "the mirror does not have it; old suites move to http://archive.debian.org/debian",
    ),
    (
        &["is expired", "is not valid yet"],
        "its lists are out of date, or this machine's clock is wrong",
    ),
    (
        &[
            "Could not resolve",
            "Temporary failure",
            "Could not connect",
            "Cannot initiate the connection",
            "Unable to connect",
            "Connection failed",
            "timed out",
        ],
        "no connection; check the network and apt's proxy",
    ),
];

fn cause(said: &str) -> &'static str {
    let is_said = |words: &&[&str]| words.iter().any(|w| said.contains(w));
    let row = CAUSES.iter().find(|(words, _)| is_said(words));
    row.map_or("apt gives no reason that is known", |(_, cause)| cause)
}

/// The error of an update that failed.
fn refusal(e: BuildError, suites: &[&str], mirrors: &Mirrors, series: &str) -> BuildError {
    let BuildError::Step { log, tail, .. } = e else {
        return e;
    };
    let from = |suite: &&str| format!("{suite} from {}", mirrors.of_suite(suite));
    BuildError::Suites {
        suites: suites.iter().map(from).collect(),
        cause: cause(&tail),
        file: format!("linux-source-{series}.tar.xz"),
        log,
        tail,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirrors_are_those_of_the_system() {
        let list = "https://deb.nodesource.com/node_20.x/\nhttp://ftp.example.org/debian/\n\
                    http://other.example.org/debian\nhttps://sec.example.org/debian-security/\n";
        let mirrors = Mirrors::among(list);
        assert_eq!(mirrors.main, "http://ftp.example.org/debian/");
        assert_eq!(mirrors.security, "https://sec.example.org/debian-security/");
        // Another distribution, or a medium.
        let mirrors = Mirrors::among("http://archive.ubuntu.com/ubuntu/\nfile:/media/debian/\n");
        assert_eq!(mirrors.main, DEFAULT_MIRROR);
        assert_eq!(mirrors.security, DEFAULT_SECURITY);
    }

    #[test]
    fn only_the_suites_of_the_series_are_asked_for() {
        let mirrors = Mirrors::among("");
        assert_eq!(
            mirrors.sources(suites("5.10"), "/k.gpg"),
            "deb [signed-by=/k.gpg target=Packages] http://deb.debian.org/debian/ bullseye main\n\
             deb [signed-by=/k.gpg target=Packages] http://deb.debian.org/debian-security/ bullseye-security main\n"
        );
        assert_eq!(suites("7.2"), ["sid"]);
        assert_eq!(suites("6.18"), ELSEWHERE);
    }

    #[test]
    fn the_configuration_names_nothing_of_the_system_but_the_keys() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("apt/5.10");
        set_up(&root, "deb x\n").unwrap();
        let text = fs::read_to_string(root.join("apt.conf")).unwrap();
        for line in text.lines().filter(|l| l.starts_with("Dir::")) {
            let (_, path) = line.split_once(" \"").unwrap();
            let path = Path::new(path.trim_end_matches("\";"));
            assert!(path.exists(), "{line}");
            let is_own = path.starts_with(&root) || path == Path::new("/dev/null");
            assert!(is_own, "{line}");
        }
        let apt = Apt {
            folder: Some(root.clone()),
        };
        let command = apt.command("apt-get");
        let envs: Vec<_> = command.get_envs().collect();
        assert_eq!(envs[0].1.unwrap(), root.join("apt.conf").as_os_str());
        apt.clean().unwrap();
        assert!(!root.exists());
        assert_eq!(Apt::system().command("apt-get").get_envs().count(), 0);
    }

    #[test]
    fn failed_update_says_why_and_what_to_do() {
        let step = |tail: &str| BuildError::Step {
            what: "apt-get update".into(),
            log: "/l/fetch.log".into(),
            tail: tail.into(),
        };
        for (tail, words) in [
            (
                "Err:1 http://x sid InRelease\n  Temporary failure resolving 'x'",
                "no connection; check the network",
            ),
            (
                "W: GPG error: ... NO_PUBKEY 6ED0E7B82643E131",
                "install debian-archive-keyring",
            ),
            (
                "E: The repository 'http://x bullseye Release' does not have a Release file.",
                "archive.debian.org",
            ),
            ("E: Release file for http://x is expired", "clock is wrong"),
            ("E: something else", "no reason that is known"),
        ] {
            let error = refusal(step(tail), suites("5.10"), &Mirrors::among(""), "5.10");
            assert!(error.is_machine());
            let text = error.to_string();
            assert!(text.starts_with("cannot read the lists of Debian bullseye from http://deb.debian.org/debian/ and bullseye-security from "), "{text}");
            assert!(text.contains(words), "{text}");
            assert!(
                text.contains("linux-source-5.10.tar.xz into /usr/src"),
                "{text}"
            );
            assert!(text.contains("fetch.log") && text.ends_with(tail), "{text}");
        }
    }
}
