//! Scenarios that nobody chose: application calls, losses, order, windows, timing, options and
//! sysctls, drawn from a seed.
//!
//! Scenario N of a seed does not depend on how many are drawn.

mod links;

use tcplab_base::Random;
use tcplab_lab::LabError;
use tcplab_plan::app::{Act, App, AppKind, Extent, Listening, Message, Reading};
use tcplab_plan::point::{Ip, QuickAck, Route, SocketChange, SocketOptions, SysctlChange};
use tcplab_plan::{Experiment, Point};

use crate::list::Scenario;

const MS: i64 = 1_000_000;
/// What every drawn point begins as: two hosts, a link, one application.
const BASE: &str = "[run]\nmax = \"60s\"\n[[host]]\nname = \"client\"\n[[host]]\nname = \"server\"\n\
                    [[link]]\ndelay = \"1ms\"\n[[app]]\nkind = \"bulk\"\nname = \"app\"\nbytes = 1000\n";

/// The first `count` scenarios of a seed.
///
/// # Errors
/// Never, unless the base of all points is no experiment.
pub fn scenarios(seed: u64, count: u64) -> Result<Vec<Scenario>, LabError> {
    let base = base()?;
    let all = (0..count).map(|n| {
        let mut draw = Draw(Random::stream(seed, &format!("fidelity/{n}")));
        Scenario {
            name: format!("random/{seed}/{n}"),
            point: draw.point(base.clone(), n),
        }
    });
    Ok(all.collect())
}

/// What every drawn point begins as.
///
/// # Errors
/// Never, unless it is no experiment.
pub fn base() -> Result<Point, LabError> {
    let wrong = |e: tcplab_plan::ParseError| LabError::Wrong(e.to_string());
    let base = Experiment::parse("random.toml", BASE).map_err(wrong)?;
    let points = base.points().map_err(wrong)?;
    let first = points.into_iter().next();
    first.ok_or_else(|| LabError::Wrong("no point".to_owned()))
}

/// A stream of draws.
struct Draw(Random);

impl Draw {
    fn point(&mut self, mut point: Point, number: u64) -> Point {
        point.seed = number;
        point.boot_ns = Some(3_000 * MS + self.0.below(20_000_000).cast_signed());
        point.apps[0].does = self.app();
        if self.percent(15) {
            point.apps[0].connections = 2 + self.up_to(2) as u32;
            point.apps[0].stagger_ns = self.one_of(&[0, 1, 30, 400]) * MS;
        }
        point.apps[0].client_socket = self.socket();
        point.apps[0].server_socket = self.socket();
        if self.percent(5) {
            point.apps[0].changes = self.sockets_later();
        }
        let ecn = self.percent(15);
        for host in &mut point.hosts {
            self.sysctls(&mut host.sysctl);
            if ecn {
                host.sysctl.insert(tcp("ecn"), "1".into());
            }
            host.route = self.route();
            if self.percent(3) {
                host.changes = self.later();
            }
        }
        self.link(&mut point, ecn);
        self.packets(&mut point);
        self.slow(&mut point.apps[0]);
        // The model has no queue below TCP and leaves this one out; the kernel must send the same where nothing waits there.
        let limit = tcp("limit_output_bytes");
        if point
            .hosts
            .iter()
            .any(|host| host.sysctl.contains_key(&limit))
        {
            point.tolerate = vec![limit];
        }
        // Drawn last, so that new features leave older scenarios unchanged.
        self.uncommon(&mut point);
        self.openings(&mut point.apps[0]);
        point
    }

