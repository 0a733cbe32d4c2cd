//! The delayed-ACK state of a socket as the kernel has it: `/proc/net/tcp` and `/proc/net/tcp6`.
//!
//! Linux get_tcp4_sock() and get_tcp6_sock() print for each connection, after the inode: the
//! references, the address of the socket, the RTO, the ATO, `(icsk_ack.quick << 1) | pingpong`, the
//! congestion window and the slow-start threshold. No root is needed. getsockopt(TCP_QUICKACK)
//! tells only `!pingpong`; these lines also show the credits running out.
//!
//! Sockets in SYN_RECV and TIME_WAIT lack these columns.
//!
//! A look-up is expensive: the kernel walks its hash table, about 7 ns for each of 2^18 empty
//! buckets on a machine with 24 GB, some microseconds in a small guest. So the reader asks for one
//! line at a time (seq_file goes on where it stopped) and stops after the wanted line. One buffer
//! is reused; lines are not allocated.

use std::fs::File;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::fs::FileExt;

/// What the kernel knows about the ACKs of one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckState {
    /// ACKs that will still be sent at once (`icsk_ack.quick`).
    pub quick: u32,
    /// Interactive mode: Interactive mode: ACKs wait for data to ride on, even if `quick` is above 0.
    pub pingpong: bool,
    /// The delayed-ACK interval (`icsk_ack.ato`) in ticks of [`TICK_NS`]; the kernel rounds down.
    pub ato_ticks: u32,
    /// The retransmission timeout (`icsk_rto`) in ticks of [`TICK_NS`]; the kernel rounds down.
    pub rto_ticks: u32,
    /// The congestion window in packets.
    pub cwnd: u32,
}

/// Nanoseconds of a tick in `/proc`: Linux shows jiffies as USER_HZ (100 a second on every
/// architecture but Alpha), independent of the kernel's HZ.
pub const TICK_NS: i64 = 10_000_000;

/// Bytes of a line of IPv4, and of a read: with more the kernel would walk on for the next line.
const LINE: usize = 150;

/// Room for a line; those of IPv6 have some 200 bytes.
const BUFFER: usize = 4096;

/// Columns of a line between white space, counted from 0 (`12: local remote 01 ...`).
const COLUMN_INODE: usize = 9;
const COLUMN_RTO: usize = 12;
const COLUMN_ATO: usize = 13;
const COLUMN_QUICK: usize = 14;
const COLUMN_CWND: usize = 15;

/// The tables of one network namespace, kept open.
#[derive(Debug)]
pub struct ProcTcp {
    v4: File,
    /// Absent in a kernel without IPv6.
    v6: Option<File>,
    buffer: Box<[u8]>,
}

impl ProcTcp {
    /// Opens the tables of the calling thread's network namespace. They go on showing that
    /// namespace, also when the thread moves to another one.
    ///
    /// # Errors
    /// When `/proc` is not mounted or does not show them.
    pub fn open() -> io::Result<Self> {
        let v6 = match File::open("/proc/thread-self/net/tcp6") {
            Ok(file) => Some(file),
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            Err(e) => return Err(e),
        };
        Ok(Self {
            v4: File::open("/proc/thread-self/net/tcp")?,
            v6,
            buffer: vec![0; BUFFER].into_boxed_slice(),
        })
    }

    /// The connection between these addresses. `local` is the end of the wanted socket (on the loopback interface both
    /// ends are in the table). `None` without such a connection, or when it is in a state without these values.
    ///
    /// # Errors
    /// When the table cannot be read.
    pub fn find(&mut self, local: SocketAddr, remote: SocketAddr) -> io::Result<Option<AckState>> {
        // An IPv4 connection of an IPv6 socket is in IPv6's table (RFC 4291 2.5.5.2), and
        // getsockname(2) gives its address so: look there first, each table costs its time.
        let plain = (unmapped(local), unmapped(remote));
        let wide = (mapped(local), mapped(remote));
        let order = match local {
            SocketAddr::V4(_) => [(true, plain), (false, wide)],
            SocketAddr::V6(_) => [(false, wide), (true, plain)],
        };
        for (is_v4, (local, remote)) in order {
            let table = match (is_v4, &self.v6) {
                (true, _) if local.is_ipv4() => &self.v4,
                (false, Some(v6)) => v6,
                _ => continue,
            };
            let key = Key::new(local, remote);
            if let Some(state) = search(table, &mut self.buffer, |line| key.is_in(line))? {
                return Ok(Some(state));
            }
        }
        Ok(None)
    }

    /// The connection of the socket with this inode (fstat(2) of its descriptor).
    ///
    /// # Errors
    /// When the table cannot be read.
    pub fn find_inode(&mut self, inode: u64) -> io::Result<Option<AckState>> {
        let wanted = |line: &[u8]| column(line, COLUMN_INODE).and_then(number) == Some(inode);
        if let Some(state) = search(&self.v4, &mut self.buffer, wanted)? {
            return Ok(Some(state));
        }
        match &self.v6 {
            Some(v6) => search(v6, &mut self.buffer, wanted),
            None => Ok(None),
        }
    }
}

