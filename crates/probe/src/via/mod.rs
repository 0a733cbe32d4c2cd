//! The applications live on tcplab's own TCP: an endpoint of the simulator behind a TAP device or a packet socket, in
//! real time.
//!
//! [`frames`] makes frames of segments and back, [`neighbours`] speaks ARP and, with [`ndp`], neighbour discovery, [`drive`] waits for frames and timers,
//! [`tell`] says what the connections do.

mod device;
mod drive;
mod frames;
mod ndp;
mod neighbours;
mod point;
mod tell;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;

use tcplab_livelink::End;
use tcplab_plan::app::AppKind;
use tcplab_plan::point::{Offload, SocketOptions};

use super::address::{Target, addresses};
use super::error::Error;
use super::pin;
use super::report::Ended;
use super::run::Probe;
use super::serve::Service;
use drive::Driver;
use neighbours::Own;
use point::Role;

/// An Ethernet address.
type Mac = [u8; 6];

/// Where and how the endpoint is.
#[derive(Clone, Debug)]
pub struct Via {
    /// Its device: a TAP device that it makes, whose other side is the kernel's, or an interface that there is.
    pub device: End,
    /// Its own address, and the length of the network's prefix.
    pub address: (IpAddr, u8),
    /// Who takes packets for other networks.
    pub gateway: Option<IpAddr>,
    /// Bytes of the longest IP packet; none: the interface's, 1,500 with a new TAP device.
    pub mtu: Option<u32>,
    /// Its profile: `linux-6.1`.
    pub profile: String,
    /// sysctl names and values.
    pub sysctl: BTreeMap<String, String>,
    /// Behaviours that differ from the profile's.
    pub behaviour: BTreeMap<String, String>,
    /// What its card would do with segments.
    pub offload: Offload,
    /// Where its draws begin: ports, initial sequence numbers. None: by the clock.
    pub seed: Option<u64>,
    /// Frames both ways go into this file (pcapng).
    pub write: Option<PathBuf>,
}

/// Serves an application until the end.
///
/// # Errors
/// When the device cannot be had, or the endpoint cannot be as asked.
pub fn server(probe: &Probe, service: &Service, app: &AppKind, via: &Via) -> Result<(), Error> {
    if service.listen.address.is_some() {
        return Err(cannot(
            "--bind: an endpoint on a device has the one address of --address".into(),
        ));
    }
    pin(service.socket.cpu)?;
    let role = Role::Server {
        port: service.listen.port,
        clients: service.clients,
    };
    run(probe, role, &service.socket, app, via).map(drop)
}

/// Runs the client's end of an application; gives how its last connection ended.
///
/// # Errors
/// As [`server`]; a server whose name has no address of the endpoint's protocol.
pub fn client(
    probe: &Probe,
    target: &Target,
    wanted: &SocketOptions,
    app: &AppKind,
    via: &Via,
) -> Result<Ended, Error> {
    pin(wanted.cpu)?;
    let found = addresses(target)?;
    let is_v6 = via.address.0.is_ipv6();
    let mut all = found.iter().map(std::net::SocketAddr::ip);
    let server = all.find(|ip| ip.is_ipv6() == is_v6);
    let server = server.ok_or_else(|| Error::NoAddress {
        host: target.host.clone(),
        family: ["IPv4", "IPv6"][usize::from(is_v6)],
    })?;
    let role = Role::Client {
        server,
        port: target.port,
    };
    run(probe, role, wanted, app, via)
}

fn run(
    probe: &Probe,
    role: Role,
    socket: &SocketOptions,
    app: &AppKind,
    via: &Via,
) -> Result<Ended, Error> {
    let (ip, _) = via.address;
    let [a, b, c, d] = match ip {
        IpAddr::V4(ip) => ip.octets(),
        IpAddr::V6(ip) => {
            let [.., a, b, c, d] = ip.octets();
            [a, b, c, d]
        }
    };
    let own = Own {
        // Locally administered; another one than the interface's, whose kernel does not take frames for it.
        mac: [2, 0x77, a, b, c, d],
        ip,
    };
    let planned = point::plan(socket, via)?;
    let device = device::open(via, &planned)?;
    let live = point::make(probe, role, app, &planned, via.seed, device.mtu)?;
    Driver::new(probe, via, role, own, device, (live, &planned))?.run()
}

/// The command line asks for what there is not.
fn cannot(words: String) -> Error {
    Error::Via(words)
}
