//! A host that does what a test lists: packets at their times, answers to calls in their order.

use std::collections::VecDeque;
use std::net::SocketAddr;

use tcplab_base::{Duration, Instant};

use crate::call::{Call, Outcome, Output};
use crate::options::{Settings, runner_line};
use crate::packet::{Packet, build, flag};
use crate::run::{Report, run};
use crate::script::{Action, TcpOption};
use crate::target::{Happening, IpMode, Made, Network, Setting, Target, TargetError};
use crate::{Defines, parse};

/// The initial number of the host's connections.
pub(super) const ISN: u32 = 4_000_000_000;
/// What the host adds to time stamps of the script's numbers.
const STAMPS: u32 = 77_000;

/// The host.
#[derive(Default)]
pub(super) struct Host {
    pub(super) now: Instant,
    happenings: VecDeque<(Instant, Happening)>,
    answers: VecDeque<Made>,
    pub(super) calls: Vec<Call>,
    pub(super) injected: Vec<(Instant, Packet)>,
    pub(super) info: Vec<(&'static str, i64)>,
    next_fd: i32,
}

/// The settings as the original's runner has them.
pub(super) fn settings(mode: IpMode) -> Settings {
    let mut settings = Settings::new(mode);
    for (name, value) in runner_line(mode) {
        settings.apply(name, Some(value)).unwrap();
    }
    settings
}

fn network(mode: IpMode) -> Network {
    settings(mode).network
}

fn at(us: i64) -> Instant {
    // Not at 0: the run counts from the target's time.
    Instant::from_nanos(5_000_000_000) + Duration::from_micros(us)
}

impl Host {
    pub(super) fn new() -> Self {
        Self {
            now: at(0),
            next_fd: 100,
            ..Self::default()
        }
    }

    /// The host sends this packet (in the script's words and numbers) then.
    pub(super) fn sends(mut self, us: i64, text: &str) -> Self {
        let mut packet = packet(text, IpMode::Ipv4);
        let network = network(IpMode::Ipv4);
        packet.set_ends(
            SocketAddr::new(network.local, 8080),
            SocketAddr::new(network.remote, 40_001),
        );
        self.send_live(us, &mut packet);
        self
    }

    /// The same from port 33,333 to port 8,080.
    pub(super) fn sends_as_client(mut self, us: i64, text: &str) -> Self {
        let mut packet = packet(text, IpMode::Ipv4);
        let network = network(IpMode::Ipv4);
        packet.set_ends(
            SocketAddr::new(network.local, 33_333),
            SocketAddr::new(network.remote, 8080),
        );
        self.send_live(us, &mut packet);
        self
    }

    fn send_live(&mut self, us: i64, packet: &mut Packet) {
        if let Some(tcp) = packet.tcp_mut() {
            tcp.seq = tcp.seq.wrapping_add(ISN);
            for option in &mut tcp.options {
                if let TcpOption::Timestamps { val, .. } = option {
                    *val = val.wrapping_add(STAMPS);
                }
            }
        }
        self.happen(us, Happening::Packet(packet.emit()));
    }

    fn happen(&mut self, us: i64, happening: Happening) {
        self.happenings.push_back((at(us), happening));
        self.happenings.make_contiguous().sort_by_key(|(at, _)| *at);
    }

    /// The call that blocks with this number returns then.
    pub(super) fn returns(mut self, us: i64, number: u32, outcome: Outcome) -> Self {
        self.happen(us, Happening::Returned(number, outcome));
        self
    }

    /// The answer to a call that is neither socket(2), bind(2), listen(2) nor accept(2).
    pub(super) fn answers(mut self, made: Made) -> Self {
        self.answers.push_back(made);
        self
    }

    pub(super) fn run(&mut self, text: &str) -> Report {
        self.run_with(text, &settings(IpMode::Ipv4))
    }

