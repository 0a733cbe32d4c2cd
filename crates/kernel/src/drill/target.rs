//! A kernel as the target of a script: real sockets on one side, a TUN device on the other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::fd::AsFd;

use nix::poll::{PollFd, PollFlags, PollTimeout};
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use tcplab_base::{Duration, Instant};
use tcplab_drill::call::{Call, Outcome};
use tcplab_drill::python::MEMORY_NAMES;
use tcplab_drill::{Happening, Made, Network, SCRIPT_PHASE, Setting, Target, TargetError};
use tcplab_os::clock::{Pace, timer};
use tcplab_os::counters;
use tcplab_os::sys::call;
use tcplab_os::tcp_info::TcpInfo;
use tcplab_os::{Context, OsError};

use super::calls::Maker;
use super::clock::{Clock, align};
use super::fds;
use super::network::Net;
use super::settings;
use super::workers::Workers;

/// How late this machine may be, when it does other things too.
const LATE: Duration = Duration::from_millis(2);

/// One script's kernel: everything of it goes when this goes.
pub(crate) struct KernelTarget {
    net: Net,
    network: Network,
    pub(super) workers: Workers,
    maker: Maker,
    clock: Clock,
    /// The script has begun: its clock stands no longer at zero.
    begun: bool,
    timer: TimerFd,
    /// Descriptors that the script has made and not closed.
    fds: BTreeSet<i32>,
    /// Calls that wait.
    waiting: BTreeMap<u32, Call>,
    pace: Pace,
    /// When the script is ended.
    limit: Duration,
}

impl KernelTarget {
    /// Moves this thread into a network namespace of its own, which ends with the thread.
    ///
    /// # Errors
    /// When the system does not allow it, or the network cannot be set up.
    pub(crate) fn new(network: &Network, pace: Pace, limit: Duration) -> Result<Self, OsError> {
        let flags = TimerFlags::TFD_CLOEXEC | TimerFlags::TFD_NONBLOCK;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags);
        let maker = Maker::new();
        let net = Net::new(network, pace)?;
        // Timers of this thread and its children are exact.
        let _ = nix::sys::prctl::set_timerslack(1);
        if pace == Pace::Virtual {
            align(SCRIPT_PHASE);
        }
        Ok(Self {
            net,
            network: network.clone(),
            workers: Workers::new(maker.clone())?,
            maker,
            clock: Clock::start(),
            begun: false,
            timer: timer.tried("cannot make a timer")?,
            fds: BTreeSet::new(),
            waiting: BTreeMap::new(),
            pace,
            limit,
        })
    }

    /// A call that waited is over.
    fn returned(
        &mut self,
        number: u32,
        outcome: Result<Outcome, TargetError>,
    ) -> Result<Outcome, TargetError> {
        let call = self.waiting.remove(&number);
        let outcome = outcome?;
        if let Some(call) = call {
            fds::settle(&mut self.fds, &call, &outcome);
        }
        Ok(outcome)
    }

    fn packet(&mut self) -> Result<Option<Vec<u8>>, TargetError> {
        let read = self.net.device.read();
        read.map_err(|e| TargetError(format!("cannot read from the TUN device: {e}")))
    }

    /// What lies ready.
    fn look(&mut self) -> Result<Option<(Instant, Happening)>, TargetError> {
        if let Some(returned) = self.workers.take() {
            let outcome = self.returned(returned.number, returned.outcome)?;
            let happening = Happening::Returned(returned.number, outcome);
            return Ok(Some((returned.at, happening)));
        }
        let packet = self.packet()?;
        Ok(packet.map(|packet| (self.clock.now(), Happening::Packet(packet))))
    }

    /// Sleeps until `until` or until there is something to look at.
    fn sleep(&self, until: Instant) -> nix::Result<()> {
        let at = timer(self.clock.monotonic(until));
        let flags = TimerSetTimeFlags::TFD_TIMER_ABSTIME;
        self.timer.set(Expiration::OneShot(at), flags)?;
        let mut fds = [
            self.net.device.as_fd(),
            self.workers.ready(),
            self.timer.as_fd(),
        ]
        .map(|fd| PollFd::new(fd, PollFlags::POLLIN));
        match nix::poll::poll(&mut fds, PollTimeout::NONE) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(()),
            Err(e) => Err(e),
        }
    }

    /// TCP_INFO of one of the script's sockets.
    fn info(&self, fd: i32) -> Option<TcpInfo> {
        let mut bytes = [0; TcpInfo::ROOM];
        let fd = fds::own(&self.fds, fd);
        let got = call::getsockopt(fd, libc::SOL_TCP, libc::TCP_INFO, &mut bytes).ok()?;
        Some(TcpInfo::of_bytes(bytes, got))
    }

    /// getsockopt(SO_MEMINFO) by its names.
    fn memory(&self, fd: i32) -> Vec<(&'static str, i64)> {
        let mut bytes = [0; 4 * MEMORY_NAMES.len()];
        let fd = fds::own(&self.fds, fd);
        let got = call::getsockopt(fd, libc::SOL_SOCKET, libc::SO_MEMINFO, &mut bytes).unwrap_or(0);
        let (words, _) = bytes[..got.min(bytes.len())].as_chunks();
        let values = words
            .iter()
            .map(|word| i64::from(u32::from_ne_bytes(*word)));
        MEMORY_NAMES.iter().copied().zip(values).collect()
    }
}

impl Target for KernelTarget {
    fn now(&self) -> Instant {
        self.clock.now()
    }

