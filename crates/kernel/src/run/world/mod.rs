//! The event loop of a run: TAP devices, sockets, captures and timers, one thread.
//!
//! Order within one turn: what epoll reported (frames sent by hosts, sockets), then timers that are
//! due, by time and by order of setting. Nothing else decides what comes first, which is what lets a
//! run in virtual time repeat.

mod apps;
mod replay;

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::time;

use nix::sys::epoll::EpollFlags;
use tcplab_apps::{Doing, Result as Went, start_phase};
use tcplab_base::{Duration, Instant};
use tcplab_plan::network::{capture_file, interface_on, interfaces};
use tcplab_plan::outcome::LinkSeries;
use tcplab_plan::{Outcome, Point, Refusal};
use tcplab_wire::LinkType;

use super::applications::Applications;
use super::captures::CaptureFile;
use super::clock::{Clock, Pace};
use super::error::{Context, RunError, leave_out};
use super::host::Sysctls;
use super::links::{CaptureIndex, OurLink};
use super::poll::{Poll, Ready, Source};
use super::replay::Replay;
use super::site::{Site, is_ours};
use super::socket;
use super::timers::{Timer, Timers};
use super::wire::{self, Network, Wire};
use crate::cpu;
use crate::live::Live;
use crate::proc_tcp::ProcTcp;

/// Time between the set-up and the start of a run: what the set-up caused has settled.
const SETTLE: Duration = Duration::from_millis(50);

/// A run under way.
pub(super) struct World<'p> {
    pub(super) point: &'p Point,
    clock: Clock,
    pub(super) start: Instant,
    pub(super) poll: Poll,
    pub(super) timers: Timers,
    network: Network,
    links: Vec<Option<OurLink>>,
    link_series: Vec<LinkSeries>,
    pub(super) captures: Vec<CaptureFile>,
    /// Captures by the kernel, and the file of each.
    pub(super) live: Vec<(Live, usize)>,
    pub(super) apps: Applications,
    replays: Vec<Replay>,
    pub(super) warnings: Vec<String>,
    /// Settings that were left out because the point tolerates it.
    left_out: Vec<String>,
    /// Beside a half of a run on two machines.
    pub(super) site: Option<Site<'p>>,
    pub(super) ending: bool,
    pub(super) stopped: bool,
    pub(super) cut_short: bool,
}

/// Runs a point; captures go into `folder`.
///
/// The calling thread's network namespace is another one afterwards.
///
/// # Errors
/// When the kernel refuses what a run needs, or the point asks for what this stack cannot do.
pub fn run(point: &Point, folder: &Path, pace: Pace) -> Result<Outcome, RunError> {
    let mut world = World::new(point, folder, pace)?;
    world.listen()?;
    world.start()?;
    world.turn()?;
    world.finish()
}

impl<'p> World<'p> {
    fn new(point: &'p Point, folder: &Path, pace: Pace) -> Result<Self, RunError> {
        let mut sysctls = Sysctls::new(point);
        let mut network = wire::build(point, &mut sysctls)?;
        let mut wires = std::mem::take(&mut network.wires);
        let mut world = Self::empty(point, network, pace)?;
        world.left_out = sysctls.left_out;
        let (captures, index) = open_captures(point, folder)?;
        world.captures = captures;
        for (number, wire) in wires.iter_mut().enumerate() {
            let taps = match std::mem::replace(wire, Wire::Kernel) {
                Wire::Kernel => {
                    world.links.push(None);
                    continue;
                }
                Wire::Ours(taps) => taps,
            };
            let link = &point.links[number];
            let files =
                [link.a, link.b].map(|host| index[&(host, interface_on(point, host, number))]);
            for (side, tap) in taps.iter().enumerate() {
                (world.poll)
                    .add(&tap.file, Source::Tap(number, side), EpollFlags::EPOLLIN)
                    .context(|| "cannot watch a TAP device".into())?;
            }
            let link = OurLink::new(point, number, taps, files);
            world.links.push(Some(link));
        }
        world.watch_kernel_interfaces(&index)?;
        world.open_replays(folder)?;
        Ok(world)
    }

