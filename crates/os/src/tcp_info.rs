//! The kernel's state of a connection: `struct tcp_info` of linux/tcp.h, by the kernel's names and in the kernel's
//! units.
//!
//! The structure only grows: the kernel fills the fields it has and returns the length, so a field beyond the length
//! is absent. Units: microseconds for names that end in `rtt`, `rto`, `ato`, `rttvar` and `_limited`, and for
//! `busy_time`; milliseconds for names that begin with `last_`, and for `total_rto_time`. Windows and `bytes` are
//! bytes; `snd_cwnd`, `unacked` and similar fields packets; rates bytes a second. The bits of bytes 6 and 7 are given
//! as fields. The last word of 6.18's structure is left out, because later kernels give it another meaning at the same
//! length.

use std::io;
use std::os::fd::AsFd;

use crate::sys::{self, SockOpt};

/// Room for the structure of kernels to come.
const ROOM: usize = 512;

/// One answer of the kernel.
#[derive(Clone, Copy, Debug)]
pub struct TcpInfo {
    bytes: [u8; ROOM],
    length: usize,
}

/// How a field lies in the structure.
#[derive(Clone, Copy, Debug)]
enum Form {
    U8,
    U16,
    U32,
    U64,
    /// Some bits of a byte: the lowest one, counted as on a little-endian machine, and how many.
    Bits(u8, u8),
}

use Form::{Bits, U8, U16, U32, U64};

/// Name, offset and form of each field.
const FIELDS: &[(&str, usize, Form)] = &[
    ("tcpi_state", 0, U8),
    ("tcpi_ca_state", 1, U8),
    ("tcpi_retransmits", 2, U8),
    ("tcpi_probes", 3, U8),
    ("tcpi_backoff", 4, U8),
    ("tcpi_options", 5, U8),
    ("tcpi_snd_wscale", 6, Bits(0, 4)),
    ("tcpi_rcv_wscale", 6, Bits(4, 4)),
    ("tcpi_delivery_rate_app_limited", 7, Bits(0, 1)),
    ("tcpi_fastopen_client_fail", 7, Bits(1, 2)),
    ("tcpi_rto", 8, U32),
    ("tcpi_ato", 12, U32),
    ("tcpi_snd_mss", 16, U32),
    ("tcpi_rcv_mss", 20, U32),
    ("tcpi_unacked", 24, U32),
    ("tcpi_sacked", 28, U32),
    ("tcpi_lost", 32, U32),
    ("tcpi_retrans", 36, U32),
    ("tcpi_fackets", 40, U32),
    ("tcpi_last_data_sent", 44, U32),
    ("tcpi_last_ack_sent", 48, U32),
    ("tcpi_last_data_recv", 52, U32),
    ("tcpi_last_ack_recv", 56, U32),
    ("tcpi_pmtu", 60, U32),
    ("tcpi_rcv_ssthresh", 64, U32),
    ("tcpi_rtt", 68, U32),
    ("tcpi_rttvar", 72, U32),
    ("tcpi_snd_ssthresh", 76, U32),
    ("tcpi_snd_cwnd", 80, U32),
    ("tcpi_advmss", 84, U32),
    ("tcpi_reordering", 88, U32),
    ("tcpi_rcv_rtt", 92, U32),
    ("tcpi_rcv_space", 96, U32),
    ("tcpi_total_retrans", 100, U32),
    ("tcpi_pacing_rate", 104, U64),
    ("tcpi_max_pacing_rate", 112, U64),
    ("tcpi_bytes_acked", 120, U64),
    ("tcpi_bytes_received", 128, U64),
    ("tcpi_segs_out", 136, U32),
    ("tcpi_segs_in", 140, U32),
    ("tcpi_notsent_bytes", 144, U32),
    ("tcpi_min_rtt", 148, U32),
    ("tcpi_data_segs_in", 152, U32),
    ("tcpi_data_segs_out", 156, U32),
    ("tcpi_delivery_rate", 160, U64),
    ("tcpi_busy_time", 168, U64),
    ("tcpi_rwnd_limited", 176, U64),
    ("tcpi_sndbuf_limited", 184, U64),
    ("tcpi_delivered", 192, U32),
    ("tcpi_delivered_ce", 196, U32),
    ("tcpi_bytes_sent", 200, U64),
    ("tcpi_bytes_retrans", 208, U64),
    ("tcpi_dsack_dups", 216, U32),
    ("tcpi_reord_seen", 220, U32),
    ("tcpi_rcv_ooopack", 224, U32),
    ("tcpi_snd_wnd", 228, U32),
    ("tcpi_rcv_wnd", 232, U32),
    ("tcpi_rehash", 236, U32),
    ("tcpi_total_rto", 240, U16),
    ("tcpi_total_rto_recoveries", 242, U16),
    ("tcpi_total_rto_time", 244, U32),
    ("tcpi_received_ce", 248, U32),
    ("tcpi_delivered_e1_bytes", 252, U32),
    ("tcpi_delivered_e0_bytes", 256, U32),
    ("tcpi_delivered_ce_bytes", 260, U32),
    ("tcpi_received_e1_bytes", 264, U32),
    ("tcpi_received_e0_bytes", 268, U32),
    ("tcpi_received_ce_bytes", 272, U32),
];