    /// Applications that use their connections in uncommon ways.
    fn uncommon(&mut self, point: &mut Point) {
        let app = &mut point.apps[0];
        if self.percent(5) {
            app.does = self.messages();
            app.reading = Reading::default();
        }
        if let AppKind::RequestResponse { burst, .. } = &mut app.does
            && self.percent(40)
        {
            *burst = 1 + self.up_to(9);
        }
        if self.percent(8) && app.does.client_writes_first() {
            app.fastopen = true;
            if app.connections == 1 {
                app.connections = 2 + self.up_to(2) as u32;
                app.stagger_ns = self.one_of(&[0, 1, 30, 400]) * MS;
            }
            let server = &mut point.hosts[1].sysctl;
            server.insert(
                tcp("fastopen"),
                self.one_of(&["3", "3", "3", "0x203"]).into(),
            );
            if self.percent(10) {
                (point.hosts[0].sysctl).insert(tcp("fastopen"), "5".into());
            }
        }
    }

    /// Writes with MSG_MORE, and connections that both ends open. Drawn after all else, as [`Self::uncommon`].
    fn openings(&mut self, app: &mut App) {
        match &mut app.does {
            AppKind::Messages { messages } if self.percent(40) => {
                for message in messages.iter_mut().filter(|m| m.does == Act::Write) {
                    message.more = self.percent(40);
                }
            }
            AppKind::Stream { more, .. } if self.percent(25) => *more = 2 + self.up_to(4),
            _ => {}
        }
        let one = !matches!(app.does, AppKind::ConnectRequestResponse { .. });
        if self.percent(6) && one {
            (app.connections, app.stagger_ns, app.fastopen) = (1, 0, false);
            app.listening = Listening::default();
            // From crossed SYNs to a SYN that meets a closed port.
            let later = self.one_of(&[0, 0, 0, 500, 2_000, 15_000, 120_000]) * 1_000;
            app.server_connects_ns = Some(app.start_ns);
            match self.percent(50) {
                true => app.server_connects_ns = Some(app.start_ns + later),
                false => app.start_ns += later,
            }
        }
    }

    /// Writes of both ends, some of them at once, and how the connection ends.
    fn messages(&mut self) -> AppKind {
        let mut messages = Vec::new();
        for _ in 0..=self.up_to(8) {
            let pause = self.one_of(&[0, 0, 0, 1, 30, 250]) * MS;
            let mut message = Message::write(self.percent(50), self.size(1, 60_000), pause);
            message.at_once = self.percent(30);
            messages.push(message);
        }
        let end = |from_client, does| Message {
            does,
            ..Message::write(from_client, 0, 0)
        };
        match self.up_to(5) {
            0 => messages.push(end(true, Act::Shutdown)),
            1 => messages.push(end(false, Act::Close)),
            2 => {
                messages.push(end(true, Act::Shutdown));
                messages.push(Message::write(false, self.size(1, 60_000), 0));
                messages.push(end(false, Act::Shutdown));
            }
            3 => {
                let mut close = end(true, Act::Close);
                close.at_once = true;
                close.after_ns = self.one_of(&[0, 5, 60]) * MS;
                messages.push(close);
            }
            _ => {}
        }
        AppKind::Messages { messages }
    }

    fn app(&mut self) -> AppKind {
        let until = |count| Extent {
            count: Some(count),
            duration_ns: None,
        };
        let pause_ns = self.one_of(&[0, 0, 1, 20, 45, 250, 1_500]) * MS;
        match self.up_to(10) {
            0..=3 => AppKind::Bulk {
                bytes: Some(self.size(1, 300_000)),
                duration_ns: None,
                chunk: self.one_of(&[131_072, 131_072, 16_384, 5_000, 900]),
                reverse: self.percent(30),
            },
            4..=5 => AppKind::Stream {
                chunk: self.size(1, 10_000),
                every_ns: self.one_of(&[0, 1, 5, 20, 40, 100, 250]) * MS,
                late_ns: 0,
                urgent: 0,
                more: 0,
                read: self.one_of(&[65_536, 65_536, 4_000, 500]),
                until: until(1 + self.up_to(40)),
            },
            6 => AppKind::Echo {
                size: self.size(1, 8_000),
                pause_ns,
                until: until(1 + self.up_to(12)),
            },
            7 => AppKind::WriteWriteRead {
                head: self.size(1, 3_000),
                body: self.size(1, 3_000),
                reply: self.size(1, 5_000),
                pause_ns,
                until: until(1 + self.up_to(10)),
            },
            8 => AppKind::RequestResponse {
                request: self.size(1, 3_000),
                response: self.size(1, 40_000),
                burst: 0,
                pause_ns,
                until: until(1 + self.up_to(10)),
            },
            9 => AppKind::ConnectRequestResponse {
                request: self.size(1, 3_000),
                response: self.size(1, 20_000),
                pause_ns,
                until: until(1 + self.up_to(5)),
            },
            _ => AppKind::Web {
                request: self.size(1, 1_000),
                sizes: (0..=self.up_to(4)).map(|_| self.size(1, 60_000)).collect(),
                think_ns: vec![pause_ns],
            },
        }
    }

