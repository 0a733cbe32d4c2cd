//! The beginning of a session: ssh connects, the shell there greets, takes the program, starts it.
//!
//! The talk runs in a thread of its own, so that a wish to stop is heard while it waits.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, ChildStdout};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tcplab_guest::stack::Host;
use tcplab_os::Stop;

use super::frame::{self, News, What};
use super::pending::LOOK;
use super::program::Program;
use super::session::{Client, Say};
use super::start::{self, Greeting};
use super::words::Words;
use super::{Facts, Reply, SshError, SshOptions, facts};

/// Without a step forward for so long there will be no session.
const PATIENCE: Duration = Duration::from_secs(60);

/// Bytes of a message of the day that are passed over.
const MOST_BEFORE: u64 = 1 << 16;

/// Bytes of the program that are sent at a time.
const PIECE: usize = 1 << 16;

/// A client whose far side has said hello.
pub(super) struct Opened {
    pub(super) child: Client,
    pub(super) input: ChildStdin,
    pub(super) output: BufReader<ChildStdout>,
    pub(super) words: Words,
    pub(super) facts: Facts,
}

/// A step forward.
enum Step {
    Copying,
    Copied,
    Moved,
    Open(ChildStdin, BufReader<ChildStdout>, Box<Facts>),
    Failed(Failed),
}

/// Where the talk ended.
enum Failed {
    /// Before the shell there spoke; what came instead.
    Before(String),
    /// Another system than the program is for.
    Machine(Greeting),
    /// After it.
    After,
    /// Another version.
    Version(String),
    /// The copy has another content; its file.
    Damaged(String),
    /// A hello that cannot be understood.
    Odd(String),
}

pub(super) fn open(
    host: &Host,
    options: &SshOptions,
    program: &Program,
    stop: &Stop,
    say: Say<'_>,
) -> Result<Opened, SshError> {
    let mut child = start::client(host, options, program)
        .spawn()
        .map_err(SshError::NoClient)?;
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let mut child = Client(child);
    let (Some(input), Some(output), Some(errors)) = pipes else {
        return Err(SshError::odd(&host.word, "ssh without its pipes"));
    };
    let words = Words::of(errors);
    let (steps, heard) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(|| talk(program, input, output, &words, steps));
        let done = follow(host, &heard, program, stop, say);
        match done {
            Ok((input, output, facts)) => Ok((input, output, facts)),
            Err(end) => {
                // Its pipes break, which ends the talk.
                match end {
                    End::Failed(_) => child.end(),
                    End::Interrupted | End::Silent => child.kill(),
                }
                Err(end)
            }
        }
    })
    .map(|(input, output, facts)| Opened {
        child,
        input,
        output,
        words: words.clone(),
        facts: *facts,
    })
    .map_err(|end| error(end, host, options, program, &words))
}

/// Why there is no session.
enum End {
    Failed(Failed),
    Interrupted,
    Silent,
}

type Ready = (ChildStdin, BufReader<ChildStdout>, Box<Facts>);

fn follow(
    host: &Host,
    heard: &mpsc::Receiver<Step>,
    program: &Program,
    stop: &Stop,
    say: Say<'_>,
) -> Result<Ready, End> {
    let mut left = PATIENCE;
    loop {
        match heard.recv_timeout(LOOK) {
            Ok(Step::Open(input, output, facts)) => return Ok((input, output, facts)),
            Ok(Step::Failed(failed)) => return Err(End::Failed(failed)),
            Ok(step) => {
                left = PATIENCE;
                let name = &host.word;
                let size = program.bytes.len() as f64 / 1e6;
                match step {
                    Step::Copying => say(&format!("{name}: copying tcplab ({size:.0} MB)")),
                    Step::Copied => say(&format!("{name}: copied")),
                    _ => {}
                }
            }
            Err(RecvTimeoutError::Disconnected) => return Err(End::Failed(Failed::After)),
            Err(RecvTimeoutError::Timeout) => left = left.saturating_sub(LOOK),
        }
        if stop.wanted() {
            return Err(End::Interrupted);
        }
        if left.is_zero() {
            return Err(End::Silent);
        }
    }
}

/// The near side's part of the talk; it ends at the latest with the client.
fn talk(
    program: &Program,
    mut input: ChildStdin,
    output: ChildStdout,
    words: &Words,
    steps: Sender<Step>,
) {
    let mut output = BufReader::new(output);
    let step = match greet(program, &mut input, &mut output, &steps) {
        Ok(facts) => Step::Open(input, output, Box::new(facts)),
        Err(failed) => {
            if let Failed::Before(text) = &failed {
                words.add(text.as_bytes());
            }
            Step::Failed(failed)
        }
    };
    // Whoever has given up does not listen.
    let _ = steps.send(step);
}

