//! One line of tcpdump's text: addresses, flags, numbers, options. The form is tcpdump 4's (`Flags [P.], seq 1:2`).
//! tcpdump 3's (`P 1:2(1) ack 1`) is read too, because old reports hold it.

use std::net::IpAddr;
use std::str::FromStr;

use tcplab_wire::{Endpoint, MAX_PAYLOAD, TcpFlags, TcpOptions};

use super::options;

/// What a line says about a TCP packet; numbers as printed, relative or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Line {
    pub src: Endpoint,
    pub dst: Endpoint,
    pub flags: TcpFlags,
    pub seq: Option<u32>,
    pub ack: Option<u32>,
    pub window: u16,
    pub urgent: u16,
    pub payload_len: u32,
    pub options: TcpOptions,
    /// Bytes that the options took.
    pub options_len: u8,
}

/// Kinds of lines.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Kind<'a> {
    /// A TCP packet, and what stood before it.
    Tcp(Line, &'a str),
    /// A TCP packet with names in place of numbers.
    Names,
    /// Another packet, and what stood before it.
    Other(&'a str),
    /// The first of two lines of `-v`: an IP header.
    Header(&'a str),
    /// A packet with a number that its field cannot hold: its name.
    Damaged(&'static str),
    /// No packet.
    Noise,
}

/// Without what a mail or a report puts before a line.
pub(crate) fn without_indent(line: &str) -> &str {
    line.trim_start_matches(['>', '|', ' ', '\t'])
}

/// Reads a line without its end.
pub(crate) fn read(line: &str) -> Kind<'_> {
    let line = without_indent(line);
    let Some((before, after)) = split(line) else {
        return other(line);
    };
    let mut words = before.rsplit(' ').filter(|w| !w.is_empty());
    let (dst, arrow, src) = (words.next(), words.next(), words.next());
    let (Some(dst), Some(">"), Some(src)) = (dst, arrow, src) else {
        return Kind::Noise;
    };
    let prefix = prefix_of(before, src, dst).unwrap_or_default();
    let (Some(src), Some(dst)) = (endpoint(src), endpoint(dst)) else {
        return Kind::Names;
    };
    match packet(src, dst, after) {
        Some(Ok(line)) => Kind::Tcp(line, prefix),
        Some(Err(field)) => Kind::Damaged(field),
        None => Kind::Noise,
    }
}

/// `before` without "SRC > DST" at its end.
fn prefix_of<'a>(before: &'a str, src: &str, dst: &str) -> Option<&'a str> {
    let rest = before.trim_end().strip_suffix(dst)?.trim_end();
    rest.strip_suffix('>')?.trim_end().strip_suffix(src)
}

/// At the colon between addresses and packet.
fn split(line: &str) -> Option<(&str, &str)> {
    if let Some(at) = line.find("Flags [")
        && let Some(before) = line.get(..at)?.trim_end().strip_suffix(':')
    {
        return Some((before, line.get(at..)?));
    }
    // tcpdump 3: "a.1 > b.2: S 1:1(0) win 5840 <mss 1460>", ". ack 1 win 5840".
    let arrow = line.find(" > ")?;
    let at = arrow + line.get(arrow..)?.find(": ")?;
    let (before, after) = (line.get(..at)?, line.get(at + 2..)?);
    let flags = after.split(' ').next()?;
    let old = !flags.is_empty() && flags.bytes().all(|b| b"SFRPWE.".contains(&b));
    old.then_some((before, after))
}

