//! Connections: connected, accepted, closed.

use tcplab_base::{Duration, Instant};
use tcplab_plan::point::QuickAck;

use super::end::UNKNOWN;
use super::host::{Host, Interest, Timer};
use super::{Drive, Foreign};
use crate::doing::Doing;
use crate::patience::Awaited;
use crate::program::Result as Went;

impl Drive {
    /// The time of a client's first connection has come; that of the next client is set.
    #[inline(never)]
    pub(super) fn start<H: Host>(&mut self, host: &mut H, index: usize) {
        let number = self.ends[index].app();
        let app = &self.point.apps[number];
        let n = (index - self.first(number)) as i64 / 2 + 1;
        if n < i64::from(app.connections) {
            let at = app.start_ns + app.stagger_ns.saturating_mul(n);
            host.set(Instant::from_nanos(at), Timer::Connect(index as u32 + 2));
        }
        if !self.apps[number].is_replay {
            return self.connect(host, index);
        }
        self.ends[index].opened = host.now();
        if !self.replays(host, index) {
            host.warn("a replay got no frames".into());
            self.end_program(index);
        }
    }

    /// Sends the frames of a replay that are due. False: this end replays nothing.
    #[cold]
    #[inline(never)]
    pub(super) fn replays<H: Host>(&mut self, host: &mut H, index: usize) -> bool {
        let Some(sent) = host.replay(index) else {
            return false;
        };
        let now = host.now();
        let end = &mut self.ends[index];
        end.written += sent.bytes;
        end.program.count(sent.frames);
        end.doing = match sent.is_over {
            true => Doing::Over,
            false => Doing::Sleeping,
        };
        if sent.is_over && end.closed == UNKNOWN {
            end.closed = now;
        }
        self.changed(index);
        if let Some(next) = sent.next {
            host.set(next.max(now), Timer::Wake(index as u32));
        }
        true
    }

    #[inline(never)]
    pub(super) fn connect<H: Host>(&mut self, host: &mut H, index: usize) {
        let (end, mut call) = self.call(host, index);
        end.program.connects(call.host.now());
        end.log(&mut call, "connect", 0);
        match call.host.connect(index) {
            Err(e) => {
                end.fail(&mut call, e);
                self.changed(index);
                self.close(host, index);
            }
            Ok(port) => {
                end.has_socket = true;
                let is_udp = end.is_udp;
                self.remember_port(index, port);
                if is_udp {
                    return self.connected(host, index);
                }
                let end = &mut self.ends[index];
                end.doing = Doing::Connecting;
                end.awaits = Awaited::Room;
                self.gives_up_after(host, index, |_, now, timeout| Some(now + timeout));
                self.changed(index);
                host.watch(index, Interest::Writable, false);
            }
        }
    }

    #[inline(never)]
    pub(super) fn connected<H: Host>(&mut self, host: &mut H, index: usize) {
        let (end, mut call) = self.call(host, index);
        if !end.is_udp {
            if let Err(e) = call.host.connected(index) {
                end.fail(&mut call, e);
                self.changed(index);
                return self.close(host, index);
            }
            if let QuickAck::Once(value) = call.quickack {
                call.host.set_quickack(index, value);
            }
        }
        self.opened(host, index, "connected");
        self.step(host, index, true);
    }

    /// Connections wait at the listener of an application.
    #[inline(never)]
    pub fn accept<H: Host>(&mut self, host: &mut H, app: usize) {
        let every = Duration::from_nanos(self.point.apps[app].listening.accept_every_ns);
        while self.apps[app].accepts_at <= host.now()
            && let Some((conn, port)) = host.accept(app)
        {
            let known = self.apps[app].ports.get(&port).copied();
            let client = match self.foreign {
                Foreign::None => known,
                Foreign::Each => self.adopt(app, port),
                Foreign::Again => known.or_else(|| self.adopt(app, port)),
            };
            let Some(client) = client else {
                host.refuse(app, conn);
                continue;
            };
            let index = client as usize + 1;
            if self.ends[index].has_socket {
                // A reconnecting client was quicker than the server's last step.
                self.close(host, index);
            }
            host.give(conn, index);
            let (end, call) = self.call(host, index);
            if let QuickAck::Once(value) = call.quickack {
                call.host.set_quickack(index, value);
            }
            end.has_socket = true;
            let plan = &self.point.apps[app];
            let program = &mut self.ends[index].program;
            program.restart(&plan.does, &plan.reading, false);
            let number = (index as u32 - self.apps[app].first) / 2;
            program.seed(self.point.seed, number);
            self.opened(host, index, "accept");
            self.step(host, index, false);
            if every > Duration::from_nanos(0) {
                let at = host.now() + every;
                self.apps[app].accepts_at = at;
                host.watch_listener(app, false);
                host.set(at, Timer::Accept(app as u32));
            }
        }
    }

    /// A connection stands, and its program goes on.
    #[inline]
    fn opened<H: Host>(&mut self, host: &mut H, index: usize, what: &str) {
        let (end, mut call) = self.call(host, index);
        if end.opened == UNKNOWN {
            end.opened = call.host.now();
        }
        end.log_state(&mut call, what, 0);
        end.doing = Doing::Next(Went::Done);
        self.changed(index);
    }

    /// The client's end that stands for a client from elsewhere.
    #[cold]
    fn adopt(&mut self, app: usize, port: u16) -> Option<u32> {
        let (first, flows) = (self.apps[app].first, self.point.apps[app].connections);
        let next = self.apps[app].adopted;
        let n = if next < flows {
            self.apps[app].adopted += 1;
            next
        } else if self.foreign == Foreign::Again {
            let over = |n: &u32| self.ends[(first + 2 * n) as usize + 1].doing == Doing::Over;
            (0..flows).find(over).unwrap_or(0)
        } else {
            self.refused += 1;
            return None;
        };
        let client = first + 2 * n;
        self.remember_port(client as usize, port);
        Some(client)
    }

    /// Remembers the port of this flow's client.
    fn remember_port(&mut self, end: usize, port: u16) {
        let app = self.ends[end].app();
        self.apps[app].ports.insert(port, end as u32);
        if let Some(first) = self.ports.get_mut(end / 2).filter(|first| **first == 0) {
            *first = port;
        }
    }

    /// The first port of a flow's client; 0 if it has none yet.
    pub fn port(&self, flow: usize) -> u16 {
        self.ports.get(flow).copied().unwrap_or(0)
    }

    #[inline(never)]
    pub(super) fn close<H: Host>(&mut self, host: &mut H, index: usize) {
        self.take_info(host, index);
        let (end, mut call) = self.call(host, index);
        (end.gives_up_at, end.closed) = (UNKNOWN, call.host.now());
        end.awaits = Awaited::Nothing;
        if !std::mem::replace(&mut end.has_socket, false) {
            return;
        }
        call.host.close(index, end);
        end.log(&mut call, "close", 0);
        if !end.is_client && self.foreign == Foreign::Each {
            // The run waits for its client no more.
            self.end_program(index - 1);
        }
    }

    /// The programs end here: their sockets are closed, as those of a process that ends.
    pub fn close_all<H: Host>(&mut self, host: &mut H) {
        for index in 0..self.ends.len() {
            if self.ends[index].doing != Doing::Over {
                self.end_program(index);
                if self.ends[index].has_socket {
                    self.close(host, index);
                }
            }
        }
    }
}
