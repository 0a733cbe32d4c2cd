//! The items of `messages`: what both ends of a conversation do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::is_zero;
use crate::rules::MAX_MESSAGES;

/// One item of `messages`: a write, or the end of a direction or of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// The client does it, else the server.
    pub from_client: bool,
    /// Bytes of the write; 0 where nothing is written.
    pub bytes: u64,
    /// Pause before it, from the time at which its end could have done it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub after_ns: i64,
    /// It does not wait until its end has read what stands before it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub at_once: bool,
    /// A write with MSG_MORE.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more: bool,
    /// What it does.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub does: Act,
}

/// What an item of `messages` does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Act {
    /// A write.
    #[default]
    Write,
    /// shutdown(SHUT_WR): a FIN; its end goes on reading.
    Shutdown,
    /// close(2), whether all was read or not.
    Close,
}

impl Message {
    /// Items of a list at most.
    pub const MOST: usize = MAX_MESSAGES;

    /// A write.
    pub fn write(from_client: bool, bytes: u64, after_ns: i64) -> Self {
        Self {
            from_client,
            bytes,
            after_ns,
            at_once: false,
            more: false,
            does: Act::Write,
        }
    }

    /// What of a list cannot be: the index of the item, and why.
    pub fn wrong(list: &[Self]) -> Option<(usize, String)> {
        let mut ended = [Act::Write; 2];
        list.iter().enumerate().find_map(|(at, item)| {
            let end = ["server", "client"][usize::from(item.from_client)];
            let before = &mut ended[usize::from(item.from_client)];
            let why = match (*before, item.does) {
                (_, Act::Shutdown | Act::Close) if item.more => {
                    Some("only a write can be `more`".to_owned())
                }
                (Act::Close, _) => Some(format!("the {end} has closed its socket before")),
                (Act::Shutdown, Act::Write | Act::Shutdown) => {
                    Some(format!("after `{end} shutdown` the {end} can only close"))
                }
                _ => None,
            };
            *before = match item.does {
                Act::Write => *before,
                does => does,
            };
            why.map(|why| (at, why))
        })
    }
}
