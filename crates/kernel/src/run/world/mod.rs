//! The event loop of a run: TAP devices, sockets, captures and timers, one thread.
//!
//! Order within one turn: what epoll reported (frames sent by hosts, sockets), then timers that are
//! due, by time and by order of setting. Nothing else decides what comes first, which is what lets a
//! run in virtual time repeat.

mod host;
mod later;
mod replay;

use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::time;

use nix::sys::epoll::EpollFlags;
use tcplab_apps::{Drive, Foreign, Host, default_boot, start_phase};
use tcplab_base::{Duration, Instant};
use tcplab_os::captures::CaptureFile;
use tcplab_os::clock::{Clock, Pace};
use tcplab_os::cpu;
use tcplab_os::live::Live;
use tcplab_os::{Context, OsError};
use tcplab_plan::network::{capture_file, interface_on, interfaces};
use tcplab_plan::outcome::LinkSeries;
use tcplab_plan::{Outcome, Point, Refusal};
use tcplab_wire::LinkType;

use super::host::Sysctls;
use super::links::{CaptureIndex, OurLink};
use super::poll::{Poll, Ready, Source};
use super::refusal::leave_out;
use super::replay::Replay;
use super::site::{Site, is_ours};
use super::sock::{self, Sock, Table};
use super::timers::{Timer, Timers};
use super::wire::{self, Network, Wire};

/// Time between the set-up and the start of a run: what the set-up caused has settled.
const SETTLE: Duration = Duration::from_millis(50);

/// What epoll watches of a socket whose program sleeps.
const NOTHING: EpollFlags = EpollFlags::empty();

/// A run under way.
pub(super) struct World<'p> {
    pub(super) drive: Drive,
    pub(super) net: Net<'p>,
}

/// What the applications of a run use: hosts, sockets, links, captures, timers.
pub(super) struct Net<'p> {
    pub(super) point: &'p Point,
    clock: Clock,
    /// When the run starts, by the clock.
    pub(super) start: Instant,
    /// The time of the turn of the loop; [`Net::time`] is that of what is done.
    pub(super) now: Instant,
    pub(super) poll: Poll,
    pub(super) timers: Timers,
    network: Network,
    links: Vec<Option<OurLink>>,
    link_series: Vec<LinkSeries>,
    pub(super) captures: Vec<CaptureFile>,
    /// Captures by the kernel, and the file of each.
    pub(super) live: Vec<(Live, usize)>,
    /// Datagrams that programs sent.
    pub(super) sent: u64,
    /// Of the ends, and of the applications.
    pub(super) sockets: Vec<Sock>,
    /// The tables of connections of all hosts, when the point asks for a log.
    tables: Vec<Table>,
    listeners: Vec<Option<OwnedFd>>,
    replays: Vec<Replay>,
    pub(super) warnings: Vec<String>,
    /// Settings that were left out because the point tolerates it.
    left_out: Vec<String>,
    /// Beside a half of a run on two machines.
    pub(super) site: Option<Site<'p>>,
    /// An error that no experiment can cause.
    failed: Option<OsError>,
}

/// Runs a point; captures go into `folder`.
///
/// The calling thread's network namespace is another one afterwards.
///
/// # Errors
/// When the kernel refuses what a run needs, or the point asks for what this stack cannot do.
pub fn run(point: &Point, folder: &Path, pace: Pace) -> Result<Outcome, OsError> {
    let mut world = World::new(point, folder, pace)?;
    world.listen()?;
    world.start()?;
    world.turn()?;
    world.finish()
}

impl<'p> World<'p> {
    fn new(point: &'p Point, folder: &Path, pace: Pace) -> Result<Self, OsError> {
        let drive = Drive::new(&Arc::new(point.clone()), Foreign::None);
        let net = Net::build(point, folder, pace)?;
        Ok(Self { drive, net })
    }

    /// Listeners.
    pub(super) fn listen(&mut self) -> Result<(), OsError> {
        self.net.pin()?;
        self.drive.listen(&mut self.net);
        self.net.go_on()
    }

    /// Counters, first timers.
    pub(super) fn start(&mut self) -> Result<(), OsError> {
        self.net.starts()?;
        self.net.set_changes();
        self.drive.begin(&mut self.net);
        if self.net.site.is_some() {
            self.net.timers.set(self.net.start, Timer::Look);
        }
        self.net.go_on()
    }

