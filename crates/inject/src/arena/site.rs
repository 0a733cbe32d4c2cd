//! The user's own interface as the host under test: its name, its listening ports, and the targets of connections.

use std::fs::File;
use std::net::{IpAddr, SocketAddr, SocketAddrV6, TcpListener};

use tcplab_base::quoted;
use tcplab_livelink::port::{LONGEST, Port};
use tcplab_os::counters::Counters;
use tcplab_wire::malformed::Family;

use super::diag::Diag;
use super::inspect::{addresses, is_of_link, listening};
use super::into::{Destination, Wire};
use super::kmsg::Kmsg;
use super::sniff::Sniffed;
use super::{Arena, IntoError, Service, Standing};
use crate::document::SiteRecord;

/// Ports of programs that are tried.
const PORTS: usize = 8;

impl Arena {
    /// An interface that there is.
    ///
    /// # Errors
    /// It is not there, frames into it could reach others, or nobody can be talked to.
    pub(crate) fn at(into: &Destination) -> Result<Self, IntoError> {
        let wire = into.wire()?;
        let here = wire.host.within(|| addresses(wire.link.index))?;
        let here = here.map_err(|e| IntoError::Cannot(format!("cannot ask for addresses: {e}")))?;
        if here.is_empty() {
            return Err(IntoError::Wrong(format!(
                "{} has no IP address: `ip addr add ADDRESS/PREFIX dev {}` gives it one",
                into.at,
                quoted(&into.at.device)
            )));
        }
        let mut arena = Self::on(&wire)?;
        arena.find_service(into, &wire, &here)?;
        let is_own = matches!(arena.service, Service::Own(_));
        let listens = arena.reaches(into)?;
        if into.port.is_none() && !is_own {
            let port = listens[0].port();
            arena.notes.push(format!(
                "connections go to port {port}, where a program listens; choose another with --port"
            ));
        }
        if wire.link.is_loopback && listens.iter().any(SocketAddr::is_ipv4) {
            arena.notes.push(
                "Linux takes IPv4 frames of a loopback interface for TCP only when they belong to a connection (else to 127.0.0.1 \
                 they are martians: ip_route_input_slow()), unless net.ipv4.conf.lo.route_localnet and accept_local are 1"
                    .into(),
            );
        }
        arena.site = Some(SiteRecord {
            at: into.at.to_string(),
            from: arena.from.clone(),
            listens: listens.iter().map(ToString::to_string).collect(),
            own_listener: is_own,
        });
        arena.moved();
        Ok(arena)
    }

    /// With no service yet.
    fn on(wire: &Wire) -> Result<Self, IntoError> {
        let open = || Port::interface_or_loopback(&wire.peer_link.name);
        let port = wire.peer.within(open)??;
        Ok(Self {
            device: wire.link.name.clone(),
            from: wire.peer.spot(&wire.peer_link.name).to_string(),
            port,
            listens: [Err(String::new()), Err(String::new())],
            service: Service::Other,
            sniffed: Sniffed::default(),
            buffer: vec![0; LONGEST],
            counters: Counters::new(),
            kmsg: Kmsg::open().ok(),
            site: None,
            notes: Vec::new(),
            diag: wire.host.within(Diag::open)?.ok(),
            index: wire.link.index,
            host: clone(&wire.host.file)?,
            peer: clone(&wire.peer.file)?,
        })
    }

    /// A program that listens, or a listener of our own.
    fn find_service(
        &mut self,
        into: &Destination,
        wire: &Wire,
        here: &[IpAddr],
    ) -> Result<(), IntoError> {
        let ports = match into.port {
            Some(port) => vec![port],
            None => wire.host.within(|| listening(here))?,
        };
        self.find(into, wire, here, &ports);
        if into.port.is_none() && self.listens.iter().all(Result::is_err) {
            let why = self.listens[0].clone().err().unwrap_or_default();
            self.open_listeners(wire, here)?;
            self.notes.push(match ports.is_empty() {
                true => format!(
                    "no program listens at {}: tcplab started its own listener",
                    into.at
                ),
                false => format!(
                    "tcplab started its own listener, because no program at {} accepted a connection ({why})",
                    into.at
                ),
            });
        }
        Ok(())
    }

