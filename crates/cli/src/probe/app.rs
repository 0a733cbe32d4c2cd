//! `tcplab probe server|client KIND`: the options of the applications, and the application that
//! they describe. Both ends need the same sizes.

use std::time::Duration;

use clap::{Args, ValueEnum};
use tcplab_plan::AppKind;
use tcplab_plan::app::{Extent, Message};
use tcplab_plan::experiment::Repeated;
use tcplab_plan::point::{QuickAck, SocketOptions};

use crate::failure::Failure;
use crate::probe::number::{option_size, positive, seconds, size, total};

/// The applications by their words in an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AppName {
    /// The client sends at full speed (with --reverse: the server sends)
    Bulk,
    /// Request and response in turn on one connection (netperf TCP_RR)
    RequestResponse,
    /// A new connection per request and response (netperf TCP_CRR)
    ConnectRequestResponse,
    /// The client writes head and body separately, then reads the reply
    WriteWriteRead,
    /// One request and response per entry of --sizes
    Web,
    /// Both ends write the --messages in their order
    Messages,
    /// The client holds an idle connection
    Sink,
    /// The server writes --chunk bytes once per --every, on a fixed schedule
    Stream,
    /// The client writes --size bytes and the server writes them back
    Echo,
    /// The client sends datagrams on a fixed schedule
    UdpStream,
    /// One datagram each way in turn (netperf UDP_RR)
    UdpRr,
    /// The client sends a datagram once per --every; each is answered or lost (irtt)
    UdpPing,
    /// The client sends an ICMP echo once per --every; the kernel answers (ping(8))
    Ping,
}