    pub(super) fn turn(&mut self) -> Result<(), OsError> {
        let mut ready = Vec::new();
        let mut now = self.net.clock.now();
        loop {
            while let Some((at, timer)) = self.net.timers.pop(now) {
                self.net.now = match self.net.clock.pace {
                    Pace::Real => now,
                    Pace::Virtual => at,
                };
                self.fire(timer)?;
                if self.drive.is_stopped() {
                    return Ok(());
                }
            }
            self.net.now = now;
            self.drive.rest(&mut self.net);
            let Some(next) = self.net.timers.next() else {
                return Ok(());
            };
            ready.clear();
            now = self.net.wait(now, next, &mut ready)?;
            self.net.now = now;
            for event in &ready {
                self.handle(*event)?;
            }
        }
    }

    fn fire(&mut self, timer: Timer) -> Result<(), OsError> {
        match timer {
            Timer::Run(timer) => self.drive.fire(&mut self.net, timer),
            Timer::Link(number) => self.net.give_out(number)?,
            Timer::Change(way) => self.net.link_changes(way)?,
            Timer::Sysctl(host, number) => self.net.host_changes(host, number)?,
            Timer::Sockets(app, number) => self.net.sockets_change(app, number)?,
            Timer::Look => self.look_at_site(),
        }
        self.net.go_on()
    }

    fn handle(&mut self, event: Ready) -> Result<(), OsError> {
        let net = &mut self.net;
        match event.source {
            Source::Tap(number, side) => {
                let time = net.time();
                if let Some(link) = &mut net.links[number] {
                    link.take(side, time, &mut net.captures)?;
                }
                net.give_out(number)?;
            }
            Source::Listener(app) => self.drive.accept(net, app),
            Source::Capture(index) => net.captured(index)?,
            // A reset while the application sleeps: it will see it at its next read or write.
            Source::End(end) if event.broken && net.sockets[end].watched == Some(NOTHING) => {
                net.unwatch(end);
            }
            Source::End(end) => self.drive.ready(net, end),
        }
        self.net.go_on()
    }

    pub(super) fn finish(mut self) -> Result<Outcome, OsError> {
        let ended = self.net.clock.now();
        let net = &mut self.net;
        net.end_captures()?;
        self.drive.take_infos(net);
        net.tell_of_replays();
        let mut outcome = Outcome {
            cut_short: self.drive.is_cut_short(),
            flows: self.drive.flows(),
            ..Outcome::default()
        };
        self.net.finish(ended, &mut outcome)?;
        Ok(outcome)
    }
}

impl<'p> Net<'p> {
    fn build(point: &'p Point, folder: &Path, pace: Pace) -> Result<Self, OsError> {
        let mut sysctls = Sysctls::new(point);
        let mut network = wire::build(point, &mut sysctls)?;
        let mut wires = std::mem::take(&mut network.wires);
        let mut net = Self::new(point, network, pace)?;
        net.left_out = sysctls.left_out;
        net.tell_of_machine()?;
        let (captures, index) = open_captures(point, folder)?;
        net.captures = captures;
        for (number, wire) in wires.iter_mut().enumerate() {
            let taps = match std::mem::replace(wire, Wire::Kernel) {
                Wire::Kernel => {
                    net.links.push(None);
                    continue;
                }
                Wire::Ours(taps) => taps,
            };
            let link = &point.links[number];
            let files =
                [link.a, link.b].map(|host| index[&(host, interface_on(point, host, number))]);
            for (side, tap) in taps.iter().enumerate() {
                (net.poll)
                    .add(&tap.file, Source::Tap(number, side), EpollFlags::EPOLLIN)
                    .tried("cannot watch a TAP device")?;
            }
            let link = OurLink::new(point, number, taps, files);
            net.links.push(Some(link));
        }
        net.watch_kernel_interfaces(&index)?;
        net.open_replays(folder)?;
        Ok(net)
    }