    fn socket(&mut self) -> SocketOptions {
        SocketOptions {
            nodelay: self.percent(20).then_some(true),
            quickack: match self.up_to(19) {
                0 => QuickAck::Once(0),
                1 => QuickAck::Each(0),
                2 => QuickAck::Each(1),
                _ => QuickAck::Leave,
            },
            rcvbuf: self.maybe(10, |d| d.size(2_000, 60_000) as u32),
            sndbuf: self.maybe(8, |d| d.size(3_000, 60_000) as u32),
            rcvlowat: self.maybe(3, |d| d.size(1, 6_000) as u32),
            user_timeout_ns: self.maybe(4, |d| d.one_of(&[1_000, 5_000]) * MS),
            keepalive_ns: self.maybe(4, |d| d.one_of(&[1_000, 2_000]) * MS),
            congestion: self.maybe(12, |_| "reno".to_owned()),
            notsent_lowat: self.maybe(4, |d| d.size(2_000, 20_000) as u32),
            maxseg: self.maybe(8, |d| d.size(300, 1_400) as u32),
            cork: self.percent(4).then_some(true),
            linger: self.percent(4).then_some(0),
            linger2_ns: self.maybe(4, |d| d.one_of(&[1_000, 3_000]) * MS),
            syncnt: self.maybe(4, |d| 1 + d.up_to(3) as u32),
            window_clamp: self.maybe(6, |d| d.size(1_500, 40_000) as u32),
            max_pacing_rate_bps: self.maybe(6, |d| d.size(200, 40_000) * 1_000),
            // Only the newest kernels have them.
            rto_min_ns: None,
            delack_max_ns: None,
            // A link of ours treats all packets alike.
            tos: None,
            cpu: None,
        }
    }

    /// One option of one side, during the transfer.
    fn sockets_later(&mut self) -> Vec<SocketChange> {
        let mut options = SocketOptions::default();
        match self.up_to(9) {
            0 => options.rcvbuf = Some(self.size(2_000, 60_000) as u32),
            1 => options.sndbuf = Some(self.size(3_000, 60_000) as u32),
            2 => options.window_clamp = Some(self.size(1_500, 40_000) as u32),
            3 => options.congestion = Some("reno".to_owned()),
            4 => options.linger = Some(0),
            5 => options.cork = Some(self.percent(50)),
            6 => options.nodelay = Some(self.percent(50)),
            7 => options.notsent_lowat = Some(self.size(2_000, 20_000) as u32),
            8 => options.quickack = QuickAck::Once(self.up_to(1) as i32),
            _ => options.rcvlowat = Some(self.size(1, 6_000) as u32),
        }
        vec![SocketChange {
            at_ns: self.one_of(&[5, 70, 400]) * MS,
            of_clients: self.percent(50),
            options,
        }]
    }

    fn sysctls(&mut self, sysctl: &mut std::collections::BTreeMap<String, String>) {
        let choices = [
            (8, "timestamps", "0"),
            (8, "sack", "0"),
            (4, "window_scaling", "0"),
            (4, "dsack", "0"),
            (4, "frto", "0"),
            (4, "early_retrans", "0"),
            (4, "slow_start_after_idle", "0"),
            (4, "moderate_rcvbuf", "0"),
            (4, "recovery", "0"),
            (4, "limit_output_bytes", "10000"),
            (4, "rmem", "4096 20000 200000"),
            (4, "retries2", "4"),
        ];
        for (percent, name, value) in choices {
            if self.percent(percent) {
                sysctl.insert(tcp(name), value.to_owned());
            }
        }
    }

