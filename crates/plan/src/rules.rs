//! The bounds of an experiment's values, and the forms of its names: each rule once.
//!
//! The decoder of experiment files applies them where it can show the place in the file; [`crate::point`]'s check
//! applies them to a point, wherever that comes from.

pub(crate) use tcplab_base::quantity::MAX_TIME_NS;

/// A second.
pub(crate) const SECOND_NS: i64 = 1_000_000_000;
/// Longest text of a value that is not a file's title or the like.
pub(crate) const MAX_TEXT: usize = 1024;
/// Longest path of a file (`PATH_MAX` of Linux).
pub(crate) const MAX_PATH: usize = 4096;
/// All of something, in parts of a billion (10^9).
pub(crate) const ALL_PPB: u32 = 1_000_000_000;

/// Longest name in a file; groups and sets make longer ones of it.
pub(crate) const MAX_NAME: usize = 32;
/// Longest name at a point: a file's, `-down-CS564` of a set and `-1024` of a group.
pub(crate) const MAX_OWN_NAME: usize = 64;
/// Longest name of a sysctl, and of an axis (an axis is called as its key).
pub(crate) const MAX_SYSCTL: usize = 128;

/// Points of an experiment.
pub(crate) const MAX_POINTS: usize = 100_000;
/// Hosts at most, those of groups counted one by one.
pub(crate) const MAX_ALL_HOSTS: u64 = 1_024;
/// Links at most: Ethernet addresses have their number in 16 bits.
pub(crate) const MAX_ALL_LINKS: usize = 1 << 16;
/// Applications at most, those of groups counted one by one.
pub(crate) const MAX_ALL_APPS: usize = 1 << 18;

/// Samples of a link that a run may take, and samples of tcp_info of one connection.
pub(crate) const MOST_SAMPLES: i64 = 10_000_000;

/// A range of whole numbers, both ends included.
pub(crate) type Range = (u64, u64);

/// Bytes of an IP packet. The smallest packet that IPv4 must be able to send whole is 68 bytes (RFC 791 3.2).
pub(crate) const MTU: Range = (68, 65_535);
/// `quickack` of a route.
pub(crate) const ROUTE_QUICKACK: Range = (0, 1);
/// `initcwnd` and `initrwnd` of a route.
pub(crate) const ROUTE_WINDOW: Range = (1, 65_535);
/// `advmss` of a route.
pub(crate) const ROUTE_ADVMSS: Range = (48, 65_495);
/// Linux keeps `rto_min` of a route in whole milliseconds.
pub(crate) const MS_NS: i64 = 1_000_000;

/// Frames that a queue may hold at most.
pub(crate) const MAX_LIMIT: u32 = 10_000_000;
/// Listed events of one way at most.
pub(crate) const MAX_EVENTS: usize = 10_000;
/// The largest number of a listed frame.
pub(crate) const MAX_EVENT: u64 = 1_000_000_000_000;
/// Outages of one way at most: each frame is held against each of them.
pub(crate) const MAX_OUTAGES: usize = 100;
/// Rules of a middle box.
pub(crate) const MAX_REWRITES: usize = 20;
/// Injected segments of one way.
pub(crate) const MAX_INJECTS: usize = 100;
/// Bytes of an injected segment.
pub(crate) const INJECTED_DATA: Range = (1, 1_200);
/// What a middle box may write into the MSS option.
pub(crate) const MSS_OPTION: Range = (1, 65_535);
/// The largest sigma of a lognormal delay spike.
pub(crate) const MAX_SIGMA: f64 = 5.0;

/// Connections of one application at most.
pub(crate) const MAX_CONNECTIONS: u64 = 1_000_000;
/// Bytes of one write or read at most.
pub(crate) const MAX_CHUNK: u64 = 16 << 20;
/// Bytes of one message at most.
pub(crate) const MAX_MESSAGE: u64 = 1 << 30;
/// The largest payload of an UDP datagram over IPv4.
pub(crate) const MAX_DATAGRAM: u64 = 65_507;
/// Payload of a ping: its number has room.
pub(crate) const LEAST_PING: u64 = 4;
/// Repetitions at most.
pub(crate) const MAX_COUNT: u64 = 1_000_000_000;
/// Entries of `sizes` and `think` at most.
pub(crate) const MAX_PAGES: usize = 100_000;
/// Entries of `messages` at most.
pub(crate) const MAX_MESSAGES: usize = 10_000;

/// Series of a set at most: 64 flows each way and 4 pings.
pub(crate) const MAX_SERIES: usize = 2 * 64 + 4;
/// Time between two values of a set's series at least.
pub(crate) const LEAST_STEP_NS: i64 = 1_000_000;
/// Values of a set's series at most.
pub(crate) const MAX_STEPS: i64 = 100_000;

/// Names that measures use for something else.
pub(crate) const RESERVED: [&str; 2] = ["run", "link"];

/// Whether something of an experiment may be called so: nothing else becomes part of the name of a file or folder.
pub fn is_plain_name(name: &str) -> bool {
    is_name(name, MAX_OWN_NAME)
}

/// Whether a name has only what measures, paths and names of files may have.
pub(crate) fn is_name(text: &str, most: usize) -> bool {
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic());
    begins && text.len() <= most && text.bytes().all(is_word)
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b == b'-'
}

/// Why a host cannot set this sysctl. Nothing may reach beyond what a network namespace has of its own. No slash, no empty
/// part: the name becomes a path below /proc/sys/net.
pub(crate) fn bad_sysctl(name: &str) -> Option<&'static str> {
    let part = |p: &str| !p.is_empty() && p.bytes().all(is_word);
    let is_own = name.starts_with("net.") && name.split('.').all(part) && name.len() <= MAX_SYSCTL;
    match name {
        "net.ipv4.ip_forward" => {
            Some("write `forward = true` in the host's table: the routes need to know it")
        }
        _ if is_own => None,
        _ => Some(
            "a host can only set sysctls of its own network: `net.NAME` in quotes, such as `net.ipv4.NAME`",
        ),
    }
}

/// The name of a congestion control: TCP_CA_NAME_MAX is 16 with the final zero.
pub(crate) fn is_congestion(name: &str) -> bool {
    (1..=15).contains(&name.len()) && name.bytes().all(is_word)
}

pub(crate) const BAD_CONGESTION: &str =
    "the name of a congestion control has at most 15 letters, digits, `_` or `-`";

/// A file whose text is longer, or that moves a terminal's cursor, is no value.
pub(crate) fn bad_text(text: &str, most: usize) -> Option<String> {
    if text.len() > most {
        return Some(format!("is longer than {most} bytes"));
    }
    let has_control = text.contains(char::is_control);
    has_control.then(|| "holds a control character".to_owned())
}
