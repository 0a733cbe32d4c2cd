//! The internet protocol of a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An internet protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Ip {
    /// RFC 791.
    #[default]
    #[serde(rename = "ipv4")]
    V4,
    /// RFC 8200.
    #[serde(rename = "ipv6")]
    V6,
}

impl Ip {
    /// Both, in the order in which files name them.
    pub const BOTH: [Self; 2] = [Self::V4, Self::V6];

    /// Bytes of its header, without options and extensions.
    #[inline]
    pub const fn header_bytes(self) -> u32 {
        match self {
            Self::V4 => 20,
            Self::V6 => 40,
        }
    }

    /// Bytes of a packet that every link must take (RFC 791 3.2, RFC 8200 5).
    pub const fn least_mtu(self) -> u32 {
        match self {
            Self::V4 => 68,
            Self::V6 => 1_280,
        }
    }

    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde calls it with a reference"
    )]
    pub(crate) const fn is_v4(&self) -> bool {
        matches!(self, Self::V4)
    }
}
