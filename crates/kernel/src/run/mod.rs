//! Runs one point of an experiment on the kernel that this process sees.
//!
//! Hosts are network namespaces of this process; links are ours, over TAP devices, or the kernel's
//! veth pairs; all applications live here, in one thread and one event loop. That is what makes a
//! run in virtual time repeat byte for byte. The same code runs on the machine's own kernel and as
//! the init of a guest.
//!
//! Data flows one way: [`wire::build`] makes the hosts and links from the point, [`world`] turns
//! the loop, and the [`Outcome`](tcplab_plan::Outcome) is collected at the end.

mod errand;
mod host;
mod links;
mod looks;
mod machine;
mod poll;
pub(crate) mod qdisc;
mod refusal;
mod replay;
mod site;
mod sock;
mod socket;
mod timers;
mod wire;
mod world;

pub(crate) use errand::POINT;
pub(crate) use host::{CONGESTION, Sysctls, WAYS};
pub(crate) use machine::left_to_machine;
pub use site::is_ours;
pub(crate) use site::{Site, run_half};
pub use sock::{Datagrams, ECHO_REQUESTS};
pub use world::{kernel_name, run};
