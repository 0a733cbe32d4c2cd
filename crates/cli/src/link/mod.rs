//! `tcplab link`: a shaped link in real time.

pub mod args;
pub mod json;

use std::process::{ExitCode, ExitStatus};
use std::sync::mpsc::RecvTimeoutError;
use std::thread;
use std::time::Duration;

use tcplab_base::Duration as Nanoseconds;
use tcplab_livelink::control::{self, ControlError};
use tcplab_livelink::orders::{Desk, WAYS, settings};
use tcplab_livelink::text;
use tcplab_livelink::{Change, Ends, Event, Link, Program, Running, Settings, Snapshot};
use tcplab_os::OsError;
use tcplab_os::Stop;
use tcplab_os::say;
use tcplab_plan::point::Direction;

use args::LinkArgs;
use json::{EndLine, Line};

use crate::args::Color;
use crate::failure::Failure;
use crate::json::print_line;
use crate::{screen, terminal};

/// MTU of the devices that a link creates, if nothing is said.
const MTU: u32 = 1500;

/// Time from the program at B to the one at A: a server has begun to listen.
const AHEAD: Duration = Duration::from_millis(300);

/// The longest time in which the end of a program is not seen.
const PATIENCE: Duration = Duration::from_millis(50);

/// Runs `tcplab link`.
pub fn main(args: &LinkArgs, color: Color) -> ExitCode {
    match run(args, color) {
        Ok(code) => code,
        Err(error) => {
            if args.json {
                let (kind, message) = (error.kind, error.message.clone());
                // When standard output is gone there is only the exit code left.
                let _ = print_line(&Line::Failed { kind, message });
            }
            error.report()
        }
    }
}

fn run(args: &LinkArgs, color: Color) -> Result<ExitCode, Failure> {
    if let Some(path) = &args.change {
        let ways = [args.a_to_b.as_deref(), args.b_to_a.as_deref()];
        if ways == [None; 2] {
            let why = "--change needs --a-to-b or --b-to-a: what shall it be?";
            return Err(Failure::usage(why));
        }
        control::change(path, ways)?;
        return Ok(ExitCode::SUCCESS);
    }
    let link = open(args)?;
    let stop = Stop::on_signals()
        .map_err(|e| Failure::cannot_run(format!("cannot wait for Ctrl-C: {e}")))?;
    let start = Start::of(&link, args.mtu.unwrap_or(MTU));
    let mut live = Live::start(args, link, stop)?;
    start.announce(args)?;
    live.run_programs(args)?;
    let last = live.watch(args)?;
    match args.json {
        true => print_line(&Line::End(last))?,
        false => {
            let theme = terminal::theme(color, false);
            text::end(&last, &live.ways, &theme, &mut screen::painted(&theme))?;
            text::late(live.late_ns, &mut screen::plain())?;
        }
    }
    Ok(live.code())
}

fn open(args: &LinkArgs) -> Result<Link, Failure> {
    let (Some(a), Some(b)) = (&args.a, &args.b) else {
        return Err(Failure::usage("a link is between two ends: write A and B"));
    };
    let way = |i: usize, words: &Option<String>| match words {
        None => Ok(Direction::default()),
        Some(words) => settings(&format!("--{}", WAYS[i]), words).map_err(Failure::usage),
    };
    let nanoseconds = |time: Duration| {
        Nanoseconds::from_nanos(i64::try_from(time.as_nanos()).unwrap_or(i64::MAX))
    };
    let settings = Settings {
        ends: [a.clone(), b.clone()],
        ways: [way(0, &args.a_to_b)?, way(1, &args.b_to_a)?],
        mtu: args.mtu.unwrap_or(MTU),
        seed: args.seed,
        every: nanoseconds(args.interval),
        gap: nanoseconds(args.gap),
        limit: args.duration.map(nanoseconds),
    };
    let link = Link::open(settings).map_err(failure)?;
    if args.mtu.is_some() && !link.has_made_one() {
        let why = "--mtu has no effect between existing interfaces: `ip link set DEVICE mtu BYTES` sets theirs";
        return Err(Failure::usage(why));
    }
    Ok(link)
}

/// An end that is not there is a wrong command line; what the system refuses, this machine cannot do.
fn failure(e: OsError) -> Failure {
    match e {
        OsError::Cannot(_) => Failure::input(e.to_string()),
        OsError::Os { .. } => Failure::cannot_run(e.to_string()),
    }
}

/// What stands.
struct Start([EndLine; 2], Option<u32>);

impl Start {
    fn of(link: &Link, mtu: u32) -> Self {
        let mtu = link.has_made_one().then_some(mtu);
        let end = |side: usize| {
            let address = link.address(side);
            let address = address.map(|(address, prefix)| format!("{address}/{prefix}"));
            EndLine::new(link.end(side), address, link.way_in(side))
        };
        Self([end(0), end(1)], mtu)
    }

    /// Says what stands: orders are taken from now on.
    fn announce(self, args: &LinkArgs) -> Result<(), Failure> {
        if args.json {
            let [a, b] = self.0;
            return print_line(&Line::Start {
                schema: json::SCHEMA.into(),
                a,
                b,
                a_to_b: args.a_to_b.clone(),
                b_to_a: args.b_to_a.clone(),
                mtu: self.1,
            });
        }
        for (name, end) in ["a", "b"].iter().zip(&self.0) {
            let address = end.address.as_deref().unwrap_or("no address");
            let enter = end.enter.as_ref();
            let enter = enter.map(|enter| format!("  {enter} COMMAND"));
            let enter = enter.unwrap_or_default();
            say(&format!("tcplab: {name} is {}, {address}{enter}", end.end));
        }
        let until = match args.duration {
            Some(duration) => format!("for {duration:?}, or until Ctrl-C"),
            None => "until Ctrl-C".into(),
        };
        say(&format!(
            "tcplab: forwarding {until}; `a-to-b WORDS` and `b-to-a WORDS` change a way"
        ));
        Ok(())
    }
}

