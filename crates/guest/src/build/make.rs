//! Configures and compiles a source as User-Mode Linux, in a folder outside of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tcplab_os::output::write_own;

use super::command::Log;
use super::source::Tree;
use super::{BuildError, Step, hash};

/// Our configuration, on top of tinyconfig.
pub(crate) const FRAGMENT: &str = include_str!("uml.config");

/// Steps that a first build prints, for the length of a progress bar.
const FIRST_BUILD_STEPS: u64 = 1150;

/// The fragment with the timer frequency.
pub(crate) fn fragment(hz: u32) -> String {
    format!("{FRAGMENT}\nCONFIG_HZ={hz}\n")
}

/// One build folder.
pub(crate) struct Make<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) folder: PathBuf,
    pub(crate) jobs: usize,
}

impl Make<'_> {
    fn command(&self, target: &str) -> Command {
        let mut make = Command::new("make");
        make.arg("-C").arg(&self.tree.path);
        make.args(["ARCH=um", "SUBARCH=x86_64", target]);
        make.arg(format!("O={}", self.folder.display()));
        // The build depends on the source alone, not on the user, the time or the machine.
        make.env("KBUILD_BUILD_TIMESTAMP", "Thu Jan  1 00:00:00 UTC 1970");
        make.env("KBUILD_BUILD_USER", "tcplab")
            .env("KBUILD_BUILD_HOST", "tcplab");
        make.env("KBUILD_BUILD_VERSION", "1");
        make
    }

    /// Writes the configuration, unless it is there.
    pub(crate) fn configure(&self, hz: u32, log: &mut Log) -> Result<(), BuildError> {
        let text = fragment(hz);
        let mark = self.folder.join("tcplab.fragment");
        let is_there = fs::read_to_string(&mark).is_ok_and(|old| old == text);
        if is_there && self.folder.join(".config").is_file() {
            return Ok(());
        }
        crate::store::remove(&mark)?;
        fs::create_dir_all(&self.folder).map_err(BuildError::io(&self.folder))?;
        log.run("make tinyconfig", &mut self.command("tinyconfig"), |_| ())?;
        // The last value of a symbol counts, so that a plain append does what is needed.
        let path = self.folder.join(".config");
        let tiny = fs::read_to_string(&path).map_err(BuildError::io(&path))?;
        fs::write(&path, format!("{tiny}\n{text}")).map_err(BuildError::io(&path))?;
        log.run(
            "make olddefconfig",
            &mut self.command("olddefconfig"),
            |_| (),
        )?;
        let config = fs::read_to_string(&path).map_err(BuildError::io(&path))?;
        let symbols = lost(&text, &config);
        if !symbols.is_empty() {
            return Err(BuildError::Config { symbols });
        }
        write_own(&mark, text).map_err(BuildError::io(&mark))
    }

    /// Compiles and links; `is_first` when nothing was compiled in this folder before.
    pub(crate) fn compile(
        &self,
        is_first: bool,
        log: &mut Log,
        step: &mut dyn FnMut(Step),
    ) -> Result<(), BuildError> {
        let mut done = 0;
        let expected = is_first.then_some(FIRST_BUILD_STEPS);
        let mut command = self.command("linux");
        command.arg(format!("-j{}", self.jobs));
        log.run("make", &mut command, |line| {
            // `  CC      net/ipv4/tcp.o`
            if let Some((_, file)) = line.strip_prefix("  ").and_then(|l| l.split_once(' ')) {
                done += 1;
                step(Step::Compiled {
                    done,
                    expected,
                    file: file.trim(),
                });
            }
        })
    }

    /// The executable without symbols, and the hash of the configuration.
    pub(crate) fn strip(&self, to: &Path, log: &mut Log) -> Result<String, BuildError> {
        let mut strip = Command::new("strip");
        strip.arg("-o").arg(to).arg(self.folder.join("linux"));
        log.run("strip", &mut strip, |_| ())?;
        let config = self.folder.join(".config");
        hash::of_file(&config).map_err(BuildError::io(&config))
    }
}

/// Lines of a fragment that a configuration does not keep. A symbol that is not there is off.
fn lost(fragment: &str, config: &str) -> Vec<String> {
    let kept: std::collections::BTreeSet<&str> = config.lines().collect();
    let is_lost = |line: &&str| {
        if let Some(off) = line
            .strip_prefix("# CONFIG_")
            .and_then(|l| l.strip_suffix(" is not set"))
        {
            return kept
                .iter()
                .any(|k| k.starts_with(&format!("CONFIG_{off}=")));
        }
        line.starts_with("CONFIG_") && !kept.contains(line)
    };
    fragment
        .lines()
        .filter(is_lost)
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_symbols_are_named() {
        let fragment = "# a comment\nCONFIG_A=y\nCONFIG_B=y\n# CONFIG_C is not set\n# CONFIG_D is not set\nCONFIG_HZ=250\n";
        let config = "CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_C=y\nCONFIG_HZ=100\n";
        let expected = ["CONFIG_B=y", "# CONFIG_C is not set", "CONFIG_HZ=250"];
        assert_eq!(lost(fragment, config), expected);
        assert_eq!(lost(config, config), [""; 0]);
    }

    #[test]
    fn the_fragment_has_each_symbol_once() {
        let text = fragment(250);
        let symbol = |line: &str| {
            let at = line.find("CONFIG_")?;
            let end = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
            line.get(at..)?.split(end).next().map(str::to_owned)
        };
        let is_setting = |l: &&str| l.starts_with("CONFIG_") || l.ends_with(" is not set");
        let mut symbols: Vec<String> = text.lines().filter(is_setting).filter_map(symbol).collect();
        let all = symbols.len();
        symbols.sort();
        symbols.dedup();
        assert!(all > 80 && symbols.len() == all);
    }
}
