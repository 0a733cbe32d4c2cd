//! The sysctls of a far machine that an experiment asks for, while it runs there.
//!
//! They are the machine's: another run or a person may change them meanwhile. One run of tcplab at a time sets any; at the
//! end each one is looked at again, and only what this run has set is put back.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

use tcplab_os::sysctl;
use tcplab_plan::point::Host;

use crate::run::{Sysctls, left_to_machine};

/// The lock of a machine: a name of its network namespace, where its sysctls are, which goes with the process.
const LOCK: &[u8] = b"tcplab.ssh-sysctl";

/// What the experiment asks for on this machine. Dropped, it puts back what it has set.
#[derive(Debug)]
pub(super) struct Held {
    host: String,
    all: Vec<One>,
    _lock: Option<UnixListener>,
}

/// One of them.
#[derive(Debug)]
struct One {
    key: String,
    /// As it was when the run began.
    value: String,
    /// What was there before the run set it.
    before: Option<String>,
}

impl Held {
    /// Makes the sysctls what the experiment wants; gives what is worth saying, too.
    pub(super) fn take(
        host: &Host,
        sysctls: &mut Sysctls<'_>,
        sets: bool,
    ) -> Result<(Self, Vec<String>), String> {
        let (name, wanted) = (&host.name, &host.sysctl);
        let lock = (sets && !wanted.is_empty())
            .then(|| lock(LOCK))
            .transpose()?;
        let mut held = Self {
            host: name.clone(),
            all: Vec::new(),
            _lock: lock,
        };
        let (mut warnings, mut differ) = (Vec::new(), Vec::new());
        for (key, value) in wanted {
            let before = match read(key) {
                Err(e) => {
                    let refused = sysctls.refused(name, (key, value), &e);
                    refused.map_err(|e| e.to_string())?;
                    continue;
                }
                Ok(now) if is_same(&now, value) => None,
                Ok(now) if sets => {
                    let wrote = fs::write(sysctl::path(key), value);
                    wrote.map_err(|e| format!("cannot set the sysctl {key} to {value}: {e}"))?;
                    warnings.push(format!(
                        "{name}: sysctl {key} was {now}; it was set to {value} for the run"
                    ));
                    Some(now)
                }
                Ok(now) => {
                    differ.push(format!(
                        "{key} is {now} there, but the experiment asks for {value}"
                    ));
                    continue;
                }
            };
            held.all.push(One {
                key: key.clone(),
                // As the kernel gives it back: it may have rounded.
                value: read(key).unwrap_or_else(|_| value.clone()),
                before,
            });
        }
        if !differ.is_empty() {
            return Err(format!(
                "{}; set it there, or let --ssh-sysctl set it for the run and restore it (host.{name}.sysctl)",
                differ.join("; ")
            ));
        }
        let left = left_to_machine(|key| wanted.contains_key(key));
        warnings.extend(left.map(|words| format!("{name}: {words}")));
        Ok((held, warnings))
    }

    /// The run is over: puts back what it has set. Says which ones somebody has changed meanwhile.
    pub(super) fn give_back(mut self) -> Vec<String> {
        self.end()
    }

    fn end(&mut self) -> Vec<String> {
        let mut words = Vec::new();
        for One { key, value, before } in self.all.drain(..).rev() {
            let now = read(&key).unwrap_or_else(|e| e.to_string());
            if !is_same(&now, &value) {
                let stays = match before {
                    Some(_) => ", which stays",
                    None => "",
                };
                words.push(format!(
                    "{}: the sysctl {key} was changed during the run, from {value} to {now}{stays}: these figures are not those of \
                     {value}; run the point again",
                    self.host
                ));
                continue;
            }
            let Some(before) = before else { continue };
            if let Err(e) = fs::write(sysctl::path(&key), &before) {
                words.push(format!(
                    "{}: cannot put back the sysctl {key} to {before}: {e}",
                    self.host
                ));
            }
        }
        words
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.end().iter().for_each(|words| tcplab_os::say(words));
    }
}

/// Takes the lock, which goes with the socket.
fn lock(name: &[u8]) -> Result<UnixListener, String> {
    let address = SocketAddr::from_abstract_name(name);
    let bound = address.and_then(|address| UnixListener::bind_addr(&address));
    bound.map_err(|e| match e.kind() {
        ErrorKind::AddrInUse => "another run of tcplab has set sysctls there (--ssh-sysctl) and will put them back: run this one \
                                 when that one has ended"
            .to_owned(),
        _ => format!("cannot take the lock for sysctls: {e}"),
    })
}

fn read(key: &str) -> io::Result<String> {
    Ok(sysctl::words(key)?.join(" "))
}

fn is_same(now: &str, wanted: &str) -> bool {
    now.split_whitespace().eq(wanted.split_whitespace())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use nix::unistd::geteuid;
    use tcplab_os::namespaces::{apart, new_net};
    use tcplab_plan::Point;

    use super::*;

    const SACK: &str = "net.ipv4.tcp_sack";
    const DSACK: &str = "net.ipv4.tcp_dsack";

    fn take(sysctls: &[(&str, &str)], sets: bool) -> Result<(Held, Vec<String>), String> {
        let all = sysctls
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
        let host = Host {
            name: "server".to_owned(),
            sysctl: all.collect::<BTreeMap<_, _>>(),
            ..Host::default()
        };
        let point = Point::default();
        Held::take(&host, &mut Sysctls::new(&point), sets)
    }

    fn set(key: &str, value: &str) {
        fs::write(sysctl::path(key), value).unwrap();
    }

    #[test]
    fn runs_that_set_sysctls_do_not_overlap_and_foreign_values_stay() {
        if !geteuid().is_root() {
            eprintln!("skipped: needs root");
            return;
        }
        let done = apart(|| {
            new_net().unwrap();
            let (first, _) = take(&[(SACK, "0")], true).unwrap();
            // What the second one wants is there, but the first one will put 1 back.
            let second = take(&[(SACK, "0")], true).unwrap_err();
            assert!(second.contains("another run of tcplab"), "{second}");
            assert!(first.give_back().is_empty());
            assert_eq!(read(SACK).unwrap(), "1");

            let (held, _) = take(&[(SACK, "0"), (DSACK, "1")], true).unwrap();
            set(SACK, "1");
            set(DSACK, "0");
            let said = held.give_back();
            assert_eq!(said.len(), 2, "{said:?}");
            assert!(
                said[0].contains("tcp_sack was changed during the run, from 0 to 1"),
                "{said:?}"
            );
            assert!(
                said[1].contains("tcp_dsack was changed during the run, from 1 to 0"),
                "{said:?}"
            );
            assert_eq!(
                (read(SACK).unwrap(), read(DSACK).unwrap()),
                ("1".into(), "0".into())
            );

            // Without the right to set them it only looks, and says so, too.
            let (held, _) = take(&[(SACK, "1")], false).unwrap();
            set(SACK, "0");
            assert_eq!(held.give_back().len(), 1);
            set(SACK, "1");
            drop(take(&[(SACK, "0")], true).unwrap());
            assert_eq!(read(SACK).unwrap(), "1");
        });
        assert!(done.is_some());
    }
}
