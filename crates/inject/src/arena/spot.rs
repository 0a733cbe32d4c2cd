//! An interface of a network namespace as a command line names it, and the namespace opened.

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::str::FromStr;

use tcplab_os::namespaces::OWN_NET;

use super::inspect::{Link, links};
use super::{IntoError, inside};

/// Where ip-netns(8) keeps namespaces.
const NAMESPACES: &str = "/run/netns";
/// The namespace that the machine began with.
const FIRST: &str = "/proc/1/ns/net";
/// An interface name has at most so many bytes (IFNAMSIZ less the 0).
const LONGEST: usize = 15;

/// `NAMESPACE:INTERFACE`, or `INTERFACE` in the namespace that tcplab runs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// A namespace of ip-netns(8).
    pub namespace: Option<String>,
    /// The interface.
    pub device: String,
}

impl FromStr for Spot {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (namespace, device) = match text.rsplit_once(':') {
            Some((namespace, device)) => (Some(namespace), device),
            None => (None, text),
        };
        let is_name = |name: &str| {
            !name.is_empty()
                && !matches!(name, "." | "..")
                && !name.contains(|c: char| c == '/' || c == '\0' || c.is_whitespace())
        };
        if !is_name(device) || device.len() > LONGEST || !namespace.is_none_or(is_name) {
            return Err(format!(
                "`{text}` is not an interface: write NAMESPACE:IF (`ip netns list` shows namespaces), or IF in this namespace, such as lo"
            ));
        }
        Ok(Self {
            namespace: namespace.map(Into::into),
            device: device.into(),
        })
    }
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(namespace) = &self.namespace {
            write!(f, "{namespace}:")?;
        }
        f.write_str(&self.device)
    }
}

/// An open namespace.
#[derive(Debug)]
pub(super) struct Namespace {
    pub(super) file: File,
    pub(super) name: Option<String>,
    /// It is the one that tcplab runs in.
    pub(super) is_own: bool,
    /// It is the one that the machine began with.
    is_first: bool,
}

fn identity(path: &str) -> io::Result<(u64, u64)> {
    fs::metadata(path).map(|is| (is.dev(), is.ino()))
}

impl Namespace {
    /// Opens the namespace `name`; `None` opens that of the calling thread.
    pub(super) fn open(name: Option<&str>) -> Result<Self, IntoError> {
        let path = match name {
            Some(name) => Path::new(NAMESPACES).join(name),
            None => OWN_NET.into(),
        };
        let file = File::open(&path).map_err(|e| match (e.kind(), name) {
            (io::ErrorKind::NotFound, Some(name)) => IntoError::Wrong(format!(
                "no network namespace {name} in {NAMESPACES}; `ip netns list` lists the namespaces"
            )),
            _ => IntoError::Cannot(format!("{}: {e}", path.display())),
        })?;
        let is = file.metadata().map(|is| (is.dev(), is.ino())).ok();
        let is_at = |path| is.is_some() && is == identity(path).ok();
        Ok(Self {
            is_own: is_at(OWN_NET),
            is_first: is_at(FIRST),
            name: name.map(Into::into),
            file,
        })
    }

    /// All those of ip-netns(8), and the one of this thread.
    pub(super) fn all() -> Vec<Self> {
        let named = fs::read_dir(NAMESPACES).into_iter().flatten().flatten();
        let named = named.filter_map(|entry| entry.file_name().into_string().ok());
        let named = named.filter_map(|name| Self::open(Some(&name)).ok());
        let own = Self::open(None).ok();
        own.into_iter().chain(named).collect()
    }

    /// A namespace that somebody made and named, apart from the rest of the machine.
    pub(super) fn is_apart(&self) -> bool {
        self.name.is_some() && !self.is_own && !self.is_first
    }

    /// Does something in it.
    pub(super) fn within<R: Send>(&self, what: impl FnOnce() -> R + Send) -> Result<R, IntoError> {
        if self.is_own {
            return Ok(what());
        }
        let name = self.name.as_deref().unwrap_or("of this thread");
        inside(&self.file, what).map_err(|e| {
            IntoError::Cannot(format!(
                "cannot enter the network namespace {name} (needs root): {e}"
            ))
        })
    }

    pub(super) fn links(&self) -> Result<Vec<Link>, IntoError> {
        let links = self.within(links)?;
        links.map_err(|e| IntoError::Cannot(format!("cannot ask for interfaces: {e}")))
    }

    /// The interface of this name.
    pub(super) fn link(&self, device: &str) -> Result<Link, IntoError> {
        let links = self.links()?;
        if let Some(link) = links.iter().find(|link| link.name == device) {
            return Ok(link.clone());
        }
        let there: Vec<&str> = links.iter().map(|link| link.name.as_str()).collect();
        let place = match &self.name {
            Some(name) => format!("the namespace {name}"),
            None => "this namespace".into(),
        };
        Err(IntoError::Wrong(format!(
            "{place} has no interface {device}; its interfaces are {}",
            there.join(", ")
        )))
    }

    /// A spot in it.
    pub(super) fn spot(&self, device: &str) -> Spot {
        Spot {
            namespace: self.name.clone(),
            device: device.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spots_are_read_and_written() {
        for text in ["lo", "eth0", "red:eth0", "a:b:veth1"] {
            assert_eq!(text.parse::<Spot>().unwrap().to_string(), text);
        }
        let spot: Spot = "red:eth0".parse().unwrap();
        assert_eq!(
            (spot.namespace.as_deref(), spot.device.as_str()),
            (Some("red"), "eth0")
        );
        for wrong in [
            "",
            ":",
            "red:",
            ":eth0",
            "../x:eth0",
            "red:eth 0",
            "red:averyveryverylongname",
            "..:lo",
        ] {
            assert!(
                wrong.parse::<Spot>().unwrap_err().contains("NAMESPACE:IF"),
                "{wrong}"
            );
        }
    }

    #[test]
    fn the_own_namespace_is_not_apart() {
        let own = Namespace::open(None).unwrap();
        assert!(own.is_own && !own.is_apart());
        assert!(own.link("lo").unwrap().is_loopback);
        let IntoError::Wrong(why) = own.link("no-such-if").unwrap_err() else {
            panic!("another error");
        };
        assert!(why.contains("no interface no-such-if") && why.contains("lo"));
        assert!(matches!(
            Namespace::open(Some("no-such-namespace")),
            Err(IntoError::Wrong(_))
        ));
    }
}
