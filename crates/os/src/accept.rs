//! accept(2) with the peer's address.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};

use socket2::SockRef;

/// Takes one connection, which does not block. The address comes with it: getpeername(2) no longer tells that of a
/// connection that was reset while it waited.
///
/// # Errors
/// None waits, or the kernel's error.
pub fn accept(listener: &impl AsFd) -> io::Result<(OwnedFd, Option<SocketAddr>)> {
    let (socket, address) = SockRef::from(listener).accept()?;
    socket.set_nonblocking(true)?;
    Ok((socket.into(), address.as_socket()))
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::time::Duration;

    use super::*;

    #[test]
    fn connection_reset_in_the_queue_keeps_its_address() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let own = client.local_addr().unwrap();
        SockRef::from(&client)
            .set_linger(Some(Duration::ZERO))
            .unwrap();
        drop(client);
        let (_, address) = accept(&listener).unwrap();
        assert_eq!(address, Some(own));
    }
}