    fn route(&mut self) -> Route {
        Route {
            quickack: self.maybe(5, |_| 1),
            initcwnd: self.maybe(5, |d| 1 + d.up_to(30) as u32),
            initrwnd: self.maybe(3, |d| 2 + d.up_to(30) as u32),
            rto_min_ns: self.maybe(4, |d| d.one_of(&[20, 50, 400]) * MS),
            advmss: self.maybe(3, |d| d.size(500, 1_400) as u32),
            ..Route::default()
        }
    }

    /// A sysctl that is set during the transfer.
    fn later(&mut self) -> Vec<SysctlChange> {
        let (name, value) = self.one_of(&[
            ("sack", "0"),
            ("recovery", "0"),
            ("early_retrans", "0"),
            ("rmem", "4096 20000 60000"),
            ("moderate_rcvbuf", "0"),
            ("slow_start_after_idle", "0"),
            ("retries2", "3"),
        ]);
        vec![SysctlChange {
            at_ns: self.one_of(&[10, 80, 400]) * MS,
            name: tcp(name),
            value: value.to_owned(),
        }]
    }

    /// The internet protocol, and how large a packet may be.
    fn packets(&mut self, point: &mut Point) {
        point.ip = match self.percent(40) {
            true => Ip::V6,
            false => Ip::V4,
        };
        if let Some(mtu) = self.maybe(20, |d| d.one_of(&[576, 1_280, 1_400, 4_000, 9_000])) {
            point.links[0].mtu = mtu.max(point.ip.least_mtu());
        }
    }

    /// Applications that do not read or accept at once.
    fn slow(&mut self, app: &mut App) {
        if self.percent(6) && matches!(app.does, AppKind::Bulk { .. }) {
            app.reading.pause_at = self.size(1, 50_000);
            app.reading.pause_ns = self.one_of(&[30, 300, 3_000]) * MS;
        }
        if self.percent(6) && matches!(app.does, AppKind::Bulk { .. }) {
            app.reading.every_ns = self.one_of(&[1, 5, 40]) * MS;
            app.reading.bytes = self.size(2_000, 60_000);
        }
        if self.percent(5) {
            app.listening.accept_every_ns = self.one_of(&[5, 150, 2_000]) * MS;
            app.listening.backlog = self.one_of(&[1, 2, 128]);
        }
        if self.percent(5) {
            app.listening.defer_accept_ns = self.one_of(&[1_000, 3_000, 10_000]) * MS;
        }
    }

    /// A whole number from 0 to `most`.
    fn up_to(&mut self, most: u64) -> u64 {
        self.0.below(most + 1)
    }

    fn percent(&mut self, percent: u64) -> bool {
        self.0.below(100) < percent
    }

    fn maybe<T>(&mut self, percent: u64, draw: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.percent(percent).then(|| draw(self))
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.up_to(choices.len() as u64 - 1) as usize]
    }

    /// A size from `least` to about `most`: each doubling is equally likely.
    fn size(&mut self, least: u64, most: u64) -> u64 {
        let doublings = u64::from((most / least).max(1).ilog2());
        let low = least << self.up_to(doublings);
        (low + self.0.below(low)).min(most)
    }
}

fn tcp(name: &str) -> String {
    format!("net.ipv4.tcp_{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_does_not_depend_on_how_many_are_drawn() {
        let few = scenarios(7, 3).unwrap();
        let many = scenarios(7, 30).unwrap();
        let points = |s: &[Scenario]| s.iter().map(|s| s.point.clone()).collect::<Vec<_>>();
        assert_eq!(points(&few), points(&many)[..3]);
        assert_ne!(points(&many)[0], points(&many)[1]);
    }
}