/// Lines about other packets begin, after the columns, with the protocol.
fn other(line: &str) -> Kind<'_> {
    let mut at = 0;
    for word in line.split_ascii_whitespace().take(12) {
        let here = line.get(at..).and_then(|l| l.find(word)).unwrap_or(0) + at;
        at = here + word.len();
        let prefix = line.get(..here).unwrap_or_default();
        match word {
            "IP" | "IP6" => {
                let rest = line.get(at..).unwrap_or_default().trim_start();
                let verbose = rest.starts_with("(tos ")
                    || rest.starts_with("(flowlabel ")
                    || rest.starts_with("(class ")
                    || rest.starts_with("(hlim ");
                if verbose && (rest.contains("TCP (6)") || rest.contains("proto TCP")) {
                    return Kind::Header(line);
                }
                return if rest.contains(" > ") || verbose {
                    Kind::Other(prefix)
                } else {
                    Kind::Noise
                };
            }
            "ARP," => return Kind::Other(prefix),
            // With -e and -v: the IP header follows the MAC addresses.
            "ethertype" if line.contains("proto TCP (6)") || line.contains("header TCP (6)") => {
                return Kind::Header(line);
            }
            "ethertype" if line.contains(" > ") => return Kind::Other(prefix),
            _ => {}
        }
    }
    Kind::Noise
}

/// `192.0.2.1.80`, `2001:db8::1.80`, `fe80::1%eth0.80`.
fn endpoint(text: &str) -> Option<Endpoint> {
    let (address, port) = text.rsplit_once('.')?;
    let address = address.split('%').next()?;
    let ip: IpAddr = address.parse().ok()?;
    let port = port.parse().ok()?;
    Some(Endpoint { ip, port })
}

/// The packet that `text` describes, or the field that holds too large a number; `None` when it describes none.
fn packet(src: Endpoint, dst: Endpoint, text: &str) -> Option<Result<Line, &'static str>> {
    let mut line = Line {
        src,
        dst,
        flags: TcpFlags::default(),
        seq: None,
        ack: None,
        window: 0,
        urgent: 0,
        payload_len: 0,
        options: TcpOptions::default(),
        options_len: 0,
    };
    let fields = match text.strip_prefix("Flags [") {
        Some(rest) => {
            let (letters, rest) = rest.split_once(']')?;
            line.flags = flags(letters)?;
            rest
        }
        None => {
            let (letters, rest) = text.split_once(' ')?;
            line.flags = flags(letters)?;
            rest
        }
    };
    let (fields, options) = without_options(fields);
    (line.options, line.options_len) = options::read(options);
    if let Err(field) = read_fields(fields, &mut line) {
        return Some(Err(field));
    }
    // A dot means ACK in tcpdump 4, "no other flag" in tcpdump 3; the field itself tells both.
    if line.ack.is_some() {
        line.flags.0 |= TcpFlags::ACK;
    } else {
        line.flags.0 &= !TcpFlags::ACK;
    }
    Some(Ok(line))
}

fn flags(letters: &str) -> Option<TcpFlags> {
    if letters == "none" {
        return Some(TcpFlags(0));
    }
    let bits = letters.bytes().try_fold(0, |bits, letter| {
        Some(
            bits | match letter {
                b'F' => TcpFlags::FIN,
                b'S' => TcpFlags::SYN,
                b'R' => TcpFlags::RST,
                b'P' => TcpFlags::PSH,
                b'.' => TcpFlags::ACK,
                b'U' => TcpFlags::URG,
                b'E' => TcpFlags::ECE,
                b'W' => TcpFlags::CWR,
                b'e' => TcpFlags::AE,
                _ => return None,
            },
        )
    });
    bits.map(TcpFlags)
}

/// Cuts the options out: `options [...]` or, in tcpdump 3, `<...>`.
fn without_options(fields: &str) -> ([&str; 2], &str) {
    let (open, close) = match fields.find("options [") {
        // Options print brackets of their own ("[bad opt]"), so the last one before the length ends them.
        Some(at) => (
            at + 9,
            fields.find("], length").or_else(|| fields.rfind(']')),
        ),
        None => match fields.find('<') {
            Some(at) => (at + 1, fields.rfind('>')),
            None => return ([fields, ""], ""),
        },
    };
    let close = close.filter(|c| *c >= open).unwrap_or(fields.len());
    let part = |range: std::ops::Range<usize>| fields.get(range).unwrap_or_default();
    let after = part(close..fields.len());
    ([part(0..open), after], part(open..close))
}

