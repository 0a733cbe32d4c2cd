//! `kind = "messages"`: `client 512`, `server 1448 after 40ms`.

use std::str::FromStr;

use super::error::Fault;
use super::fields::Fields;
use super::keys::apps::{MESSAGE, WRITES};
use crate::app::{AppKind, Message};
use crate::rules::MAX_MESSAGES;
use tcplab_base::quantity::{SIZE, TIME};

const FORM: &str =
    "write `client BYTES` or `server BYTES`, with `after TIME` for a pause before it";

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
    let one = |(node, text): (_, &str)| {
        text.parse()
            .map_err(|why: String| fields.fault(&WRITES, node, why))
    };
    let messages = texts.into_iter().map(one).collect::<Result<_, _>>()?;
    Ok(AppKind::Messages { messages })
}

impl FromStr for Message {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("`{text}` is not a message: {FORM}");
        let words: Vec<&str> = text.split_whitespace().collect();
        let (end, bytes, after) = match *words.as_slice() {
            [end, bytes] => (end, bytes, None),
            [end, bytes, "after", time] => (end, bytes, Some(time)),
            _ => return Err(bad()),
        };
        let from_client = match end {
            "client" => true,
            "server" => false,
            _ => return Err(bad()),
        };
        let bytes = SIZE.parse(bytes)?;
        let (least, most) = MESSAGE;
        if !(least..=most).contains(&bytes) {
            return Err(format!("must be {least} to {most} bytes, not {bytes}"));
        }
        let after = after.map_or(Ok(0), |time| TIME.parse(time))?;
        Ok(Self {
            from_client,
            bytes,
            // The quantity's own bound keeps it far below 2^63.
            after_ns: i64::try_from(after).unwrap_or(i64::MAX),
        })
    }
}
