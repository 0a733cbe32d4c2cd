//! A server for many clients at once: a thread for each.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use nix::poll::PollFlags;
use socket2::{Socket, Type};
use tcplab_base::Duration;
use tcplab_plan::point::SocketOptions;

use super::address::{self, Listen, Transport};
use super::conn::Conn;
use super::error::Error;
use super::pin;
use super::run::{Probe, Waited, os};
use super::text;

/// Clients that are served at the same time; more wait in the kernel's queue.
const AT_ONCE: u64 = 1_000;

/// What every server has.
#[derive(Clone, Debug)]
pub struct Service {
    /// Where it listens.
    pub listen: Listen,
    /// Options of its sockets, and the CPU that it runs on.
    pub socket: SocketOptions,
    /// It ends after so many clients; none: with Ctrl-C.
    pub clients: Option<u64>,
}

/// Accepts clients until the end, and does `does` with each.
pub(super) fn serve<F>(probe: &Probe, service: &Service, does: F) -> Result<(), Error>
where
    F: Fn(Conn<'_>) + Sync,
{
    // The threads that serve run where this one does.
    pin(service.socket.cpu)?;
    let listener = address::listen(&service.listen, Transport::Tcp, &service.socket)?;
    announce(probe, &listener, service.clients);
    let (active, does) = (&AtomicU64::new(0), &does);
    let rest = || probe.sleep(probe.now() + Duration::from_millis(10));
    let mut left = service.clients;
    thread::scope(|scope| {
        while left != Some(0) {
            let waited = probe.wait(&listener, PollFlags::POLLIN, None);
            if waited.map_err(os("poll"))? == Waited::Stopped {
                break;
            }
            if active.load(Ordering::Relaxed) >= AT_ONCE {
                rest();
                continue;
            }
            let socket = match listener.accept() {
                Ok((socket, _)) => socket,
                // The client is gone again, or descriptors are short for a while (accept(2)).
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => continue,
                Err(e) => {
                    probe.warn(format!("accept: {e}"));
                    rest();
                    continue;
                }
            };
            left = left.map(|n| n - 1);
            active.fetch_add(1, Ordering::Relaxed);
            let spawned = thread::Builder::new().spawn_scoped(scope, move || {
                match Conn::accepted(probe, socket, &service.socket) {
                    Ok(conn) => does(conn),
                    Err(e) => {
                        probe.warn(e.to_string());
                        probe.say(&e.to_string());
                    }
                }
                active.fetch_sub(1, Ordering::Relaxed);
            });
            if let Err(e) = spawned {
                active.fetch_sub(1, Ordering::Relaxed);
                probe.warn(format!("a client was refused: {e}"));
            }
        }
        Ok(())
    })
}

/// Says where the server listens: with port 0 nobody would know.
pub(super) fn announce(probe: &Probe, socket: &Socket, clients: Option<u64>) {
    if let Some(address) = socket.local_addr().ok().and_then(|a| a.as_socket()) {
        let both = address.is_ipv6() && socket.only_v6().is_ok_and(|only| !only);
        let families = if both { " (IPv4 and IPv6)" } else { "" };
        let is_udp = socket.r#type().is_ok_and(|of| of == Type::DGRAM);
        let until = match (clients, probe.settings.idle_timeout) {
            (Some(n), _) if is_udp => format!("until {n} datagrams have arrived"),
            (Some(n), _) => format!("until {n} clients have connected"),
            (None, Some(patience)) if is_udp => {
                format!("until no packet arrives for {}", text::span(patience))
            }
            (None, _) => "until Ctrl-C".to_owned(),
        };
        let words = format!("listening on {address}{families}, {until}");
        probe.say(&words);
        if probe.settings.keeps_log {
            tcplab_os::say(&format!("tcplab: {words}"));
        }
    }
}