/// `seq 1:1025`, `ack 1`, `win 229`, `urg 5`, `length 1024`; in tcpdump 3 `1:1025(1024)`.
/// An error names the field whose number does not fit.
fn read_fields(parts: [&str; 2], line: &mut Line) -> Result<(), &'static str> {
    let words = parts.iter().flat_map(|p| p.split([' ', ',', ']']));
    let mut before = "";
    let mut length = None;
    for word in words.filter(|w| !w.is_empty()) {
        // What an application said may follow the length.
        let word = word.trim_end_matches(':');
        match before {
            "seq" => sequence(word, line, &mut length)?,
            "ack" => line.ack = number(word, "ack")?.or(line.ack),
            "win" => line.window = number(word, "win")?.unwrap_or(line.window),
            "urg" => line.urgent = number(word, "urg")?.unwrap_or(line.urgent),
            "length" => {
                if let Some(n) = number(word, "length")? {
                    length = Some(n);
                    break;
                }
            }
            _ if word.ends_with(')') && word.contains('(') && line.seq.is_none() => {
                sequence(word, line, &mut length)?;
            }
            _ => {}
        }
        before = word;
    }
    line.payload_len = length.unwrap_or(0);
    match line.payload_len {
        0..=MAX_PAYLOAD => Ok(()),
        _ => Err("length"),
    }
}

/// A number of the field `name`; `None` if the word is not a number. A number too large for the field is an error.
fn number<T: FromStr>(word: &str, name: &'static str) -> Result<Option<T>, &'static str> {
    match word.parse() {
        Ok(n) => Ok(Some(n)),
        Err(_) if !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit()) => Err(name),
        Err(_) => Ok(None),
    }
}

fn sequence(word: &str, line: &mut Line, length: &mut Option<u32>) -> Result<(), &'static str> {
    let (numbers, count) = word.split_once('(').unwrap_or((word, ""));
    let (first, last) = numbers.split_once(':').unwrap_or((numbers, ""));
    let Some(seq) = number::<u32>(first, "seq")? else {
        return Ok(());
    };
    line.seq = Some(seq);
    let count = number(count.trim_end_matches(')'), "seq")?;
    let last: Option<u32> = number(last, "seq")?;
    *length = count.or(last.map(|last| last.wrapping_sub(seq)));
    Ok(())
}

#[cfg(test)]
mod tests {
    use tcplab_base::Seq;

    use super::*;

