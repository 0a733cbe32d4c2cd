//! From the bytes of a frame to a [`TcpPacket`]: the walk from header to header.
//!
//! Each mechanism has its own file and is one step of the walk: it reads its header and says what comes next.
//! What counts as a TCP packet follows Wireshark 4.0's default settings, because users compare with it;
//! `docs/fidelity.md` lists what differs. Fragments are put together by [`Reassembler`](crate::Reassembler).

use std::net::{IpAddr, Ipv4Addr};

use crate::reassemble::Fragment;
use crate::rest::Rest;
use crate::{
    Encap, LinkType, Standing, TcpOptions, TcpPacket, caqm, ethernet, icmp, ipv4, ipv6, mpls, ppp,
    sll, tcp,
};
use crate::{links, null, tunnel, udp};

/// What the parser may be told.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// EtherType of the CAQM tag, 0x8200 by default; [`caqm_ethertype`](crate::caqm_ethertype) says which ones may be.
    pub caqm_ethertype: u16,
    /// Look for TCP inside GRE.
    pub gre: bool,
    /// Look for TCP inside VXLAN, Geneve, GTP-U, Teredo, L2TP and MPLS over UDP at their registered ports.
    pub udp_tunnels: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            caqm_ethertype: caqm::CAQM_ETHERTYPE,
            gre: true,
            udp_tunnels: true,
        }
    }
}

/// What a frame holds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Parsed {
    /// A TCP packet. Look at [`TcpPacket::standing`] before using its fields.
    Tcp(TcpPacket),
    /// Something else, by kind.
    NotTcp(NotTcp),
}

/// Why a frame gives no TCP packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum NotTcp {
    /// A link type that tcplab does not read.
    UnknownLink,
    /// ARP, LLDP, IPX...: no IP packet inside.
    NotIp,
    /// IP with another protocol: its number.
    OtherProtocol(u8),
    /// A fragment of an IP packet (RFC 791, RFC 8200 4.5) that belongs to TCP or to another protocol.
    Fragment,
    /// The capture ends before the header that would tell.
    Truncated,
    /// A header contradicts itself (IHL below 5, lengths past their container, too many layers ...).
    Malformed,
    /// TCP, but only its ports (4 to 15 bytes of the header) are there: in an ICMP error, or a capture cut
    /// that short. Wireshark counts it as a TCP packet that belongs to no stream.
    TcpStub,
}

impl Parsed {
    /// Whether Wireshark counts the frame as TCP (display filter `tcp`).
    #[inline]
    pub const fn is_tcp(&self) -> bool {
        matches!(self, Self::Tcp(_) | Self::NotTcp(NotTcp::TcpStub))
    }
}

/// A header that can come next.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Layer {
    Ethernet,
    EtherType(u16),
    Llc,
    Ppp,
    PppHdlc,
    PppoeSession,
    Mpls,
    Null,
    Sll,
    Sll2,
    /// IPv4 or IPv6, by the version nibble.
    Ip,
    Ipv4,
    Ipv6,
    /// The payload of an IP packet, by its protocol number.
    Protocol(u8),
}

/// The next header, and the bytes from there on.
pub(crate) type Step<'a> = Result<(Layer, Rest<'a>), NotTcp>;

/// What the headers read so far said.
#[derive(Debug)]
pub(crate) struct Walk<'a> {
    pub config: Config,
    /// An IP header was read.
    pub in_ip: bool,
    /// What the headers around the TCP packet tell; addresses come from the innermost IP header.
    pub context: tcp::Context,
    /// The fragment that ended the walk.
    pub fragment: Option<Fragment<'a>>,
    /// The ICMP error around what is being read.
    pub message: Option<icmp::Message>,
    /// The same with the TCP header that it quotes.
    pub icmp_error: Option<icmp::IcmpError>,
}

/// Headers that may be nested before we give up; each takes at least two bytes, most take more.
const MAX_LAYERS: u32 = 64;

