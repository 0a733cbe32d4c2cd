//! Where the ends of a link are: network namespaces, and the devices in them, made and set up.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

use nix::sched::CloneFlags;
use tcplab_os::counters::of_device;
use tcplab_os::namespaces::{OWN_NET, apart, enter_net, new_net, new_user};
use tcplab_os::netlink::Netlink;
use tcplab_os::{Context, OsError};

use super::end::{End, Give, Place, namespace_file};
use super::port::Port;

/// What its devices count.
const DEVICES: &str = "/proc/thread-self/net/dev";

/// The addresses that a link gives when nothing is said.
const USUAL: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 77, 0, 1), Ipv4Addr::new(10, 77, 0, 2)];
const PREFIX: u8 = 24;

/// An end that stands.
#[derive(Debug)]
pub struct Opened {
    /// What it is.
    pub end: End,
    /// Where its frames come in and go out.
    pub port: Port,
    /// Its network namespace.
    pub(super) namespace: File,
    /// The counters of the namespace's devices (proc_net(5)).
    devices: File,
    missed: u64,
    /// What the device had dropped of what was sent through it when it was opened.
    dropped_before: u64,
    /// What it was given.
    pub(super) address: Option<(IpAddr, u8)>,
}

impl Opened {
    /// Frames that were dropped before the link could read them.
    pub fn missed(&mut self) -> u64 {
        match self.port.missed() {
            Some(more) => self.missed += more,
            None => self.missed = self.of_device().unwrap_or(self.missed),
        }
        self.missed
    }

    /// Frames that an interface took from the link and dropped, as it does without a carrier.
    pub fn dropped(&mut self) -> u64 {
        match self.port {
            Port::Tap(_) => 0,
            Port::Packets(_) => {
                let dropped = self.of_device().unwrap_or_default();
                dropped.saturating_sub(self.dropped_before)
            }
        }
    }

    /// What the device dropped of what was sent through it: a TAP device had no room for what its host sent.
    fn of_device(&mut self) -> Option<u64> {
        let mut text = String::new();
        self.devices.seek(SeekFrom::Start(0)).ok()?;
        self.devices.read_to_string(&mut text).ok()?;
        // Eight columns of what was received; then bytes, packets, errs, drop.
        let dropped = of_device(&text, &self.end.device)?.nth(11)??;
        u64::try_from(dropped).ok()
    }
}

/// Moves this process into a user namespace in which this user is root.
pub(super) fn own_user() -> Result<(), OsError> {
    new_user(CloneFlags::empty())
        .tried("needs root, or user namespaces (sysctl kernel.unprivileged_userns_clone=1)")
}

/// Whether [`own_user`] has been called: the first user namespace maps all.
pub(super) fn is_own_user() -> bool {
    fs::read_to_string("/proc/self/setgroups").is_ok_and(|text| text.trim() == "deny")
}

/// Makes or opens the end of this side (0 or 1). The calling thread stays where it is.
pub fn open(end: End, side: usize, mtu: u32) -> Result<Opened, OsError> {
    let opened = apart(|| in_place(end, side, mtu));
    opened.unwrap_or_else(|| Err(OsError::Cannot("cannot open an end of the link".into())))
}

fn in_place(end: End, side: usize, mtu: u32) -> Result<Opened, OsError> {
    match &end.place {
        Place::New(name) => {
            new_net().context(|| format!("cannot make the network namespace {name}"))?;
        }
        Place::Namespace(name) => enter(&namespace_file(name), name)?,
        Place::Tap | Place::Interface | Place::Any => {}
    }
    let namespace = File::open(OWN_NET).tried(OWN_NET)?;
    let devices = File::open(DEVICES).tried(DEVICES)?;
    let (port, address) = match end.place {
        Place::Interface => (existing(&end)?, None),
        _ => made(&end, side, mtu)?,
    };
    let mut opened = Opened {
        port,
        address,
        namespace,
        devices,
        missed: 0,
        dropped_before: 0,
        end,
    };
    opened.dropped_before = opened.of_device().unwrap_or_default();
    Ok(opened)
}

fn existing(end: &End) -> Result<Port, OsError> {
    if let Give::Address(..) = end.address {
        return Err(OsError::Cannot(format!(
            "{end} is an existing interface: a link does not change its address"
        )));
    }
    Port::interface(&end.device)
}

/// A new device, and its address.
fn made(end: &End, side: usize, mtu: u32) -> Result<(Port, Option<(IpAddr, u8)>), OsError> {
    let exists = fs::exists(format!("/proc/sys/net/ipv4/conf/{}", end.device)).unwrap_or_default();
    let port = Port::tap(&end.device).map_err(|e| match exists {
        true => OsError::Cannot(format!(
            "{e}: {} exists; if it is no TAP device, run the link in its namespace, with `if:{}`",
            end.device, end.device
        )),
        false => e,
    })?;
    let is_inside = matches!(end.place, Place::New(_) | Place::Namespace(_));
    let address = match end.address {
        Give::Address(address, prefix) => Some((address, prefix)),
        Give::Usual if is_inside => Some((IpAddr::V4(USUAL[side & 1]), PREFIX)),
        Give::Usual | Give::None => None,
    };
    set_up(end, mtu, address)?;
    Ok((port, address))
}

fn enter(file: &Path, name: &str) -> Result<(), OsError> {
    File::open(file)
        .and_then(|namespace| enter_net(&namespace))
        .context(|| format!("cannot enter the network namespace {name} (needs root)"))
}

fn set_up(end: &End, mtu: u32, address: Option<(IpAddr, u8)>) -> Result<(), OsError> {
    let device = &end.device;
    let netlink = Netlink::opened()?;
    if let Place::New(_) = end.place {
        netlink.up("lo").tried("cannot bring lo up")?;
    }
    netlink
        .set_mtu(device, mtu)
        .context(|| format!("cannot set the MTU {mtu} of {end}"))?;
    if let Some((address, prefix)) = address {
        netlink
            .add_address(device, address, prefix)
            .context(|| format!("cannot give {end} the address {address}/{prefix}"))?;
    }
    netlink
        .up(device)
        .context(|| format!("cannot bring {end} up"))
}
