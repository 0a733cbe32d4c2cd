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
    /// HTTP/1.1 on connections over the loopback device.
    Http,
    /// The same with TLS 1.3.
    Https,
}

impl Over {
    /// HTTP with TLS or without.
    pub fn is_http(self) -> bool {
        matches!(self, Self::Http | Self::Https)
    }
}

/// A workload. As text: netperf's names `TCP_STREAM:512`, `TCP_RR`, `TCP_CRR`, `UDP_STREAM:1024`, `UDP_RR`; `AF_UNIX_STREAM`,
/// `AF_UNIX_RR`, `PIPE_STREAM`, `PIPE_RR` for what lmbench calls bw_unix, lat_unix, bw_pipe and lat_pipe; `HTTP_RR:1024`, `HTTP_CRR:1024`,
/// `HTTPS_RR:1024`, `HTTPS_CRR:1024`: GET of so many bytes, on connections that stay or on one each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workload {
    /// What is done.
    pub work: Work,
    /// Over what.
    pub over: Over,
    /// Bytes of each write of a stream, of each message of a request, of the body of an answer.
    pub size: u32,
}

/// Bytes of a write when none are said, as netperf's on Linux with its default buffers.
const STREAM: u32 = 16_384;
/// Bytes of an answer's body when none are said.
const BODY: u32 = 1_024;
/// What a datagram over IPv4 can carry.
const DATAGRAM: u32 = 65_507;
/// The most bytes of a write.
const MOST: u32 = 16 << 20;

impl Workload {
    /// The suite: netperf's sizes of the CAQM test report, its transactions, lmbench's pairs, and HTTP.
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
            "HTTP_RR",
            "HTTP_CRR",
            "HTTPS_RR",
            "HTTPS_CRR",
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

    fn prefix(self) -> &'static str {
        match self.over {
            Over::Tcp => "TCP",
            Over::Udp => "UDP",
            Over::Unix => "AF_UNIX",
            Over::Pipe => "PIPE",
            Over::Http => "HTTP",
            Over::Https => "HTTPS",
        }
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (prefix, size) = (self.prefix(), self.size);
        match self.work {
            Work::Stream => write!(f, "{prefix}_STREAM:{size}"),
            Work::Connect if self.over.is_http() => write!(f, "{prefix}_CRR:{size}"),
            Work::Request if size == 1 && !self.over.is_http() => write!(f, "{prefix}_RR"),
            Work::Request => write!(f, "{prefix}_RR:{size}"),
            Work::Connect => write!(f, "{prefix}_CRR"),
        }
    }
}

impl FromStr for Workload {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || {
            format!(
                "`{text}` is no workload: write TCP_STREAM:BYTES, UDP_STREAM:BYTES, TCP_RR, TCP_CRR, UDP_RR, \
                 HTTP_RR:BYTES, HTTP_CRR:BYTES, HTTPS_RR:BYTES, HTTPS_CRR:BYTES, AF_UNIX_STREAM:BYTES, AF_UNIX_RR, \
                 PIPE_STREAM:BYTES or PIPE_RR"
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
            (Over::Http, "HTTP_"),
            (Over::Https, "HTTPS_"),
        ]
        .iter()
        .find_map(|(over, prefix)| Some((*over, name.strip_prefix(prefix)?)))
        .ok_or_else(bad)?;
        let (work, usual) = match (rest, over) {
            ("RR", Over::Http | Over::Https) => (Work::Request, BODY),
            ("CRR", Over::Http | Over::Https) => (Work::Connect, BODY),
            (_, Over::Http | Over::Https) => return Err(bad()),
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
            _ if work == Work::Connect && over == Over::Tcp && size != 1 => Err(format!(
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
        assert_eq!(Workload::suite().len(), 19);
        let usual: Workload = "tcp_stream".parse().unwrap();
        assert_eq!(usual.to_string(), "TCP_STREAM:16384");
        let usual: Workload = "https_crr".parse().unwrap();
        assert_eq!(usual.to_string(), "HTTPS_CRR:1024");
        for bad in [
            "",
            "TCP",
            "SCTP_RR",
            "UDP_CRR",
            "HTTP_STREAM",
            "HTTPS_RR:0",
            "TCP_STREAM:0",
            "UDP_STREAM:65508",
            "TCP_CRR:5",
            "TCP_STREAM:x",
        ] {
            assert!(bad.parse::<Workload>().is_err(), "{bad}");
        }
    }
}
