//! Which applications can open their connection from both ends at once.

use crate::app::{App, AppKind, Listening};

/// Why an application whose ends both connect cannot be, and the key to look at.
pub(crate) fn obstacle(app: &App) -> Option<(&'static str, &'static str)> {
    if !app.is_simultaneous() {
        return None;
    }
    let is_of_one =
        !app.does.is_udp() && !matches!(app.does, AppKind::ConnectRequestResponse { .. });
    let wrong = [
        (
            !is_of_one,
            "open",
            "a simultaneous open is for kinds with one connection of TCP",
        ),
        (
            app.connections != 1,
            "connections",
            "a simultaneous open has one connection: write one application per connection",
        ),
        (
            app.client == app.server,
            "server",
            "a simultaneous open needs two hosts",
        ),
        (
            app.fastopen,
            "fastopen",
            "no listener takes data with a SYN in a simultaneous open: remove it",
        ),
        (
            app.listening != Listening::default(),
            "open",
            "nobody listens in a simultaneous open: remove the keys of the listener",
        ),
    ];
    let found = wrong.into_iter().find(|(is_wrong, ..)| *is_wrong);
    found.map(|(_, key, why)| (key, why))
}
