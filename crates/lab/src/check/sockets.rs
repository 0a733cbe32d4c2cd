//! Options of sockets that kernels of a known release do not have.

use tcplab_plan::point::SocketOptions;
use tcplab_plan::{Point, Refusal};

use super::Kind;
use super::sysctls::release;

/// An option: its key, the first release that has it, and whether a socket asks for it.
type Since = (&'static str, (u32, u32), fn(&SocketOptions) -> bool);

/// f38805c5d26f, 9552f90835ef.
const SINCE: [Since; 2] = [
    ("rto_min", (6, 15), |socket| socket.rto_min_ns.is_some()),
    ("delack_max", (6, 15), |socket| {
        socket.delack_max_ns.is_some()
    }),
];

/// What of a point's sockets this stack is known to refuse. `name`: the stack's.
pub(super) fn refusals(point: &Point, kind: Kind, name: &str) -> Vec<Refusal> {
    let Some(release) = (kind != Kind::Model).then(|| release(name)).flatten() else {
        return Vec::new();
    };
    let missing = SINCE.iter().filter(|(_, since, _)| release < *since);
    let asked = missing.flat_map(|(key, since, asks)| {
        let tables = point.socket_tables().filter(|table| asks(table.options));
        tables.map(|table| (table.place(key), *since))
    });
    let refused = asked.map(|(place, (major, minor))| {
        let why = format!("Linux has it since {major}.{minor}");
        Refusal::new(
            place,
            why,
            "run it on model: or a later kernel, or leave it out",
        )
    });
    refused.collect()
}
