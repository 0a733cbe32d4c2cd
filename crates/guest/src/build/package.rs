//! Debian's linux-source packages: the one that is installed, one that was fetched before, or
//! one that apt can get. No version is written down here; apt says what there is.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tcplab_os::output::write_own;

use super::apt::{self, Apt};
use super::command::{Log, output};
use super::{BuildError, hash};
use crate::store::Store;

/// A package's tar file.
#[derive(Clone, Debug)]
pub(crate) struct Tarball {
    pub(crate) path: PathBuf,
    /// `linux-source-6.1`.
    pub(crate) package: String,
    /// `6.1.192-2`.
    pub(crate) version: Option<String>,
}

/// A version as asked for: `6.1`, or one release of it, `6.1.176`.
pub(crate) struct Wanted<'a>(pub(crate) &'a str);

impl Wanted<'_> {
    /// `6.1`.
    pub(crate) fn series(&self) -> String {
        let parts: Vec<&str> = self.0.split('.').take(2).collect();
        parts.join(".")
    }

    /// `linux-source-6.1`.
    pub(crate) fn package(&self) -> String {
        format!("linux-source-{}", self.series())
    }

    fn none(&self, why: String) -> BuildError {
        BuildError::NoPackage {
            version: self.0.to_owned(),
            why,
        }
    }

    /// Whether a package of this version will do.
    fn takes(&self, package_version: &str) -> bool {
        let rest = package_version.strip_prefix(self.0);
        rest.is_some_and(|r| r.is_empty() || r.starts_with(['.', '-', '~', '+']))
    }
}

/// A tar file that is on this machine.
pub(crate) fn local(store: &Store, wanted: &Wanted) -> Option<Tarball> {
    let package = wanted.package();
    let file = format!("{package}.tar.xz");
    let installed = Path::new("/usr/src").join(&file);
    let query = ["-W", "-f=${Version}", &package];
    let version = output(Command::new("dpkg-query").args(query));
    if installed.is_file() && version.as_ref().is_none_or(|v| wanted.takes(v)) {
        return Some(Tarball {
            path: installed,
            package,
            version,
        });
    }
    // Fetched ones: packages/linux-source-6.1_6.1.192-2/usr/src/linux-source-6.1.tar.xz
    let fetched = fs::read_dir(store.root().join("packages")).ok()?;
    let mut found: Vec<(PathBuf, String)> = fetched
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name().into_string().ok()?;
            let version = name.strip_prefix(&format!("{package}_"))?.to_owned();
            let path = entry.path().join("usr/src").join(&file);
            (wanted.takes(&version) && path.is_file()).then_some((path, version))
        })
        .collect();
    found.sort_by_key(|(_, version)| numbers(version));
    let (path, version) = found.pop()?;
    Some(Tarball {
        path,
        package,
        version: Some(version),
    })
}

/// The numbers in a version, to compare by.
fn numbers(version: &str) -> Vec<u64> {
    let parts = version.split(|c: char| !c.is_ascii_digit());
    parts.filter_map(|p| p.parse().ok()).collect()
}

/// Gets the package by apt, into the store: the system is left alone. Debian's own archive is asked
/// when the system's apt does not know the version.
pub(crate) fn fetch(store: &Store, wanted: &Wanted, log: &mut Log) -> Result<Tarball, BuildError> {
    let system = Apt::system();
    let known = versions(&system, wanted)?;
    if let Some(version) = known.iter().find(|v| wanted.takes(v)) {
        return download(store, wanted, version, &system, log);
    }
    let debian = Apt::of_series(store, &wanted.series(), log)?;
    let mut all = versions(&debian, wanted)?;
    let got = match all.iter().find(|v| wanted.takes(v)) {
        Some(version) => download(store, wanted, version, &debian, log),
        None => {
            all.extend(known);
            let package = wanted.package();
            Err(wanted.none(if all.is_empty() {
                let series: Vec<&str> = apt::known_series().collect();
                format!(
                    "neither this machine's apt nor Debian has {package}; Debian has {}",
                    series.join(", ")
                )
            } else {
                format!("{package} exists as {}", all.join(", "))
            }))
        }
    };
    debian.clean()?;
    got
}

/// The versions of the package that an apt knows, newest first.
fn versions(apt: &Apt, wanted: &Wanted) -> Result<Vec<String>, BuildError> {
    let mut madison = apt.command("apt-cache");
    let text = output(madison.args(["madison", &wanted.package()]));
    let text = text.ok_or_else(|| wanted.none("apt-cache does not run here".into()))?;
    Ok(madison_versions(&text))
}