/// What describes an application and its sockets. An option that the application has no use for
/// is an error.
#[derive(Args, Debug, Default)]
pub struct AppArgs {
    /// Bytes per message or datagram [default: echo 1, udp-stream 1000, udp-ping 60, ping 56]
    #[arg(long, help_heading = "Application", value_name = "BYTES", value_parser = size)]
    pub size: Option<u64>,
    /// Bytes per write [default: bulk 128k, stream 1000]
    #[arg(long, help_heading = "Application", value_name = "BYTES", value_parser = size)]
    pub chunk: Option<u64>,
    /// Interval between writes or datagrams [default: 100ms; udp-ping and ping 200ms]
    #[arg(long, help_heading = "Application", value_name = "TIME", value_parser = seconds)]
    pub every: Option<Duration>,
    /// stream: delay each write, and all later ones, by a random time up to this [default: 0]
    #[arg(long, help_heading = "Application", value_name = "TIME", value_parser = seconds)]
    pub late: Option<Duration>,
    /// stream: send each Nth write with MSG_OOB; its last byte is urgent [default: none]
    #[arg(long, help_heading = "Application", value_name = "N")]
    pub urgent: Option<u64>,
    /// stream: the client reads at most this many bytes at once [default: 4k]
    #[arg(long, help_heading = "Application", value_name = "BYTES", value_parser = size)]
    pub read: Option<u64>,
    /// Bytes per request [default: 1; web 200]
    #[arg(long, help_heading = "Application", value_name = "BYTES", value_parser = size)]
    pub request: Option<u64>,
    /// Bytes per response [default: 1]
    #[arg(long, help_heading = "Application", value_name = "BYTES", value_parser = size)]
    pub response: Option<u64>,
    /// Bytes of the first write [default: 512]
    #[arg(long, help_heading = "Application", value_name = "BYTES", value_parser = size)]
    pub head: Option<u64>,
    /// Bytes of the second write [default: 512]
    #[arg(long, help_heading = "Application", value_name = "BYTES", value_parser = size)]
    pub body: Option<u64>,
    /// Bytes of the reply [default: 1448]
    #[arg(long, help_heading = "Application", value_name = "BYTES", value_parser = size)]
    pub reply: Option<u64>,
    /// Requests outstanding beyond the first [default: 0]
    #[arg(long, help_heading = "Application", value_name = "N", value_parser = clap::value_parser!(u16).range(..=10_000))]
    pub burst: Option<u16>,
    /// Sizes of the responses, in order: 14k,120k [default: 10k]
    #[arg(long, help_heading = "Application", value_name = "BYTES,...", value_delimiter = ',', value_parser = size)]
    pub sizes: Vec<u64>,
    /// Pause before each request except the first; the last value repeats [default: 0]
    #[arg(long, help_heading = "Application", value_name = "TIME,...", value_delimiter = ',', value_parser = seconds)]
    pub think: Vec<Duration>,
    /// What both ends do, in order: 'client 512,server 1448 x 3 after 40ms,client shutdown'
    #[arg(
        long,
        help_heading = "Application",
        value_name = "WRITE,...",
        value_delimiter = ','
    )]
    pub messages: Vec<Repeated>,
    /// Total bytes to send [default: no limit, until --for]
    #[arg(long, help_heading = "Application", value_name = "BYTES", value_parser = total)]
    pub bytes: Option<u64>,
    /// Reverse the direction: the server sends, the client reads
    #[arg(long, help_heading = "Application")]
    pub reverse: bool,
    /// Hold the connection for this time [default: 10s]
    #[arg(long, help_heading = "Application", value_name = "TIME", value_parser = seconds)]
    pub hold: Option<Duration>,
    /// Pause after each exchange of a request and its response [default: echo and write-write-read 1s, others 0]
    #[arg(long, help_heading = "Application", value_name = "TIME", value_parser = seconds)]
    pub pause: Option<Duration>,
    /// Count a datagram as lost if no answer arrives within this time [default: udp-rr 1s; udp-ping and ping 10s]
    #[arg(long, help_heading = "Application", value_name = "TIME", value_parser = positive)]
    pub timeout: Option<Duration>,
    /// Give up if connecting, reading or writing waits for the peer this long [default: never]
    #[arg(long, help_heading = "Application", value_name = "TIME", value_parser = positive)]
    pub idle_timeout: Option<Duration>,
    /// End after N writes, requests or datagrams
    #[arg(long, help_heading = "Application", value_name = "N")]
    pub count: Option<u64>,
    /// End after this time [default: 10s without --count and --bytes]
    #[arg(long = "for", help_heading = "Application", value_name = "TIME", value_parser = positive)]
    pub duration: Option<Duration>,

    /// Set TCP_NODELAY
    #[arg(short = 'D', long, help_heading = "Socket")]
    pub nodelay: bool,
    /// Set TCP_QUICKACK once at the start (once=0, once=1) or before each read (each=0, each=1)
    #[arg(long, help_heading = "Socket", value_name = "WHEN=VALUE", value_parser = quickack)]
    pub quickack: Option<QuickAck>,
    /// Set SO_RCVBUF to this value [default: the kernel's]
    #[arg(long, help_heading = "Socket", value_name = "BYTES", value_parser = option_size)]
    pub rcvbuf: Option<u32>,
    /// Set SO_SNDBUF to this value [default: the kernel's]
    #[arg(long, help_heading = "Socket", value_name = "BYTES", value_parser = option_size)]
    pub sndbuf: Option<u32>,
    /// Set SO_RCVLOWAT to this value [default: the kernel's]
    #[arg(long, help_heading = "Socket", value_name = "BYTES", value_parser = option_size)]
    pub rcvlowat: Option<u32>,
    /// Set TCP_MAXSEG to this value [default: the kernel's]
    #[arg(long, help_heading = "Socket", value_name = "BYTES", value_parser = option_size)]
    pub maxseg: Option<u32>,
    /// Set TCP_CONGESTION: cubic, reno, bbr [default: the kernel's]
    #[arg(long, help_heading = "Socket", value_name = "NAME")]
    pub congestion: Option<String>,
}

const SECOND: Duration = Duration::from_secs(1);

/// Bytes that a datagram can carry (IPv4: 65,535 less the headers of 20 and 8).
const LARGEST_DATAGRAM: u64 = 65_507;

/// `once=0`, `each=1`.
fn quickack(text: &str) -> Result<QuickAck, String> {
    let bad = || "write once=0, once=1, each=0 or each=1".to_owned();
    let (when, value) = text.split_once('=').ok_or_else(bad)?;
    let value: i32 = value.parse().map_err(|_| bad())?;
    match when {
        "once" => Ok(QuickAck::Once(value)),
        "each" => Ok(QuickAck::Each(value)),
        _ => Err(bad()),
    }
}

impl AppName {
    /// Its word.
    pub fn word(self) -> String {
        self.to_possible_value()
            .map_or_else(String::new, |v| v.get_name().to_owned())
    }

