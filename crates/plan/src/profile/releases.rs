//! The profiles: which value each behaviour has in which release.

use super::{AckPushRule, Profile, QuickackAccounting};

/// A profile that has a name.
#[derive(Debug)]
pub struct Known {
    /// Its name.
    pub name: &'static str,
    /// Which kernels it stands for.
    pub what: &'static str,
    /// Whether a kernel of this release was compared with it.
    pub verified: bool,
    make: fn() -> Profile,
}

impl Known {
    /// Its values.
    pub fn profile(&self) -> Profile {
        (self.make)()
    }
}

/// All of them, oldest first.
pub const KNOWN: &[Known] = &[
    Known {
        name: "linux-6.1.56",
        what: "Linux 6.1 before the delayed-ACK fixes of 6.1.57 (Debian 12 until 6.1.0-13)",
        verified: true,
        make: || Profile {
            name: "linux-6.1.56",
            quickack_accounting: QuickackAccounting::PerPacket,
            ack_push_rule: AckPushRule::Short,
            ..Profile::default()
        },
    },
    Known {
        name: "linux-6.1",
        what: "Linux 6.1.192; the default",
        verified: true,
        make: Profile::default,
    },
];

/// The profile of this name.
pub fn named(name: &str) -> Option<Profile> {
    KNOWN
        .iter()
        .find(|known| known.name == name)
        .map(Known::profile)
}
