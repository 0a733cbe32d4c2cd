//! Whether hosts reach each other: one accepts connections, the other one makes some.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use super::answer::Way;
use super::{Reply, clock};

/// A handshake may take so long.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often the listener looks.
const LOOK: Duration = Duration::from_millis(5);

/// Handshakes, of which the shortest counts.
const TRIES: usize = 5;

pub(super) fn listen(address: IpAddr, way: &Way) -> Result<Reply, String> {
    let fail = |e: io::Error| format!("cannot listen at {address}: {e}");
    let listener = TcpListener::bind((address, 0)).map_err(fail)?;
    listener.set_nonblocking(true).map_err(fail)?;
    let port = listener.local_addr().map_err(fail)?.port();
    way.note(Reply::Listening(port), &[])?;
    while !way.stop.wanted() {
        // Whoever came goes at once; the kernel has answered.
        if listener.accept().is_err() {
            thread::sleep(LOOK);
        }
    }
    Ok(Reply::Nothing)
}

pub(super) fn reach(to: SocketAddr, way: &Way) -> Result<Reply, String> {
    let mut best = i64::MAX;
    for _ in 0..TRIES {
        if way.stop.wanted() {
            break;
        }
        let begun = clock::real_time();
        TcpStream::connect_timeout(&to, PATIENCE)
            .map_err(|e| format!("cannot connect to {to}: {e}"))?;
        best = best.min(clock::real_time().since(begun).as_nanos());
    }
    Ok(Reply::Reached { handshake_ns: best })
}