/// Reads one frame. `data` is what was captured, `orig_len` the frame's length on the wire in bytes
/// (taken as `data.len()` when it is less).
#[inline]
pub fn parse_frame(link: LinkType, data: &[u8], orig_len: u32, config: &Config) -> Parsed {
    let mut parsed = Parsed::NotTcp(NotTcp::NotIp);
    if plain(link, data, orig_len, &mut parsed) {
        return parsed;
    }
    let rest = Rest::new(data, orig_len);
    let mut walk = Walk::new(config);
    match walk.walk(link, rest) {
        Ok(packet) => Parsed::Tcp(packet),
        Err(why) => Parsed::NotTcp(why),
    }
}

/// The frame that nearly all are: Ethernet, IPv4 without options and fragments, TCP. Straight through the headers, because
/// the general walk takes three times as long. Gives false for anything unusual, which is walked.
///
/// The packet is written where it will be read: a copy right after the writing waits for it.
#[inline(always)]
pub(crate) fn plain(link: LinkType, data: &[u8], orig_len: u32, out: &mut Parsed) -> bool {
    plain_packet(link, data, orig_len, out).is_some()
}

#[inline(always)]
fn plain_packet(link: LinkType, data: &[u8], orig_len: u32, out: &mut Parsed) -> Option<()> {
    const IP: usize = 14;
    const TCP: usize = IP + ipv4::MIN_LEN;
    let LinkType::Ethernet = link else {
        return None;
    };
    let head: &[u8; TCP + tcp::MIN_LEN] = data.first_chunk()?;
    let (ethernet, rest) = head.split_first_chunk::<IP>()?;
    let (ip, tcp) = rest.split_first_chunk::<{ ipv4::MIN_LEN }>()?;
    let tcp: &[u8; tcp::MIN_LEN] = tcp.first_chunk()?;
    let total = u32::from(u16::from_be_bytes([ip[2], ip[3]]));
    let is_plain = ethernet[12..] == [0x08, 0x00]
        && ip[0] == 0x45
        && ip[6] & 0x3f == 0
        && ip[7] == 0
        && ip[9] == tcp::PROTOCOL
        && total >= TCP as u32 - IP as u32 + tcp::MIN_LEN as u32;
    if !is_plain {
        return None;
    }
    let segment = Rest::new(data.get(TCP..)?, orig_len.saturating_sub(TCP as u32));
    let segment = segment.limit(total - ipv4::MIN_LEN as u32);
    let context = tcp::Context {
        src: IpAddr::V4(Ipv4Addr::new(ip[12], ip[13], ip[14], ip[15])),
        dst: IpAddr::V4(Ipv4Addr::new(ip[16], ip[17], ip[18], ip[19])),
        ecn: ip[1] & 3,
        ttl: ip[8],
        ip_id: Some(u16::from_be_bytes([ip[4], ip[5]])),
        encap: Encap::default(),
        first_fragment: false,
        quoted: false,
    };
    let end = usize::from(tcp::header_len(tcp));
    let options = segment.data().get(tcp::MIN_LEN..end)?;
    if segment.len() < end as u32 {
        return None;
    }
    let packet = tcp::without_options(&context, segment.len(), tcp, Standing::Whole);
    // Each writes all of `out` itself.
    if let Some(timestamps) = TcpOptions::only_timestamps(options) {
        *out = Parsed::Tcp(TcpPacket {
            options: TcpOptions {
                timestamps: Some(timestamps),
                ..TcpOptions::default()
            },
            ..packet
        });
    } else {
        *out = Parsed::Tcp(TcpPacket {
            options: TcpOptions::read(options),
            ..packet
        });
    }
    Some(())
}

