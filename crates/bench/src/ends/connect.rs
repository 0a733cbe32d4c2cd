//! A connection for each transaction (netperf TCP_CRR): connect, a byte there, a byte back, close.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;

use super::drag::Drag;
use super::end::{Answered, Pipe, Tally, Task};
use super::measure::EndReport;
use super::phase::Phase;
use super::request::Latencies;

/// Connections to one address before it is another one's turn: a client's ports wait a minute in TIME-WAIT, and there
/// are 28,232 of them for one address. All of 127.0.0.0/8 is this machine.
const EACH: u64 = 5_000;

/// Connects, asks, and closes first.
pub(super) fn client(task: &Task, phase: &Phase) -> io::Result<EndReport> {
    let server = task
        .server
        .ok_or_else(|| io::Error::other("no server to connect to"))?;
    let mut drag = Drag::of(task.spec.slowed_percent);
    let mut made = 0;
    let mut next = || {
        made += 1;
        drag.call();
        once(place(server, made))
    };
    while phase.is_warming() {
        next()?;
    }
    let tally = Tally::begin();
    let mut latencies = Latencies::begin();
    let mut transactions = 0;
    while phase.counts() {
        next()?;
        transactions += 1;
        latencies.next();
    }
    let mut report = tally.end(2 * transactions, 4 * transactions, transactions);
    latencies.tell(&mut report);
    // The server waits in accept(2): the last connection ends at once.
    drop(TcpStream::connect(server)?);
    Ok(report)
}

/// The address for the n-th connection.
fn place(server: SocketAddr, n: u64) -> SocketAddr {
    match server.ip().is_loopback() {
        true => {
            let last = 1 + (n / EACH) % 250;
            SocketAddr::from((Ipv4Addr::new(127, 0, 0, last as u8), server.port()))
        }
        false => server,
    }
}

fn once(server: SocketAddr) -> io::Result<()> {
    let mut connection = TcpStream::connect(server)?;
    connection.write_all(&[0])?;
    connection.read_exact(&mut [0])
}

/// Accepts and answers, and closes when the client has; until a client closes without asking.
pub(super) fn server(pipe: &Pipe, phase: &Phase) -> io::Result<EndReport> {
    let listener: OwnedFd = pipe.reads.try_clone()?;
    let listener = TcpListener::from(listener);
    let mut answered = Answered::default();
    loop {
        let (mut connection, _) = listener.accept()?;
        let mut byte = [0];
        if connection.read(&mut byte)? == 0 {
            break;
        }
        connection.write_all(&byte)?;
        // Its FIN first: TIME-WAIT is the client's.
        let _ = connection.read(&mut byte)?;
        answered.one(phase);
    }
    let (tally, transactions) = answered.end();
    Ok(tally.end(2 * transactions, 4 * transactions, transactions))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_go_to_all_of_loopback() {
        let server: SocketAddr = "127.0.0.1:80".parse().unwrap();
        assert_eq!(place(server, 1), server);
        assert_eq!(place(server, EACH).ip(), Ipv4Addr::new(127, 0, 0, 2));
        assert_eq!(place(server, 250 * EACH), server);
        let other: SocketAddr = "192.0.2.1:80".parse().unwrap();
        assert_eq!(place(other, EACH), other);
    }
}
