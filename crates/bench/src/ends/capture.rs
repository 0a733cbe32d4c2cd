//! A capture beside an end of a run between two hosts, of that run's packets only.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nix::ifaddrs::getifaddrs;
use tcplab_base::Duration as Span;
use tcplab_kernel::run::is_ours;
use tcplab_os::captures::CaptureFile;
use tcplab_os::live::Live;
use tcplab_os::netlink::interface_to;
use tcplab_wire::LinkType;

use tcplab_os::{Context, OsError};

/// Bytes kept of a frame: its headers.
const SNAP: u32 = 128;
/// How often the end of the run is looked for.
const PATIENCE: Duration = Duration::from_millis(20);
/// Packets are on their way for so long after the end of a run.
const LINGER: Duration = Duration::from_millis(50);
/// Frames that are read after the end: an interface that others keep busy is never empty.
const MOST_LATE: u32 = 200_000;

/// A capture that runs in a thread.
#[derive(Debug)]
pub(super) struct Capture {
    over: Arc<AtomicBool>,
    thread: JoinHandle<io::Result<()>>,
}

impl Capture {
    /// Captures what goes to and from this port of the server. `shift` is added to times.
    pub(super) fn start(
        server: SocketAddr,
        is_client: bool,
        shift: Span,
        path: &Path,
    ) -> Result<Self, OsError> {
        let address = server.ip();
        let interface = match is_client {
            true => interface_to(address),
            false => interface_of(address),
        };
        let interface = interface.context(|| format!("cannot find the interface of {address}"))?;
        let live = Live::open(&interface, PATIENCE).map_err(io::Error::other);
        let mut live = live.tried("cannot capture")?;
        let link = live.link();
        let file = CaptureFile::create_of(link, path, &interface, SNAP);
        let mut file = file.context(|| format!("cannot write {}", path.display()))?;
        let over = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&over);
        let thread = thread::spawn(move || {
            let is_ethernet = link == LinkType::Ethernet;
            let mut late = 0;
            while late < MOST_LATE {
                let is_over = ends.load(Ordering::Relaxed);
                let Some(frame) = live.next_frame()? else {
                    if is_over {
                        break;
                    }
                    continue;
                };
                late += u32::from(is_over);
                if is_ours(frame.data, is_ethernet, address, &[server.port()]) {
                    file.frame(frame.time + shift, frame.data, frame.orig_len)?;
                }
            }
            file.finish()
        });
        Ok(Self { over, thread })
    }

    /// Waits for what is on its way, and for the file.
    pub(super) fn stop(self) -> Result<(), OsError> {
        thread::sleep(LINGER);
        self.over.store(true, Ordering::Relaxed);
        let done = self.thread.join();
        let done = done.unwrap_or_else(|_| Err(io::Error::other("its thread ended early")));
        done.tried("a capture")
    }
}

/// The interface that has this address.
fn interface_of(address: IpAddr) -> io::Result<String> {
    let has = |found: &nix::ifaddrs::InterfaceAddress| {
        let own = found.address.as_ref();
        let v4 = own.and_then(|a| Some(IpAddr::V4(a.as_sockaddr_in()?.ip())));
        let v6 = own.and_then(|a| Some(IpAddr::V6(a.as_sockaddr_in6()?.ip())));
        v4.or(v6) == Some(address)
    };
    match getifaddrs()?.find(has) {
        Some(found) => Ok(found.interface_name),
        None => Err(io::Error::from(io::ErrorKind::AddrNotAvailable)),
    }
}
