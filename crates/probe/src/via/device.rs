//! The device of an endpoint: the same ports as a link's, with the endpoint where the link would be.

use std::net::{Ipv4Addr, UdpSocket};

use tcplab_livelink::{Give, Opened, Place};
use tcplab_os::live::address_of;
use tcplab_os::sys;

use super::point::Planned;
use super::{Via, cannot};
use crate::error::Error;

/// Of a new TAP device.
const USUAL_MTU: u32 = 1_500;
/// What a link can have (see `tcplab link --mtu`).
const MTU: std::ops::RangeInclusive<u32> = 68..=65_521;

/// An open device.
#[derive(Debug)]
pub(super) struct Device {
    pub(super) opened: Opened,
    /// Bytes of the longest IP packet.
    pub(super) mtu: u32,
}

/// Opens or makes the device.
pub(super) fn open(via: &Via, planned: &Planned) -> Result<Device, Error> {
    if let Some(mtu) = via.mtu.filter(|mtu| !MTU.contains(mtu)) {
        let (least, most) = (MTU.start(), MTU.end());
        return Err(cannot(format!(
            "--mtu {mtu}: write {least} to {most} bytes"
        )));
    }
    let least = planned.ip.least_mtu();
    if let Some(mtu) = via.mtu.filter(|mtu| *mtu < least) {
        return Err(cannot(format!(
            "--mtu {mtu}: IPv6 needs at least {least} bytes"
        )));
    }
    let end = via.device.resolve().map_err(cannot)?;
    let mtu = match end.place {
        Place::New(_) => {
            return Err(cannot(format!(
                "--via {end}: nobody would be in a new namespace; `tcplab link new:NAME=none ... --run-a` makes one, and \
                 if:tcplab0 is its device there"
            )));
        }
        Place::Interface => {
            address_of(&end.device).map_err(|e| cannot(e.to_string()))?;
            match via.mtu {
                Some(mtu) => mtu,
                None => interface_mtu(&end.device)?,
            }
        }
        Place::Tap | Place::Namespace(_) | Place::Any => via.mtu.unwrap_or(USUAL_MTU),
    };
    if let Give::Address(address, _) = end.address
        && address == via.address.0
    {
        return Err(cannot(format!(
            "--via {end}={address}/...: this is the kernel's address; give the endpoint another one with --address"
        )));
    }
    let opened = tcplab_livelink::open(end, 0, mtu).map_err(|e| Error::Device(e.to_string()))?;
    Ok(Device { opened, mtu })
}

/// The MTU of an interface that there is. Not from /sys/class/net: that shows the namespace that mounted it.
fn interface_mtu(name: &str) -> Result<u32, Error> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0));
    let found = socket.and_then(|socket| sys::interface_mtu(&socket, name));
    found.map_err(|e| {
        cannot(format!(
            "cannot read the MTU of {name}: {e}; set it with --mtu BYTES"
        ))
    })
}
