//! `echo-server` and `echo-client`: one write and one read after the other.
//!
//! The pair with which the delayed ACK of a reply was shown: the client writes, reads the answer,
//! sleeps; with TCP_QUICKACK 0 before each write the ACK of the answer waits 40 ms.

use std::io;

use tcplab_base::Duration;
use tcplab_plan::point::{QuickAck, SocketOptions};

use super::address::{Target, Transport};
use super::conn::{Conn, Got};
use super::error::Error;
use super::pin;
use super::report::Ended;
use super::run::{Probe, Waited};
use super::serve::{Service, serve};

/// What the server does with each client: read, write, again.
#[derive(Clone, Copy, Debug)]
pub struct EchoServer {
    /// Bytes of a read at most.
    pub read_bytes: usize,
    /// Bytes of a write: what was read first, then zeros.
    pub write_bytes: u64,
}

/// What the client does.
#[derive(Clone, Debug)]
pub struct EchoClient {
    /// Whom it talks to.
    pub target: Target,
    /// Options of its socket; its QUICKACK policy is set before each *write*.
    pub socket: SocketOptions,
    /// Bytes of a write.
    pub write_bytes: u64,
    /// Bytes of a read at most.
    pub read_bytes: usize,
    /// Round trips.
    pub count: u64,
    /// Pause after each, the last one too.
    pub pause: Duration,
}

/// Serves until the end.
///
/// # Errors
/// When it cannot listen.
pub fn server(probe: &Probe, service: &Service, does: EchoServer) -> Result<(), Error> {
    let policy = service.socket.quickack;
    serve(probe, service, |conn| {
        conn.run(policy, |conn| answer(conn, does, policy));
    })
}

fn answer(conn: &mut Conn<'_>, does: EchoServer, policy: QuickAck) -> io::Result<Ended> {
    loop {
        if let QuickAck::Each(value) = policy {
            conn.set_quickack(value, false)?;
        }
        match conn.read(does.read_bytes, None)? {
            Got::Bytes(_) => {}
            Got::End => return Ok(Ended::Peer),
            Got::Late | Got::Stopped => return Ok(Ended::Interrupted),
        }
        if let Got::Stopped = conn.write(does.write_bytes)? {
            return Ok(Ended::Interrupted);
        }
        conn.record.completed += 1;
    }
}

/// Runs a client to its end; gives how it ended.
///
/// # Errors
/// When it cannot connect.
pub fn client(probe: &Probe, does: &EchoClient) -> Result<Ended, Error> {
    pin(does.socket.cpu)?;
    let connected = Conn::connect(probe, &does.target, Transport::Tcp, &does.socket)?;
    Ok(connected.map_or(Ended::Interrupted, |conn| {
        conn.run(does.socket.quickack, |conn| round_trips(conn, does))
    }))
}

fn round_trips(conn: &mut Conn<'_>, does: &EchoClient) -> io::Result<Ended> {
    let policy = does.socket.quickack;
    if let QuickAck::Each(value) = policy {
        conn.set_quickack(value, true)?;
    }
    for _ in 0..does.count {
        if let QuickAck::Each(value) = policy {
            conn.set_quickack(value, true)?;
        }
        let asked = conn.probe.now();
        let patience = conn.probe.settings.idle_timeout.map(|t| asked + t);
        if let Got::Stopped = conn.write(does.write_bytes)? {
            return Ok(Ended::Interrupted);
        }
        match conn.read(does.read_bytes, patience)? {
            Got::Bytes(_) => {}
            Got::End => return Ok(Ended::Peer),
            Got::Late => return Err(io::Error::from_raw_os_error(libc::ETIME)),
            Got::Stopped => return Ok(Ended::Interrupted),
        }
        conn.completed(asked);
        if conn.sleep(conn.probe.now() + does.pause) == Waited::Stopped {
            return Ok(Ended::Interrupted);
        }
    }
    Ok(Ended::Finished)
}