    /// The options that describe it.
    fn options(self) -> &'static [&'static str] {
        match self {
            Self::Bulk => &["--bytes", "--chunk", "--for", "--reverse"],
            Self::RequestResponse => &[
                "--request",
                "--response",
                "--burst",
                "--pause",
                "--count",
                "--for",
            ],
            Self::ConnectRequestResponse => {
                &["--request", "--response", "--pause", "--count", "--for"]
            }
            Self::WriteWriteRead => &["--head", "--body", "--reply", "--pause", "--count", "--for"],
            Self::Web => &["--request", "--sizes", "--think"],
            Self::Messages => &["--messages"],
            Self::Sink => &["--hold"],
            Self::Stream => &[
                "--chunk", "--every", "--late", "--urgent", "--read", "--count", "--for",
            ],
            Self::Echo => &["--size", "--pause", "--count", "--for"],
            Self::UdpStream => &["--size", "--every", "--count", "--for"],
            Self::UdpRr => &[
                "--request",
                "--response",
                "--pause",
                "--timeout",
                "--count",
                "--for",
            ],
            Self::UdpPing | Self::Ping => &["--size", "--every", "--timeout", "--count", "--for"],
        }
    }
}

impl AppArgs {
    /// The items of `messages`.
    fn messages(&self) -> Result<Vec<Message>, Failure> {
        let all = self.messages.iter();
        let count = all
            .clone()
            .fold(0, |sum: usize, one| sum.saturating_add(one.times));
        if count > Message::MOST {
            let most = Message::MOST;
            return Err(Failure::usage(format!(
                "--messages: more than {most} messages"
            )));
        }
        let all = all.flat_map(|one| std::iter::repeat_n(one.message, one.times));
        let all: Vec<Message> = all.collect();
        match Message::wrong(&all) {
            Some((_, why)) => Err(Failure::usage(format!("--messages: {why}"))),
            None => Ok(all),
        }
    }

    /// The application.
    ///
    /// # Errors
    /// An option that it has no use for, or a datagram that is too large.
    pub fn describe(&self, name: AppName) -> Result<AppKind, Failure> {
        self.check(name)?;
        Ok(match name {
            AppName::Bulk => AppKind::Bulk {
                bytes: self.bytes,
                duration_ns: self
                    .until()
                    .duration_ns
                    .filter(|_| self.duration.is_some() || self.bytes.is_none()),
                chunk: self.chunk.unwrap_or(128 << 10),
                reverse: self.reverse,
            },
            AppName::Web => AppKind::Web {
                request: self.request.unwrap_or(200),
                sizes: match self.sizes.is_empty() {
                    true => vec![10 << 10],
                    false => self.sizes.clone(),
                },
                think_ns: self.think.iter().map(|t| nanos(*t)).collect(),
            },
            AppName::Messages => AppKind::Messages {
                messages: self.messages()?,
            },
            AppName::Sink => AppKind::Sink {
                hold_ns: nanos(self.hold.unwrap_or(10 * SECOND)),
            },
            AppName::Stream => AppKind::Stream {
                chunk: self.chunk.unwrap_or(1000),
                every_ns: self.every_ns(100),
                late_ns: nanos(self.late.unwrap_or_default()),
                urgent: self.urgent.unwrap_or(0),
                more: 0,
                read: self.read.unwrap_or(4096),
                until: self.until(),
            },
            AppName::UdpStream => AppKind::UdpStream {
                size: self.size.unwrap_or(1000),
                every_ns: self.every_ns(100),
                until: self.until(),
            },
            AppName::UdpPing => self.ping(false, 60),
            AppName::Ping => self.ping(true, 56),
            AppName::RequestResponse
            | AppName::ConnectRequestResponse
            | AppName::WriteWriteRead
            | AppName::Echo
            | AppName::UdpRr => self.turns(name),
        })
    }

    /// The client and the server take turns.
    fn turns(&self, name: AppName) -> AppKind {
        let pause_ns = |default| nanos(self.pause.unwrap_or(default));
        let request = self.request.unwrap_or(1);
        let response = self.response.unwrap_or(1);
        let until = self.until();
        match name {
            AppName::RequestResponse => AppKind::RequestResponse {
                request,
                response,
                burst: self.burst.unwrap_or(0).into(),
                pause_ns: pause_ns(Duration::ZERO),
                until,
            },
            AppName::ConnectRequestResponse => AppKind::ConnectRequestResponse {
                request,
                response,
                pause_ns: pause_ns(Duration::ZERO),
                until,
            },
            AppName::WriteWriteRead => AppKind::WriteWriteRead {
                head: self.head.unwrap_or(512),
                body: self.body.unwrap_or(512),
                reply: self.reply.unwrap_or(1448),
                pause_ns: pause_ns(SECOND),
                until,
            },
            AppName::UdpRr => AppKind::UdpRr {
                request,
                response,
                pause_ns: pause_ns(Duration::ZERO),
                timeout_ns: nanos(self.timeout.unwrap_or(SECOND)),
                until,
            },
            _ => AppKind::Echo {
                size: self.size.unwrap_or(1),
                pause_ns: pause_ns(SECOND),
                until,
            },
        }
    }

