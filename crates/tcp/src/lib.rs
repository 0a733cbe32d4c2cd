//! A TCP endpoint that behaves as Linux's, without input or output. Level 2 of the map.
//!
//! A [`Stack`] is a host's TCP: its connections, listeners and TIME-WAIT records. Segments, timers and
//! socket calls go in; segments and readiness come out. Only sequence space is kept, no bytes.

mod ack;
mod cc;
mod cx;
mod endpoint;
mod fastopen;
mod host;
mod info;
mod input;
mod jiffies;
mod metrics;
mod mib;
mod options;
mod output;
mod pack;
mod packet;
mod queue;
mod recovery;
mod rtt;
mod segment;
mod stack;
mod sysctl;
mod sysctl_set;
mod sysctl_unread;
mod timers;

pub use cc::{congestion_controls, external};
pub use cx::Cx;
pub use endpoint::{Endpoint, OpenError, ReadOutcome, Shutdown, SocketError, State};
pub use fastopen::{FastOpenKey, FastOpenKeys};
pub use host::{Addresses, DeviceQueue, HostConfig, Interfaces, PathMtus, RxTruesize};
pub use jiffies::Clock;
pub use mib::{COUNTERS, Counter, Mib};
pub use options::OpenOptions;
pub use packet::ip_offset;
pub use rtt::timeouts_us;
pub use segment::{Addr, Caqm, Segment};
pub use stack::{ConnId, Event, IcmpError, ListenId, Stack, Unreachable};
pub use sysctl::{Kernels, Sysctl, SysctlRow};
pub use sysctl_unread::{UNREAD, Unread};
