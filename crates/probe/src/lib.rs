//! `tcplab probe`: the applications live, on this machine's sockets, against any other host. Level 7 of the map; Linux only.
//!
//! A [`Probe`] is the shared state of one run: the clock, the wish to stop, the log, the report. [`driver`] hosts every
//! application of the crate `apps`, and the two pairs of programs with which delayed ACKs were first shown: they speak
//! to those programs and to nc(1). Before and after each read the log has what getsockopt(TCP_QUICKACK) says and what
//! the kernel knows ([`tcplab_os::proc_tcp`]).
//!
//! Sockets do not block; all waiting is in poll(2), in slices, so that Ctrl-C, times and samples
//! are seen. A read is tried when poll(2) has something for it: on the wire that is the same as blocking calls.
#![cfg(target_os = "linux")]
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod address;
mod clock;
mod conn;
pub mod driver;
mod error;
mod point;
mod report;
mod run;
mod serve;
mod signal;
pub mod summary;
mod text;
mod trend;
pub mod via;

pub use address::{Family, Listen, Target};
pub use error::Error;
pub use report::{
    Buffers, Connection, Ended, LogLine, Report, SCHEMA, Sample, Traffic, ViaReport, What,
};
pub use run::{Probe, Settings};
pub use serve::Service;

use tcplab_os::cpu;
use tcplab_os::sys::{self, SockOpt};

/// Pins the calling thread to a CPU.
///
/// # Errors
/// The CPU does not exist, or this process may not use it.
fn pin(cpu: Option<u32>) -> Result<(), Error> {
    let refused = cpu.filter(|cpu| !cpu::pin(*cpu as usize));
    refused.map_or(Ok(()), |cpu| Err(Error::Cpu(cpu)))
}

/// What getsockopt(TCP_QUICKACK) says of a new socket.
///
/// # Errors
/// When no socket can be made.
pub fn quickack_default() -> Result<Report, Error> {
    let failed = |source| Error::Os {
        what: "TCP_QUICKACK of a new socket",
        source,
    };
    let new = |domain| socket2::Socket::new(domain, socket2::Type::STREAM, None);
    // A kernel without IPv4 is thinkable.
    let socket = new(socket2::Domain::IPV4)
        .or_else(|_| new(socket2::Domain::IPV6))
        .map_err(failed)?;
    let value = sys::get_int(&socket, SockOpt::QUICKACK).map_err(failed)?;
    Ok(Report {
        schema: SCHEMA.into(),
        probe: "quickack-default".into(),
        kernel: run::kernel(),
        quickack_default: Some(value),
        ..Report::default()
    })
}