    fn ping(&self, icmp: bool, size: u64) -> AppKind {
        AppKind::Ping {
            icmp,
            size: self.size.unwrap_or(size),
            every_ns: self.every_ns(200),
            timeout_ns: nanos(self.timeout.unwrap_or(10 * SECOND)),
            until: self.until(),
        }
    }

    fn every_ns(&self, default_ms: u64) -> i64 {
        nanos(self.every.unwrap_or(Duration::from_millis(default_ms)))
    }

    /// The options of its sockets.
    pub fn socket(&self, cpu: Option<u32>) -> SocketOptions {
        SocketOptions {
            nodelay: self.nodelay.then_some(true),
            quickack: self.quickack.unwrap_or_default(),
            rcvbuf: self.rcvbuf,
            sndbuf: self.sndbuf,
            rcvlowat: self.rcvlowat,
            maxseg: self.maxseg,
            congestion: self.congestion.clone(),
            cpu,
            ..SocketOptions::default()
        }
    }

    fn until(&self) -> Extent {
        let default = self.count.is_none().then_some(10 * SECOND);
        Extent {
            count: self.count,
            duration_ns: self.duration.or(default).map(nanos),
        }
    }

    fn check(&self, name: AppName) -> Result<(), Failure> {
        let takes = name.options();
        if let Some(option) = self.given().find(|o| !takes.contains(o)) {
            return Err(Failure::usage(format!(
                "{} has no {option}; it takes {}",
                name.word(),
                takes.join(", ")
            )));
        }
        if name == AppName::Messages && self.messages.is_empty() {
            return Err(Failure::usage(
                "messages needs --messages, such as --messages 'client 512,server 1448 after 40ms'",
            ));
        }
        let datagram = match name {
            AppName::UdpStream | AppName::UdpPing | AppName::Ping => self.size,
            AppName::UdpRr => self.request.max(self.response),
            _ => None,
        };
        match datagram {
            Some(n) if n > LARGEST_DATAGRAM => Err(Failure::usage(format!(
                "a datagram of {n} bytes is too large; {LARGEST_DATAGRAM} bytes is the most"
            ))),
            _ => Ok(()),
        }
    }

    /// A warning of options at a client to which the server writes: the server's own count.
    pub fn servers_own(&self, name: AppName) -> Option<String> {
        let server_writes = name == AppName::Stream || (name == AppName::Bulk && self.reverse);
        let times = ["--for", "--every", "--late"];
        let given: Vec<&str> = self.given().filter(|one| times.contains(one)).collect();
        (server_writes && !given.is_empty()).then(|| {
            format!(
                "tcplab: warning: {} at the client has no effect: the server writes, by its own options",
                given.join(" and ")
            )
        })
    }

    /// The options of the application that were given.
    fn given(&self) -> impl Iterator<Item = &'static str> {
        [
            ("--size", self.size.is_some()),
            ("--chunk", self.chunk.is_some()),
            ("--every", self.every.is_some()),
            ("--late", self.late.is_some()),
            ("--urgent", self.urgent.is_some()),
            ("--read", self.read.is_some()),
            ("--request", self.request.is_some()),
            ("--response", self.response.is_some()),
            ("--burst", self.burst.is_some()),
            ("--head", self.head.is_some()),
            ("--body", self.body.is_some()),
            ("--reply", self.reply.is_some()),
            ("--sizes", !self.sizes.is_empty()),
            ("--think", !self.think.is_empty()),
            ("--messages", !self.messages.is_empty()),
            ("--bytes", self.bytes.is_some()),
            ("--reverse", self.reverse),
            ("--hold", self.hold.is_some()),
            ("--pause", self.pause.is_some()),
            ("--timeout", self.timeout.is_some()),
            ("--count", self.count.is_some()),
            ("--for", self.duration.is_some()),
        ]
        .into_iter()
        .filter_map(|(name, is_given)| is_given.then_some(name))
    }
}

fn nanos(t: Duration) -> i64 {
    i64::try_from(t.as_nanos()).unwrap_or(i64::MAX)
}
