//! The effects of a middle box on TCP segments, and segments that are injected there.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A rule of a middle box for the segments of one way. Names are those of iptables-extensions(8), where it has them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rewrite {
    /// Takes these options out of every header (TCPOPTSTRIP).
    StripOptions(Vec<TcpOption>),
    /// Makes a larger MSS option this one (TCPMSS).
    SetMss(u16),
    /// Clears ECE, CWR and AE (ECN, `--ecn-tcp-remove`).
    EcnTcpRemove,
    /// Sets the ECN bits of the IP header (ECN, `--ecn-ip-ect`).
    EcnIpEct(u8),
    /// Drops segments that have one of these options.
    DropOptions(Vec<TcpOption>),
    /// Drops SYNs that ask for ECN (RFC 3168 6.1.1).
    DropEcnSyn,
}

/// The words of an experiment file.
impl fmt::Display for Rewrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |list: &[TcpOption]| {
            let name = |option| TcpOption::ALL.iter().find(|(_, own)| own == option);
            let names: Vec<&str> = list
                .iter()
                .filter_map(name)
                .map(|(name, _)| *name)
                .collect();
            names.join(",")
        };
        match self {
            Self::StripOptions(list) => write!(f, "strip-options {}", names(list)),
            Self::SetMss(mss) => write!(f, "set-mss {mss}"),
            Self::EcnTcpRemove => f.write_str("ecn-tcp-remove"),
            Self::EcnIpEct(bits) => write!(f, "ecn-ip-ect {bits}"),
            Self::DropOptions(list) => write!(f, "drop-options {}", names(list)),
            Self::DropEcnSyn => f.write_str("drop-ecn-syn"),
        }
    }
}

/// An option of TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TcpOption {
    /// Maximum segment size.
    Mss,
    /// Window scale.
    Wscale,
    /// SACK permitted.
    SackPermitted,
    /// SACK blocks.
    Sack,
    /// Time stamps.
    Timestamp,
    /// Fast Open.
    Fastopen,
}

impl TcpOption {
    /// All, with the names of iptables.
    pub const ALL: [(&str, Self); 6] = [
        ("mss", Self::Mss),
        ("wscale", Self::Wscale),
        ("sack-permitted", Self::SackPermitted),
        ("sack", Self::Sack),
        ("timestamp", Self::Timestamp),
        ("fastopen", Self::Fastopen),
    ];
}

/// A segment that is put on a way of a link: one for each connection that has passed there, made from its last segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Inject {
    /// When, after the run's start.
    pub at_ns: i64,
    /// What it is.
    pub what: Injected,
    /// Added to the sequence number that the receiver has to expect when all that passed has come.
    #[serde(default)]
    pub seq: i32,
    /// Added to the last acknowledgment number that passed.
    #[serde(default)]
    pub ack: i32,
}

impl Inject {
    /// It in the words of an experiment file, without its time.
    pub fn segment(&self) -> String {
        let mut words = match self.what {
            Injected::Rst => "rst".to_owned(),
            Injected::Syn => "syn".to_owned(),
            Injected::Ack => "ack".to_owned(),
            Injected::Fin => "fin".to_owned(),
            Injected::Data(bytes) => format!("data {bytes}"),
        };
        for (name, number) in [("seq", self.seq), ("ack", self.ack)] {
            if number != 0 {
                words += &format!(" {name} {number:+}");
            }
        }
        words
    }
}

/// Kinds of injected segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Injected {
    /// A reset without ACK, as from a host that knows nothing of the connection.
    Rst,
    /// A SYN.
    Syn,
    /// A segment without payload.
    Ack,
    /// The same with FIN.
    Fin,
    /// So many bytes of payload (zeros).
    Data(u16),
}
