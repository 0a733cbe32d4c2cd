//! Kernels from Debian's packages, by apt, without installing them.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::{Image, ImageError, folder};
use crate::store::{Store, remove};

/// The package that always depends on the newest cloud kernel.
const META: &str = "linux-image-cloud-amd64";

/// The newest release that apt knows; none without apt.
pub(super) fn newest() -> Option<String> {
    let said = Command::new("apt-cache")
        .args(["show", "--no-all-versions", META])
        .output()
        .ok()?;
    release_of(&String::from_utf8_lossy(&said.stdout))
}

/// The release in the package's `Depends:`.
fn release_of(show: &str) -> Option<String> {
    let depends = show.lines().find_map(|l| l.strip_prefix("Depends: "))?;
    let first = depends.split([' ', ',', '(']).next()?;
    let release = first.strip_prefix("linux-image-")?;
    Some(release.strip_suffix("-unsigned").unwrap_or(release).into())
}

/// Gets the package of a release and gives the kernel's file.
pub(super) fn fetch(store: &Store, release: &str) -> Result<PathBuf, ImageError> {
    let none = |why: String| ImageError::None {
        name: release.to_owned(),
        why,
    };
    if release.starts_with(['.', '-']) {
        return Err(none("no such release".into()));
    }
    let place = folder(store);
    fs::create_dir_all(&place).map_err(ImageError::io(&place))?;
    let lock = store
        .lock_source(
            &format!("image-{}", release.replace('/', "_")),
            &format!("the fetch of {release}"),
            |_| (),
        )
        .map_err(|e| none(e.to_string()))?;
    // Another process may have fetched it while this one waited.
    if let Some(there) = Image::local(Some(store), release) {
        return Ok(there);
    }
    let part = place.join(format!(".{release}.part"));
    remove(&part).map_err(|e| none(e.to_string()))?;
    fs::create_dir_all(&part).map_err(ImageError::io(&part))?;
    // The one with a signature for Secure Boot has no modules of its own build.
    let names = ["-unsigned", ""].map(|end| format!("linux-image-{release}{end}"));
    let mut said = String::new();
    let got = names.iter().any(|name| {
        let mut apt = Command::new("apt-get");
        apt.args(["download", name]).current_dir(&part);
        run(apt, &mut said)
    });
    let deb = fs::read_dir(&part)
        .map_err(ImageError::io(&part))?
        .filter_map(|e| Some(e.ok()?.path()))
        .find(|p| p.extension().is_some_and(|e| e == "deb"));
    let Some(deb) = deb.filter(|_| got) else {
        let _ = remove(&part);
        let said = said.lines().last().unwrap_or_default();
        return Err(none(format!(
            "not in /boot, and apt cannot get {} ({said}); `apt-cache search linux-image-` lists the packages",
            names[0]
        )));
    };
    let mut unpack = Command::new("dpkg-deb");
    unpack.arg("-x").arg(&deb).arg(&part);
    if !run(unpack, &mut said) {
        let _ = remove(&part);
        return Err(none(format!("cannot unpack the package: {said}")));
    }
    fs::remove_file(&deb).map_err(ImageError::io(&deb))?;
    let whole = place.join(release);
    remove(&whole).map_err(|e| none(e.to_string()))?;
    fs::rename(&part, &whole).map_err(ImageError::io(&whole))?;
    drop(lock);
    Image::local(Some(store), release).ok_or_else(|| none("the package contains no kernel".into()))
}

/// Runs a program; what it says goes to the error.
fn run(mut command: Command, said: &mut String) -> bool {
    match command.output() {
        Ok(done) => {
            said.push_str(String::from_utf8_lossy(&done.stderr).trim());
            said.push('\n');
            done.status.success()
        }
        Err(e) => {
            let program = command.get_program().to_string_lossy();
            said.push_str(&format!("{program}: {e}\n"));
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_release_is_what_the_package_depends_on() {
        let show = "Package: linux-image-cloud-amd64\nVersion: 6.1.192-2\n\
                    Depends: linux-image-6.1.0-56-cloud-amd64 (= 6.1.192-2)\n";
        assert_eq!(release_of(show).as_deref(), Some("6.1.0-56-cloud-amd64"));
        assert_eq!(release_of("N: Unable to locate package\n"), None);
    }
}
