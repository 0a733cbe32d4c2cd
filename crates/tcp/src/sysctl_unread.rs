//! Sysctls that the model takes but that change nothing in it.
//!
//! Their fields are there for profiles, which set what their kernel has. An experiment that sets one of them to another
//! value than the model acts by is refused (crates/lab, `check/`), a packetdrill script is skipped.

use crate::sysctl::Sysctl;

/// A sysctl that nothing reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unread {
    /// Its full name.
    pub name: &'static str,
    /// The value that the model always uses.
    pub acts_as: &'static str,
}

/// All of them. A test of this file compares the list with the sources.
pub const UNREAD: &[Unread] = &[
    Unread {
        name: "net.core.sysctl_caqm_debug_info",
        acts_as: "10",
    },
    Unread {
        name: "net.ipv4.tcp_autocorking",
        acts_as: "0",
    },
    Unread {
        name: "net.ipv4.tcp_backlog_ack_defer",
        acts_as: "0",
    },
    Unread {
        name: "net.ipv4.tcp_challenge_ack_limit",
        acts_as: "2147483647",
    },
    Unread {
        name: "net.ipv4.tcp_limit_output_bytes",
        acts_as: "2147483647",
    },
];

impl Unread {
    /// What it does on a kernel.
    pub fn does(&self) -> &'static str {
        let mut rows = Sysctl::rows().into_iter();
        rows.find(|row| row.name == self.name)
            .map_or("", |row| row.meaning)
    }

    /// The entry for this setting. None: the model reads the sysctl, does not know it, or acts by this value anyway.
    pub fn of(name: &str, text: &str) -> Option<&'static Self> {
        let found = UNREAD.iter().find(|unread| unread.name == name)?;
        let with = |text| {
            let mut sysctl = Sysctl::default();
            sysctl.set(name, text).map(|()| sysctl)
        };
        (with(text) != with(found.acts_as)).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// All product code of a folder without its spaces; definitions and setters of sysctls are not among it.
    fn sources(folder: &Path, out: &mut String) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                sources(&path, out);
            } else if name.ends_with(".rs")
                && name != "tests.rs"
                && !["sysctl_set.rs", "sysctl_unread.rs"].contains(&name.as_str())
            {
                let text = fs::read_to_string(&path).unwrap();
                let product = text
                    .split("#[cfg(test)]\nmod tests {")
                    .next()
                    .unwrap_or_default();
                // The table of fields names each once without reading it.
                let lines = product.lines().filter(|l| !l.trim().starts_with("pub "));
                out.extend(lines.flat_map(str::split_whitespace));
                out.push('\n');
            }
        }
    }

    /// Every sysctl that can be set is read somewhere, or stands in the list; nothing in the list is read.
    #[test]
    fn every_sysctl_is_read_or_listed() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut code = String::new();
        sources(&here.join("src"), &mut code);
        sources(&here.join("../sim/src"), &mut code);
        for name in Sysctl::NAMES {
            let field = format!(".{}", name.rsplit('.').next().unwrap());
            let is_read = code.match_indices(&field).any(|(at, _)| {
                let after = code[at + field.len()..].chars().next();
                after.is_none_or(|c| !c.is_alphanumeric() && c != '_')
            });
            let is_listed = UNREAD.iter().any(|unread| unread.name == *name);
            assert_eq!(is_read, !is_listed, "{name}: read {is_read}");
        }
    }

    #[test]
    fn the_value_that_the_model_acts_by_passes() {
        for unread in UNREAD {
            assert_eq!(Unread::of(unread.name, unread.acts_as), None);
            assert_eq!(
                Unread::of(unread.name, "1"),
                Some(unread),
                "{}",
                unread.name
            );
        }
        assert_eq!(Unread::of("net.ipv4.tcp_sack", "0"), None);
    }
}
