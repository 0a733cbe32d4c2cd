//! What of a kernel's connection a frame may not change, by `struct tcp_info`.

use tcplab_os::tcp_info::TcpInfo;
use tcplab_wire::malformed::{Aim, Fate};

/// How long something was ago: it grows by itself.
const TIMES: [&str; 4] = [
    "tcpi_last_data_sent",
    "tcpi_last_ack_sent",
    "tcpi_last_data_recv",
    "tcpi_last_ack_recv",
];

/// Books of segments that are answered (RFC 9293 3.10.7.4): they are counted, and so are the answers.
const ANSWERED: [&str; 3] = ["tcpi_segs_in", "tcpi_segs_out", "tcpi_data_segs_in"];

/// A segment whose sum is wrong has been counted before `tcp_checksum_complete()` is asked (`tcp_v4_rcv()`).
const COUNTED: [&str; 2] = ["tcpi_segs_in", "tcpi_data_segs_in"];

/// Fields that frames of this fate may change at the connection that they are aimed at; at others they may change nothing.
fn may_change(aim: Aim, fate: Fate) -> &'static [&'static str] {
    match (aim, fate) {
        (Aim::Live, Fate::Harmless) => &ANSWERED,
        (Aim::Live, Fate::Refused) => &COUNTED,
        (Aim::Live, Fate::Any) | (Aim::Victim | Aim::Listener, _) => &[],
    }
}

/// The first field that changed and may not, with both values.
pub(super) fn harmed(before: &TcpInfo, after: &TcpInfo, aim: Aim, fate: Fate) -> Option<String> {
    let may = may_change(aim, fate);
    let must = |name: &str| !TIMES.contains(&name) && !may.contains(&name);
    let pairs = before.fields().zip(after.fields());
    let mut changed = pairs.filter(|(was, is)| must(was.0) && was.1 != is.1);
    changed
        .next()
        .map(|((name, was), (_, is))| format!("{name} changed from {was} to {is}"))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    use tcplab_os::tcp_info::tcp_info;

    use super::*;

    #[test]
    fn data_is_a_change_and_silence_is_not() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut host, _) = listener.accept().unwrap();
        let before = tcp_info(&host).unwrap();
        for aim in [Aim::Live, Aim::Victim, Aim::Listener] {
            for fate in [Fate::Refused, Fate::Harmless] {
                assert_eq!(harmed(&before, &tcp_info(&host).unwrap(), aim, fate), None);
            }
        }
        peer.write_all(b"x").unwrap();
        host.read_exact(&mut [0]).unwrap();
        let after = tcp_info(&host).unwrap();
        let what = harmed(&before, &after, Aim::Live, Fate::Harmless).unwrap();
        assert!(what.contains("tcpi_"), "{what}");
        assert!(harmed(&before, &after, Aim::Victim, Fate::Any).is_some());
    }
}
