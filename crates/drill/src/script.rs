//! A parsed script: plain data, as written, with the place of everything that can be wrong.
//!
//! Symbols (`SOL_SOCKET`, `EINPROGRESS`) stay words here; what they mean is the business of those who run the script.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use serde::{Deserialize, Serialize};

/// A place in a script: 1-based line and column (characters).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

/// Something with the place where it begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct At<T> {
    /// Where it begins.
    pub place: Place,
    /// What it is.
    pub value: T,
}

impl<T> At<T> {
    pub(crate) fn new(place: Place, value: T) -> Self {
        Self { place, value }
    }
}

/// An option at the head: its name without dashes, and its value if it has one.
pub type ScriptOption = At<(String, Option<String>)>;

/// A whole script.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Script {
    /// `--name=value` at the head, without the dashes, in order. `--define=A=B` is `define` with `A=B`.
    pub options: Vec<ScriptOption>,
    /// The shell line before the first event.
    pub init: Option<At<String>>,
    /// What happens, in order.
    pub events: Vec<Event>,
    /// The shell line after the last event.
    pub cleanup: Option<At<String>>,
    /// What it asks for that no target has, in order: it is skipped with the first. Where nothing more can be read
    /// (another transport protocol), the events end.
    pub lacks: Vec<At<String>>,
}

/// One line of the script, in the sense of time: when, and what.
#[derive(Clone, PartialEq, Debug)]
pub struct Event {
    /// Where its time stands.
    pub place: Place,
    /// When it happens, or shall happen.
    pub time: Time,
    /// What it is.
    pub action: Action,
}

/// When something happens. Microseconds; absolute ones count from the script's begin, relative ones from the event
/// before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Time {
    /// `0.1`
    Absolute(i64),
    /// `+0.1`
    Relative(i64),
    /// `*`: any time (packets that leave only).
    Any,
    /// `0.1~0.2` (packets that leave only).
    AbsoluteRange(i64, i64),
    /// `+0.1~+0.2` (packets that leave only).
    RelativeRange(i64, i64),
}

/// What an event is.
#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    /// A packet that arrives, or that shall leave.
    Packet(Box<PacketSpec>),
    /// A system call with its expected result.
    Call(Box<CallSpec>),
    /// A shell line in back quotes.
    Shell(At<String>),
    /// Python between `%{` and `}%`, blanks around it removed.
    Code(At<String>),
}

/// `<` or `>`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Direction {
    /// `<`: it arrives at the host under test.
    In,
    /// `>`: the host under test sends it.
    Out,
}

/// A packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PacketSpec {
    /// Where it begins.
    pub place: Place,
    /// Which way it goes.
    pub direction: Direction,
    /// Headers around it, the outermost first.
    pub outer: Vec<Outer>,
    /// What is said of its IP header.
    pub ip: IpInfo,
    /// `encap psp spi N`: the index.
    pub psp_spi: Option<u32>,
    /// The packet itself.
    pub body: Body,
}

/// A header around the packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outer {
    /// `ipv4 1.1.1.1 > 2.2.2.2:`
    Ipv4 {
        /// Source.
        src: Ipv4Addr,
        /// Destination.
        dst: Ipv4Addr,
        /// What is said of the header.
        ip: IpInfo,
    },
    /// `ipv6 fd::1 > fd::2:`
    Ipv6 {
        /// Source.
        src: Ipv6Addr,
        /// Destination.
        dst: Ipv6Addr,
        /// What is said of the header.
        ip: IpInfo,
    },
    /// `gre flags ...:`
    Gre(Gre),
    /// `mpls (label ..., tc ..., ttl ...):`
    Mpls(Vec<MplsLabel>),
}

/// A GRE header (RFC 2784, RFC 2890); the plain `gre:` has no flags and zeros.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Gre {
    /// The flags, as in the header's first 16 bits.
    pub flags: u16,
    /// Checksum.
    pub sum: u16,
    /// Offset.
    pub off: u16,
    /// Key.
    pub key: u32,
    /// Sequence number.
    pub seq: u32,
}

