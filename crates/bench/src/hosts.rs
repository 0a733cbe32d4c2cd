//! Arms on other machines.

use std::sync::Arc;

use tcplab_guest::stack::Host;
use tcplab_kernel::ssh::{Say, SshError, SshOptions};
use tcplab_os::Stop;

use super::{Arm, Setting};
use crate::ends::{Hosts, Place};
use crate::error::BenchError;

/// How other machines are reached.
#[derive(Clone, Copy)]
pub struct Reach<'a> {
    /// Of ssh.
    pub options: &'a SshOptions,
    /// Ends it early.
    pub stop: &'a Stop,
    /// Where progress goes.
    pub say: Say<'a>,
}

/// Whether an arm is on other machines.
pub fn is_far(arms: &[Arm]) -> bool {
    let is_hosts = |arm: &Arm| matches!(arm.setting, Setting::Hosts(_));
    arms.iter().any(is_hosts)
}

/// Where the runs of each arm are when some of them are on other machines. `on` is the place of arms that name no
/// place.
///
/// # Errors
/// Words that do not name two hosts, unreachable hosts, arms that need namespaces of this machine.
pub fn far_places(
    arms: &[Arm],
    on: Option<&str>,
    reach: Reach<'_>,
) -> Result<Vec<Place>, BenchError> {
    let mut opened: Vec<(String, Arc<Hosts>)> = Vec::new();
    let mut places = Vec::new();
    for arm in arms {
        let words = match (&arm.setting, on) {
            (Setting::Hosts(words), _) => Some(words.as_str()),
            (Setting::Sysctls(_), _) => {
                return Err(BenchError::CannotRun(format!(
                    "the arm {}: sysctls of an arm are those of a namespace of this machine; on other hosts a command sets them: \
                     'ssh A sysctl -w NAME=VALUE'",
                    arm.name
                )));
            }
            (_, on) => on,
        };
        let Some(words) = words else {
            places.push(Place::Here);
            continue;
        };
        let known = opened.iter().find(|(known, _)| known == words);
        let hosts = match known {
            Some((_, hosts)) => Arc::clone(hosts),
            None => {
                let hosts = Arc::new(open(words, reach)?);
                opened.push((words.to_owned(), Arc::clone(&hosts)));
                hosts
            }
        };
        places.push(Place::Hosts(hosts));
    }
    Ok(places)
}

fn open(words: &str, reach: Reach<'_>) -> Result<Hosts, BenchError> {
    let list = words.strip_prefix("ssh:").unwrap_or(words);
    let hosts = Host::list(list).map_err(|e| BenchError::Wrong(e.to_string()))?;
    let pair: [Host; 2] = hosts.try_into().map_err(|hosts: Vec<Host>| {
        let n = hosts.len();
        BenchError::Wrong(format!(
            "{words} names {n} hosts: a bench has two, ssh:CLIENT,SERVER"
        ))
    })?;
    Hosts::open(&pair, reach.options, reach.stop, reach.say).map_err(|e| match e {
        SshError::Interrupted => BenchError::Interrupted,
        e => BenchError::CannotRun(e.to_string()),
    })
}