    pub(super) fn run_with(&mut self, text: &str, settings: &Settings) -> Report {
        let script = parse(text, &Defines::new()).unwrap();
        run(&script, settings, self)
    }
}

/// A packet in the words of scripts.
pub(super) fn packet(text: &str, mode: IpMode) -> Packet {
    let script = parse(&format!("0 {text}"), &Defines::new()).unwrap();
    let Action::Packet(spec) = &script.events[0].action else {
        panic!("{text} is not a packet");
    };
    build(spec, mode).unwrap()
}

/// The accept(2) of the connection from the first remote port.
pub(super) fn accepted(fd: i32) -> Outcome {
    Outcome {
        out: Output::Addr("192.0.2.1:40001".parse().unwrap()),
        ..Outcome::ok(fd.into())
    }
}

impl Target for Host {
    fn now(&self) -> Instant {
        self.now
    }

    fn wait(&mut self, until: Instant) -> Result<Option<(Instant, Happening)>, TargetError> {
        match self.happenings.front() {
            Some((at, _)) if *at <= until.max(self.now) => {
                let happened = self.happenings.pop_front();
                if let Some((at, _)) = &happened {
                    self.now = self.now.max(*at);
                }
                Ok(happened)
            }
            _ => {
                self.now = self.now.max(until);
                Ok(None)
            }
        }
    }

    fn inject(&mut self, packet: &[u8]) -> Result<(), TargetError> {
        let packet = Packet::parse(packet).unwrap().unwrap();
        assert!(!packet.has_bad_sum);
        self.injected.push((self.now, packet));
        Ok(())
    }

    fn call(&mut self, call: &Call, may_block: bool) -> Result<Made, TargetError> {
        self.calls.push(call.clone());
        let new_fd = |host: &mut Self| {
            host.next_fd += 1;
            host.next_fd
        };
        Ok(match call {
            Call::Socket { .. } | Call::EpollCreate { .. } | Call::Open { .. } => {
                Made::Done(Outcome::ok(new_fd(self).into()))
            }
            Call::Bind { .. } | Call::Listen { .. } => Made::Done(Outcome::ok(0)),
            Call::Accept { .. } if !may_block => {
                let fd = new_fd(self);
                Made::Done(accepted(fd))
            }
            call => match self.answers.pop_front() {
                Some(made) => made,
                None => panic!("the test has no answer to {call:?}"),
            },
        })
    }

    fn has_sysctl(&mut self, name: &str) -> Result<bool, TargetError> {
        Ok(!name.contains("nosuch"))
    }

    fn set(&mut self, setting: &Setting) -> Result<(), TargetError> {
        match setting {
            Setting::Sysctl(name, _) | Setting::SysctlIfThere(name, _)
                if name.contains("unknown") =>
            {
                Err(TargetError(format!("needs sysctl {name}")))
            }
            _ => Ok(()),
        }
    }

    fn counters(&mut self) -> Result<Vec<(String, i64)>, TargetError> {
        let opens = self
            .calls
            .iter()
            .filter(|call| matches!(call, Call::Socket { .. }));
        Ok(vec![
            ("TcpActiveOpens".into(), opens.count() as i64),
            ("Other".into(), 0),
        ])
    }

    fn listens(&mut self, port: u16) -> Result<bool, TargetError> {
        let has_listener = self
            .calls
            .iter()
            .any(|call| matches!(call, Call::Listen { .. }));
        Ok(port == 8080 && has_listener)
    }

    fn tcp_info(&mut self, _fd: i32) -> Option<Vec<(&'static str, i64)>> {
        Some(self.info.clone())
    }

    fn explain(&mut self, _fd: Option<i32>) -> String {
        "ESTABLISHED, nothing is due".into()
    }
}

/// Whether the segment has this flag.
pub(super) fn has(packet: &Packet, bit: u16) -> bool {
    debug_assert!(bit <= flag::AE);
    packet.tcp().is_some_and(|t| t.flags & bit != 0)
}