/// An entry of an MPLS label stack (RFC 3032).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MplsLabel {
    /// 20 bits.
    pub label: u32,
    /// Traffic class, 3 bits.
    pub tc: u8,
    /// The bottom of the stack.
    pub bottom: bool,
    /// Time to live.
    pub ttl: u8,
}

/// What stands in `[...]` or `(...)` before a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct IpInfo {
    /// The traffic class.
    pub tos: Tos,
    /// The flow label of IPv6, 20 bits; 0: not said.
    pub flow_label: u32,
    /// Time to live; 0: not said.
    pub ttl: u8,
}

/// What is said of the traffic class.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Tos {
    /// Nothing: 0 on packets that arrive, not looked at on packets that leave.
    #[default]
    NotSaid,
    /// `noecn` 0, `ect1` 1, `ect0` 2, `ce` 3: the two ECN bits.
    Ecn(u8),
    /// `ect01`: one of the two ECT (packets that leave only).
    EitherEct,
    /// `tos 0x..`: the whole byte.
    Byte(u8),
}

/// The packet without what is around it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Body {
    /// TCP.
    Tcp(TcpSpec),
    /// `udp (LEN)`.
    Udp {
        /// `src > dst`, when said.
        ports: Option<(u16, u16)>,
        /// Payload in bytes.
        len: u16,
    },
    /// `icmp TYPE CODE ...`
    Icmp(IcmpSpec),
}

/// `first:last(len)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SeqRange {
    /// Sequence number of the first byte, as the script counts.
    pub start: u32,
    /// Payload in bytes; `last` is `start + len`.
    pub len: u16,
}

/// A TCP segment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TcpSpec {
    /// `src > dst`, when said.
    pub ports: Option<(u16, u16)>,
    /// The flags.
    pub flags: Flags,
    /// What it carries.
    pub seq: SeqRange,
    /// `ack N`; none: not said (0).
    pub ack: Option<u32>,
    /// `win N`; none: not said (0 in, not looked at out).
    pub window: Option<u16>,
    /// `urg N`.
    pub urgent: u16,
    /// The options; none: `<...>`, not looked at (packets that leave only).
    pub options: Option<Vec<TcpOption>>,
}

/// Flags of a segment, and AccECN's ACE field where the script says it (`.5`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Flags {
    /// The low 9 bits as in the header: FIN 1, SYN 2, RST 4, PSH 8, ACK 16, URG 32, ECE 64, CWR 128, AE 256.
    pub bits: u16,
    /// The script gave the three bits AE, CWR, ECE as a number.
    pub is_ace: bool,
}

/// A TCP option.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // Each is the option of its name.
pub enum TcpOption {
    Nop,
    Eol,
    Mss(u16),
    WindowScale(u8),
    SackPermitted,
    /// Blocks `left:right`, as the script counts.
    Sack(Vec<(u32, u32)>),
    Timestamps {
        val: u32,
        ecr: u32,
    },
    /// Its 16 bytes.
    Md5(Vec<u8>),
    /// `FO`: kind 34 with this cookie.
    FastOpen(Vec<u8>),
    /// `FOEXP`: kind 254, magic f989, with this cookie.
    FastOpenExp(Vec<u8>),
    /// `ECN e0b N ceb N e1b N`: kind 172 (e1b first: 174) and the 24-bit fields in order.
    AccEcn(Vec<(AccEcnField, u32)>),
    /// Any other kind, with the bytes after its length.
    Other {
        kind: u8,
        data: Vec<u8>,
    },
}

/// A field of the AccECN option.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // Each is the field of its name.
pub enum AccEcnField {
    E0b,
    Ceb,
    E1b,
}

/// An ICMP message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IcmpSpec {
    /// `unreachable`, `echo_request` ...
    pub kind: At<String>,
    /// `host_unreachable` ...
    pub code: Option<At<String>>,
    /// `mtu N`.
    pub mtu: Option<u32>,
    /// `id N`.
    pub echo_id: u16,
    /// The packet that it quotes.
    pub quoted: Option<Quoted>,
}

