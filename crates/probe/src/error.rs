//! Why a probe could not begin, with the way out.

use std::io;
use std::net::SocketAddr;

use tcplab_os::OsError;

/// What stands against a probe.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The name cannot be resolved.
    #[error("host {host}: {source}; write an address, or a name that `getent ahosts {host}` knows")]
    Resolve {
        /// As it was given.
        host: String,
        /// What the resolver said.
        source: io::Error,
    },
    /// The name has no address of the wanted family.
    #[error("host {host} has no {family} address")]
    NoAddress {
        /// As it was given.
        host: String,
        /// `IPv4`, `IPv6` or `IP`.
        family: &'static str,
    },
    /// No address of the host took the connection.
    #[error("cannot connect to {host}{}: {}; {}", port.map_or_else(String::new, |n| format!(" port {n}")), refusals(tried), hint(tried, *port))]
    Connect {
        /// As it was given.
        host: String,
        /// The port; `None` for ICMP.
        port: Option<u16>,
        /// Each address, and what the kernel said.
        tried: Vec<(SocketAddr, io::Error)>,
    },
    /// The port cannot be had.
    #[error("cannot listen on {address}: {source}; {}", listen_hint(source, *address))]
    Listen {
        /// Where.
        address: SocketAddr,
        /// What the kernel said.
        source: io::Error,
    },
    /// An option of a socket was refused.
    #[error(transparent)]
    Option(#[from] OsError),
    /// The CPU does not exist, or this process may not use it.
    #[error(
        "CPU {0} does not exist or this process may not use it; `nproc` and `taskset -p $$` show the CPUs"
    )]
    Cpu(u32),
    /// This user may not send ICMP echoes.
    #[error(
        "no socket for ICMP echoes: {0}; `sysctl -w net.ipv4.ping_group_range='0 2147483647'` allows them to \
         every user; udp-ping does not need them"
    )]
    Echo(io::Error),
    /// `--via` and what belongs to it ask for what there is not.
    #[error("{0}")]
    Via(String),
    /// The device of `--via` cannot be had.
    #[error("{0}")]
    Device(String),
    /// Something else failed.
    #[error("{what}: {source}")]
    Os {
        /// What was tried.
        what: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
}

impl Error {
    /// Whether another command line can help; else this machine cannot do it.
    pub fn is_input(&self) -> bool {
        match self {
            Self::Listen { source, .. } => source.kind() == io::ErrorKind::AddrNotAvailable,
            // EINVAL is about the value; else the kernel lacks the option or the congestion control, or forbids it.
            Self::Option(OsError::Os { source, .. }) => {
                source.kind() == io::ErrorKind::InvalidInput
            }
            Self::Os { .. } | Self::Device(_) | Self::Echo(_) => false,
            _ => true,
        }
    }

    /// Whether all was asked rightly, and the other end or the network did not do its part.
    pub fn is_elsewhere(&self) -> bool {
        matches!(self, Self::Connect { .. })
    }
}

fn refusals(tried: &[(SocketAddr, io::Error)]) -> String {
    let each = tried
        .iter()
        .map(|(address, e)| format!("{}: {e}", address.ip()));
    each.collect::<Vec<_>>().join(", ")
}

/// The way out after a connection that was not made.
fn hint(tried: &[(SocketAddr, io::Error)], port: Option<u16>) -> String {
    let Some((address, e)) = tried.last() else {
        return "the host has no address".into();
    };
    match e.kind() {
        io::ErrorKind::ConnectionRefused => {
            let port = port.unwrap_or_default();
            format!(
                "no program listens on port {port} there: start the server first, or set its port with -p"
            )
        }
        io::ErrorKind::AddrNotAvailable | io::ErrorKind::WouldBlock => {
            "no free local port: `sysctl net.ipv4.ip_local_port_range` shows the range, `ss -atun` the ports in use"
                .into()
        }
        io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable => {
            format!("check the route with `ip route get {}`", address.ip())
        }
        io::ErrorKind::TimedOut => {
            "no answer: is the address right? does a firewall drop the packets?".into()
        }
        _ => format!(
            "check with `ip route get {}`, and with `ss -ltn` there",
            address.ip()
        ),
    }
}

/// The way out when a port cannot be had.
fn listen_hint(e: &io::Error, address: SocketAddr) -> String {
    let port = address.port();
    match e.kind() {
        io::ErrorKind::AddrInUse => {
            format!(
                "`ss -lntup sport = :{port}` shows the program that uses it; choose another port with -p"
            )
        }
        io::ErrorKind::PermissionDenied => {
            "ports below 1024 need root; choose another port with -p".into()
        }
        io::ErrorKind::AddrNotAvailable => "`ip address` lists this host's addresses".into(),
        _ => "choose another port with -p".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_place_and_the_way_out() {
        let address: SocketAddr = "127.0.0.1:1234".parse().unwrap();
        let refused = || io::Error::from(io::ErrorKind::ConnectionRefused);
        let e = Error::Connect {
            host: "localhost".into(),
            port: Some(1234),
            tried: vec![
                ("[::1]:1234".parse().unwrap(), refused()),
                (address, refused()),
            ],
        };
        let text = e.to_string();
        for part in [
            "localhost port 1234",
            "::1: ",
            "127.0.0.1: ",
            "start the server first",
        ] {
            assert!(text.contains(part), "{text}");
        }
        let e = Error::Listen {
            address,
            source: io::ErrorKind::AddrInUse.into(),
        };
        assert!(e.to_string().contains("sport = :1234"), "{e}");
        assert!(!e.is_input());
        let option = |kind: io::ErrorKind| {
            Error::Option(OsError::Os {
                what: "no congestion control nosuch".into(),
                source: kind.into(),
            })
        };
        assert!(option(io::ErrorKind::InvalidInput).is_input());
        assert!(!option(io::ErrorKind::NotFound).is_input());
    }
}
