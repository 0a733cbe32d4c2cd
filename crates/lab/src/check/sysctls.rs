//! Sysctls of hosts: which kinds of stack and which kernels let an experiment set them.
//!
//! The rows are `tcplab_tcp::Sysctl::rows()`; those that change nothing on the model are `tcplab_tcp::UNREAD`.

use tcplab_guest::edit::Edit;
use tcplab_guest::stack::{StackName, UmlName};
use tcplab_plan::network::HOST_SYSCTLS;
use tcplab_plan::{Point, Refusal};
use tcplab_tcp::{Kernels, Sysctl, SysctlRow, UNREAD};

use super::Kind;

/// A sysctl that the contract knows.
#[derive(Clone, Debug)]
pub struct SysctlEntry {
    /// The row, with Linux's default.
    pub row: SysctlRow,
    /// The value that runs begin with on every stack but ssh, where it is not Linux's default.
    pub set_by_runs: Option<&'static str>,
    /// The value that the model always uses; `None`: the model honours the sysctl.
    pub model_acts_as: Option<&'static str>,
    /// Which kernels refuse it; `None`: kernels of [`Kernels::All`] take it.
    pub refused: Option<RefusedSysctl>,
}

/// Kernels that refuse a sysctl.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct RefusedSysctl {
    /// Which ones.
    pub on: String,
    /// Why.
    pub why: String,
}

impl SysctlEntry {
    /// The first release that has the sysctl; `None`: all releases have it, or no release does.
    pub fn since(&self) -> Option<String> {
        match self.row.kernels {
            Kernels::Since(major, minor) => Some(format!("{major}.{minor}")),
            _ => None,
        }
    }

    /// Whether a stack of this kind can honour it.
    pub fn is_honoured(&self, kind: Kind) -> bool {
        match (kind, self.row.kernels) {
            (Kind::Model, _) => self.model_acts_as.is_none(),
            // A run between machines sets what belongs to them.
            (Kind::Ssh, Kernels::Machine) => true,
            (_, Kernels::Machine) => false,
            _ => true,
        }
    }
}

/// All sysctls that the contract knows. A kernel has more of them: what it has, it takes.
pub fn sysctls() -> Vec<SysctlEntry> {
    let entry = |row: SysctlRow| {
        let unread = UNREAD.iter().find(|unread| unread.name == row.name);
        let of_runs = HOST_SYSCTLS.iter().find(|(name, _)| *name == row.name);
        SysctlEntry {
            set_by_runs: of_runs
                .map(|(_, value)| *value)
                .filter(|value| *value != row.default),
            model_acts_as: unread.map(|unread| unread.acts_as),
            refused: refused_on(row.kernels),
            row,
        }
    };
    Sysctl::rows().into_iter().map(entry).collect()
}

/// What of a point's sysctls this stack is known to refuse. `name`: the stack's.
pub(super) fn refusals(point: &Point, kind: Kind, name: &str) -> Vec<Refusal> {
    if kind == Kind::Model
        || point
            .hosts
            .iter()
            .all(|host| host.sysctls().next().is_none())
    {
        return Vec::new();
    }
    let release = release(name);
    let rows = Sysctl::rows();
    let refused = |row: &&SysctlRow| match row.kernels {
        Kernels::All => false,
        Kernels::Machine => kind != Kind::Ssh,
        Kernels::Since(major, minor) => release.is_some_and(|has| has < (major, minor)),
        Kernels::Caqm => release.is_some(),
    };
    let refused: Vec<&SysctlRow> = rows.iter().filter(refused).collect();
    let mut found = Vec::new();
    for host in &point.hosts {
        for (name, value) in host.sysctls() {
            let row = refused.iter().find(|row| row.name == name);
            let Some(RefusedSysctl { why, .. }) = row.and_then(|row| refused_on(row.kernels))
            else {
                continue;
            };
            let place = format!("host.{}.sysctl.\"{name}\"", host.name);
            let why = format!("{value} cannot be set: {why}");
            let refusal = Refusal::new(place, why, "run it on model:, or leave it out");
            found.push(refusal.tolerable(name));
        }
    }
    found
}

/// Which kernels refuse it.
fn refused_on(kernels: Kernels) -> Option<RefusedSysctl> {
    let (on, why) = match kernels {
        Kernels::All => return None,
        Kernels::Since(major, minor) => {
            let release = format!("{major}.{minor}");
            let why = format!("Linux has it since {release}");
            (format!("kernels before {release}"), why)
        }
        Kernels::Machine => (
            "uml, qemu, host".to_owned(),
            "it applies to the whole machine, and a network namespace cannot set it".to_owned(),
        ),
        Kernels::Caqm => (
            "kernels without CAQM".to_owned(),
            "no kernel.org release has this sysctl".to_owned(),
        ),
    };
    Some(RefusedSysctl { on, why })
}

/// The release of a kernel built by tcplab, if its name is a version with shipped edits. No shipped edit changes a
/// sysctl of the table.
pub(super) fn release(name: &str) -> Option<(u32, u32)> {
    let Ok(StackName::Uml(UmlName { base, edits, .. })) = StackName::parse(name) else {
        return None;
    };
    let ships = |edit: &String| Edit::shipped_names().contains(&edit.as_str());
    edits.iter().all(ships).then(|| parsed(&base)).flatten()
}

/// `6.1.56` is of 6.1.
pub(super) fn parsed(release: &str) -> Option<(u32, u32)> {
    let mut parts = release.split('.').map(str::parse);
    match (parts.next(), parts.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => Some((major, minor)),
        _ => None,
    }
}
