//! The server of `udp-stream` and `udp-rr`: one socket for all clients.

use std::io;
use std::mem::MaybeUninit;

use nix::poll::PollFlags;
use socket2::SockAddr;
use tcplab_apps::{Message, Program, Result as Last, Step};
use tcplab_plan::app::AppKind;

use super::address::{self, Transport};
use super::conn::Conn;
use super::error::Error;
use super::options;
use super::report::{Ended, What};
use super::run::{Probe, Waited};
use super::serve::{Service, announce};

/// Bytes that the largest datagram may have.
pub(super) const LARGEST: usize = 65_535;

/// Serves until the end; `clients` of the service counts datagrams here.
///
/// # Errors
/// When the port cannot be had.
pub(super) fn server(probe: &Probe, service: &Service, app: &AppKind) -> Result<(), Error> {
    options::pin(service.socket.cpu)?;
    let socket = address::listen(&service.listen, Transport::Udp, &service.socket)?;
    announce(probe, &socket);
    let mut conn = Conn::new(probe, socket, Transport::Udp, &service.socket);
    let outcome = answer(&mut conn, &mut Program::server(app), service.clients);
    conn.finish(outcome);
    Ok(())
}

/// A datagram of these bytes; the probes' own have no number.
pub(super) fn unnumbered(bytes: usize) -> Message {
    Message {
        size: bytes as u64,
        number: 0,
    }
}

fn answer(conn: &mut Conn<'_>, program: &mut Program, limit: Option<u64>) -> io::Result<Ended> {
    let mut buffer = vec![MaybeUninit::uninit(); LARGEST];
    let zeros = vec![0; LARGEST];
    let mut peer: Option<SockAddr> = None;
    let mut last = Last::Done;
    loop {
        last = match program.next(conn.probe.now(), last) {
            Step::Send(Message { size, .. }) => {
                let bytes = zeros.get(..usize::try_from(size).unwrap_or(LARGEST));
                if let (Some(peer), Some(bytes)) = (&peer, bytes) {
                    // A client that is gone (ICMP) or a full queue is a lost datagram.
                    if conn.socket().send_to(bytes, peer).is_ok() {
                        conn.record.traffic.writes += 1;
                        conn.record.traffic.written_bytes += size;
                        conn.note(What::Write, i64::try_from(size).ok());
                    }
                }
                Last::Done
            }
            Step::Receive(_) => {
                if limit.is_some_and(|n| conn.record.traffic.reads >= n) {
                    return Ok(Ended::Finished);
                }
                if conn.wait(PollFlags::POLLIN, None)? == Waited::Stopped {
                    return Ok(Ended::Interrupted);
                }
                match conn.socket().recv_from(&mut buffer) {
                    Ok((got, from)) => {
                        peer = Some(from);
                        conn.record.traffic.reads += 1;
                        conn.record.traffic.read_bytes += got as u64;
                        conn.record.completed += 1;
                        conn.note(What::ReadEnd, i64::try_from(got).ok());
                        Last::Message(unnumbered(got))
                    }
                    Err(_) => Last::TimedOut,
                }
            }
            // The servers of datagrams know no other step.
            _ => return Ok(Ended::Finished),
        };
    }
}
