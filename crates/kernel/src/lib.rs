//! Everything of tcplab that touches the operating system. Level 4 of the map.
//!
//! Today: live capture from an interface ([`Live`]) and the wish to stop ([`Stop`]).

mod error;
#[cfg(target_os = "linux")]
mod live;
#[cfg(not(target_os = "linux"))]
#[path = "live_elsewhere.rs"]
mod live;
mod stop;

pub use error::Error;
pub use live::{Frame, Live};
pub use stop::Stop;
