//! `struct tcp_info` of a connection whose socket is somebody else's: sock_diag(7), linux/inet_diag.h.

use std::io;
use std::net::IpAddr;

use netlink_sys::Socket;
use netlink_sys::protocols::NETLINK_SOCK_DIAG;
use tcplab_os::netlink::{attribute, connected, message};
use tcplab_os::tcp_info::TcpInfo;
use tcplab_wire::Endpoint;

/// linux/netlink.h, linux/sock_diag.h.
const NLM_F_REQUEST: u16 = 1;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
/// `struct nlmsghdr`, `struct inet_diag_msg`.
const HEADER: usize = 16;
const MESSAGE: usize = 72;
/// `INET_DIAG_INFO`: its number, and its bit of those that are asked for.
const INFO: u16 = 2;
const INFO_BIT: u8 = 1 << (INFO - 1);
const TCP: u8 = 6;

/// A socket to the kernel's tables.
#[derive(Debug)]
pub(super) struct Diag(Socket);

impl Diag {
    /// Opens it in the network namespace of this thread, whose sockets it sees from then on.
    pub(super) fn open() -> io::Result<Self> {
        connected(NETLINK_SOCK_DIAG).map(Self)
    }

    /// The connection between these ends, at the interface of this index where its addresses need one.
    pub(super) fn find(
        &self,
        local: Endpoint,
        remote: Endpoint,
        index: u32,
    ) -> io::Result<TcpInfo> {
        self.0.send(&request(local, remote, index), 0)?;
        let (answer, _) = self.0.recv_from_full()?;
        let found = info(&answer, remote.port);
        found.ok_or_else(|| io::Error::other("the kernel shows no such connection"))
    }
}

fn request(local: Endpoint, remote: Endpoint, index: u32) -> Vec<u8> {
    let family = match local.ip {
        IpAddr::V4(_) => libc::AF_INET,
        IpAddr::V6(_) => libc::AF_INET6,
    };
    let mut b = vec![family as u8, TCP, INFO_BIT, 0];
    b.extend(u32::MAX.to_ne_bytes());
    b.extend(local.port.to_be_bytes());
    b.extend(remote.port.to_be_bytes());
    for ip in [local.ip, remote.ip] {
        let at = b.len();
        match ip {
            IpAddr::V4(ip) => b.extend(ip.octets()),
            IpAddr::V6(ip) => b.extend(ip.octets()),
        }
        b.resize(at + 16, 0);
    }
    b.extend(index.to_ne_bytes());
    // INET_DIAG_NOCOOKIE.
    b.extend([0xff; 8]);
    message(SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, &b)
}

/// The TCP_INFO of an answer about the connection whose remote port is `port`. When the connection
/// does not exist, the kernel answers with its listener (`inet_diag_find_one_icsk()`), whose remote
/// port differs.
fn info(answer: &[u8], port: u16) -> Option<TcpInfo> {
    let kind = u16::from_ne_bytes(*answer.get(4..)?.first_chunk()?);
    if kind != SOCK_DIAG_BY_FAMILY {
        return None;
    }
    // Behind four bytes `struct inet_diag_sockid`: the own port, the other's.
    let other = answer.get(HEADER + 6..)?.first_chunk()?;
    if u16::from_be_bytes(*other) != port {
        return None;
    }
    let value = attribute(answer.get(HEADER + MESSAGE..)?, INFO)?;
    let mut bytes = [0; TcpInfo::ROOM];
    let len = value.len().min(bytes.len());
    bytes[..len].copy_from_slice(&value[..len]);
    Some(TcpInfo::of_bytes(bytes, len))
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use tcplab_os::tcp_info::tcp_info;

    use super::super::sniff::endpoint;
    use super::*;

    #[test]
    fn it_says_what_the_socket_itself_says() {
        let diag = Diag::open().unwrap();
        for bind in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(bind) else {
                eprintln!("skipped: {bind} is not there");
                continue;
            };
            let peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (host, from) = listener.accept().unwrap();
            let (local, remote) = (endpoint(host.local_addr().unwrap()), endpoint(from));
            let told = match diag.find(local, remote, 0) {
                Ok(told) => told,
                // A kernel without CONFIG_INET_DIAG.
                Err(e) => return eprintln!("skipped: {e}"),
            };
            let own = tcp_info(&host).unwrap();
            for name in [
                "tcpi_state",
                "tcpi_snd_mss",
                "tcpi_segs_in",
                "tcpi_snd_cwnd",
                "tcpi_rcv_mss",
            ] {
                assert_eq!(told.get(name), own.get(name), "{name}");
            }
            drop(peer);
            // The ends the other way round, one of them gone: another connection, or none.
            let other = Endpoint { port: 1, ..remote };
            assert!(diag.find(local, other, 0).is_err());
        }
    }
}
