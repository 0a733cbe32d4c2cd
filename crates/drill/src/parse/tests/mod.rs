//! Scripts of our own and what is read from them.

mod calls;
mod defines;
mod dialects;
mod errors;
mod packets;
mod whole;

use super::{Defines, parse};
use crate::script::{Action, CallSpec, Event, PacketSpec, Script};

/// The script, or the message.
fn read(text: &str) -> Result<Script, String> {
    parse(text, &Defines::new()).map_err(|e| e.to_string())
}

/// The only event of a script.
fn event(text: &str) -> Result<Event, String> {
    let mut script = read(text)?;
    assert_eq!(script.events.len(), 1, "{text}");
    Ok(script.events.remove(0))
}

fn packet(text: &str) -> Result<PacketSpec, String> {
    match event(&format!("0 {text}"))?.action {
        Action::Packet(packet) => Ok(*packet),
        other => panic!("{text}: {other:?}"),
    }
}

fn call(text: &str) -> Result<CallSpec, String> {
    match event(&format!("0 {text}"))?.action {
        Action::Call(call) => Ok(*call),
        other => panic!("{text}: {other:?}"),
    }
}
