//! A smaller scenario of the same class of difference: what can be left out is left out.

use tcplab_lab::LabError;
use tcplab_plan::Point;
use tcplab_plan::app::{App, AppKind};
use tcplab_plan::point::{Direction, Event, Link, QuickAck, Route, SocketOptions};

/// Runs at most.
const BUDGET: usize = 40;

/// Leaves out what `keeps` (the class is still the same) allows.
///
/// # Errors
/// What a run says.
pub fn shrink(
    point: &Point,
    keeps: impl Fn(&Point) -> Result<bool, LabError>,
) -> Result<Point, LabError> {
    let mut best = point.clone();
    let mut runs = 0;
    let mut number = 0;
    // Round and round, until a whole round has left out nothing.
    let mut since_success = 0;
    loop {
        let mut candidates = candidates(&best);
        candidates.iter_mut().for_each(forget);
        if candidates.is_empty() || since_success >= candidates.len() || runs >= BUDGET {
            return Ok(best);
        }
        let candidate = &candidates[number % candidates.len()];
        runs += 1;
        if keeps(candidate)? {
            best = candidate.clone();
            since_success = 0;
        } else {
            since_success += 1;
            number += 1;
        }
    }
}

/// What is not set any more cannot be tolerated.
fn forget(point: &mut Point) {
    let hosts = &point.hosts;
    let is_set = |name: &String| hosts.iter().any(|host| host.sysctl.contains_key(name));
    point.tolerate.retain(is_set);
}

/// Points with one thing less.
fn candidates(point: &Point) -> Vec<Point> {
    let mut less = Less {
        point,
        out: Vec::new(),
    };
    (0..point.apps.len()).for_each(|app| less.of_app(app));
    (0..point.hosts.len()).for_each(|host| less.of_host(host));
    (0..point.links.len()).for_each(|link| less.of_link(link));
    less.out
}

struct Less<'a> {
    point: &'a Point,
    out: Vec<Point>,
}

impl Less<'_> {
    /// The point with a change, if that changes anything.
    fn with(&mut self, change: impl FnOnce(&mut Point)) {
        let mut other = self.point.clone();
        change(&mut other);
        if other != *self.point {
            self.out.push(other);
        }
    }

    fn of_app(&mut self, app: usize) {
        if self.point.apps.len() > 1 {
            self.with(|p| drop(p.apps.remove(app)));
        }
        self.with(|p| p.apps[app].connections = 1);
        self.with(|p| p.apps[app].fastopen = false);
        self.with(|p| p.apps[app].server_connects_ns = None);
        self.with(|p| halve(&mut p.apps[app].does));
        self.with(|p| p.apps[app].client_socket = SocketOptions::default());
        self.with(|p| p.apps[app].server_socket = SocketOptions::default());
        for change in SOCKET {
            self.with(|p| change(&mut p.apps[app].client_socket));
            self.with(|p| change(&mut p.apps[app].server_socket));
        }
    }

    fn of_host(&mut self, host: usize) {
        self.with(|p| p.hosts[host].route = Route::default());
        for name in self.point.hosts[host].sysctl.keys() {
            self.with(|p| {
                p.hosts[host].sysctl.remove(name);
                // No Fast Open without its sysctl.
                let needs = |app: &App| app.server == host && name.ends_with("tcp_fastopen");
                p.apps
                    .iter_mut()
                    .for_each(|app| app.fastopen &= !needs(app));
            });
        }
    }

    fn of_link(&mut self, link: usize) {
        let ways: [fn(&mut Link) -> &mut Direction; 2] =
            [|link| &mut link.a_to_b, |link| &mut link.b_to_a];
        for way in ways {
            self.with(|p| way(&mut p.links[link]).loss_ppb = 0);
        }
        let of_both = |p: &mut Point, change: fn(&mut Direction)| {
            ways.iter().for_each(|way| change(way(&mut p.links[link])));
        };
        self.with(|p| of_both(p, |way| way.jitter_ns = 0));
        self.with(|p| of_both(p, |way| way.rate_bps = None));
        for way in ways {
            let events = way(&mut self.point.links[link].clone()).events.len();
            for event in 0..events {
                self.with(|p| {
                    way(&mut p.links[link]).events.remove(event);
                });
                self.with(|p| fewer(&mut way(&mut p.links[link]).events[event]));
            }
        }
    }
}

const SOCKET: [fn(&mut SocketOptions); 19] = [
    |s| s.nodelay = None,
    |s| s.quickack = QuickAck::Leave,
    |s| s.rcvbuf = None,
    |s| s.sndbuf = None,
    |s| s.rcvlowat = None,
    |s| s.user_timeout_ns = None,
    |s| s.rto_min_ns = None,
    |s| s.delack_max_ns = None,
    |s| s.keepalive_ns = None,
    |s| s.congestion = None,
    |s| s.notsent_lowat = None,
    |s| s.cork = None,
    |s| s.linger = None,
    |s| s.linger2_ns = None,
    |s| s.syncnt = None,
    |s| s.window_clamp = None,
    |s| s.max_pacing_rate_bps = None,
    |s| s.maxseg = None,
    |s| s.tos = None,
];

/// Half of what an application sends.
fn halve(does: &mut AppKind) {
    let half = |n: &mut u64| *n = (*n / 2).max(1);
    match does {
        AppKind::Bulk { bytes, .. } => bytes.iter_mut().for_each(half),
        AppKind::Web { sizes, .. } if sizes.len() > 1 => drop(sizes.pop()),
        AppKind::Web { sizes, .. } => sizes.iter_mut().for_each(half),
        AppKind::RequestResponse { burst, .. } if *burst > 0 => *burst /= 2,
        AppKind::Stream { until, .. }
        | AppKind::Echo { until, .. }
        | AppKind::WriteWriteRead { until, .. }
        | AppKind::RequestResponse { until, .. }
        | AppKind::ConnectRequestResponse { until, .. }
        | AppKind::UdpStream { until, .. }
        | AppKind::UdpRr { until, .. }
        | AppKind::Ping { until, .. } => until.count.iter_mut().for_each(half),
        AppKind::Messages { messages } if messages.len() > 1 => drop(messages.pop()),
        AppKind::Messages { .. }
        | AppKind::Sink { .. }
        | AppKind::Replay { .. }
        | AppKind::Pair(_) => {}
    }
}

fn fewer(event: &mut Event) {
    event.last = event.first + (event.last - event.first) / 2;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random;

    #[test]
    fn irrelevant_parts_are_removed() {
        // The difference shall need an event on the way to the server.
        let all = random::scenarios(1, 60).unwrap();
        let busy = all
            .iter()
            .find(|s| s.point.links[0].a_to_b.events.len() > 1);
        let busy = &busy.unwrap().point;
        let small = shrink(busy, |p| Ok(!p.links[0].a_to_b.events.is_empty())).unwrap();
        assert_eq!(small.links[0].a_to_b.events.len(), 1);
        assert_eq!(small.hosts[0].sysctl.len(), 0);
        assert_eq!(small.apps[0].client_socket, SocketOptions::default());
    }
}