    fn wait(&mut self, until: Instant) -> Result<Option<(Instant, Happening)>, TargetError> {
        self.begun = true;
        let end = Instant::default() + self.limit;
        loop {
            if let Some(found) = self.look()? {
                return Ok(Some(found));
            }
            let now = self.clock.now();
            if now >= end {
                let limit = self.limit.as_secs_f64();
                return Err(TargetError(format!("the script was ended after {limit} s")));
            }
            if now >= until {
                return Ok(None);
            }
            self.sleep(until.min(end))
                .map_err(|e| TargetError(format!("cannot wait: {e}")))?;
        }
    }

    fn inject(&mut self, packet: &[u8]) -> Result<(), TargetError> {
        self.begun = true;
        let written = self.net.device.write(packet);
        written.map_err(|e| TargetError(format!("the TUN device rejects a packet: {e}")))
    }

    fn call(&mut self, call: &Call, may_block: bool) -> Result<Made, TargetError> {
        self.begun = true;
        let call = fds::only_own(call, &self.fds);
        let outcome = if may_block || fds::may_wait(&call) {
            match self.workers.make(&call, self.clock) {
                Ok(returned) => returned.outcome?,
                Err(number) => {
                    self.waiting.insert(number, call);
                    return Ok(Made::Blocks(number));
                }
            }
        } else {
            self.maker.make(&call, &self.clock)?
        };
        fds::settle(&mut self.fds, &call, &outcome);
        Ok(Made::Done(outcome))
    }

    fn set(&mut self, setting: &Setting) -> Result<(), TargetError> {
        settings::set(&mut self.net, setting, &self.network)?;
        if !self.begun {
            // What prepares a script is not part of its time.
            self.clock = Clock::start();
        }
        Ok(())
    }

    fn has_sysctl(&mut self, name: &str) -> Result<bool, TargetError> {
        Ok(!name.contains("..") && tcplab_os::sysctl::path(name).exists())
    }

    fn counters(&mut self) -> Result<Vec<(String, i64)>, TargetError> {
        let all = counters::read().map_err(|e| TargetError(format!("nstat: {e}")))?;
        Ok(all.into_iter().collect())
    }

    fn listens(&mut self, port: u16) -> Result<bool, TargetError> {
        let lists = |path| {
            let table =
                fs::read_to_string(path).map_err(|e| TargetError(format!("{path}: {e}")))?;
            let port = format!(":{port:04X}");
            // The columns: number, local address, remote address, state.
            let is_it = |line: &str| {
                let words: Vec<&str> = line.split_whitespace().take(4).collect();
                matches!(words.as_slice(), [_, local, _, "0A"] if local.ends_with(&port))
            };
            Ok(table.lines().any(is_it))
        };
        // This thread has a network of its own.
        Ok(lists("/proc/thread-self/net/tcp")? || lists("/proc/thread-self/net/tcp6")?)
    }

    fn tcp_info(&mut self, fd: i32) -> Option<Vec<(&'static str, i64)>> {
        let info = self.info(fd)?;
        Some(info.fields().chain(self.memory(fd)).collect())
    }

    fn explain(&mut self, fd: Option<i32>) -> String {
        let info = match fd {
            Some(fd) => self.info(fd),
            // The newest connection.
            None => {
                let infos = self.fds.iter().rev().filter_map(|fd| self.info(*fd));
                infos
                    .into_iter()
                    .find(|info| info.get("tcpi_state") != Some(LISTEN))
            }
        };
        info.map(|info| words(&info)).unwrap_or_default()
    }

    fn clock_error(&self) -> Duration {
        match self.pace {
            Pace::Virtual => Duration::ZERO,
            Pace::Real => LATE,
        }
    }
}

impl Drop for KernelTarget {
    fn drop(&mut self) {
        for returned in self.workers.end() {
            // Only for the books.
            let _ = self.returned(returned.number, returned.outcome);
        }
        for fd in std::mem::take(&mut self.fds) {
            fds::abort(fd);
        }
    }
}

/// TCP_LISTEN of linux/tcp_states.h.
const LISTEN: i64 = 10;

/// What the kernel says of a connection, in a line.
fn words(info: &TcpInfo) -> String {
    /// linux/tcp_states.h.
    const STATES: [&str; 13] = [
        "no state",
        "ESTABLISHED",
        "SYN-SENT",
        "SYN-RECEIVED",
        "FIN-WAIT-1",
        "FIN-WAIT-2",
        "TIME-WAIT",
        "CLOSED",
        "CLOSE-WAIT",
        "LAST-ACK",
        "LISTEN",
        "CLOSING",
        "SYN-RECEIVED",
    ];
    const CA_STATES: [&str; 5] = ["open", "disorder", "cwr", "recovery", "loss"];
    let get = |name| info.get(name).unwrap_or_default();
    let name = |names: &[&'static str], n: i64| {
        let n = usize::try_from(n).unwrap_or(usize::MAX);
        names.get(n).copied().unwrap_or("unknown")
    };
    let mut text = format!(
        "{}, {}",
        name(&STATES, get("tcpi_state")),
        name(&CA_STATES, get("tcpi_ca_state"))
    );
    for (what, field) in [
        ("cwnd", "tcpi_snd_cwnd"),
        ("ssthresh", "tcpi_snd_ssthresh"),
        ("unacked", "tcpi_unacked"),
        ("sacked", "tcpi_sacked"),
        ("lost", "tcpi_lost"),
        ("retrans", "tcpi_retrans"),
        ("backoff", "tcpi_backoff"),
        ("rto_us", "tcpi_rto"),
        ("ato_us", "tcpi_ato"),
        ("notsent", "tcpi_notsent_bytes"),
    ] {
        text.push_str(&format!(", {what} {}", get(field)));
    }
    text
}
