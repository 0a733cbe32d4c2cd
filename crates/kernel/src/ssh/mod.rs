//! Sessions to other machines through the user's own `ssh`: this program runs there too and answers requests.
//!
//! [`Session::open`] starts ssh(1) with a shell line ([`start`]). The line takes this program from a cache of the far
//! side, or asks for it ([`program`]), and starts it with the word `__remote` ([`remote()`]). From then on both speak
//! in frames over standard input and output ([`frame`]): a [`Request`] goes there, [`Reply`]s come back. The far side
//! ends with its standard input, and what it has started ends with it.
//!
//! Left out: passwords and other questions (BatchMode), forwarded ports, terminals, Windows.

mod address;
mod answer;
mod clock;
mod error;
mod examine;
mod facts;
mod frame;
mod half;
mod held;
mod open;
mod pair;
mod pending;
mod program;
mod reach;
mod refuse;
mod remote;
mod request;
mod session;
mod start;
mod words;

pub use answer::{Errand, Way};
pub use clock::Offset;
pub use error::SshError;
pub use examine::{HostReport, WayReport, examine, way};
pub use facts::Facts;
pub use half::{Half, Ran};
pub use pair::Pair;
pub use pending::{Message, Pending};
pub use refuse::refuse;
pub use remote::remote;
pub use request::{Reply, Request};
pub use session::{Say, Session, open_all};
pub use start::SshOptions;
