//! Why a live capture is not possible here.

use std::io;

use tcplab_base::quoted;

/// What stands against a live capture, with the way out.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The process may not open packet sockets.
    #[error(
        "live capture needs root or CAP_NET_RAW: run it with sudo, or once `sudo setcap cap_net_raw+ep {}`",
        quoted(program)
    )]
    NotAllowed {
        /// This program's file.
        program: String,
    },
    /// The interface does not exist.
    #[error("no interface {name}; the interfaces are: {}", known.join(", "))]
    NoInterface {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The interface is there, but down or gone.
    #[error("interface {name}: {source}; try `ip link set {} up`", quoted(name))]
    Down {
        /// The interface.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// Live capture is written for Linux only.
    #[error("live capture works on Linux only; capture with tcpdump -w and analyse the file")]
    NotLinux,
    /// Something else failed.
    #[error("live capture: {0}")]
    Os(#[from] io::Error),
}
