//! The command line of `tcplab probe`. Letters and defaults of the two pairs are those of the
//! public programs tcp-delayed-ack and tcp-server-client.

use std::time::Duration;

use clap::{Args, Subcommand};
use tcplab_kernel::probe::{Family, Listen, Target};

use crate::probe::app::{AppArgs, AppName};
use crate::probe::number::{bit_rate, byte_rate, option_size, pause, positive, seconds, size};
use crate::probe::via::ViaArgs;

/// `tcplab probe`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples (a server on one host, the client on another):
  tcplab probe stream-server -b 1k -s 100ms -D        tcplab probe stream-client HOST
  tcplab probe echo-server                            tcplab probe echo-client -q 0 -n 10 HOST
  tcplab probe server request-response                tcplab probe client request-response HOST
  tcplab probe client bulk --bytes 10m --via tap:lab0=10.77.0.2/24 --address 10.77.0.1/24 10.77.0.2
                                      (tcplab's own TCP against this machine's)
  nc HOST 1234 speaks to a stream-server and an echo-server too.")]
pub struct ProbeArgs {
    /// Which probe
    #[command(subcommand)]
    pub which: Which,
}

/// The probes.
#[derive(Subcommand, Debug)]
pub enum Which {
    /// Read, write, again; for each client
    EchoServer(EchoServerArgs),
    /// Write, read, pause; -n times
    EchoClient(EchoClientArgs),
    /// Write, pause, again; for each client, until it goes away
    StreamServer(StreamServerArgs),
    /// Read until the time is over, and say how much came
    StreamClient(StreamClientArgs),
    /// Print what getsockopt(TCP_QUICKACK) says of a new socket
    QuickackDefault {
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// The server's end of any application of an experiment
    Server(AppServerArgs),
    /// The client's end of any application of an experiment
    Client(AppClientArgs),
}

impl Which {
    /// How long an application waits for its peer.
    pub fn idle_timeout(&self) -> Option<Duration> {
        match self {
            Self::Server(args) => args.app.idle_timeout,
            Self::Client(args) => args.app.idle_timeout,
            Self::EchoClient(args) => args.idle_timeout,
            _ => None,
        }
    }
}

/// What every probe takes.
#[derive(Args, Debug)]
pub struct Common {
    /// Print one JSON document at the end instead of the log (see `tcplab schema probe`)
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Show the time of day (UTC) before the time since the start
    #[arg(long, help_heading = "Output")]
    pub absolute: bool,
    /// Log at most N lines; what comes after is only counted, and costs nothing
    #[arg(
        long,
        help_heading = "Output",
        value_name = "N",
        default_value_t = 4000
    )]
    pub log_lines: u64,
    /// Leave the kernel's own state (/proc/net/tcp) out of the log: looking takes time
    #[arg(long, help_heading = "Output")]
    pub no_looks: bool,
    /// Sample tcp_info of each connection in this distance: 100ms, 1s
    #[arg(long, help_heading = "Output", value_name = "TIME", value_parser = positive)]
    pub tcp_info_every: Option<Duration>,
    /// Use IPv4 only
    #[arg(short = '4', conflicts_with = "v6")]
    pub v4: bool,
    /// Use IPv6 only
    #[arg(short = '6')]
    pub v6: bool,
}

impl Common {
    pub fn family(&self) -> Family {
        match (self.v4, self.v6) {
            (true, _) => Family::V4,
            (_, true) => Family::V6,
            _ => Family::Any,
        }
    }
}

/// What every server takes.
#[derive(Args, Debug)]
pub struct ServerCommon {
    /// Listen on this port; 0 takes a free one and says which
    #[arg(short, long, value_name = "PORT", default_value_t = 1234)]
    pub port: u16,
    /// Listen on this address only
    #[arg(long, value_name = "ADDRESS")]
    pub bind: Option<String>,
    /// End after N clients (with UDP: datagrams) instead of with Ctrl-C
    #[arg(long, value_name = "N")]
    pub clients: Option<u64>,
    /// Run on this CPU
    #[arg(short, long, value_name = "CPU")]
    pub cpu: Option<u32>,
    #[command(flatten)]
    pub common: Common,
}

impl ServerCommon {
    pub fn listen(&self) -> Listen {
        Listen {
            address: self.bind.clone(),
            port: self.port,
            family: self.common.family(),
        }
    }
}

/// What every client takes.
#[derive(Args, Debug)]
pub struct ClientCommon {
    /// The server: a name or an address
    #[arg(value_name = "HOST")]
    pub host: String,
    /// The server's port
    #[arg(short, long, value_name = "PORT", default_value_t = 1234)]
    pub port: u16,
    /// Run on this CPU
    #[arg(short, long, value_name = "CPU")]
    pub cpu: Option<u32>,
    #[command(flatten)]
    pub common: Common,
}

impl ClientCommon {
    pub fn target(&self) -> Target {
        Target {
            host: self.host.clone(),
            port: self.port,
            family: self.common.family(),
        }
    }
}