/// Downloads and unpacks a version that this apt knows.
fn download(
    store: &Store,
    wanted: &Wanted,
    version: &str,
    apt: &Apt,
    log: &mut Log,
) -> Result<Tarball, BuildError> {
    let package = wanted.package();
    let none = |why: String| wanted.none(why);
    // A slash or `..` cannot be in a Debian version; the epoch's colon is no trouble in a name.
    let packages = store.root().join("packages");
    let folder = packages.join(format!("{package}_{version}"));
    // No name that `local` would take for a package that is whole.
    let part = packages.join(format!(".part-{package}"));
    crate::store::remove(&part)?;
    fs::create_dir_all(&part).map_err(BuildError::io(&part))?;
    let mut download = apt.command("apt-get");
    download
        .arg("download")
        .arg(format!("{package}={version}"))
        .current_dir(&part);
    log.run(
        &format!("apt-get download {package}"),
        &mut download,
        |_| (),
    )
    .map_err(BuildError::of_apt)?;
    let deb = fs::read_dir(&part)
        .map_err(BuildError::io(&part))?
        .filter_map(|e| Some(e.ok()?.path()))
        .find(|p| p.extension().is_some_and(|e| e == "deb"))
        .ok_or_else(|| none("apt-get download did not write a .deb file".into()))?;
    let mut unpack = Command::new("dpkg-deb");
    unpack.arg("-x").arg(&deb).arg(&part);
    log.run("unpacking the package", &mut unpack, |_| ())?;
    fs::remove_file(&deb).map_err(BuildError::io(&deb))?;
    crate::store::remove(&folder)?;
    fs::rename(&part, &folder).map_err(BuildError::io(&folder))?;
    local(store, wanted).ok_or_else(|| none(format!("{package} has no {package}.tar.xz")))
}

/// The versions that `apt-cache madison` lists, newest first as it prints them.
fn madison_versions(text: &str) -> Vec<String> {
    let mut versions = Vec::new();
    for line in text.lines() {
        let mut columns = line.split('|').map(str::trim);
        let (_, version, from) = (columns.next(), columns.next(), columns.next());
        let is_binary = from.is_some_and(|f| f.ends_with("Packages"));
        if let Some(version) = version.filter(|_| is_binary)
            && !versions.iter().any(|v| v == version)
        {
            versions.push(version.to_owned());
        }
    }
    versions
}

/// SHA-256 of a tar file; remembered as long as size and time stamp stay.
pub(crate) fn sum(store: &Store, tarball: &Path) -> Result<String, BuildError> {
    let stamp = super::folder::stamp(&fs::metadata(tarball).map_err(BuildError::io(tarball))?);
    let name = hash::of_bytes(tarball.as_os_str().as_encoded_bytes());
    let name: String = name.chars().take(12).collect();
    let memo = store.root().join("src").join(format!("{name}.sum"));
    let known = fs::read_to_string(&memo).unwrap_or_default();
    if let Some((s, sum)) = known.trim_end().split_once('\t')
        && s == stamp
    {
        return Ok(sum.to_owned());
    }
    let sum = hash::of_file(tarball).map_err(BuildError::io(tarball))?;
    let folder = store.root().join("src");
    fs::create_dir_all(&folder).map_err(BuildError::io(&folder))?;
    write_own(&memo, format!("{stamp}\t{sum}\n")).map_err(BuildError::io(&memo))?;
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_apt() {
        let text = "linux-source-6.1 |  6.1.192-2 | http://deb bookworm-security/main amd64 Packages\n\
                    linux-source-6.1 |  6.1.176-1 | http://deb bookworm/main amd64 Packages\n\
                    linux-source-6.1 |  6.1.176-1 | http://mirror bookworm/main amd64 Packages\n\
                    \x20    linux |    6.1.4-1 | http://deb bookworm/main Sources\n";
        assert_eq!(madison_versions(text), ["6.1.192-2", "6.1.176-1"]);
    }

    #[test]
    fn a_version_takes_its_releases_only() {
        assert!(Wanted("6.1").takes("6.1.192-2") && Wanted("6.1.192").takes("6.1.192-2"));
        assert!(!Wanted("6.1").takes("6.12.94-1") && !Wanted("6.1.19").takes("6.1.192-2"));
        assert_eq!(Wanted("6.1.192").package(), "linux-source-6.1");
    }

    #[test]
    fn fetched_packages_are_found_newest_first() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        for version in ["99.1.9-1", "99.1.10-1", "99.2.1-1"] {
            let below = format!("packages/linux-source-99.1_{version}/usr/src");
            fs::create_dir_all(folder.path().join(&below)).unwrap();
            let file = folder.path().join(below).join("linux-source-99.1.tar.xz");
            fs::write(file, version).unwrap();
        }
        let find = |wanted| local(&store, &Wanted(wanted)).and_then(|t| t.version);
        assert_eq!(find("99.1").as_deref(), Some("99.1.10-1"));
        assert_eq!(find("99.1.9").as_deref(), Some("99.1.9-1"));
        assert_eq!(find("99.3"), None);
    }

    #[test]
    fn sum_is_of_the_current_file() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path().join("store"));
        let file = folder.path().join("x.tar.xz");
        for text in ["abc", "abcd", "abcd"] {
            fs::write(&file, text).unwrap();
            assert_eq!(sum(&store, &file).unwrap(), hash::of_bytes(text));
        }
    }
}