    /// Hosts without links and captures.
    pub(super) fn new(point: &'p Point, network: Network, pace: Pace) -> Result<Self, OsError> {
        let clock = Clock::new(pace).tried("cannot read the clock")?;
        Ok(Self {
            point,
            clock,
            start: Instant::default(),
            now: Instant::default(),
            poll: Poll::new().tried("cannot make an epoll")?,
            timers: Timers::default(),
            network,
            links: Vec::new(),
            link_series: Vec::new(),
            captures: Vec::new(),
            live: Vec::new(),
            sent: 0,
            sockets: sock::all(point),
            tables: Vec::new(),
            listeners: point.apps.iter().map(|_| None).collect(),
            replays: Vec::new(),
            warnings: Vec::new(),
            left_out: Vec::new(),
            site: None,
            failed: None,
        })
    }

    /// Captures by the kernel where no frame passes through our hands: veth pairs and lo.
    fn watch_kernel_interfaces(&mut self, index: &CaptureIndex) -> Result<(), OsError> {
        if !self.point.captures {
            return Ok(());
        }
        let ours: Vec<(usize, String)> = (self.point.links.iter().enumerate())
            .filter(|(number, _)| self.links[*number].is_some())
            .flat_map(|(number, link)| {
                [link.a, link.b].map(|host| (host, interface_on(self.point, host, number)))
            })
            .collect();
        for (key, file) in index {
            if ours.contains(key) {
                continue;
            }
            self.network.hosts[key.0].enter()?;
            let patience = time::Duration::from_micros(1);
            let live = Live::open(&key.1, patience)
                .map_err(|e| OsError::Cannot(format!("cannot capture on {}: {e}", key.1)))?;
            live.set_nonblocking().tried("cannot set up a capture")?;
            let source = Source::Capture(self.live.len());
            self.poll
                .add(&live, source, EpollFlags::EPOLLIN)
                .tried("cannot watch a capture")?;
            self.live.push((live, *file));
        }
        Ok(())
    }

    /// One thread holds all applications, so it runs where they want to. Several wishes, and those of a guest with its
    /// one processor, were refused before the run, or are left out.
    fn pin(&mut self) -> Result<(), OsError> {
        let own = self.point.cpus(|host| self.has(host));
        let only = own.first().filter(|_| own.len() == 1);
        let Some(cpu) = only.filter(|_| self.clock.pace == Pace::Real) else {
            return Ok(());
        };
        if cpu::pin(*cpu as usize) {
            return Ok(());
        }
        let why = format!("{cpu}: this CPU does not exist, or this process may not use it");
        let refusal = Refusal::new("cpu", why, "write another one").tolerable("cpu");
        leave_out(self.point, &refusal, &mut self.left_out)
    }

    /// Counters; the run's start is known.
    fn starts(&mut self) -> Result<(), OsError> {
        for host in &mut self.network.hosts {
            host.begin()?;
        }
        self.open_tables()?;
        self.start = self.start_time()?;
        self.now = self.start;
        for link in self.links.iter_mut().flatten() {
            link.begin(self.start);
        }
        Ok(())
    }

    /// When the run starts: as the point says, else as on the model, if that is to come.
    fn start_time(&mut self) -> Result<Instant, OsError> {
        let soon = self.clock.now() + SETTLE;
        let drawn = soon + start_phase(self.point.seed);
        if self.clock.pace != Pace::Virtual {
            return Ok(drawn);
        }
        let boot = self.point.boot_ns;
        let boot_ns = boot.unwrap_or(default_boot(self.point.seed).as_nanos());
        let wanted = self.clock.of_monotonic(Instant::from_nanos(boot_ns));
        if wanted >= soon {
            return Ok(wanted);
        }
        if boot.is_none() {
            return Ok(drawn);
        }
        let late = Duration::from_nanos(boot_ns) + soon.since(wanted);
        let why = format!(
            "{boot_ns} ns: the hosts stand only {} ns after their boot",
            late.as_nanos()
        );
        let refusal = Refusal::new("run.boot", why, "write a longer time").tolerable("boot");
        leave_out(self.point, &refusal, &mut self.left_out)?;
        Ok(drawn)
    }

    /// Waits until this time or until something is ready; gives the time that it is then.
    fn wait(
        &mut self,
        now: Instant,
        next: Instant,
        ready: &mut Vec<Ready>,
    ) -> Result<Instant, OsError> {
        let until = self.clock.monotonic(next);
        let waited = self.poll.wait(until, ready);
        let waited = waited.tried("cannot wait")?;
        // A guest's clock moves by itself only when it waits: the timer's time is now. Clock steps
        // from readings in between do not count as time of the experiment.
        Ok(match (self.clock.pace, waited.slept, waited.due) {
            (Pace::Virtual, _, true) if ready.is_empty() => next,
            (Pace::Virtual, false, _) => now,
            _ => self.clock.now(),
        })
    }