/// The header that a link type's frames begin with.
#[inline]
pub(crate) fn first_layer(link: LinkType, rest: Rest<'_>) -> Step<'_> {
    let layer = match link {
        LinkType::Ethernet => Layer::Ethernet,
        LinkType::Null => Layer::Null,
        LinkType::Raw => Layer::Ip,
        LinkType::Sll => Layer::Sll,
        LinkType::Sll2 => Layer::Sll2,
        LinkType::Ipv4 => Layer::Ipv4,
        LinkType::Ipv6 => Layer::Ipv6,
        LinkType::Ppp => Layer::PppHdlc,
        LinkType::Other(number) => return links::first(number, rest),
    };
    Ok((layer, rest))
}

impl<'a> Walk<'a> {
    #[inline]
    pub(crate) fn new(config: &Config) -> Self {
        let nowhere = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        Self {
            config: *config,
            in_ip: false,
            context: tcp::Context {
                src: nowhere,
                dst: nowhere,
                ecn: 0,
                ttl: 0,
                ip_id: None,
                encap: Encap::default(),
                first_fragment: false,
                quoted: false,
            },
            fragment: None,
            message: None,
            icmp_error: None,
        }
    }

    /// What was read so far, to go on with other bytes.
    pub(crate) fn with_lifetime<'b>(&self) -> Walk<'b> {
        Walk {
            fragment: None,
            ..*self
        }
    }

    /// From the first header on.
    #[inline(never)]
    pub(crate) fn walk(&mut self, link: LinkType, rest: Rest<'a>) -> Result<TcpPacket, NotTcp> {
        let (layer, rest) = first_layer(link, rest)?;
        self.run(layer, rest)
    }

    /// From some header on.
    pub(crate) fn run(&mut self, first: Layer, rest: Rest<'a>) -> Result<TcpPacket, NotTcp> {
        let (mut layer, mut rest) = (first, rest);
        for _ in 0..MAX_LAYERS {
            (layer, rest) = match layer {
                Layer::Protocol(tcp::PROTOCOL) => {
                    if let Some(message) = &self.message {
                        let (src, dst) = (self.context.src, self.context.dst);
                        self.icmp_error = message.quotes(src, dst, rest);
                    }
                    return tcp::read(&self.context, rest);
                }
                Layer::Ethernet => ethernet::step(rest),
                Layer::EtherType(t) if t == self.config.caqm_ethertype => caqm::step(self, rest),
                Layer::EtherType(t) => ethernet::ethertype(self, t, rest),
                Layer::Llc => ethernet::llc(rest),
                Layer::Ppp => ppp::step(rest),
                Layer::PppHdlc => ppp::hdlc(rest),
                Layer::PppoeSession => ppp::pppoe(rest),
                Layer::Mpls => mpls::step(rest),
                Layer::Null => null::step(rest),
                Layer::Sll => sll::step(rest),
                Layer::Sll2 => sll::step2(rest),
                Layer::Ip => match rest.u8(0)? >> 4 {
                    4 => ipv4::step(self, rest),
                    6 => ipv6::step(self, rest),
                    _ => Err(NotTcp::Malformed),
                },
                Layer::Ipv4 => ipv4::step(self, rest),
                Layer::Ipv6 => ipv6::step(self, rest),
                Layer::Protocol(p) if ipv6::is_extension(p) => ipv6::extension(self, p, rest),
                Layer::Protocol(p) if icmp::is_icmp(p) => icmp::step(self, p, rest),
                Layer::Protocol(udp::PROTOCOL) if self.config.udp_tunnels => udp::step(rest),
                Layer::Protocol(p) => tunnel::step(&self.config, p, rest),
            }?;
        }
        Err(NotTcp::Malformed)
    }

    /// Notes the fields of an IP header, the innermost so far.
    #[inline]
    pub(crate) fn enter_ip(&mut self, src: IpAddr, dst: IpAddr) {
        let tunnels = &mut self.context.encap.tunnels;
        *tunnels = tunnels.saturating_add(u8::from(self.in_ip));
        self.in_ip = true;
        self.context.src = src;
        self.context.dst = dst;
    }
}
