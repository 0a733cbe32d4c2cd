//! Where `--into` may send: the interface under test, and the one that its frames are sent from.
//!
//! The interface must receive the frames, so they are sent at the other end of its wire. A loopback interface returns
//! its frames, and a veth device receives the frames of its peer. For other devices the other end is unknown; `from`
//! names it. Frames that may reach other hosts are refused unless the user allows it.

use std::fs;

use tcplab_base::quoted;

use super::IntoError;
use super::inspect::{Link, number_of};
use super::spot::{Namespace, Spot};

/// What the user asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    /// The interface that receives.
    pub at: Spot,
    /// The interface that sends; none: it is found.
    pub from: Option<Spot>,
    /// The TCP port to connect to; `None`: one with a listener, or a port that tcplab opens.
    pub port: Option<u16>,
    /// Also where frames may reach others.
    pub any: bool,
}

/// Both ends of the wire.
#[derive(Debug)]
pub(super) struct Wire {
    pub(super) host: Namespace,
    pub(super) link: Link,
    pub(super) peer: Namespace,
    pub(super) peer_link: Link,
}

impl Destination {
    /// Finds both ends and refuses what may do harm to others.
    pub(super) fn wire(&self) -> Result<Wire, IntoError> {
        let at = &self.at;
        let host = Namespace::open(at.namespace.as_deref())?;
        let link = host.link(&at.device)?;
        if let Some(why) = self.danger(&host, &link)? {
            return Err(IntoError::Wrong(format!(
                "{at} {why}: tcplab sends malformed frames only into loopback interfaces and into veth devices of \
                 ip-netns(8) namespaces; --allow-any-target overrides this"
            )));
        }
        let (peer, peer_link) = match (&self.from, link.is_loopback) {
            (Some(from), _) => {
                let peer = Namespace::open(from.namespace.as_deref())?;
                let link = peer.link(&from.device)?;
                (peer, link)
            }
            (None, true) => (Namespace::open(at.namespace.as_deref())?, link.clone()),
            (None, false) => other_end(at, &host, &link)?,
        };
        for (of, link) in [(&host, &link), (&peer, &peer_link)] {
            if !link.is_up {
                let spot = of.spot(&link.name);
                return Err(IntoError::Wrong(format!(
                    "{spot} is down: run `ip link set {} up`",
                    quoted(&link.name)
                )));
            }
        }
        Ok(Wire {
            host,
            link,
            peer,
            peer_link,
        })
    }

    /// Why frames may leave this interface's own network stack.
    fn danger(&self, host: &Namespace, link: &Link) -> Result<Option<String>, IntoError> {
        if self.any {
            return Ok(None);
        }
        if let Some(from) = &self.from {
            return Ok(Some(format!(
                "would receive frames from {from}, which other hosts may hear as well"
            )));
        }
        if link.is_loopback {
            return Ok(None);
        }
        if !host.is_apart() {
            return Ok(Some(match host.is_own {
                true => "is in the namespace that tcplab runs in".into(),
                false => "is in the machine's initial namespace".into(),
            }));
        }
        if link.master.is_some() {
            return Ok(Some(
                "is a port of a bridge or bond, which forwards frames".into(),
            ));
        }
        let name = &link.name;
        let forwards = host.within(|| {
            let is_on = |family: &&str| {
                let path = format!("/proc/sys/net/{family}/conf/{name}/forwarding");
                fs::read_to_string(path).is_ok_and(|text| text.trim() != "0")
            };
            ["ipv4", "ipv6"].into_iter().find(is_on)
        })?;
        Ok(forwards
            .map(|family| format!("forwards packets (net.{family}.conf.{name}.forwarding is on)")))
    }
}

/// The peer of a veth device.
fn other_end(at: &Spot, host: &Namespace, link: &Link) -> Result<(Namespace, Link), IntoError> {
    let (Some((index, number)), "veth") = (link.peer, link.kind.as_str()) else {
        let kind = match link.kind.as_str() {
            "" => "a hardware",
            "tun" => "a TUN or TAP",
            kind => kind,
        };
        return Err(IntoError::Wrong(format!(
            "{at} is {kind} device, and who sends what it receives is not known here: name that interface with --from \
             [NAMESPACE:]IF and --allow-any-target"
        )));
    };
    let found = |namespace: Namespace| -> Result<Option<(Namespace, Link)>, IntoError> {
        let link = namespace
            .links()?
            .into_iter()
            .find(|link| link.index == index);
        Ok(link.map(|link| (namespace, link)))
    };
    let end = match number {
        None => found(Namespace::open(at.namespace.as_deref())?)?,
        Some(number) => {
            let is_it = |namespace: &Namespace| {
                let known = host.within(|| number_of(&namespace.file));
                matches!(known, Ok(Ok(Some(known))) if known == number)
            };
            match Namespace::all().into_iter().find(is_it) {
                Some(namespace) => found(namespace)?,
                None => None,
            }
        }
    };
    end.ok_or_else(|| {
        IntoError::Wrong(format!(
            "the other end of {at} is in a namespace that has no name in /run/netns: `ip netns attach NAME PID` names the one \
             of a process"
        ))
    })
}
