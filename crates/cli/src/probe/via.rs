//! `--via` and what belongs to it: the applications on tcplab's own TCP instead of this machine's.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use tcplab_livelink::End;
use tcplab_plan::point::Offload;
use tcplab_plan::profile;
use tcplab_probe::via::Via;

use crate::failure::Failure;

/// Heading of these options in the help.
const OWN: &str = "Endpoint of tcplab's own";

/// An endpoint of tcplab's own on a device.
#[derive(Args, Debug, Default)]
pub struct ViaArgs {
    /// Use tcplab's own TCP on this device instead of the kernel's: tap:NAME creates a TAP device,
    /// tap:NAME=ADDRESS/PREFIX also sets the kernel's address on it, netns:NAME/DEVICE uses a device in a
    /// namespace, if:NAME an existing interface
    #[arg(long, help_heading = OWN, value_name = "DEVICE", requires = "address")]
    pub via: Option<End>,
    /// Address and prefix length of the endpoint: 10.77.0.1/24, fd77::1/64
    #[arg(long, help_heading = OWN, value_name = "ADDRESS/PREFIX", value_parser = network, requires = "via")]
    pub address: Option<(IpAddr, u8)>,
    /// Gateway to other networks
    #[arg(long, help_heading = OWN, value_name = "ADDRESS", requires = "via")]
    pub gateway: Option<IpAddr>,
    /// MTU in bytes [default: the interface's; 1500 for a new TAP device]
    #[arg(long, help_heading = OWN, value_name = "BYTES", requires = "via")]
    pub mtu: Option<u32>,
    /// Profile of the endpoint's TCP, from `tcplab stacks` [default: linux-6.1]
    #[arg(long, help_heading = OWN, value_name = "NAME", requires = "via")]
    pub profile: Option<String>,
    /// Set a sysctl of the endpoint (repeatable)
    #[arg(long, help_heading = OWN, value_name = "NAME=VALUE", value_parser = pair, requires = "via")]
    pub sysctl: Vec<(String, String)>,
    /// Change a behaviour of the profile (docs/model.md; repeatable)
    #[arg(long, help_heading = OWN, value_name = "NAME=VALUE", value_parser = pair, requires = "via")]
    pub behaviour: Vec<(String, String)>,
    /// Segmentation offload of the endpoint's network card [default: none]
    #[arg(long, help_heading = OWN, value_enum, requires = "via")]
    pub offload: Option<OffloadName>,
    /// Seed for ports and initial sequence numbers [default: from the clock]
    #[arg(long, help_heading = OWN, value_name = "N", requires = "via")]
    pub seed: Option<u64>,
    /// Capture the device's frames to this pcapng file
    #[arg(short = 'w', long, help_heading = OWN, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "via")]
    pub write: Option<PathBuf>,
}

/// Who cuts data into segments, and who joins them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OffloadName {
    /// No offload
    None,
    /// The card segments outgoing data
    Tso,
    /// The card also merges incoming segments
    Gro,
}

impl ViaArgs {
    /// The endpoint; none: this machine's TCP.
    pub fn describe(&self) -> Result<Option<Via>, Failure> {
        let (Some(device), Some(address)) = (&self.via, self.address) else {
            return Ok(None);
        };
        if let Some(gateway) = self.gateway
            && gateway.is_ipv6() != address.0.is_ipv6()
        {
            return Err(Failure::usage(format!(
                "--gateway {gateway} and --address {} are of different protocols: write both as IPv4 or both as IPv6",
                address.0
            )));
        }
        Ok(Some(Via {
            device: device.clone(),
            address,
            gateway: self.gateway,
            mtu: self.mtu,
            profile: (self.profile.clone())
                .unwrap_or_else(|| profile::Profile::default().name.into()),
            sysctl: once("--sysctl", &self.sysctl)?,
            behaviour: once("--behaviour", &self.behaviour)?,
            offload: match self.offload {
                Some(OffloadName::Tso) => Offload::Tso,
                Some(OffloadName::Gro) => Offload::Gro,
                Some(OffloadName::None) | None => Offload::None,
            },
            seed: self.seed,
            write: self.write.clone(),
        }))
    }
}

/// Names that are given once each.
fn once(option: &str, pairs: &[(String, String)]) -> Result<BTreeMap<String, String>, Failure> {
    let mut map = BTreeMap::new();
    for (name, value) in pairs {
        if map.insert(name.clone(), value.clone()).is_some() {
            return Err(Failure::usage(format!(
                "{option} {name} is given twice: remove one"
            )));
        }
    }
    Ok(map)
}

/// `10.77.0.1/24`, `fd77::1/64`.
fn network(text: &str) -> Result<(IpAddr, u8), String> {
    let bad = || "write an address and a prefix length: 10.77.0.1/24, fd77::1/64".to_owned();
    let (address, prefix) = text.split_once('/').ok_or_else(bad)?;
    let address: IpAddr = address.parse().map_err(|_| bad())?;
    let longest = if address.is_ipv6() { 128 } else { 32 };
    let prefix = prefix.parse().ok().filter(|prefix| *prefix <= longest);
    let is_hosts = !address.is_unspecified()
        && !address.is_multicast()
        && address != IpAddr::V4(Ipv4Addr::BROADCAST)
        && !address.is_loopback();
    match is_hosts {
        true => Ok((address, prefix.ok_or_else(bad)?)),
        false => Err(format!("{address} cannot be a host's address: {}", bad())),
    }
}

/// `name=value`.
fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or("write NAME=VALUE: net.ipv4.tcp_sack=0")?;
    Ok((name.trim().into(), value.trim().into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_of_hosts() {
        assert_eq!(network("10.77.0.1/24"), Ok(([10, 77, 0, 1].into(), 24)));
        let v6 = IpAddr::from([0xfd77, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(network("fd77::1/64"), Ok((v6, 64)));
        for bad in [
            "10.77.0.1",
            "10.77.0.1/33",
            "0.0.0.0/0",
            "224.0.0.1/24",
            "127.0.0.1/8",
            "fd00::1/129",
            "ff02::1/64",
            "::1/128",
            "/24",
        ] {
            assert!(network(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_name_is_given_once() {
        let one = pair("net.ipv4.tcp_sack = 0").unwrap();
        assert_eq!(one, ("net.ipv4.tcp_sack".into(), "0".into()));
        assert!(pair("net.ipv4.tcp_sack").is_err());
        assert!(once("--sysctl", std::slice::from_ref(&one)).is_ok());
        assert!(once("--sysctl", &[one.clone(), one]).is_err());
    }
}