/// The two addresses of a connection as the table prints them.
struct Key {
    text: [u8; Self::ROOM],
    length: usize,
}

impl Key {
    /// Twice 32 digits, a colon and 4 digits, and a space between.
    const ROOM: usize = 2 * (32 + 1 + 4) + 1;

    fn new(local: SocketAddr, remote: SocketAddr) -> Self {
        let mut key = Self {
            text: [0; Self::ROOM],
            length: 0,
        };
        let mut rest = &mut key.text[..];
        let written = put(&mut rest, local)
            .and_then(|()| rest.write_all(b" "))
            .and_then(|()| put(&mut rest, remote));
        let left = rest.len();
        // Too long it cannot be; nothing would be found then.
        key.length = written.map_or(0, |()| Self::ROOM - left);
        key
    }

    fn is_in(&self, line: &[u8]) -> bool {
        let text = self.text.get(..self.length).unwrap_or_default();
        // Without leading spaces, number and colon: `  12: `.
        let at = line.iter().position(|&b| b == b':').map(|at| at + 2);
        at.and_then(|at| line.get(at..))
            .is_some_and(|rest| !text.is_empty() && rest.starts_with(text))
    }
}

/// An address as the kernel prints it: each word of 32 bits in the machine's own order.
fn put(to: &mut impl Write, address: SocketAddr) -> io::Result<()> {
    match address.ip() {
        IpAddr::V4(ip) => write!(to, "{:08X}", u32::from_ne_bytes(ip.octets()))?,
        IpAddr::V6(ip) => {
            for word in ip.octets().as_chunks().0 {
                write!(to, "{:08X}", u32::from_ne_bytes(*word))?;
            }
        }
    }
    write!(to, ":{:04X}", address.port())
}

