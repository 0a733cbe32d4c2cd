//! The kernel stamps frames with their times only while a socket asks for it.

use std::io::IoSliceMut;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::thread;
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, setsockopt, sockopt,
};
use nix::sys::time::TimeSpec;
use nix::time::ClockId;
use tcplab_base::Instant;

use crate::clock;

/// Looks whether frames are stamped, at most.
const LOOKS: usize = 50;

/// From one look to the next.
const PAUSE: Duration = Duration::from_millis(1);

/// The kernel stamps all frames while this lives.
///
/// The first socket that asks for stamps gets them a little later (Linux `net_enable_timestamp()` leaves the work to a
/// queue). A frame that came meanwhile has the time at which it is read: seconds too late if its reader is.
#[derive(Debug)]
pub struct Stamps {
    _asks: Option<UdpSocket>,
}

impl Stamps {
    /// Waits until frames are stamped, 50 ms at most.
    pub fn on() -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").ok();
        let socket = socket.filter(|socket| {
            let asks = setsockopt(socket, sockopt::ReceiveTimestampns, &true);
            asks.is_ok() && socket.set_nonblocking(true).is_ok()
        });
        for _ in 0..LOOKS {
            // Without a loopback interface that is up, the whole time is waited.
            if socket
                .as_ref()
                .is_some_and(|socket| is_on(socket).unwrap_or(false))
            {
                break;
            }
        }
        Self { _asks: socket }
    }
}

/// Whether a datagram to itself has the time at which it was sent.
fn is_on(socket: &UdpSocket) -> Option<bool> {
    let sent = socket.send_to(&[0], socket.local_addr().ok()?);
    thread::sleep(PAUSE);
    sent.ok()?;
    let before = clock::read(ClockId::CLOCK_REALTIME);
    Some(stamp(socket).ok()?? < before)
}

/// The time stamp of a datagram that waits.
fn stamp(socket: &UdpSocket) -> Result<Option<Instant>, Errno> {
    let mut byte = [0];
    let mut parts = [IoSliceMut::new(&mut byte)];
    let mut control = nix::cmsg_space!(TimeSpec);
    let fd = socket.as_raw_fd();
    let flags = MsgFlags::empty();
    let message = recvmsg::<SockaddrStorage>(fd, &mut parts, Some(&mut control), flags)?;
    let stamp = message.cmsgs()?.find_map(|part| match part {
        ControlMessageOwned::ScmTimestampns(time) => Some(clock::instant(time)),
        _ => None,
    });
    Ok(stamp)
}
