//! What an end of a live link is, as the command line names it.

use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use tcplab_base::quoted;

/// Where ip-netns(8) keeps namespaces.
const NAMESPACES: &str = "/run/netns";

/// The device that a link makes in a namespace.
const DEVICE: &str = "tcplab0";

/// An interface name has at most so many bytes (IFNAMSIZ less the 0).
const LONGEST: usize = 15;

/// One end of a link. As text: `new:NAME`, `netns:NAME`, `netns:NAME/DEVICE`, `tap:DEVICE`, `if:DEVICE`; a bare name is
/// a namespace of ip-netns(8) or an interface, whichever there is. Behind it `=ADDRESS/PREFIX` or `=none`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// Where its device is.
    pub place: Place,
    /// Its device.
    pub device: String,
    /// The address that the device gets.
    pub address: Give,
}

/// Where the device of an end is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A TAP device in a network namespace that goes with the link, called so.
    New(String),
    /// A TAP device in this namespace of ip-netns(8).
    Namespace(String),
    /// A TAP device here.
    Tap,
    /// An interface that there is, by a packet socket.
    Interface,
    /// A bare name: see [`End::resolve`].
    Any,
}

/// The address of an end's device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Give {
    /// In a namespace the link's own, else none.
    Usual,
    /// None.
    None,
    /// This one, with the length of its prefix.
    Address(IpAddr, u8),
}

impl FromStr for End {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, address) = match text.split_once('=') {
            None => (text, Give::Usual),
            Some((name, "none")) => (name, Give::None),
            Some((name, address)) => (name, give(address)?),
        };
        let (kind, name) = name.split_once(':').unwrap_or(("", name));
        let (name, device) = match kind {
            "netns" => name.split_once('/').unwrap_or((name, DEVICE)),
            "new" => (name, DEVICE),
            _ => (name, name),
        };
        for name in [name, device] {
            is_name(name)?;
        }
        let place = match kind {
            "new" => Place::New(name.into()),
            "netns" => Place::Namespace(name.into()),
            "tap" => Place::Tap,
            "if" => Place::Interface,
            "" => Place::Any,
            other => {
                return Err(format!(
                    "`{other}:` is not a kind of end: write new:NAME, netns:NAME, tap:DEVICE, if:DEVICE, or a bare name"
                ));
            }
        };
        if device.len() > LONGEST && place != Place::Any {
            return Err(format!(
                "the interface name {device} is longer than {LONGEST} bytes"
            ));
        }
        Ok(Self {
            place,
            device: device.into(),
            address,
        })
    }
}

impl End {
    /// Says what a bare name is.
    ///
    /// # Errors
    /// Nothing has this name, or two things have it.
    pub fn resolve(&self) -> Result<Self, String> {
        if self.place != Place::Any {
            return Ok(self.clone());
        }
        let name = &self.device;
        let is_namespace = namespace_file(name).exists();
        let is_interface = Path::new("/sys/class/net").join(name).exists();
        let (place, device) = match (is_namespace, is_interface) {
            (true, true) => {
                return Err(format!(
                    "{name} is a namespace and an interface: write netns:{name} or if:{name}"
                ));
            }
            (false, false) => {
                return Err(format!(
                    "{name} is neither a namespace in {NAMESPACES} nor an interface here: `ip netns add {}` makes a \
                     namespace, new:{name} one that goes with the link, tap:{name} a TAP device",
                    quoted(name)
                ));
            }
            (true, false) => (Place::Namespace(name.clone()), DEVICE),
            (false, true) => (Place::Interface, name.as_str()),
        };
        Ok(Self {
            place,
            device: device.into(),
            address: self.address,
        })
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::New(name) => write!(f, "new:{name}"),
            Place::Namespace(name) => write!(f, "netns:{name}/{}", self.device),
            Place::Tap => write!(f, "tap:{}", self.device),
            Place::Interface => write!(f, "if:{}", self.device),
            Place::Any => write!(f, "{}", self.device),
        }
    }
}

/// The file that stands for a namespace of ip-netns(8).
pub(super) fn namespace_file(name: &str) -> PathBuf {
    Path::new(NAMESPACES).join(name)
}

fn is_name(name: &str) -> Result<(), String> {
    let is_plain = |c: char| !c.is_whitespace() && !c.is_control() && c != '/';
    if name.is_empty() || name == "." || name == ".." || !name.chars().all(is_plain) {
        return Err(format!(
            "`{name}` is not a name of a namespace or an interface"
        ));
    }
    Ok(())
}

fn give(text: &str) -> Result<Give, String> {
    let bad = || format!("`{text}` is not an address: write 10.0.0.1/24, fd00::1/64 or none");
    let (address, prefix) = text.split_once('/').ok_or_else(bad)?;
    let address: IpAddr = address.parse().map_err(|_| bad())?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    let prefix = prefix.parse().ok().filter(|prefix| *prefix <= most);
    Ok(Give::Address(address, prefix.ok_or_else(bad)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_read_and_written() {
        for (text, place, device, shown) in [
            ("new:a", Place::New("a".into()), DEVICE, "new:a"),
            (
                "netns:lab",
                Place::Namespace("lab".into()),
                DEVICE,
                "netns:lab/tcplab0",
            ),
            (
                "netns:lab/wan",
                Place::Namespace("lab".into()),
                "wan",
                "netns:lab/wan",
            ),
            ("tap:vm0", Place::Tap, "vm0", "tap:vm0"),
            ("if:eth0", Place::Interface, "eth0", "if:eth0"),
            ("eth0", Place::Any, "eth0", "eth0"),
        ] {
            let end: End = text.parse().unwrap();
            assert_eq!((&end.place, end.device.as_str()), (&place, device));
            assert_eq!(end.to_string(), shown);
        }
        let end: End = "new:a=10.1.2.3/16".parse().unwrap();
        assert_eq!(end.address, Give::Address("10.1.2.3".parse().unwrap(), 16));
        assert_eq!("tap:x=none".parse::<End>().unwrap().address, Give::None);
    }

    #[test]
    fn what_is_no_end_says_so() {
        for bad in [
            "",
            "new:",
            "netns:a/",
            "netns:../x",
            "tap:a b",
            "vlan:3",
            "new:a=10.0.0.1",
            "new:a=10.0.0.1/33",
            "new:a=x/3",
            "if:a-name-that-is-too-long",
        ] {
            assert!(bad.parse::<End>().is_err(), "{bad}");
        }
        let nothing: End = "no-such-thing-here".parse().unwrap();
        assert!(nothing.resolve().unwrap_err().contains("ip netns add"));
    }
}
