//! The hosts of a point.

use std::collections::{BTreeMap, BTreeSet};

use super::{Checked, Wrong, at_most, each, in_order, name, quoted, text, time};
use crate::experiment::keys::PROFILE_NAMES;
use crate::point::{Host, SysctlChange};
use crate::profile::Profile;
use crate::rules::{MAX_ALL_HOSTS, MAX_OUTAGES, MAX_TEXT, RESERVED, bad_sysctl};

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
    let is_sorted = host.changes.is_sorted_by_key(|change| change.at_ns);
    in_order("changes", is_sorted)?;
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
        if let Some(why) = bad_sysctl(key) {
            return Err(Wrong::at(path(), why));
        }
        text("", value, MAX_TEXT).map_err(|wrong| wrong.under(path()))?;
    }
    Ok(())
}

fn change(change: &SysctlChange) -> Checked {
    time("at_ns", change.at_ns, 0)?;
    if let Some(why) = bad_sysctl(&change.name) {
        return Err(Wrong::at("name", why));
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
