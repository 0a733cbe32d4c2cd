//! The workloads by their names.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What two ends do with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// The client writes, the server reads.
    Stream,
    /// A byte there and a byte back, one after the other.
    Request,
    /// A connection for each of them (netperf TCP_CRR).
    Connect,
}

/// What lies between two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    /// A connection over the loopback device.
    Tcp,
    /// Datagrams over the loopback device.
    Udp,
    /// A pair of stream sockets (unix(7)).
    Unix,
    /// A pipe each way (pipe(7)).
    Pipe,
}

/// A workload. As text: netperf's names `TCP_STREAM:512`, `TCP_RR`, `TCP_CRR`, `UDP_STREAM:1024`, `UDP_RR`; `AF_UNIX_STREAM`,
/// `AF_UNIX_RR`, `PIPE_STREAM`, `PIPE_RR` for lmbench's bw_unix, lat_unix, bw_pipe and lat_pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workload {
    /// What is done.
    pub work: Work,
    /// Over what.
    pub over: Over,
    /// Bytes of each write of a stream, of each message of a request.
    pub size: u32,
}

/// Bytes of a write when none are said, as netperf's on Linux with its default buffers.
const STREAM: u32 = 16_384;
/// What a datagram over IPv4 can carry.
const DATAGRAM: u32 = 65_507;
/// The most bytes of a write.
const MOST: u32 = 16 << 20;

impl Workload {
    /// The suite: netperf's sizes of the CAQM test report, its transactions, and lmbench's pairs.
    pub fn suite() -> Vec<Self> {
        let names = [
            "TCP_STREAM:1",
            "TCP_STREAM:64",
            "TCP_STREAM:512",
            "TCP_STREAM:65536",
            "UDP_STREAM:1",
            "UDP_STREAM:64",
            "UDP_STREAM:512",
            "UDP_STREAM:32768",
            "TCP_RR",
            "TCP_CRR",
            "UDP_RR",
            "PIPE_RR",
            "AF_UNIX_RR",
            "PIPE_STREAM:65536",
            "AF_UNIX_STREAM:65536",
        ];
        names.iter().filter_map(|name| name.parse().ok()).collect()
    }

    /// Whether a figure of it is bytes a second, and not transactions.
    pub fn is_stream(&self) -> bool {
        self.work == Work::Stream
    }

    /// Whether its ends can be on two machines.
    pub fn goes_far(&self) -> bool {
        !matches!(self.over, Over::Unix | Over::Pipe)
    }

    /// Whether it has a congestion control.
    pub fn is_tcp(&self) -> bool {
        self.over == Over::Tcp
    }

    fn prefix(self) -> &'static str {
        match self.over {
            Over::Tcp => "TCP",
            Over::Udp => "UDP",
            Over::Unix => "AF_UNIX",
            Over::Pipe => "PIPE",
        }
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (prefix, size) = (self.prefix(), self.size);
        match self.work {
            Work::Stream => write!(f, "{prefix}_STREAM:{size}"),
            Work::Request if size == 1 => write!(f, "{prefix}_RR"),
            Work::Request => write!(f, "{prefix}_RR:{size}"),
            Work::Connect => write!(f, "{prefix}_CRR"),
        }
    }
}

impl FromStr for Workload {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || {
            let http = match text.to_ascii_uppercase().starts_with("HTTP") {
                true => "; for HTTP measure wrk, ab or fortio with --command (docs/bench.md)",
                false => "",
            };
            format!(
                "unknown workload `{text}`: write TCP_STREAM:BYTES, UDP_STREAM:BYTES, TCP_RR, TCP_CRR, UDP_RR, \
                 AF_UNIX_STREAM:BYTES, AF_UNIX_RR, PIPE_STREAM:BYTES or PIPE_RR{http}"
            )
        };
        let (name, size) = match text.split_once(':') {
            Some((name, size)) => (name, Some(size.parse::<u32>().map_err(|_| bad())?)),
            None => (text, None),
        };
        let name = name.to_ascii_uppercase();
        let (over, rest) = [
            (Over::Tcp, "TCP_"),
            (Over::Udp, "UDP_"),
            (Over::Unix, "AF_UNIX_"),
            (Over::Pipe, "PIPE_"),
        ]
        .iter()
        .find_map(|(over, prefix)| Some((*over, name.strip_prefix(prefix)?)))
        .ok_or_else(bad)?;
        let (work, usual) = match (rest, over) {
            ("STREAM", Over::Udp) => (Work::Stream, 1_024),
            ("STREAM", _) => (Work::Stream, STREAM),
            ("RR", _) => (Work::Request, 1),
            ("CRR", Over::Tcp) => (Work::Connect, 1),
            _ => return Err(bad()),
        };
        let size = size.unwrap_or(usual);
        let most = match over {
            Over::Udp => DATAGRAM,
            _ => MOST,
        };
        match size {
            _ if work == Work::Connect && size != 1 => Err(format!(
                "`{text}`: a connection carries one byte there and back"
            )),
            1.. if size <= most => Ok(Self { work, over, size }),
            _ => Err(format!("`{text}`: write 1 to {most} bytes")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written() {
        for workload in Workload::suite() {
            assert_eq!(workload.to_string().parse(), Ok(workload));
        }
        assert_eq!(Workload::suite().len(), 15);
        let usual: Workload = "tcp_stream".parse().unwrap();
        assert_eq!(usual.to_string(), "TCP_STREAM:16384");
        for bad in [
            "",
            "TCP",
            "SCTP_RR",
            "UDP_CRR",
            "TCP_RR:0",
            "TCP_STREAM:0",
            "UDP_STREAM:65508",
            "TCP_CRR:5",
            "TCP_STREAM:x",
        ] {
            assert!(bad.parse::<Workload>().is_err(), "{bad}");
        }
        let gone = "HTTPS_RR:1024".parse::<Workload>().unwrap_err();
        assert!(gone.contains("--command"), "{gone}");
    }
}
