//! `kind = "messages"`: `client 512`, `server 1448 x 3 after 40ms`, `server 100k at once`, `client 500 more`, `client
//! shutdown`.

use std::str::FromStr;

use super::error::Fault;
use super::fields::Fields;
use super::keys::apps::{MESSAGE, WRITES};
use crate::app::{Act, AppKind, Message};
use crate::rules::MAX_MESSAGES;
use tcplab_base::quantity::{SIZE, TIME};

const FORM: &str = "write `client BYTES` or `server BYTES` (also `BYTES x N`, `shutdown`, `close`), then `more`, `after TIME` and `at once`";

/// An item as it is written, with how often it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeated {
    /// What is done.
    pub message: Message,
    /// `x N`.
    pub times: usize,
}

pub(super) fn read(fields: &Fields<'_>) -> Result<AppKind, Fault> {
    let texts = fields
        .texts(&WRITES)?
        .ok_or_else(|| fields.missing(&WRITES))?;
    if let (Some(node), true) = (
        fields.node(&WRITES),
        texts.is_empty() || texts.len() > MAX_MESSAGES,
    ) {
        let message = format!("1 to {MAX_MESSAGES} messages are allowed");
        return Err(fields.fault(&WRITES, node, message));
    }
    let (mut messages, mut nodes) = (Vec::new(), Vec::new());
    for (node, text) in texts {
        let told = |why: String| fields.fault(&WRITES, node, why);
        let item: Repeated = text.parse().map_err(told)?;
        if messages.len().saturating_add(item.times) > MAX_MESSAGES {
            let why = format!("with it the list has more than {MAX_MESSAGES} messages");
            return Err(told(why));
        }
        messages.extend(std::iter::repeat_n(item.message, item.times));
        nodes.resize(messages.len(), node);
    }
    match Message::wrong(&messages) {
        Some((at, why)) => Err(fields.fault(&WRITES, nodes[at], why)),
        None => Ok(AppKind::Messages { messages }),
    }
}

impl FromStr for Repeated {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("`{text}` is not a message: {FORM}");
        let words: Vec<&str> = text.split_whitespace().collect();
        let (from_client, what, rest) = match *words.as_slice() {
            ["client", what, ref rest @ ..] => (true, what, rest),
            ["server", what, ref rest @ ..] => (false, what, rest),
            _ => return Err(bad()),
        };
        let does = match what {
            "shutdown" => Act::Shutdown,
            "close" => Act::Close,
            _ => Act::Write,
        };
        let bytes = match does {
            Act::Write => size(what)?,
            _ => 0,
        };
        let (times, rest) = match *rest {
            ["x", times, ref rest @ ..] if does == Act::Write => {
                (times.parse().ok().filter(|n| *n > 0).ok_or_else(bad)?, rest)
            }
            _ => (1, rest),
        };
        let (more, rest) = match *rest {
            ["more", ref rest @ ..] if does == Act::Write => (true, rest),
            _ => (false, rest),
        };
        let (after, rest) = match *rest {
            ["after", time, ref rest @ ..] => (TIME.parse(time)?, rest),
            _ => (0, rest),
        };
        let at_once = match *rest {
            [] => false,
            ["at", "once"] => true,
            _ => return Err(bad()),
        };
        let message = Message {
            from_client,
            bytes,
            // The quantity's own bound keeps it far below 2^63.
            after_ns: i64::try_from(after).unwrap_or(i64::MAX),
            at_once,
            more,
            does,
        };
        Ok(Self { message, times })
    }
}

fn size(text: &str) -> Result<u64, String> {
    let bytes = SIZE.parse(text)?;
    let (least, most) = MESSAGE;
    match (least..=most).contains(&bytes) {
        true => Ok(bytes),
        false => Err(format!("must be {least} to {most} bytes, not {bytes}")),
    }
}