/// A link under way, and the programs at its ends.
struct Live {
    // First: programs end before the link that they talk over.
    programs: [Option<Program>; 2],
    running: Running,
    ends: Ends,
    stop: Stop,
    /// How the programs ended that ended before the link did.
    ended: [Option<ExitStatus>; 2],
    /// The words of both ways, as they are now.
    ways: [String; 2],
    /// By how much the latest frame was late.
    late_ns: u64,
    _socket: Option<control::Socket>,
}

impl Live {
    fn start(args: &LinkArgs, link: Link, stop: Stop) -> Result<Self, Failure> {
        let ends = link.ends().map_err(failure)?;
        let running = link.start(stop.clone()).map_err(failure)?;
        let desk = Desk {
            orders: running.orders.clone(),
            stop: stop.clone(),
        };
        let socket = match &args.control {
            Some(path) => Some(control::Socket::listen(path, desk.clone())?),
            None => None,
        };
        desk.read_stdin();
        let words = |way: &Option<String>| way.clone().unwrap_or_default();
        Ok(Self {
            programs: [None, None],
            running,
            ends,
            ended: [None; 2],
            stop,
            ways: [words(&args.a_to_b), words(&args.b_to_a)],
            late_ns: 0,
            _socket: socket,
        })
    }

    fn run_programs(&mut self, args: &LinkArgs) -> Result<(), Failure> {
        for (side, command) in [(1, &args.run_b), (0, &args.run_a)] {
            let Some(command) = command else { continue };
            if self.programs[1].is_some() {
                thread::sleep(AHEAD);
            }
            let program = self.ends.program(side, command);
            self.programs[side] = Some(program.map_err(failure)?);
        }
        Ok(())
    }

    /// Prints what happens until the end; gives the last look.
    fn watch(&mut self, args: &LinkArgs) -> Result<Snapshot, Failure> {
        let mut rows = text::Rows::default();
        loop {
            let event = self.running.events.recv_timeout(PATIENCE);
            match event {
                Ok(Event::End(last)) => {
                    // The link ends those that run until here.
                    let programs = self.programs.each_mut();
                    self.ended = programs.map(|one| one.as_mut().and_then(Program::status));
                    self.see(&last);
                    return Ok(*last);
                }
                Ok(Event::Failed(why)) => return Err(Failure::inconclusive(why)),
                Ok(Event::Look(look)) => {
                    self.see(&look);
                    match args.json {
                        true => print_line(&Line::Look(*look))?,
                        false => rows.look(&look, &mut screen::plain())?,
                    }
                }
                Ok(Event::Changed(change)) => self.changed(args, change)?,
                Ok(Event::Refused(way, why)) => refused(args, way, why)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Failure::inconclusive("the link broke down"));
                }
            }
            if self.stop.wanted() {
                continue;
            }
            if self.poll_over() {
                self.stop.request();
            }
        }
    }

    fn see(&mut self, look: &Snapshot) {
        let late = look.a_to_b.late_max_ns.max(look.b_to_a.late_max_ns);
        self.late_ns = self.late_ns.max(late);
    }

    fn changed(&mut self, args: &LinkArgs, change: Change) -> Result<(), Failure> {
        let i = change.way & 1;
        self.ways[i].clone_from(&change.words);
        let Change {
            words, at_s, how, ..
        } = change;
        let way = WAYS[i].to_owned();
        if args.json {
            return print_line(&Line::Changed {
                way,
                words,
                at_s,
                how,
            });
        }
        say(&format!(
            "tcplab: {at_s:.1} s: {way} is now {}: {how}",
            text::shown(&words)
        ));
        Ok(())
    }

    /// Whether the program that the link waits for has ended.
    fn poll_over(&mut self) -> bool {
        let [a, b] = &mut self.programs;
        match (a, b) {
            (Some(program), _) | (None, Some(program)) => program.status().is_some(),
            (None, None) => false,
        }
    }

    /// 1 when a program failed by itself.
    fn code(&self) -> ExitCode {
        let mut code = ExitCode::SUCCESS;
        for (option, status) in ["--run-a", "--run-b"].iter().zip(self.ended) {
            if let Some(status) = status
                && !status.success()
            {
                say(&format!(
                    "tcplab: the command of {option} ended with {status}"
                ));
                code = ExitCode::from(1);
            }
        }
        code
    }
}

fn refused(args: &LinkArgs, way: usize, why: String) -> Result<(), Failure> {
    let way = WAYS[way & 1].to_owned();
    if args.json {
        return print_line(&Line::Refused { way, why });
    }
    say(&format!("tcplab: {way} is as it was: {why}"));
    Ok(())
}

impl From<ControlError> for Failure {
    fn from(e: ControlError) -> Self {
        match e {
            ControlError::Words(why) => Self::usage(why),
            ControlError::Socket(why) => Self::input(why),
            ControlError::Ended => Self::inconclusive(e.to_string()),
        }
    }
}
