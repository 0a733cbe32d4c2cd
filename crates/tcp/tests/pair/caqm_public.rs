//! CAQM against what was measured of the public host code (docs/caqm.md): tags behind the close, another type, the MSS before
//! the peer is known, ECN of accepted connections, hints in 32 bits.

use tcplab_tcp::{Caqm, ConnId, HostConfig, Segment};
use tcplab_wire::{CaqmInfo, TcpFlags};

use crate::caqm::{MSS, asks, judge, speaker, speakers, tags, write};
use crate::link::{MS, Pair, S, host};

/// Segments of data in each round trip of 200 us.
fn rounds(pair: &Pair, of: usize) -> Vec<usize> {
    let sent = pair.log.iter().filter(|l| l.1 == of && l.2.len > 0);
    let times: Vec<i64> = sent.map(|l| l.0.as_nanos()).collect();
    let apart = |a: &i64, b: &i64| b - a < MS / 10;
    times.chunk_by(apart).map(<[i64]>::len).collect()
}

fn half_close(pair: &mut Pair, host: usize, id: ConnId) {
    let done = pair.with(host, id, |ep, cx| ep.shutdown_write(cx));
    assert_eq!(done, Ok(()));
}

/// Feedback counts while data are still queued, whichever end has closed: 10 packets, then twice as many.
#[test]
fn grants_count_behind_the_close() {
    for counts_all in [false, true] {
        let doubles = vec![10, 20];
        // A segment each way: the window is no longer Reno's.
        let open = || {
            let (mut pair, client, server) =
                speakers(|h: &mut HostConfig| h.profile.caqm_counts_all = counts_all);
            assert_eq!(asks(&mut pair, client), 128);
            pair.log.clear();
            (pair, client, server)
        };
        // The sender closes: FIN-WAIT-1.
        let (mut pair, client, _) = open();
        write(&mut pair, client, u64::from(MSS) * 30);
        pair.close(0, client);
        pair.settle(S);
        assert_eq!(rounds(&pair, 0), doubles, "FIN-WAIT-1, {counts_all}");
        // The receiver has closed before: the sender is in CLOSE-WAIT, the receiver in FIN-WAIT-2.
        let (mut pair, client, server) = open();
        half_close(&mut pair, 1, server);
        pair.settle(MS);
        pair.log.clear();
        write(&mut pair, client, u64::from(MSS) * 30);
        pair.settle(S);
        assert_eq!(rounds(&pair, 0), doubles, "CLOSE-WAIT, {counts_all}");
        // Both have: LAST-ACK.
        let (mut pair, client, server) = open();
        half_close(&mut pair, 1, server);
        pair.settle(MS);
        pair.log.clear();
        write(&mut pair, client, u64::from(MSS) * 30);
        half_close(&mut pair, 0, client);
        pair.settle(S);
        assert_eq!(rounds(&pair, 0), doubles, "LAST-ACK, {counts_all}");
    }
}

/// Marks take window behind the close too.
#[test]
fn marks_count_behind_the_close() {
    for counts_all in [false, true] {
        let (mut pair, client, _) = speakers(|h| h.profile.caqm_counts_all = counts_all);
        pair.switch = Some(judge(0, |info| info.marked(false)));
        write(&mut pair, client, u64::from(MSS) * 20);
        pair.close(0, client);
        pair.settle(S);
        let sent = rounds(&pair, 0);
        assert_eq!(sent[0], 10, "{counts_all}");
        // Ten marks take five packets.
        assert!(sent[1] <= 5, "{counts_all}: {sent:?}");
    }
}

/// A refusal ends slow start in every state; the kernel checks it in ESTABLISHED only.
#[test]
fn a_refusal_ends_slow_start_behind_the_close() {
    for (as_kernel, starts) in [(false, false), (true, true)] {
        let (mut pair, client, _) = speakers(|h| h.profile.caqm_start_after_close = as_kernel);
        pair.switch = Some(judge(0, CaqmInfo::refused));
        write(&mut pair, client, u64::from(MSS) * 20);
        pair.close(0, client);
        pair.settle(S);
        let asked: Vec<u16> = tags(&pair, 0).iter().map(|(_, info)| info & 0xff).collect();
        assert_eq!(asked[..10], [128; 10]);
        assert_eq!(asked[10] == 128, starts, "{as_kernel}: {asked:?}");
    }
}