/// The names of all fields.
pub fn names() -> impl Iterator<Item = &'static str> {
    FIELDS.iter().map(|(name, ..)| *name)
}

/// Asks the kernel about a TCP socket.
///
/// # Errors
/// Those of getsockopt(2); `EOPNOTSUPP` when it is no TCP socket.
pub fn tcp_info(fd: impl AsFd) -> io::Result<TcpInfo> {
    let mut info = TcpInfo {
        bytes: [0; ROOM],
        length: 0,
    };
    info.length = sys::get_bytes(fd, SockOpt::INFO, &mut info.bytes)?;
    Ok(info)
}

impl TcpInfo {
    /// Room for an answer.
    pub const ROOM: usize = ROOM;

    /// The answer of getsockopt(2), of which the kernel has filled `length` bytes.
    pub fn of_bytes(bytes: [u8; ROOM], length: usize) -> Self {
        Self { bytes, length }
    }

    /// The fields that this kernel knows, in the order of the structure. A number beyond
    /// `i64::MAX` (`tcpi_max_pacing_rate` without a limit) is given as `i64::MAX`.
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, i64)> + '_ {
        let known = self.bytes.get(..self.length).unwrap_or_default();
        FIELDS
            .iter()
            .filter_map(|&(name, at, form)| Some((name, read(known.get(at..)?, form)?)))
    }

    /// One field by its name; `None` when this kernel does not know it.
    pub fn get(&self, name: &str) -> Option<i64> {
        self.fields().find(|f| f.0 == name).map(|f| f.1)
    }

    /// Bytes of the structure that the kernel has filled.
    pub fn length(&self) -> usize {
        self.length
    }
}

/// The number that begins at `bytes`, when it is there as a whole.
fn read(bytes: &[u8], form: Form) -> Option<i64> {
    Some(match form {
        U8 => (*bytes.first()?).into(),
        U16 => u16::from_ne_bytes(*bytes.first_chunk()?).into(),
        U32 => u32::from_ne_bytes(*bytes.first_chunk()?).into(),
        U64 => i64::try_from(u64::from_ne_bytes(*bytes.first_chunk()?)).unwrap_or(i64::MAX),
        Bits(low, count) => {
            // C compilers give the first bit field the lowest bits on little-endian machines,
            // the highest on big-endian ones.
            let shift = match cfg!(target_endian = "big") {
                true => 8 - low - count,
                false => low,
            };
            let mask = (1u16 << count) - 1;
            ((u16::from(*bytes.first()?) >> shift) & mask).into()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream, UdpSocket};

    fn made(length: usize) -> TcpInfo {
        let mut bytes = [0; ROOM];
        for (i, b) in bytes.iter_mut().enumerate() {
            *b = u8::try_from(i % 251).unwrap();
        }
        TcpInfo { bytes, length }
    }

    #[test]
    fn fields_lie_one_behind_the_other() {
        let mut end = 0;
        for &(name, at, form) in FIELDS {
            let size = match form {
                U8 | Bits(..) => 1,
                U16 => 2,
                U32 => 4,
                U64 => 8,
            };
            assert!(at % size == 0, "{name}");
            if !matches!(form, Bits(1.., _)) {
                assert_eq!(at, end, "{name}");
                end = at + size;
            }
        }
        assert_eq!(end, 276);
    }

    #[test]
    fn fields_beyond_the_length_are_absent() {
        let names = |n| made(n).fields().map(|f| f.0).collect::<Vec<_>>();
        assert_eq!(names(0), [""; 0]);
        assert_eq!(names(7).last(), Some(&"tcpi_rcv_wscale"));
        assert_eq!(names(11).last(), Some(&"tcpi_fastopen_client_fail"));
        // The structure of 2.6 to 3.14.
        assert_eq!(names(104).last(), Some(&"tcpi_total_retrans"));
        assert_eq!(names(280).len(), FIELDS.len());
        assert_eq!(names(usize::MAX), [""; 0]);
    }

    #[cfg(target_endian = "little")]
    #[test]
    fn values() {
        let info = made(280);
        assert_eq!(info.get("tcpi_options"), Some(5));
        assert_eq!(info.get("tcpi_snd_wscale"), Some(6));
        assert_eq!(info.get("tcpi_rcv_wscale"), Some(0));
        assert_eq!(info.get("tcpi_delivery_rate_app_limited"), Some(1));
        assert_eq!(info.get("tcpi_fastopen_client_fail"), Some(3));
        assert_eq!(info.get("tcpi_rto"), Some(0x0b0a_0908));
        assert_eq!(info.get("tcpi_total_rto"), Some(0xf1f0));
        let mut unlimited = info;
        unlimited.bytes[112..120].fill(0xff);
        assert_eq!(unlimited.get("tcpi_max_pacing_rate"), Some(i64::MAX));
        assert_eq!(info.get("tcpi_nothing"), None);
    }

    #[test]
    fn a_connection_of_this_machine() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let info = tcp_info(&client).unwrap();
        assert!(info.length() >= 104);
        assert_eq!(info.get("tcpi_state"), Some(1), "TCP_ESTABLISHED");
        assert!(info.get("tcpi_snd_mss").is_some_and(|mss| mss > 500));
        assert!(tcp_info(UdpSocket::bind("127.0.0.1:0").unwrap()).is_err());
    }
}