    /// Where connections can be made to.
    fn reaches(&self, into: &Destination) -> Result<Vec<SocketAddr>, IntoError> {
        let listens: Vec<SocketAddr> = self.listens.iter().flatten().copied().collect();
        if listens.is_empty() {
            let mut whys: Vec<String> = self
                .listens
                .iter()
                .cloned()
                .filter_map(Result::err)
                .collect();
            whys.dedup();
            return Err(IntoError::Wrong(format!(
                "no connection from {} to {}: {}",
                self.from,
                into.at,
                whys.join("; ")
            )));
        }
        Ok(listens)
    }

    /// The first address and port of each family that a connection can be made to.
    fn find(&mut self, into: &Destination, wire: &Wire, here: &[IpAddr], ports: &[u16]) {
        for (at, (family, name)) in [(Family::V4, "IPv4"), (Family::V6, "IPv6")]
            .into_iter()
            .enumerate()
        {
            self.listens[at] = Err(format!("{} has no {name} address", into.at));
            for &ip in here.iter().filter(|ip| is_of(ip, family)) {
                for &port in ports.iter().take(PORTS) {
                    self.try_for(at, reached(ip, port, wire.peer_link.index));
                }
            }
        }
    }

    /// Takes the address for its family, when none was found before and a connection can be made there.
    fn try_for(&mut self, at: usize, address: SocketAddr) {
        if self.listens[at].is_err() {
            let tried = self.try_to(address).map_err(|e| format!("{address}: {e}"));
            self.listens[at] = tried.map(|()| address);
        }
    }

    /// A connection can be made there, and stands for a moment.
    fn try_to(&mut self, address: SocketAddr) -> Result<(), String> {
        self.sniffed.expect(address);
        let conn = self.connect_to(address)?;
        let is_well = self.carry(&conn).map(drop);
        let standing = self.standing(&conn);
        self.close(conn);
        match standing {
            Standing::Open => is_well,
            _ => Err(
                "the program there closes connections by itself; choose another port with --port"
                    .into(),
            ),
        }
    }

    /// Listens by itself, at an address of each family.
    fn open_listeners(&mut self, wire: &Wire, here: &[IpAddr]) -> Result<(), IntoError> {
        let mut listeners = Vec::new();
        let mut ends = Vec::new();
        for family in [Family::V4, Family::V6] {
            for &ip in here.iter().filter(|ip| is_of(ip, family)) {
                let own = reached(ip, 0, wire.link.index);
                let Ok(listener) = wire.host.within(|| TcpListener::bind(own))? else {
                    continue;
                };
                let port = listener.local_addr().map_or(0, |own| own.port());
                listeners.push(listener);
                ends.push((family, reached(ip, port, wire.peer_link.index)));
            }
        }
        self.service = Service::Own(listeners);
        for (family, address) in ends {
            self.try_for(usize::from(family == Family::V6), address);
        }
        Ok(())
    }
}

fn is_of(ip: &IpAddr, family: Family) -> bool {
    ip.is_ipv6() == (family == Family::V6)
}

/// An address as it is written where the interface has this index.
fn reached(ip: IpAddr, port: u16, index: u32) -> SocketAddr {
    match ip {
        IpAddr::V6(v6) if is_of_link(&ip) => SocketAddrV6::new(v6, port, 0, index).into(),
        ip => SocketAddr::new(ip, port),
    }
}

fn clone(namespace: &File) -> Result<File, IntoError> {
    let cloned = namespace.try_clone();
    cloned.map_err(|e| IntoError::Cannot(e.to_string()))
}
