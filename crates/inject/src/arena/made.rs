//! Two network namespaces made for one run, held by descriptors only: they go with the process.

use std::fs::{self, File};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::os::fd::AsRawFd;

use tcplab_livelink::port::Port;
use tcplab_os::namespaces::{OWN_NET, QUIET_IPV6, apart, new_net};
use tcplab_os::netlink::Netlink;
use tcplab_os::sysctl;
use tcplab_os::{Context, OsError};
use tcplab_wire::malformed::Family;

use super::inside;

const HOST_MAC: [u8; 6] = [2, 0x77, 0x82, 0, 0, 1];
const PEER_MAC: [u8; 6] = [2, 0x77, 0x82, 0, 0, 2];
/// Where the host listens.
const PORT: u16 = 80;
/// Interfaces of host and peer.
pub(super) const DEVICES: [&str; 2] = ["host0", "peer0"];
const MTU: u32 = 1_500;

/// Room for the requests of a flood.
const BACKLOG: (&str, &str) = ("net.ipv4.tcp_max_syn_backlog", "4096");

/// Both namespaces, joined by a veth pair.
pub(super) struct Made {
    pub(super) host: File,
    pub(super) peer: File,
    pub(super) port: Port,
    pub(super) listeners: [TcpListener; 2],
}

/// Addresses of host and peer.
fn addresses(family: Family) -> [IpAddr; 2] {
    [1_u16, 2].map(|n| match family {
        Family::V4 => IpAddr::from([10, 77, 82, n as u8]),
        Family::V6 => IpAddr::from([0xfd77, 0, 0, 0x8200, 0, 0, 0, n]),
    })
}

/// Where the host listens.
pub(super) fn listener(family: Family) -> SocketAddr {
    let [ip, _] = addresses(family);
    SocketAddr::new(ip, PORT)
}

/// Makes a namespace, on a thread of its own.
fn new_namespace() -> Result<File, OsError> {
    let make = || {
        new_net().tried("cannot make a network namespace")?;
        for (key, value) in QUIET_IPV6.into_iter().chain([BACKLOG]) {
            // A kernel without IPv6 lacks some.
            let _ = fs::write(sysctl::path(key), value);
        }
        File::open(OWN_NET).tried(OWN_NET)
    };
    apart(make).unwrap_or_else(|| Err(OsError::Cannot("no thread for a namespace".into())))
}

/// Gives an end of the veth pair its addresses.
fn set_up(side: usize) -> Result<(), OsError> {
    let (name, mac) = (DEVICES[side], [HOST_MAC, PEER_MAC][side]);
    let other = [PEER_MAC, HOST_MAC][side];
    let ask = Netlink::opened()?;
    let set = || -> std::io::Result<()> {
        ask.up("lo")?;
        ask.prepare(name, mac, MTU, false)?;
        for (family, prefix) in [(Family::V4, 24), (Family::V6, 64)] {
            let of = addresses(family);
            let added = ask.add_address(name, of[side], prefix);
            // A kernel without IPv6: its groups say so.
            if family == Family::V4 {
                added?;
            }
            if family == Family::V4 {
                ask.neighbour(name, of[1 - side], other, false)?;
            }
        }
        Ok(())
    };
    set().context(|| format!("cannot set up {name}"))
}

impl Made {
    pub(super) fn new() -> Result<Self, OsError> {
        let (host, peer) = (new_namespace()?, new_namespace()?);
        let cannot = |e: String| OsError::Cannot(format!("cannot enter a namespace: {e}"));
        inside(&host, || {
            let ask = Netlink::opened()?;
            ask.veth(DEVICES[0], DEVICES[1], peer.as_raw_fd())
                .tried("cannot make a veth pair (module veth)")
        })
        .map_err(cannot)??;
        inside(&peer, || set_up(1)).map_err(cannot)??;
        inside(&host, || set_up(0)).map_err(cannot)??;
        let port = inside(&peer, || Port::interface(DEVICES[1])).map_err(cannot)??;
        let listen = |family| {
            let end = listener(family);
            let socket = inside(&host, || TcpListener::bind(end));
            socket
                .map_err(cannot)?
                .context(|| format!("cannot listen at {end}"))
        };
        let listeners = [listen(Family::V4)?, listen(Family::V6)?];
        Ok(Self {
            host,
            peer,
            port,
            listeners,
        })
    }
}
