//! Sequence numbers that no honest sender uses.

use std::net::{IpAddr, Ipv4Addr};

use tcplab_analyze::{Analyzer, Options, Output};
use tcplab_base::{Instant, Seq};
use tcplab_wire::{Encap, Endpoint, Standing, TcpFlags, TcpOptions, TcpPacket};

fn packet(seq: u32, payload_len: u32) -> TcpPacket {
    let end = |last, port| Endpoint {
        ip: IpAddr::V4(Ipv4Addr::new(10, 0, 0, last)),
        port,
    };
    TcpPacket {
        src: end(1, 1000),
        dst: end(2, 80),
        seq: Seq(seq),
        ack: Seq(1),
        flags: TcpFlags(TcpFlags::ACK),
        window: 1000,
        urgent: 0,
        payload_len,
        header_len: 20,
        options: TcpOptions::default(),
        ecn: 0,
        ttl: 64,
        ip_id: Some(1),
        header_truncated: false,
        standing: Standing::Whole,
        encap: Encap::default(),
    }
}

#[test]
fn jumps_over_half_the_circle_begin_anew() {
    for jump in [
        1 << 31,
        (1 << 31) + 1,
        (1 << 31) - 1,
        1 << 30,
        (1 << 30) + 1,
        u32::MAX,
    ] {
        let mut a = Analyzer::new(Options::default());
        let seqs = [0, jump, 0, jump.wrapping_mul(2), jump];
        for (i, seq) in (1..).zip(seqs) {
            let at = Instant::from_nanos(i as i64 * 1_000_000);
            let mut p = packet(seq, 100);
            // The same number would make it a copy.
            p.ip_id = Some(i as u16);
            a.packet(i, Some(at), &p);
        }
        a.finish();
        let Some(Output::Stream(s)) = a.poll() else {
            panic!("no stream for {jump:#x}")
        };
        assert_eq!(
            s.server_to_client.data_segments + s.client_to_server.data_segments,
            5
        );
    }
}
