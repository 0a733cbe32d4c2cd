//! The hosts of a point.

use std::collections::{BTreeMap, BTreeSet};

use super::{Checked, Wrong, at_most, each, name, quoted, text, time};
use crate::experiment::keys::PROFILE_NAMES;
use crate::point::{Host, SysctlChange};
use crate::profile::Profile;
use crate::rules::{
    BAD_FORWARD, BAD_SYSCTL, FORWARD_SYSCTL, MAX_ALL_HOSTS, MAX_OUTAGES, MAX_TEXT, RESERVED,
    is_sysctl,
};

pub(super) fn check(hosts: &[Host]) -> Checked {
    at_most("hosts", hosts.len(), MAX_ALL_HOSTS as usize, "hosts")?;
    each("hosts", hosts, host)?;
    let mut names = BTreeSet::new();
    for (index, host) in hosts.iter().enumerate() {
        if !names.insert(host.name.as_str()) {
            let message = format!("duplicate host `{}`", host.name);
            return Err(Wrong::at(format!("hosts[{index}].name"), message));
        }
    }
    each("hosts", hosts, |host| match &host.group {
        Some(group) if names.contains(group.as_str()) => {
            let message = format!("`{group}` is already the name of a host: rename the group");
            Err(Wrong::at("group", message))
        }
        _ => Ok(()),
    })
}

fn host(host: &Host) -> Checked {
    let called = [("name", Some(&host.name)), ("group", host.group.as_ref())];
    for (path, own) in called {
        let Some(own) = own else { continue };
        name(path, own)?;
        if RESERVED.contains(&own.as_str()) {
            let message = format!("a host cannot be called `{own}`");
            return Err(Wrong::at(path, message));
        }
    }
    sysctls(&host.sysctl)?;
    at_most("changes", host.changes.len(), MAX_OUTAGES, "changes")?;
    each("changes", &host.changes, change)?;
    if !host.changes.is_sorted_by_key(|change| change.at_ns) {
        let message = "must stand in the order of their times";
        return Err(Wrong::at("changes", message));
    }
    (host.route.check()).map_err(|wrong| wrong.under("route"))?;
    (host.socket.check()).map_err(|wrong| wrong.under("socket"))?;
    if let Some(card) = &host.card {
        card.check().map_err(|wrong| wrong.under("card"))?;
    }
    if let Some(profile) = &host.profile
        && !PROFILE_NAMES.contains(&profile.as_str())
    {
        let known = PROFILE_NAMES.join(", ");
        let message = format!(
            "{} is not a profile; the profiles are {known}",
            quoted(profile)
        );
        return Err(Wrong::at("profile", message));
    }
    behaviours(&host.behaviour)
}

fn sysctls(sysctls: &BTreeMap<String, String>) -> Checked {
    for (key, value) in sysctls {
        // The path in the error shows a bad name as JSON does.
        let path = || format!("sysctl.{}", quoted(key));
        if !is_sysctl(key) {
            return Err(Wrong::at(path(), BAD_SYSCTL));
        }
        if key == FORWARD_SYSCTL {
            return Err(Wrong::at(path(), BAD_FORWARD));
        }
        text("", value, MAX_TEXT).map_err(|wrong| wrong.under(path()))?;
    }
    Ok(())
}

fn change(change: &SysctlChange) -> Checked {
    time("at_ns", change.at_ns, 0)?;
    let name = &change.name;
    if !is_sysctl(name) {
        return Err(Wrong::at("name", BAD_SYSCTL));
    }
    if name == FORWARD_SYSCTL {
        return Err(Wrong::at("name", BAD_FORWARD));
    }
    text("value", &change.value, MAX_TEXT)
}

fn behaviours(behaviours: &BTreeMap<String, String>) -> Checked {
    if behaviours.is_empty() {
        return Ok(());
    }
    let mut scratch = Profile::default();
    for (key, value) in behaviours {
        let set = scratch.set(key, value);
        set.map_err(|e| Wrong::at(format!("behaviour.{}", quoted(key)), e.to_string()))?;
    }
    Ok(())
}
