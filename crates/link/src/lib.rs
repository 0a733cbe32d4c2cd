//! A link of our own between two hosts: for each way a rate with a FIFO, a delay with jitter,
//! chance and listed losses. Level 2 of the map.
//!
//! The same code forwards frames in the simulator and, over TAP devices, between the namespaces of
//! a kernel. It opens nothing and knows no clock: frames are pushed in with [`Way::enter`] and
//! taken out with [`Way::poll`] when their time has come ([`Way::next_time`]).

mod choose;
mod damage;
mod depth;
mod fifo;
mod kind;
mod line;
mod middlebox;
mod opportunities;
mod schedule;
mod trace;
mod way;

pub use damage::damage;
pub use kind::Kind;
pub use line::{ChangeError, Changed, Line, Payload};
pub use schedule::Schedule;
pub use trace::{Choice, HEAD, Trace, TraceError, priority};
pub use way::{Due, Entered, Frame, Way};
