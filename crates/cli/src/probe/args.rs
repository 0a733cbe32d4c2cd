//! The command line of `tcplab probe`. Letters and defaults of the two pairs come from the public
//! programs tcp-delayed-ack and tcp-server-client.

use std::time::Duration;

use clap::{Args, Subcommand};
use tcplab_probe::{Family, Listen, Target};

use crate::probe::app::{AppArgs, AppName};
use crate::probe::number::{bit_rate, byte_rate, option_size, pause, positive, seconds, size};
use crate::probe::via::ViaArgs;

/// `tcplab probe`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples (server command on one host, client command on the other):
  tcplab probe stream-server -b 1k -s 100ms -D        tcplab probe stream-client HOST
  tcplab probe echo-server                            tcplab probe echo-client -q 0 -n 10 HOST
  tcplab probe server request-response                tcplab probe client request-response HOST
  tcplab probe client bulk --bytes 10m --via tap:lab0=10.77.0.2/24 --address 10.77.0.1/24 10.77.0.2
                                      (tcplab's own TCP against this machine's)
  nc HOST 1234                        (also works with stream-server and echo-server)")]
pub struct ProbeArgs {
    /// Application to run
    #[command(subcommand)]
    pub which: Which,
}

/// The probes.
#[derive(Subcommand, Debug)]
pub enum Which {
    /// Read, then write, in a loop for each client
    EchoServer(EchoServerArgs),
    /// Write, read and pause, -n times
    EchoClient(EchoClientArgs),
    /// Write and pause in a loop for each client until it disconnects
    StreamServer(StreamServerArgs),
    /// Read for a fixed time and report the number of bytes
    StreamClient(StreamClientArgs),
    /// Print the TCP_QUICKACK value of a new socket
    QuickackDefault {
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Run the server side of any application of an experiment
    Server(AppServerArgs),
    /// Run the client side of any application of an experiment
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

    /// How long a client reads.
    pub fn lasts(&self) -> Option<Duration> {
        match self {
            Self::StreamClient(args) => Some(args.time),
            _ => None,
        }
    }

    /// Whether each second has a line.
    pub fn has_trend(&self) -> bool {
        matches!(self, Self::StreamClient(args) if args.trend)
    }

    /// How long a server pauses after SIGUSR1.
    pub fn signal_pause(&self) -> Option<Duration> {
        match self {
            Self::StreamServer(args) => Some(args.signal_pause),
            _ => None,
        }
    }
}

/// What every probe takes.
#[derive(Args, Debug)]
pub struct Common {
    /// Print one JSON document at the end instead of a log (see `tcplab schema probe`)
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Log the time of day (UTC) before the time since the start
    #[arg(long, help_heading = "Output")]
    pub absolute: bool,
    /// Log at most N lines; count further lines without logging them
    #[arg(
        long,
        help_heading = "Output",
        value_name = "N",
        default_value_t = 4000
    )]
    pub log_lines: u64,
    /// Do not log the kernel's state (/proc/net/tcp): reading it takes time
    #[arg(long, help_heading = "Output")]
    pub no_looks: bool,
    /// Sample tcp_info of each connection at this interval, such as 100ms [default: never]
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
    /// Listen on this port; 0 picks a free port and prints it
    #[arg(short, long, value_name = "PORT", default_value_t = 1234)]
    pub port: u16,
    /// Listen on this address only [default: all addresses]
    #[arg(long, value_name = "ADDRESS")]
    pub bind: Option<String>,
    /// End after N clients (UDP: N datagrams) [default: until Ctrl-C]
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
    /// Server: a host name or an address
    #[arg(value_name = "HOST")]
    pub host: String,
    /// Port of the server
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
    /// Write this many bytes after each read: the bytes read, padded with zeros
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
    /// Number of round trips
    #[arg(short = 'n', long, value_name = "N", default_value_t = 2)]
    pub count: u64,
    /// Pause after each round trip (without a unit: microseconds)
    #[arg(short = 's', long, value_name = "TIME", default_value = "1s", value_parser = pause)]
    pub pause: Duration,
    /// Set TCP_QUICKACK to this value before each write; -1 does not set it
    #[arg(
        short,
        long,
        value_name = "VALUE",
        default_value_t = -1,
        allow_negative_numbers = true
    )]
    pub quickack: i32,
    /// Give up if no answer arrives within this time [default: never]
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
    /// Pause after each write (without a unit: microseconds)
    #[arg(short = 's', long, value_name = "TIME", default_value = "0", value_parser = pause)]
    pub pause: Duration,
    /// Average rate in bytes per second (k is 1024) [default: no limit]
    #[arg(short, long, value_name = "BYTES/S", value_parser = byte_rate, overrides_with = "bit_rate")]
    pub rate: Option<u64>,
    /// Average rate in bits per second (k is 1000) [default: no limit]
    #[arg(short = 'B', long, value_name = "BITS/S", value_parser = bit_rate, overrides_with = "rate")]
    pub bit_rate: Option<u64>,
    /// Set SO_SNDBUF to this value [default: the kernel's]
    #[arg(short = 'S', long, value_name = "BYTES", value_parser = option_size)]
    pub sndbuf: Option<u32>,
    /// Stop writing for this time after SIGUSR1 (without a unit: seconds)
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
    /// Read this many bytes before each pause (with -L: in one read)
    #[arg(short = 'b', long = "read", value_name = "BYTES", default_value = "1460", value_parser = size)]
    pub read: u64,
    /// Set SO_RCVBUF to this value [default: the kernel's]
    #[arg(short, long, value_name = "BYTES", value_parser = option_size)]
    pub rcvbuf: Option<u32>,
    /// Pause after reading --read bytes (without a unit: microseconds)
    #[arg(short = 's', long, value_name = "TIME", default_value = "0", value_parser = pause)]
    pub pause: Duration,
    /// Read for this time (without a unit: seconds)
    #[arg(short, long = "time", value_name = "TIME", default_value = "10", value_parser = positive)]
    pub time: Duration,
    /// Set SO_RCVLOWAT: each read waits for this many bytes [default: 1]
    #[arg(short = 'L', long, value_name = "BYTES", value_parser = option_size)]
    pub rcvlowat: Option<u32>,
    /// Report the number of bytes received every second
    #[arg(long)]
    pub trend: bool,
    #[command(flatten)]
    pub client: ClientCommon,
}

/// `tcplab probe server`.
#[derive(Args, Debug)]
pub struct AppServerArgs {
    /// Application to run
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
    /// Application to run
    #[arg(value_enum, value_name = "KIND")]
    pub kind: AppName,
    #[command(flatten)]
    pub app: AppArgs,
    #[command(flatten)]
    pub via: Box<ViaArgs>,
    #[command(flatten)]
    pub client: ClientCommon,
}