    fn tcp(line: &str) -> (Line, &str) {
        match read(line) {
            Kind::Tcp(l, prefix) => (l, prefix),
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn a_line_of_tcpdump_4() {
        let (l, prefix) = tcp(
            "0.000042 0.000042 IP 192.0.2.1.12345 > 192.0.2.2.5201: Flags [P.], seq 1:1025, ack 1, win 229, options \
             [nop,nop,TS val 1 ecr 2], length 1024",
        );
        assert_eq!(prefix, "0.000042 0.000042 IP ");
        assert_eq!(
            (l.src.to_string(), l.dst.to_string()),
            ("192.0.2.1:12345".into(), "192.0.2.2:5201".into())
        );
        assert_eq!(l.flags, TcpFlags(TcpFlags::PSH | TcpFlags::ACK));
        assert_eq!(
            (l.seq, l.ack, l.window, l.payload_len),
            (Some(1), Some(1), 229, 1024)
        );
        assert_eq!((l.options.timestamps, l.options_len), (Some((1, 2)), 12));
    }

    #[test]
    fn options_and_flags() {
        let (l, _) = tcp(
            "IP6 2001:db8::1.80 > fe80::2%eth0.5201: Flags [S.EW], cksum 0x971f (incorrect -> 0xd8a0), seq 7, ack 9, win \
             64240, options [mss 1460,sackOK,TS val 3 ecr 4,nop,wscale 7], length 0",
        );
        assert_eq!(l.src.to_string(), "[2001:db8::1]:80");
        assert_eq!(l.dst.to_string(), "[fe80::2]:5201");
        assert_eq!(
            l.flags.0,
            TcpFlags::SYN | TcpFlags::ACK | TcpFlags::ECE | TcpFlags::CWR
        );
        assert_eq!(
            (
                l.options.mss,
                l.options.window_scale,
                l.options.sack_permitted
            ),
            (Some(1460), Some(7), true)
        );
        assert_eq!(
            (l.seq, l.ack, l.options_len, l.payload_len),
            (Some(7), Some(9), 20, 0)
        );
        let (l, _) = tcp(
            "IP 192.0.2.1.80 > 192.0.2.1.80: Flags [.], ack 1449, win 501, options [nop,nop,sack 2 {2897:4345}{5793:7241}], \
             length 0",
        );
        assert_eq!(
            l.options.sack.as_slice(),
            [(Seq(2897), Seq(4345)), (Seq(5793), Seq(7241))]
        );
        let (l, _) = tcp("IP 192.0.2.1.80 > 192.0.2.2.81: Flags [R], seq 77, win 0, length 0");
        assert_eq!((l.flags.0, l.seq, l.ack), (TcpFlags::RST, Some(77), None));
        let (l, _) = tcp(
            "IP 192.0.2.1.80 > 192.0.2.2.81: Flags [P.], seq 1:18, ack 1, win 5, length 17: HTTP: GET / seq 99",
        );
        assert_eq!((l.seq, l.payload_len), (Some(1), 17));
    }

    #[test]
    fn a_line_of_tcpdump_3() {
        let (l, prefix) = tcp(
            "12:00:00.000001 IP 192.0.2.1.80 > 192.0.2.2.81: P 1:21(20) ack 5 win 5840 <nop,nop,timestamp 1 2>",
        );
        assert_eq!(prefix, "12:00:00.000001 IP ");
        assert_eq!(
            (l.seq, l.ack, l.payload_len, l.window),
            (Some(1), Some(5), 20, 5840)
        );
        assert_eq!(l.options.timestamps, Some((1, 2)));
        assert_eq!(l.flags.0, TcpFlags::PSH | TcpFlags::ACK);
        let (l, _) =
            tcp("192.0.2.1.80 > 192.0.2.2.81: S 9:9(0) win 5840 <mss 1460,sackOK,wscale 2>");
        assert_eq!(
            (l.flags.0, l.seq, l.options.mss),
            (TcpFlags::SYN, Some(9), Some(1460))
        );
    }

    #[test]
    fn other_lines() {
        for (line, want) in [
            (
                "10:00:00.1 IP 192.0.2.1.5353 > 224.0.0.251.5353: 0 [2q] PTR (QM)? _ipp._tcp.local. (45)",
                Kind::Other("10:00:00.1 "),
            ),
            (
                "10:00:00.1 ARP, Request who-has 192.0.2.1 tell 192.0.2.2, length 28",
                Kind::Other("10:00:00.1 "),
            ),
            (
                "tcpdump: listening on eth0, link-type EN10MB (Ethernet), snapshot length 262144 bytes",
                Kind::Noise,
            ),
            (
                "\t0x0000:  4500 003c dc66 4000 4006 c764 c0a8 0ac8  E..<.f@.@..d....",
                Kind::Noise,
            ),
            ("10 packets captured", Kind::Noise),
            ("", Kind::Noise),
            (
                "The IP address > of the server: Flags are nice",
                Kind::Other("The "),
            ),
            (
                "IP host.example.http > 192.0.2.2.81: Flags [.], ack 1, win 1, length 0",
                Kind::Names,
            ),
        ] {
            assert_eq!(read(line), want, "{line}");
        }
        let header = "10:00:00.1 IP (tos 0x2,ECT(0), ttl 64, id 5, offset 0, flags [DF], proto TCP (6), length 60)";
        assert_eq!(read(header), Kind::Header(header));
    }
}