/// `tcplab probe echo-server`.
#[derive(Args, Debug)]
pub struct EchoServerArgs {
    /// Read at most this many bytes at once
    #[arg(short = 'b', long = "read", value_name = "BYTES", default_value = "1", value_parser = size)]
    pub read: u64,
    /// Write this many bytes after each read: those that were read, then zeros
    #[arg(short = 'B', long = "write", value_name = "BYTES", default_value = "1", value_parser = size)]
    pub write: u64,
    /// Set TCP_QUICKACK 1 before each read
    #[arg(short, long)]
    pub quickack: bool,
    /// Set TCP_NODELAY
    #[arg(short = 'D', long)]
    pub nodelay: bool,
    #[command(flatten)]
    pub server: ServerCommon,
}

/// `tcplab probe echo-client`.
#[derive(Args, Debug)]
pub struct EchoClientArgs {
    /// Write this many bytes at once
    #[arg(short = 'b', long = "write", value_name = "BYTES", default_value = "1", value_parser = size)]
    pub write: u64,
    /// Read at most this many bytes at once
    #[arg(short = 'B', long = "read", value_name = "BYTES", default_value = "1", value_parser = size)]
    pub read: u64,
    /// How many round trips
    #[arg(short = 'n', long, value_name = "N", default_value_t = 2)]
    pub count: u64,
    /// Pause after each round trip, in microseconds or with a unit
    #[arg(short = 's', long, value_name = "TIME", default_value = "1s", value_parser = pause)]
    pub pause: Duration,
    /// Set TCP_QUICKACK to this before each write; -1 leaves it alone
    #[arg(
        short,
        long,
        value_name = "VALUE",
        default_value_t = -1,
        allow_negative_numbers = true
    )]
    pub quickack: i32,
    /// Give up when no answer has come for so long (never)
    #[arg(long, value_name = "TIME", value_parser = positive)]
    pub idle_timeout: Option<Duration>,
    #[command(flatten)]
    pub client: ClientCommon,
}

/// `tcplab probe stream-server`.
#[derive(Args, Debug)]
pub struct StreamServerArgs {
    /// Write this many bytes at once: 1460, 16k, 1m
    #[arg(short = 'b', long = "write", value_name = "BYTES", default_value = "1460", value_parser = size)]
    pub write: u64,
    /// Pause after each write, in microseconds or with a unit
    #[arg(short = 's', long, value_name = "TIME", default_value = "0", value_parser = pause)]
    pub pause: Duration,
    /// Write this many bytes a second on average (k is 1024)
    #[arg(short, long, value_name = "BYTES/S", value_parser = byte_rate, overrides_with = "bit_rate")]
    pub rate: Option<u64>,
    /// Write this many bits a second on average (k is 1000)
    #[arg(short = 'B', long, value_name = "BITS/S", value_parser = bit_rate, overrides_with = "rate")]
    pub bit_rate: Option<u64>,
    /// SO_SNDBUF, as given to setsockopt
    #[arg(short = 'S', long, value_name = "BYTES", value_parser = option_size)]
    pub sndbuf: Option<u32>,
    /// Write nothing for this time after SIGUSR1, in seconds or with a unit
    #[arg(short = 'R', long, value_name = "TIME", default_value = "5", value_parser = seconds)]
    pub signal_pause: Duration,
    /// Set TCP_QUICKACK 1 before each write
    #[arg(short, long)]
    pub quickack: bool,
    /// Set TCP_NODELAY
    #[arg(short = 'D', long)]
    pub nodelay: bool,
    #[command(flatten)]
    pub server: ServerCommon,
}

/// `tcplab probe stream-client`.
#[derive(Args, Debug)]
pub struct StreamClientArgs {
    /// Read this many bytes (in as many reads as it takes), then pause; with -L one read
    #[arg(short = 'b', long = "read", value_name = "BYTES", default_value = "1460", value_parser = size)]
    pub read: u64,
    /// SO_RCVBUF, as given to setsockopt
    #[arg(short, long, value_name = "BYTES", value_parser = option_size)]
    pub rcvbuf: Option<u32>,
    /// Pause after that, in microseconds or with a unit
    #[arg(short = 's', long, value_name = "TIME", default_value = "0", value_parser = pause)]
    pub pause: Duration,
    /// Read for this time, in seconds or with a unit
    #[arg(short, long = "time", value_name = "TIME", default_value = "10", value_parser = positive)]
    pub time: Duration,
    /// SO_RCVLOWAT: a read waits for this many bytes
    #[arg(short = 'L', long, value_name = "BYTES", value_parser = option_size)]
    pub rcvlowat: Option<u32>,
    /// Say each second how much came
    #[arg(long)]
    pub trend: bool,
    #[command(flatten)]
    pub client: ClientCommon,
}

/// `tcplab probe server`.
#[derive(Args, Debug)]
pub struct AppServerArgs {
    /// Which application
    #[arg(value_enum, value_name = "KIND")]
    pub kind: AppName,
    #[command(flatten)]
    pub app: AppArgs,
    #[command(flatten)]
    pub via: Box<ViaArgs>,
    #[command(flatten)]
    pub server: ServerCommon,
}

/// `tcplab probe client`.
#[derive(Args, Debug)]
pub struct AppClientArgs {
    /// Which application
    #[arg(value_enum, value_name = "KIND")]
    pub kind: AppName,
    #[command(flatten)]
    pub app: AppArgs,
    #[command(flatten)]
    pub via: Box<ViaArgs>,
    #[command(flatten)]
    pub client: ClientCommon,
}