    /// Hands out what is due on a link, and sets its timer.
    fn give_out(&mut self, number: usize) -> Result<(), OsError> {
        let time = self.time();
        let Some(link) = &mut self.links[number] else {
            return Ok(());
        };
        link.give(time, &mut self.captures)?;
        let now = time.read();
        let next = link.next_time();
        let sooner = |next: Instant| link.armed.is_none_or(|at| next < at || at <= now);
        if let Some(next) = next.filter(|next| sooner(*next)) {
            link.armed = Some(next);
            self.timers.set(next, Timer::Link(number));
        }
        Ok(())
    }

    fn captured(&mut self, index: usize) -> Result<(), OsError> {
        let (live, file) = &mut self.live[index];
        let ports: Vec<u16> = self.point.apps.iter().map(|app| app.port).collect();
        loop {
            let Some(frame) = live.next_frame().tried("a capture failed")? else {
                return Ok(());
            };
            let mut time = frame.time;
            if let Some(site) = &self.site {
                let is_ethernet = frame.link == LinkType::Ethernet;
                if !is_ours(frame.data, is_ethernet, site.peer, &ports) {
                    continue;
                }
                time = time + site.shift;
            }
            self.captures[*file]
                .frame(time, frame.data, frame.orig_len)
                .tried("cannot write a capture")?;
        }
    }

    fn end_captures(&mut self) -> Result<(), OsError> {
        for index in 0..self.live.len() {
            if self.clock.pace == Pace::Real {
                // If it fails, frames go on coming in, and the last ones are missing.
                let _ = self.live[index].0.stop();
            }
            self.captured(index)?;
            // It also ends before a frame that is not to be seen.
            while !self.live[index].0.is_drained() {
                self.captured(index)?;
            }
            let dropped = self.live[index].0.dropped();
            if dropped > 0 {
                self.warnings
                    .push(format!("a capture lost {dropped} frames"));
            }
        }
        Ok(())
    }

    /// What hosts and links did.
    fn finish(mut self, ended: Instant, outcome: &mut Outcome) -> Result<(), OsError> {
        outcome.kernel = kernel_name();
        outcome.virtual_ns = self.since_start(ended).as_nanos();
        for (n, (host, net)) in (self.point.hosts.iter().zip(&self.network.hosts)).enumerate() {
            if !self.has(n) {
                continue;
            }
            outcome.counters.insert(host.name.clone(), net.counters()?);
            let table = self.tables.get(n);
            let words = table.and_then(|table| table.borrow().words(&host.name));
            self.warnings.extend(words);
        }
        for (number, link) in self.links.iter().enumerate() {
            outcome.links.push(match link {
                Some(link) => {
                    let unreached = link.unreached(self.point, number, ended);
                    self.warnings.extend(unreached);
                    link.count(ended)
                }
                None => wire::kernel_count(self.point, number, &self.network.hosts)?,
            });
        }
        outcome.link_series = self.link_series;
        outcome.warnings = self.warnings;
        outcome.tolerated = self.left_out;
        for capture in self.captures {
            capture.finish().tried("cannot write a capture")?;
        }
        Ok(())
    }
}

fn open_captures(
    point: &Point,
    folder: &Path,
) -> Result<(Vec<CaptureFile>, CaptureIndex), OsError> {
    let mut captures = Vec::new();
    let mut index = CaptureIndex::new();
    for (host, interface) in interfaces(point) {
        let capture = match point.captures {
            true => {
                let path = folder.join(capture_file(&point.hosts[host].name, &interface));
                CaptureFile::create(&path, &interface, point.snap_bytes)
                    .context(|| format!("cannot write {}", path.display()))?
            }
            false => CaptureFile::none(),
        };
        index.insert((host, interface), captures.len());
        captures.push(capture);
    }
    Ok((captures, index))
}

/// The kernel that this process sees, as results name it.
pub fn kernel_name() -> String {
    match nix::sys::utsname::uname() {
        Ok(u) => format!(
            "{} {}",
            u.sysname().to_string_lossy(),
            u.release().to_string_lossy()
        ),
        Err(_) => "Linux".into(),
    }
}