/// What an ICMP message quotes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quoted {
    /// `[1:1461(1460)]`
    Tcp(SeqRange),
    /// `[udp (N)]`
    Udp(u16),
    /// `[raw (N)]`
    Raw(u16),
}

/// A system call and what it shall give.
#[derive(Clone, PartialEq, Debug)]
pub struct CallSpec {
    /// Its name.
    pub name: At<String>,
    /// `...TIME`: it blocks, and ends then; microseconds, counted as the event's own time is.
    pub ends: Option<i64>,
    /// The arguments.
    pub args: Vec<At<Expr>>,
    /// Where the arguments end: errors about too few of them.
    pub close: Place,
    /// The result that it shall have.
    pub result: At<Expr>,
    /// The errno that it shall set.
    pub errno: Option<At<String>>,
    /// The words in the last parentheses: a note, such as `flags O_RDWR`, or the errno's text.
    pub note: Option<String>,
}

/// An argument or a result.
#[derive(Clone, PartialEq, Debug)]
pub enum Expr {
    /// `...`
    Ellipsis,
    /// A number, decimal or hexadecimal.
    Int(i64),
    /// A symbol.
    Word(String),
    /// `"..."`, escapes resolved; several in a row are one.
    Str(Vec<u8>),
    /// `"..."...`: begins like this.
    StrPrefix(Vec<u8>),
    /// `A|B`
    Or(Box<At<Expr>>, Box<At<Expr>>),
    /// `name = value`
    Assign(String, Box<At<Expr>>),
    /// `[a, b]`
    List(Vec<At<Expr>>),
    /// `{a, b}` that matches no structure below.
    Group(Vec<At<Expr>>),
    /// `inet_addr("1.2.3.4")`
    InetAddr(Ipv4Addr),
    /// `inet6_addr("fd::1")`
    Inet6Addr(Ipv6Addr),
    /// `{sa_family = AF_INET, sin_port = htons(8080), sin_addr = inet_addr("...")}`
    SockAddr(SocketAddr),
    /// `{..., N}`: an iovec of N bytes.
    Iovec(Box<At<Expr>>),
    /// `{msg_name(...)=..., msg_iov(N)=[...], msg_flags=..., msg_control=[...]}`
    MsgHdr(Box<MsgHdr>),
    /// `{cmsg_level=..., cmsg_type=..., cmsg_data=...}`
    Cmsg(Box<[At<Expr>; 3]>),
    /// `{scm_sec=N, scm_nsec=N}`
    ScmTimestamping {
        /// Seconds.
        sec: i64,
        /// Nanoseconds.
        nsec: i64,
    },
    /// `{ee_errno=, ee_origin=, ee_type=, ee_code=, ee_info=, ee_data=}` in this order.
    ExtendedErr(Box<[At<Expr>; 6]>),
    /// `{fd=, events=, revents=}`; revents 0 when not said.
    PollFd(Box<[At<Expr>; 3]>),
    /// `{events=, fd=}` and its relatives.
    EpollEvent {
        /// The events.
        events: Box<At<Expr>>,
        /// Which member of `epoll_data` is meant.
        member: EpollData,
        /// Its value.
        data: Box<At<Expr>>,
    },
    /// `{onoff=N, linger=N}`
    Linger {
        /// `l_onoff`.
        onoff: i64,
        /// `l_linger`, in seconds.
        linger: i64,
    },
    /// `{(label ...) ...}`
    MplsStack(Vec<MplsLabel>),
    /// `{flags ..., sum ..., ...}`
    Gre(Gre),
}

/// The members of `epoll_data_t`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum EpollData {
    Fd,
    Ptr,
    U32,
    U64,
}

/// A message header.
#[derive(Clone, PartialEq, Debug)]
pub struct MsgHdr {
    /// Number of buffers, as `msg_iov(N)` says.
    pub iov_len: At<i64>,
    /// The buffers: a list.
    pub iov: At<Expr>,
    /// The flags.
    pub flags: At<Expr>,
    /// Control messages: a list, empty when not said.
    pub control: At<Expr>,
}
