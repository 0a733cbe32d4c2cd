//! Tokens.

use std::borrow::Cow;

use crate::script::Place;

/// A piece of a script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Token<'a> {
    /// What it is.
    pub kind: Kind<'a>,
    /// Where it begins.
    pub place: Place,
    /// Its first byte in the text.
    pub start: usize,
    /// The byte after it.
    pub end: usize,
}

/// What a token is, with its text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind<'a> {
    /// A word that the language knows.
    Keyword(&'a str),
    /// Any other word.
    Word(&'a str),
    /// `--name`, without the dashes.
    Option(&'a str),
    /// A decimal number.
    Int(&'a str),
    /// A hexadecimal number.
    Hex(&'a str),
    /// The number that a symbol stands for, with its text.
    Number(&'a str, i64),
    /// A number with a point.
    Float(&'a str),
    /// `"..."`: what is inside, escapes as written.
    Str(&'a str),
    /// A shell line: what is inside.
    Shell(&'a str),
    /// Code: what is inside.
    Code(&'a str),
    /// `#ifdef NAME`: the name.
    Ifdef(&'a str),
    /// `#endif`
    Endif,
    /// An IPv4 address.
    Ipv4(&'a str),
    /// An IPv6 address.
    Ipv6(&'a str),
    /// `...`
    Ellipsis,
    /// Anything else.
    Char(char),
}

/// The words that the language knows; they are never symbols.
pub const KEYWORDS: &[&str] = &[
    "sa_family",
    "sin_port",
    "sin_addr",
    "msg_name",
    "msg_iov",
    "iov_base",
    "iov_len",
    "msg_flags",
    "msg_control",
    "cmsg_data",
    "cmsg_len",
    "cmsg_level",
    "cmsg_type",
    "ee_errno",
    "ee_origin",
    "ee_type",
    "ee_code",
    "ee_info",
    "ee_data",
    "scm_sec",
    "scm_nsec",
    "fd",
    "u32",
    "u64",
    "ptr",
    "events",
    "revents",
    "onoff",
    "linger",
    "htons",
    "ipv4",
    "ipv6",
    "icmp",
    "udp",
    "GREv0",
    "gre",
    "raw",
    "sum",
    "off",
    "key",
    "seq",
    "none",
    "checksum",
    "sequence#",
    "present",
    "encap",
    "psp",
    "spi",
    "mpls",
    "label",
    "tc",
    "ttl",
    "hlim",
    "class",
    "inet_addr",
    "inet6_addr",
    "ack",
    "eol",
    "ecr",
    "mss",
    "mtu",
    "nop",
    "sack",
    "sackOK",
    "md5",
    "TS",
    "FO",
    "FOEXP",
    "ECN",
    "e0b",
    "e1b",
    "ceb",
    "tos",
    "flowlabel",
    "flags",
    "Flags",
    "val",
    "win",
    "urg",
    "wscale",
    "ect01",
    "ect0",
    "ect1",
    "noecn",
    "ce",
    "id",
];

impl<'a> Kind<'a> {
    /// A word, which may be one that the language knows.
    pub(super) fn word(text: &'a str) -> Self {
        match KEYWORDS.contains(&text) {
            true => Kind::Keyword(text),
            false => Kind::Word(text),
        }
    }

    /// Whether it is this keyword, sign or `...`.
    pub fn is(&self, what: &str) -> bool {
        match *self {
            Kind::Keyword(word) => word == what,
            Kind::Char(c) => what.strip_prefix(c) == Some(""),
            Kind::Ellipsis => what == "...",
            _ => false,
        }
    }

    /// For messages: the token as it is written, long ones cut.
    pub fn shown(&self) -> Cow<'static, str> {
        match *self {
            Kind::Keyword(s)
            | Kind::Word(s)
            | Kind::Int(s)
            | Kind::Hex(s)
            | Kind::Number(s, _)
            | Kind::Float(s)
            | Kind::Ipv4(s)
            | Kind::Ipv6(s) => format!("`{}`", cut(s)).into(),
            Kind::Option(s) => format!("`--{}`", cut(s)).into(),
            Kind::Str(s) => format!("the string \"{}\"", cut(s)).into(),
            Kind::Shell(s) => format!("the shell line `{}`", cut(s)).into(),
            Kind::Code(_) => "a block of code".into(),
            Kind::Ifdef(name) => format!("`#ifdef {}`", cut(name)).into(),
            Kind::Endif => "`#endif`".into(),
            Kind::Ellipsis => "`...`".into(),
            Kind::Char(c) => format!("`{}`", c.escape_debug()).into(),
        }
    }
}

fn cut(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(40) {
        None if line.len() == text.len() => line.to_string(),
        None => format!("{line}..."),
        Some((at, _)) => format!("{}...", &line[..at]),
    }
}