/// Feedback of another type says nothing: Reno goes on. The kernel takes it for feedback that grants
/// nothing.
#[test]
fn feedback_of_another_type() {
    for (as_kernel, right) in [(false, [10, 20]), (true, [10, 10])] {
        let (mut pair, client, _) = speakers(|h| h.profile.caqm_foreign_type_counts = as_kernel);
        pair.switch = Some(Box::new(|from, seg: &mut Segment| {
            if from == 1 && seg.caqm != Caqm::Plain {
                seg.caqm = Caqm::Tag(CaqmInfo::feedback(2, 255));
            }
        }));
        write(&mut pair, client, u64::from(MSS) * 30);
        pair.settle(S);
        assert_eq!(rounds(&pair, 0)[..2], right, "{as_kernel}");
        let starts = asks(&mut pair, client) == 128;
        assert_eq!(starts, !as_kernel, "{as_kernel}");
    }
}

/// The MSS of the handshake has room for a tag, since nobody knows yet that there will be none. It stays until the peer offers
/// more window than ever before.
#[test]
fn the_first_segments_to_a_host_without_caqm_are_shorter() {
    for (long, first) in [(false, MSS), (true, 1448)] {
        let mut client = speaker(1);
        client.profile.caqm_long_frames = long;
        let mut server = host(2);
        server.sysctl.tcp_rmem[1] = 1 << 16;
        let mut pair = Pair::of([client, server], 7);
        pair.delay_ns = MS;
        let (id, reader) = pair.established();
        pair.settle(MS);
        pair.log.clear();
        for _ in 0..30 {
            let _ = pair.with(0, id, |ep, cx| ep.write(cx, 100_000, false));
            pair.run(10 * MS);
            pair.with(1, reader, |ep, cx| ep.read(cx, 1 << 20));
        }
        let sent = pair.log.iter().filter(|l| l.1 == 0 && l.2.len >= MSS);
        let sizes: Vec<u32> = sent.map(|l| l.2.len).collect();
        let shorter = sizes.iter().take_while(|&&len| len == MSS).count();
        assert_eq!(sizes[0], first);
        assert_eq!(shorter >= 10, !long, "{shorter}");
        // A queued super-segment may end in a short one.
        let rest = &sizes[shorter..];
        assert!(rest.contains(&1448) && !rest.contains(&MSS), "{rest:?}");
    }
}

/// A server whose host has CAQM enabled, and a client that asks for ECN; all data are marked.
#[test]
fn an_accepted_connection_echoes_marks() {
    for (enabled, as_kernel, echoes) in [
        (true, false, true),
        (true, true, false),
        (false, true, true),
    ] {
        let mut client = host(1);
        client.sysctl.tcp_ecn = 1;
        let mut server = host(2);
        server.sysctl.sysctl_caqm_enable = enabled;
        server.profile.caqm_child_loses_ecn = as_kernel;
        let mut pair = Pair::of([client, server], 7);
        pair.switch = Some(Box::new(|from, seg: &mut Segment| {
            if from == 0 && seg.len > 0 {
                seg.tos |= Segment::CE;
            }
        }));
        let (id, _) = pair.established();
        assert!(pair.log[1].2.flags.has(TcpFlags::ECE), "it agrees");
        pair.log.clear();
        write(&mut pair, id, 10_000);
        pair.settle(S);
        let mut acks = pair.log.iter().filter(|l| l.1 == 1);
        let echoed = acks.any(|l| l.2.flags.has(TcpFlags::ECE));
        assert_eq!(echoed, echoes, "{enabled} {as_kernel}");
    }
}

/// alpha x unit x RTT does not fit into 32 bits. The kernel keeps the whole units that fit. The rest never leaves the
/// carry, so each hint is one more. 32,767 / 8 x 1,024 / (10 x 128) is 3,276.
#[test]
fn a_product_that_wraps_leaves_a_carry_without_end() {
    for (as_kernel, right) in [(false, 255), (true, 6)] {
        let (mut pair, client, _) = speakers(|h| {
            h.profile.caqm_hint_32bit = as_kernel;
            h.sysctl.sysctl_caqm_alpha_fx_8 = 32_767;
            h.sysctl.sysctl_caqm_data_hint_unit = 128;
            // Far from the measured one, so it stands for it.
            h.sysctl.sysctl_caqm_rtt_standard = 30_000;
        });
        pair.switch = Some(judge(0, CaqmInfo::refused));
        write(&mut pair, client, u64::from(MSS) * 10);
        pair.settle(S);
        pair.log.clear();
        write(&mut pair, client, u64::from(MSS) * 10);
        pair.settle(S);
        let asked: Vec<u16> = tags(&pair, 0).iter().map(|(_, info)| info & 0xff).collect();
        assert_eq!(asked, vec![right; 10], "{as_kernel}");
    }
}