fn unmapped(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

fn mapped(address: SocketAddr) -> SocketAddr {
    let wide = |ip: Ipv4Addr| IpAddr::V6(ip.to_ipv6_mapped());
    match address {
        SocketAddr::V4(v4) => SocketAddr::new(wide(*v4.ip()), v4.port()),
        SocketAddr::V6(_) => address,
    }
}

/// Reads a table from its beginning until a line is wanted.
fn search(
    table: &impl ReadAt,
    buffer: &mut [u8],
    mut wanted: impl FnMut(&[u8]) -> bool,
) -> io::Result<Option<AckState>> {
    let (mut offset, mut held) = (0, 0);
    loop {
        let end = buffer.len().min(held + LINE);
        let room = buffer.get_mut(held..end).unwrap_or_default();
        // The kernel writes no line that fills the whole buffer.
        if room.is_empty() {
            return Ok(None);
        }
        let got = match table.read_at(room, offset) {
            Ok(got) => got,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        offset += got as u64;
        let filled = buffer.get(..held + got).unwrap_or_default();
        let whole = match filled.iter().rposition(|&b| b == b'\n') {
            Some(at) => at + 1,
            // The end, without a line feed.
            None if got == 0 => filled.len(),
            None => 0,
        };
        let mut lines = filled[..whole].split(|&b| b == b'\n');
        if let Some(line) = lines.find(|line| wanted(line)) {
            return Ok(state(line));
        }
        if got == 0 {
            return Ok(None);
        }
        let end = filled.len();
        buffer.copy_within(whole..end, 0);
        held = end - whole;
    }
}

/// What can be read at an offset.
trait ReadAt {
    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize>;
}

impl ReadAt for File {
    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        FileExt::read_at(self, into, offset)
    }
}

/// What a line says; `None` when it lacks the columns.
fn state(line: &[u8]) -> Option<AckState> {
    let narrow = |at| u32::try_from(column(line, at).and_then(number)?).ok();
    let acks = narrow(COLUMN_QUICK)?;
    Some(AckState {
        quick: acks >> 1,
        pingpong: acks & 1 == 1,
        ato_ticks: narrow(COLUMN_ATO)?,
        rto_ticks: narrow(COLUMN_RTO)?,
        cwnd: narrow(COLUMN_CWND)?,
    })
}

/// A column between white space.
fn column(line: &[u8], number: usize) -> Option<&[u8]> {
    line.split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
        .nth(number)
}

/// A decimal number.
fn number(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;

    /// Lines as Linux 6.1 prints them: a listener, two ends of a connection, TIME_WAIT.
    const LINES: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:04D2 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1575 1 000000008ab5eaef 100 0 0 10 0
   1: 0100007F:04D2 0100007F:9C78 01 00000000:00000000 00:00000000 00000000     0        0 1576 1 0000000000000000 20 4 30 10 -1
   2: 0100007F:9C78 0100007F:04D2 01 00000000:00000000 00:00000000 00000000  1000        0 1577 2 0000000000000000 21 5 7 11 7
  10: 0100007F:AD05 0100007F:04D2 06 00000000:00000000 03:00000B11 00000000     0        0 0 3 000000001f3d7139
";

    /// As the kernel pads them.
    fn table() -> String {
        LINES.lines().map(|line| format!("{line:<149}\n")).collect()
    }

    /// Gives at most so many bytes a read, as the kernel does with a page.
    struct Pages<'a>(&'a [u8], usize);

    impl ReadAt for Pages<'_> {
        fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
            let rest = &self.0[self.0.len().min(offset as usize)..];
            let got = rest.len().min(into.len()).min(self.1);
            into[..got].copy_from_slice(&rest[..got]);
            Ok(got)
        }
    }

    fn find(table: &[u8], page: usize, room: usize, key: &Key) -> Option<AckState> {
        let mut buffer = vec![0; room];
        search(&Pages(table, page), &mut buffer, |l| key.is_in(l)).unwrap()
    }

    fn key(local: &str, remote: &str) -> Key {
        Key::new(local.parse().unwrap(), remote.parse().unwrap())
    }

    #[test]
    fn values_of_both_ends_whatever_a_read_gives() {
        let (server, client) = ("127.0.0.1:1234", "127.0.0.1:40056");
        let of = |quick, pingpong, ato_ticks, rto_ticks, cwnd| AckState {
            quick,
            pingpong,
            ato_ticks,
            rto_ticks,
            cwnd,
        };
        for page in [1, 7, 150, 151, 4096] {
            for room in [200, 4096] {
                let found = |a, b| find(table().as_bytes(), page, room, &key(a, b));
                assert_eq!(found(server, client), Some(of(15, false, 4, 20, 10)));
                assert_eq!(found(client, server), Some(of(3, true, 5, 21, 11)));
                // TIME_WAIT; another port; one that is the beginning of another one.
                assert_eq!(found("127.0.0.1:44293", server), None);
                assert_eq!(found(server, "127.0.0.1:40057"), None);
                assert_eq!(found("127.0.0.2:1234", client), None);
            }
        }
    }

    #[test]
    fn by_inode() {
        let mut buffer = vec![0; 500];
        let text = table();
        let table = Pages(text.as_bytes(), 300);
        let of = |inode| move |l: &[u8]| column(l, COLUMN_INODE).and_then(number) == Some(inode);
        let found = search(&table, &mut buffer, of(1577)).unwrap();
        assert_eq!(found.map(|s| s.quick), Some(3));
        assert_eq!(search(&table, &mut buffer, of(1)).unwrap(), None);
    }

    #[test]
    fn ipv6_addresses_are_four_words() {
        let table = "   0: 00000000000000000000000001000000:04D2 B80D0120000000000000000001000000:0001 01 \
                     0:0 0:0 0 0 0 1576 1 0 20 4 30 10 -1\n";
        let found = |a, b| find(table.as_bytes(), 4096, 4096, &key(a, b));
        assert_eq!(
            found("[::1]:1234", "[2001:db8::1]:1").map(|s| s.quick),
            Some(15)
        );
        assert_eq!(found("[::2]:1234", "[2001:db8::1]:1"), None);
    }

    #[test]
    fn other_text_is_no_state() {
        let key = key("127.0.0.1:1234", "127.0.0.1:40056");
        let long = [b'x'; 10_000];
        let text = table();
        let cut = &text.as_bytes()[..text.len() / 2];
        let odd = text.replace(" 30 10", " x 10");
        let huge = text.replace(" 30 10", " 99999999999999999999 10");
        for table in [
            &b""[..],
            b"\n",
            b":",
            b"1: ",
            &long,
            odd.as_bytes(),
            huge.as_bytes(),
        ] {
            assert_eq!(find(table, 4096, 4096, &key), None);
        }
        // No line feed at the end.
        assert!(find(cut, 10, 4096, &key).is_none());
        assert!(find(text.trim_end().as_bytes(), 10, 4096, &key).is_some());
    }

    #[test]
    fn this_machine_knows_its_connections() {
        let mut table = ProcTcp::open().unwrap();
        for address in ["127.0.0.1:0", "[::]:0"] {
            // A machine without IPv6 has no second listener.
            let Ok(listener) = TcpListener::bind(address) else {
                continue;
            };
            let port = listener.local_addr().unwrap().port();
            let client = TcpStream::connect(("127.0.0.1", port)).unwrap();
            let (server, _) = listener.accept().unwrap();
            for end in [&client, &server] {
                let (local, remote) = (end.local_addr().unwrap(), end.peer_addr().unwrap());
                let state = table.find(local, remote).unwrap().expect("it is connected");
                assert!(!state.pingpong && state.cwnd > 0 && state.rto_ticks > 0);
                let inode = nix::sys::stat::fstat(end.as_fd()).unwrap().st_ino;
                assert_eq!(table.find_inode(inode).unwrap(), Some(state));
            }
            let (local, remote) = (client.local_addr().unwrap(), client.peer_addr().unwrap());
            drop((client, server));
            let gone = table.find(local, remote).unwrap();
            assert!(gone.is_none_or(|s| s.ato_ticks == 0), "{gone:?}");
        }
    }
}
