//! What is written straight is what `serde_json` writes.

use super::*;

#[track_caller]
fn same(stream: &Stream) {
    let mut ours = Vec::new();
    write(&mut ours, stream);
    let theirs = serde_json::to_string(stream).unwrap();
    assert_eq!(String::from_utf8(ours).unwrap(), theirs);
}

/// Different numbers for all fields, by a counter.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 += 1;
        // 1 to 20 digits in turn.
        10_u64
            .saturating_pow((self.0 % 20) as u32)
            .saturating_add(self.0)
    }

    fn small(&mut self) -> u32 {
        self.next() as u32
    }

    fn rtt(&mut self) -> Rtt {
        Rtt {
            min: self.small(),
            p50: self.small(),
            p95: self.small(),
            max: self.small(),
            samples: self.next(),
        }
    }

    fn spread(&mut self) -> Spread {
        Spread {
            min: self.small(),
            p50: self.small(),
            max: self.small(),
        }
    }

    fn acks(&mut self) -> AcksSent {
        let mode = |mode, n: &mut Self| AckMode {
            mode,
            from_segment: n.next(),
            from_byte: n.next(),
            acks: n.next(),
            mean_us: n.small(),
        };
        AcksSent {
            total: self.next(),
            immediate: self.next(),
            second_segment: self.next(),
            delayed: self.next(),
            piggybacked: self.next(),
            other: self.next(),
            first_delayed_segment: Some(self.next()),
            immediate_us: self.spread(),
            delayed_us: self.spread(),
            path_us: Some(self.small()),
            since_last_us: Some(self.spread()),
            modes: vec![mode(Mode::Quick, self), mode(Mode::Delayed, self)],
        }
    }

    fn episodes(&mut self) -> Vec<Episode> {
        use EpisodeKind as K;
        use SpuriousEvidence as S;
        [
            (K::Fast, Some(S::Dsack)),
            (K::Rto, Some(S::Timestamps)),
            (K::Tlp, Some(S::AckTooSoon)),
            (K::Other, None),
        ]
        .map(|(kind, spurious)| Episode {
            kind,
            packet: self.next(),
            start_ns: -(self.next() as i64 / 2),
            duration_us: spurious.map(|_| self.next()),
            retransmissions: self.small(),
            spurious,
        })
        .to_vec()
    }

    fn tags(&mut self) -> CaqmTags {
        CaqmTags {
            requests: self.next(),
            granted: self.next(),
            refused: self.next(),
            marked: self.next(),
            contradictory: self.next(),
            last_hop: self.next(),
            asked_bytes: self.next(),
            granted_bytes: self.next(),
            taken_bytes: self.next(),
            feedback: self.next(),
            feedback_plus_bytes: self.next(),
            feedback_minus_bytes: self.next(),
            foreign: self.next(),
            on_syn: self.next(),
            oversize: self.next(),
        }
    }

    fn more(&mut self) -> DirectionMore {
        DirectionMore {
            unique_bytes: self.next(),
            goodput_bps: self.next(),
            max_payload_bytes: self.next(),
            max_in_flight_bytes: self.next(),
            window_bytes: Some((self.next(), self.next())),
            mss: Some(self.next() as u16),
            window_scale: Some(self.next() as u8),
            sack_permitted: true,
            timestamps: true,
            dsacks: self.next(),
            zero_window_probes: self.next(),
            keep_alives: self.next(),
            window_updates: self.next(),
            window_full: self.next(),
            rtt_ts_us: Some(self.rtt()),
            ecn_ect: self.next(),
            ecn_ce: self.next(),
            ecn_ece: self.next(),
            ecn_cwr: self.next(),
            caqm: self.next(),
            caqm_tags: Some(Box::new(self.tags())),
            episodes: self.episodes(),
            episodes_not_listed: self.next(),
        }
    }

    fn direction(&mut self) -> Direction {
        Direction {
            packets: self.next(),
            data_segments: self.next(),
            data_bytes: self.next(),
            retransmissions: Retransmissions {
                total: self.next(),
                fast: self.next(),
                rto: self.next(),
                tlp: self.next(),
                other: self.next(),
                spurious: self.next(),
                unneeded: self.next(),
            },
            out_of_order: self.next(),
            duplicate_acks: self.next(),
            lost_segments: self.next(),
            zero_windows: self.next(),
            rtt_us: self.rtt(),
            acks_sent: self.acks(),
            more: self.more(),
        }
    }
}

#[test]
fn a_stream_that_says_everything() {
    use Artefact as A;
    let mut n = Numbers(0);
    for _ in 0..20 {
        same(&Stream {
            stream: n.small(),
            client: "[2001:db8::1]:1".into(),
            server: "quote \" backslash \\ line\n end \u{1f600}\u{7f}".into(),
            start_ns: i64::MIN,
            duration_us: u64::MAX,
            handshake: Some(Handshake {
                syn_retransmissions: n.small(),
                synack_retransmissions: n.small(),
                server_rtt_us: Some(n.small()),
                client_rtt_us: Some(n.small()),
                caqm: None,
            }),
            artefacts: vec![
                A::SuperSegments,
                A::OneDirection,
                A::MissedPackets,
                A::Duplicates,
                A::TimeOutOfOrder,
                A::Snapped,
            ],
            client_to_server: Box::new(n.direction()),
            server_to_client: Box::new(n.direction()),
            ..Stream::default()
        });
        // Other numbers of digits for each field.
        n.0 += 1;
    }
}

#[test]
fn a_stream_that_says_little() {
    use State as S;
    same(&Stream::default());
    for state in [
        S::Complete,
        S::Open,
        S::Reset,
        S::HalfOpen,
        S::Refused,
        S::Middle,
    ] {
        same(&Stream {
            state,
            handshake: Some(Handshake::default()),
            ..Stream::default()
        });
    }
    for caqm in [
        CaqmOffer::Negotiated,
        CaqmOffer::NotAnswered,
        CaqmOffer::NotAsked,
        CaqmOffer::Ambiguous,
    ] {
        same(&Stream {
            handshake: Some(Handshake {
                caqm: Some(caqm),
                ..Handshake::default()
            }),
            ..Stream::default()
        });
    }
    for vantage in [
        Vantage::Client,
        Vantage::Server,
        Vantage::Between,
        Vantage::Unknown,
    ] {
        same(&Stream {
            vantage,
            ..Stream::default()
        });
    }
}

#[test]
fn numbers_of_every_length() {
    let near = |n: u64| [n.saturating_sub(1), n, n.saturating_add(1)];
    let powers = (0..20).map(|i| 10_u64.pow(i)).flat_map(near);
    let twos = (0..64).map(|i| 1_u64 << i).flat_map(near);
    let all = 0..100_000;
    for n in all.chain(powers).chain(twos).chain([u64::MAX]) {
        let mut out = Vec::new();
        number(&mut out, n);
        assert_eq!(String::from_utf8(out).unwrap(), n.to_string());
    }
}