    /// Hosts without links and captures.
    pub(super) fn empty(point: &'p Point, network: Network, pace: Pace) -> Result<Self, RunError> {
        let clock = Clock::new(pace).context(|| "cannot read the clock".into())?;
        Ok(Self {
            point,
            clock,
            start: Instant::default(),
            poll: Poll::new().context(|| "cannot make an epoll".into())?,
            timers: Timers::default(),
            network,
            links: Vec::new(),
            link_series: Vec::new(),
            captures: Vec::new(),
            live: Vec::new(),
            apps: Applications::new(point),
            replays: Vec::new(),
            warnings: Vec::new(),
            left_out: Vec::new(),
            site: None,
            ending: false,
            stopped: false,
            cut_short: false,
        })
    }

    /// Captures by the kernel where no frame passes through our hands: veth pairs and lo.
    fn watch_kernel_interfaces(&mut self, index: &CaptureIndex) -> Result<(), RunError> {
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
                .map_err(|e| RunError::Cannot(format!("cannot capture on {}: {e}", key.1)))?;
            live.set_nonblocking()
                .context(|| "cannot set up a capture".into())?;
            let source = Source::Capture(self.live.len());
            self.poll
                .add(&live, source, EpollFlags::EPOLLIN)
                .context(|| "cannot watch a capture".into())?;
            self.live.push((live, *file));
        }
        Ok(())
    }

    /// One thread holds all applications, so it runs where they want to. Several wishes, and those of a guest with its
    /// one processor, were refused before the run, or are left out.
    fn pin(&mut self) -> Result<(), RunError> {
        let own = self.point.cpus(|host| self.is_here(host));
        let only = own.first().filter(|_| own.len() == 1);
        let Some(cpu) = only.filter(|_| self.clock.pace == Pace::Real) else {
            return Ok(());
        };
        if cpu::pin(*cpu as usize) {
            return Ok(());
        }
        let why = format!("{cpu}: there is no such CPU, or this process may not use it");
        let refusal = Refusal::new("cpu", why, "write another one").tolerable("cpu");
        leave_out(self.point, &refusal, &mut self.left_out)
    }

    /// Whether an end of this host runs here.
    fn is_here(&self, host: usize) -> bool {
        self.site.as_ref().is_none_or(|site| site.host == host)
    }

    /// Listeners.
    pub(super) fn listen(&mut self) -> Result<(), RunError> {
        self.pin()?;
        for (index, app) in self.point.apps.iter().enumerate() {
            if app.does.is_icmp() && self.site.is_some() {
                continue;
            }
            if app.does.is_icmp() {
                self.network.hosts[app.client].allow_echoes()?;
                continue;
            }
            if app.does.is_replay() || !self.is_here(app.server) {
                continue;
            }
            self.network.hosts[app.server].enter()?;
            let first = self.apps.ends.iter().position(|e| e.app == index);
            let server = first.unwrap_or_default() + 1;
            let options = app.server_socket.or(&self.point.hosts[app.server].socket);
            let fd = socket::listener(app.port, app.does.is_udp(), &options)
                .map_err(|e| RunError::Cannot(format!("application {}: {e}", app.name)))?;
            if app.does.is_udp() {
                // One socket serves all: the first flow's server end has it.
                self.apps.ends[server].fd = Some(fd);
                self.apps.ends[server].doing = Doing::Next(Went::Done);
                self.step(server, Instant::default())?;
            } else {
                self.poll
                    .add(&fd, Source::Listener(index), EpollFlags::EPOLLIN)
                    .context(|| "cannot watch a listener".into())?;
                self.apps.listeners[index] = Some(fd);
            }
        }
        Ok(())
    }

    /// Counters, first timers.
    pub(super) fn start(&mut self) -> Result<(), RunError> {
        for host in &mut self.network.hosts {
            host.begin()?;
        }
        self.open_tables()?;
        self.start = self.start_time()?;
        self.patience_begins();
        for link in self.links.iter_mut().flatten() {
            link.begin(self.start);
        }
        let mut end = 0;
        for app in &self.point.apps {
            for n in 0..app.connections {
                let at = app.start_ns + app.stagger_ns.saturating_mul(i64::from(n));
                if self.is_here(app.client) {
                    self.timers
                        .set(self.start + Duration::from_nanos(at), Timer::Connect(end));
                }
                end += 2;
            }
        }
        if let Some(every) = self.point.tcp_info_every_ns {
            self.timers
                .set(self.start + Duration::from_nanos(every), Timer::Sample);
        }
        if let Some(every) = self.point.link_every_ns {
            self.timers
                .set(self.start + Duration::from_nanos(every), Timer::SampleLinks);
        }
        if self.site.is_some() {
            self.timers.set(self.start, Timer::Look);
        }
        let most = Duration::from_nanos(self.point.max_ns);
        self.timers.set(self.start + most, Timer::Stop);
        Ok(())
    }

    /// When the run starts: as the point says, if that is to come.
    fn start_time(&mut self) -> Result<Instant, RunError> {
        let soon = self.clock.now() + SETTLE;
        let drawn = soon + start_phase(self.point.seed);
        let boot = self.point.boot_ns;
        let Some(boot_ns) = boot.filter(|_| self.clock.pace == Pace::Virtual) else {
            return Ok(drawn);
        };
        let wanted = self.clock.of_monotonic(Instant::from_nanos(boot_ns));
        if wanted >= soon {
            return Ok(wanted);
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

    /// The kernel's tables of connections, for logs that show what getsockopt does not tell.
    fn open_tables(&mut self) -> Result<(), RunError> {
        if !self.point.log {
            return Ok(());
        }
        let mut tables = Vec::new();
        for host in &self.network.hosts {
            host.enter()?;
            let table = ProcTcp::open().context(|| "cannot read /proc/net/tcp".into())?;
            tables.push(Rc::new(RefCell::new(table)));
        }
        for end in &mut self.apps.ends {
            let app = &self.point.apps[end.app];
            let host = if end.is_client {
                app.client
            } else {
                app.server
            };
            end.table = tables.get(host).cloned();
        }
        Ok(())
    }

    pub(super) fn turn(&mut self) -> Result<(), RunError> {
        let mut ready = Vec::new();
        let mut now = self.clock.now();
        while !self.stopped {
            while let Some((at, timer)) = self.timers.pop(now) {
                let now = match self.clock.pace {
                    Pace::Real => now,
                    Pace::Virtual => at,
                };
                self.fire(now, timer)?;
                if self.stopped {
                    return Ok(());
                }
            }
            self.end_when_all_is_over(now);
            let Some(next) = self.timers.next() else {
                return Ok(());
            };
            ready.clear();
            let until = self.clock.monotonic(next);
            let waited = self
                .poll
                .wait(until, &mut ready)
                .context(|| "cannot wait".into())?;
            // A guest's clock moves by itself only when it waits: the timer's time is now. What its
            // readings move it by in between is no time of the experiment.
            now = match (self.clock.pace, waited.slept, waited.due) {
                (Pace::Virtual, _, true) if ready.is_empty() => next,
                (Pace::Virtual, false, _) => now,
                _ => self.clock.now(),
            };
            for event in &ready {
                self.handle(now, *event)?;
            }
        }
        Ok(())
    }

    fn end_when_all_is_over(&mut self, now: Instant) {
        if !self.ending && self.site.is_none() && self.apps.are_over() {
            self.ending = true;
            let linger = Duration::from_nanos(self.point.linger_ns);
            self.timers.set(now + linger, Timer::Stop);
        }
    }

    fn fire(&mut self, now: Instant, timer: Timer) -> Result<(), RunError> {
        match timer {
            Timer::Connect(end) if self.is_replay(end) => self.begin_replay(end, now),
            Timer::Connect(end) => self.connect(end, now),
            Timer::Wake(end, sleeps) => {
                if self.apps.ends[end].sleeps != sleeps {
                    return Ok(());
                }
                if self.is_replay(end) {
                    return self.replay(end, now);
                }
                match self.apps.ends[end].doing {
                    Doing::Sleeping => self.apps.ends[end].doing = Doing::Next(Went::Done),
                    Doing::Receiving(_) => self.apps.ends[end].doing = Doing::Next(Went::TimedOut),
                    _ => return Ok(()),
                }
                self.step(end, now)
            }
            Timer::Idle(end) => self.may_give_up(end, now),
            Timer::Link(number) => self.give(number, now),
            Timer::Sample => self.sample(now),
            Timer::SampleLinks => {
                self.sample_links(now);
                Ok(())
            }
            Timer::Look => {
                self.look_at_site(now);
                Ok(())
            }
            Timer::Stop => {
                self.stopped = true;
                self.cut_short = !self.ending;
                Ok(())
            }
        }
    }

    fn handle(&mut self, now: Instant, event: Ready) -> Result<(), RunError> {
        match event.source {
            Source::Tap(number, side) => {
                if let Some(link) = &mut self.links[number] {
                    link.take(side, now, &mut self.captures)?;
                }
                self.give(number, now)
            }
            Source::Listener(app) => self.accept(app, now),
            Source::Capture(index) => self.captured(index),
            Source::End(end) => self.socket_is_ready(end, event.broken, now),
        }
    }

    /// Hands out what is due on a link, and sets its timer.
    fn give(&mut self, number: usize, now: Instant) -> Result<(), RunError> {
        let Some(link) = &mut self.links[number] else {
            return Ok(());
        };
        link.give(now, &mut self.captures)?;
        let next = link.next_time();
        let sooner = |next: Instant| link.armed.is_none_or(|at| next < at || at <= now);
        if let Some(next) = next.filter(|next| sooner(*next)) {
            link.armed = Some(next);
            self.timers.set(next, Timer::Link(number));
        }
        Ok(())
    }

    fn captured(&mut self, index: usize) -> Result<(), RunError> {
        let (live, file) = &mut self.live[index];
        let ports: Vec<u16> = self.point.apps.iter().map(|app| app.port).collect();
        while let Some(frame) = live.next_frame().context(|| "a capture failed".into())? {
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
                .context(|| "cannot write a capture".into())?;
        }
        Ok(())
    }

    fn at(&self, now: Instant) -> i64 {
        now.since(self.start).as_nanos()
    }

    pub(super) fn finish(mut self) -> Result<Outcome, RunError> {
        let ended = self.clock.now();
        for index in 0..self.live.len() {
            self.captured(index)?;
            let dropped = self.live[index].0.dropped();
            if dropped > 0 {
                self.warnings
                    .push(format!("a capture lost {dropped} frames"));
            }
        }
        for index in 0..self.apps.ends.len() {
            self.take_info(index);
        }
        self.tell_of_replays();
        let mut outcome = Outcome {
            kernel: kernel_name(),
            virtual_ns: self.at(ended),
            cut_short: self.cut_short,
            ..Outcome::default()
        };
        for (n, (host, net)) in (self.point.hosts.iter().zip(&self.network.hosts)).enumerate() {
            if !self.is_here(n) {
                continue;
            }
            outcome.counters.insert(host.name.clone(), net.counters()?);
        }
        for (number, link) in self.links.iter().enumerate() {
            outcome.links.push(match link {
                Some(link) => link.count(ended),
                None => wire::kernel_count(self.point, number, &self.network.hosts)?,
            });
        }
        outcome.link_series = self.link_series;
        outcome.flows = self.apps.flows(self.start);
        outcome.warnings = self.warnings;
        outcome.tolerated = self.left_out;
        for capture in self.captures {
            capture
                .finish()
                .context(|| "cannot write a capture".into())?;
        }
        Ok(outcome)
    }
}

fn open_captures(
    point: &Point,
    folder: &Path,
) -> Result<(Vec<CaptureFile>, CaptureIndex), RunError> {
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

fn kernel_name() -> String {
    match nix::sys::utsname::uname() {
        Ok(u) => format!(
            "{} {}",
            u.sysname().to_string_lossy(),
            u.release().to_string_lossy()
        ),
        Err(_) => "Linux".into(),
    }
}
