//! Options of sockets that kernels of a known release do not have, nor profiles of it.

use tcplab_guest::stack::StackName;
use tcplab_plan::point::SocketOptions;
use tcplab_plan::{Point, Refusal};

use super::sysctls::{parsed, release};
use crate::model::Model;

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
pub(super) fn refusals(point: &Point, name: &str) -> Vec<Refusal> {
    let (kernel, model) = (release(name), modelled(name));
    let mut refused = Vec::new();
    for table in point.socket_tables() {
        let profile = point
            .hosts
            .get(table.host)
            .and_then(|host| host.profile.as_deref());
        // A kernel is its own release; it refuses a profile elsewhere.
        let Some(has) = kernel.or_else(|| profile.map_or(model, of_profile)) else {
            continue;
        };
        for (key, (major, minor), asks) in SINCE {
            if has < (major, minor) && asks(table.options) {
                let why = format!("Linux has it since {major}.{minor}");
                let remedy = "run it on model:linux-7.2 or another later release, or leave it out";
                refused.push(Refusal::new(table.place(key), why, remedy));
            }
        }
    }
    refused
}

/// The release of Linux that the model of this name stands for.
fn modelled(name: &str) -> Option<(u32, u32)> {
    match StackName::parse(name) {
        Ok(StackName::Model(name)) => of_profile(Model::named(&name).ok()?.of_host().0.name),
        _ => None,
    }
}

fn of_profile(name: &str) -> Option<(u32, u32)> {
    parsed(name.strip_prefix("linux-")?)
}
