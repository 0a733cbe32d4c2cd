//! Which stacks can be used on this machine, now.

use serde::Serialize;

use crate::build::prebuilt;
use crate::doctor;
use crate::image::{self, Image};
use crate::stack::StackName;
use crate::store::{Store, StoreError};

/// One stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Here {
    /// Its name, for `--on`.
    pub stack: String,
    /// Other names of the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// What runs, for a person.
    pub what: String,
    /// Whether time is virtual there.
    pub virtual_time: bool,
    /// Why it cannot be used here, and what to do about it; absent when it can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lacks: Option<String>,
}

/// All stacks of this version of tcplab, those that can be used first. Without a folder of kernels, those that need
/// none.
///
/// # Errors
/// When the folder of kernels cannot be read.
pub fn here(store: Option<&Store>) -> Result<Vec<Here>, StoreError> {
    let kernels = store.map_or(Ok(Vec::new()), Store::list)?;
    let mut stacks: Vec<Here> = kernels
        .into_iter()
        .filter_map(|kernel| {
            let m = kernel.manifest;
            let lacks = (!m.is_current())
                .then(|| "another build: it lacks edits that every build gets now".to_owned());
            let mut names = m.names.iter().map(|n| format!("uml:{n}"));
            let edits = if m.edits.is_empty() {
                String::new()
            } else {
                format!(" with {}", m.edits.join(", "))
            };
            Some(Here {
                stack: names.next()?,
                also: names.collect(),
                what: format!("Linux {} at {} Hz{edits}", m.version, m.hz),
                virtual_time: true,
                lacks,
            })
        })
        .collect();
    let release = tcplab_os::sysctl::kernel("osrelease");
    stacks.push(Here {
        stack: StackName::Host.to_string(),
        also: Vec::new(),
        what: format!("this machine's kernel, {release}"),
        virtual_time: false,
        lacks: (!doctor::has_namespaces())
            .then(|| "user namespaces or root (see `tcplab doctor`)".to_owned()),
    });
    if !stacks.iter().any(|s| s.stack.starts_with("uml:")) {
        let found = prebuilt().map_or(String::new(), |p| {
            format!(" ({} has no virtual time)", p.display())
        });
        stacks.push(Here {
            stack: "uml:6.1".into(),
            also: Vec::new(),
            what: "Linux 6.1, a build of our own".into(),
            virtual_time: true,
            lacks: Some(match store {
                Some(_) => format!("not built{found}: run tcplab kernel build 6.1"),
                None => StoreError::NoHome.to_string(),
            }),
        });
    }
    stacks.extend(in_qemu(store));
    stacks.sort_by_key(|s| s.lacks.is_some());
    Ok(stacks)
}

/// A distribution's kernels: those that are here, and the newest that apt has.
fn in_qemu(store: Option<&Store>) -> Vec<Here> {
    let missing = image::qemu()
        .is_none()
        .then(|| format!("{}: {}", image::PROGRAM, image::INSTALL));
    let one = |name: &str, what: String| Here {
        stack: format!("qemu:{name}"),
        also: Vec::new(),
        what,
        virtual_time: true,
        lacks: missing.clone(),
    };
    let releases = Image::releases(store);
    let here = releases
        .iter()
        .map(|release| one(release, format!("Linux {release} in QEMU")));
    let newest = "Debian's newest cloud kernel in QEMU, fetched by apt".to_owned();
    here.chain([one(image::NEWEST, newest)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_kernel_the_command_that_builds_one_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let stacks = here(Some(&Store::at(folder.path()))).unwrap();
        let uml = stacks.iter().find(|s| s.stack == "uml:6.1").unwrap();
        assert!(
            uml.lacks
                .as_ref()
                .unwrap()
                .contains("tcplab kernel build 6.1")
        );
        assert!(stacks.iter().any(|s| s.stack == "host"));
    }
}