fn greet(
    program: &Program,
    input: &mut ChildStdin,
    output: &mut BufReader<ChildStdout>,
    steps: &Sender<Step>,
) -> Result<Facts, Failed> {
    let greeting = greeting(output)?;
    let _ = steps.send(Step::Moved);
    let machine = match greeting.machine.as_str() {
        "arm64" => "aarch64",
        other => other,
    };
    if greeting.system != "Linux" || machine != program.machine {
        return Err(Failed::Machine(greeting));
    }
    if !greeting.is_there {
        let _ = steps.send(Step::Copying);
        for piece in program.bytes.chunks(PIECE) {
            input.write_all(piece).map_err(|_| Failed::After)?;
            let _ = steps.send(Step::Moved);
        }
        input.flush().map_err(|_| Failed::After)?;
    }
    let hello = frame::read::<Value>(output);
    let Some((hello, _)) = hello.map_err(|e| Failed::Odd(e.to_string()))? else {
        return Err(Failed::After);
    };
    if !greeting.is_there {
        let _ = steps.send(Step::Copied);
    }
    // The version first: another one may say other things.
    let version = &hello["what"]["Done"]["Hello"]["version"];
    match version.as_str() {
        Some(there) if there == facts::version() => {}
        there => return Err(Failed::Version(there.unwrap_or("unknown").to_owned())),
    }
    let news: News = serde_json::from_value(hello).map_err(|e| Failed::Odd(e.to_string()))?;
    match news.what {
        What::Done(Reply::Hello(facts))
            if facts
                .program
                .as_ref()
                .is_none_or(|hash| *hash == program.hash) =>
        {
            Ok(*facts)
        }
        What::Done(Reply::Hello(facts)) => Err(Failed::Damaged(facts.path)),
        other => Err(Failed::Odd(format!("{other:?}"))),
    }
}

/// Passes over what a login shell prints.
fn greeting(output: &mut BufReader<ChildStdout>) -> Result<Greeting, Failed> {
    let mut before = String::new();
    let mut lines = output.take(MOST_BEFORE);
    loop {
        let mut line = Vec::new();
        let got = lines.read_until(b'\n', &mut line);
        let line = String::from_utf8_lossy(&line);
        if !matches!(got, Ok(1..)) {
            return Err(Failed::Before(before));
        }
        if let Some(greeting) = Greeting::read(&line) {
            return Ok(greeting);
        }
        before.push_str(&line);
    }
}

fn error(
    end: End,
    host: &Host,
    options: &SshOptions,
    program: &Program,
    words: &Words,
) -> SshError {
    let host_word = host.word.clone();
    let failed = match end {
        End::Failed(failed) => failed,
        End::Interrupted => return SshError::Interrupted,
        End::Silent => {
            return SshError::Silent {
                host: host_word,
                seconds: PATIENCE.as_secs(),
                words: words.last(),
            };
        }
    };
    match failed {
        Failed::Before(_) => {
            let words = words.last();
            SshError::Refused {
                host: host_word,
                hint: hint(&words, &start::by_hand(host, options)),
                words,
            }
        }
        Failed::Machine(greeting) => SshError::Machine {
            host: host_word,
            there: format!("{} on {}", greeting.system, greeting.machine),
            ours: program.machine.to_owned(),
            file: program.file.display().to_string(),
        },
        Failed::After => SshError::Start {
            host: host_word,
            words: match words.last() {
                none if none.is_empty() => "it ended without a word".into(),
                words => words,
            },
            hint: match program.is_dynamic {
                true => "this program needs the C library of the build machine: build a static one with \
                         `make static` and name it with --ssh-program FILE"
                    .into(),
                false => "is its home folder full, or mounted noexec?".into(),
            },
        },
        Failed::Version(there) => SshError::Version {
            host: host_word,
            there,
            ours: facts::version(),
        },
        Failed::Damaged(path) => SshError::Damaged {
            host: host_word,
            path,
        },
        Failed::Odd(what) => SshError::odd(&host.word, what),
    }
}

/// What a user can do about the words of ssh(1).
fn hint(words: &str, by_hand: &str) -> String {
    let has = |text: &str| words.contains(text);
    let what = if has("Host key verification failed") {
        "the host key is unknown: connect once by hand with ssh"
    } else if has("Permission denied") {
        "it needs a key without a passphrase prompt: use ssh-copy-id and ssh-add"
    } else if has("Could not resolve hostname") {
        "neither ssh's configuration nor DNS knows this name"
    } else {
        "ssh must connect without asking a question"
    };
    format!("{what}; try `{by_hand}`")
}
