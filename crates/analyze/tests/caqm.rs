//! CAQM: what tags add up to, and each finding with the conversations that it must, and must not, be said of.

mod common;

use common::{Answer, analyze_script};
use tcplab_analyze::report::{CaqmOffer, CaqmTags};

/// Where the capture was taken: between the packets of which side the round trip lies.
#[derive(Clone, Copy, PartialEq)]
enum At {
    Sender,
    Receiver,
}

/// A client that sends `segments`, each ACKed at once.
struct Talk {
    at: At,
    /// Flags of SYN and SYN-ACK.
    offer: [&'static str; 2],
    segments: u32,
    payload: u32,
    /// INFO of segment n, and of its ACK.
    tag: fn(u32) -> Option<u16>,
    told: fn(u32) -> Option<u16>,
    /// Segments that are sent once more, after three duplicate ACKs.
    lost: &'static [u32],
}

const ASKS: u16 = 0x0580;
const REFUSED: u16 = 0x0480;
const MARKED: u16 = 0x0680;
const BOTH: u16 = 0x0780;
/// 16 units of 64 bytes: what one request of 128 units of 8 bytes grants.
const TOLD: u16 = 0x0110;
const NOTHING: u16 = 0x0100;

impl Default for Talk {
    fn default() -> Self {
        Self {
            at: At::Receiver,
            offer: ["SA", "S.V"],
            segments: 64,
            payload: 1456,
            tag: |_| Some(ASKS),
            told: |_| Some(TOLD),
            lost: &[],
        }
    }
}

impl Talk {
    fn lines(&self) -> Vec<String> {
        // At a host its own answers come at once, the other's after a round trip.
        let (mine, theirs) = match self.at {
            At::Sender => (0.01, 1.0),
            At::Receiver => (1.0, 0.01),
        };
        let option = |info: Option<u16>| info.map_or(String::new(), |i| format!(" caqm={i:04x}"));
        let [syn, synack] = self.offer;
        let mut ms = 0.0;
        let mut lines = vec![format!("{ms} > {syn} 0 0 0 65000 mss=1460 sackok ws=7")];
        ms += theirs;
        lines.push(format!(
            "{ms} < {synack} 500 1 0 65000 mss=1460 sackok ws=7"
        ));
        ms += mine;
        lines.push(format!("{ms} > . 1 501 0 500"));
        for n in 0..self.segments {
            let (seq, len) = (1 + n * self.payload, self.payload);
            ms += mine;
            let tag = option((self.tag)(n));
            if self.lost.contains(&n) {
                self.lose(&mut lines, &mut ms, seq, &tag, (mine, theirs));
            } else {
                lines.push(format!("{ms} > P. {seq} 501 {len} 500{tag}"));
                ms += theirs;
            }
            let told = option((self.told)(n));
            lines.push(format!("{ms} < . 501 {} 0 500{told}", seq + len));
        }
        lines
    }

    /// Segment n is missing; three behind it bring duplicate ACKs, then it comes.
    fn lose(
        &self,
        lines: &mut Vec<String>,
        ms: &mut f64,
        seq: u32,
        tag: &str,
        (mine, theirs): (f64, f64),
    ) {
        let len = self.payload;
        if self.at == At::Sender {
            lines.push(format!("{ms} > P. {seq} 501 {len} 500{tag}"));
        }
        for more in 1..=3 {
            let left = seq + more * len;
            *ms += 0.001;
            lines.push(format!("{ms} > P. {left} 501 {len} 500{tag}"));
        }
        *ms += theirs;
        for more in 1..=3 {
            let (left, right) = (seq + len, seq + (more + 1) * len);
            *ms += 0.001;
            lines.push(format!("{ms} < . 501 {seq} 0 500 sack={left}-{right}"));
        }
        *ms += mine;
        lines.push(format!("{ms} > P. {seq} 501 {len} 500{tag}"));
        *ms += theirs;
    }

    fn answer(&self) -> Answer {
        let lines = self.lines();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        analyze_script(&lines)
    }

    /// Ids of CAQM's findings.
    fn ids(&self) -> Vec<&'static str> {
        let ids = self.answer().ids();
        ids.into_iter()
            .filter(|id| id.starts_with("caqm_"))
            .collect()
    }
}

#[test]
fn tags_add_up() {
    let talk = Talk {
        segments: 50,
        tag: |n| {
            Some(match n {
                0..=9 => ASKS,
                10..=14 => REFUSED,
                15..=18 => MARKED | 0x1000,
                19 => BOTH,
                20 => 0x2580,
                _ => ASKS,
            })
        },
        told: |n| Some(if n < 40 { TOLD } else { 0x0203 }),
        ..Talk::default()
    };
    let answer = talk.answer();
    let stream = &answer.streams[0];
    let tags = |d: &tcplab_analyze::report::Direction| *d.caqm_tags.clone().expect("tags");
    assert_eq!(
        tags(&stream.client_to_server),
        CaqmTags {
            requests: 49,
            granted: 39,
            refused: 5,
            marked: 4,
            contradictory: 1,
            last_hop: 4,
            asked_bytes: 49 * 1024,
            granted_bytes: 39 * 1024,
            taken_bytes: 4 * 512,
            foreign: 1,
            ..CaqmTags::default()
        }
    );
    assert_eq!(
        tags(&stream.server_to_client),
        CaqmTags {
            feedback: 50,
            feedback_plus_bytes: 40 * 1024,
            feedback_minus_bytes: 10 * 192,
            ..CaqmTags::default()
        }
    );
    assert_eq!(stream.client_to_server.caqm, 50);
    let offer = stream.handshake.and_then(|h| h.caqm);
    assert_eq!(offer, Some(CaqmOffer::Negotiated));
}

#[test]
fn offers() {
    use CaqmOffer as O;
    for (offer, expected) in [
        (["SA", "S.V"], Some(O::Negotiated)),
        (["SA", "S."], Some(O::NotAnswered)),
        (["S", "S.V"], Some(O::NotAsked)),
        (["S", "S."], None),
        // Accurate ECN among itself, and classic ECN.
        (["SAEW", "S.W"], None),
        (["SAEW", "S.A"], None),
        (["SEW", "S.E"], None),
        (["SAEW", "S.V"], Some(O::Ambiguous)),
        (["SAEW", "S.VE"], Some(O::Ambiguous)),
    ] {
        let talk = Talk {
            offer,
            tag: |_| None,
            told: |_| None,
            segments: 1,
            ..Talk::default()
        };
        let found = talk.answer().streams[0].handshake.and_then(|h| h.caqm);
        assert_eq!(found, expected, "{offer:?}");
    }
}

const LOST: &[u32] = &[10, 20, 30, 40];

/// What each conversation is found to be; all others are silent on it.
#[track_caller]
fn check<const N: usize>(cases: [(&str, Talk, &[&str]); N]) {
    for (name, talk, expected) in cases {
        assert_eq!(talk.ids(), expected, "{name}");
    }
}

#[test]
fn what_is_well_is_not_found() {
    let lost: &[u32] = LOST;
    check([
        ("all well", Talk::default(), &[]),
        (
            "all well, at the sender",
            Talk {
                at: At::Sender,
                ..Talk::default()
            },
            &[],
        ),
        (
            "no CAQM",
            Talk {
                offer: ["S", "S."],
                tag: |_| None,
                told: |_| None,
                lost,
                ..Talk::default()
            },
            &[],
        ),
        (
            "a port that marks now and then",
            Talk {
                tag: |n| Some(if n % 4 == 0 { MARKED } else { ASKS }),
                told: |n| Some(if n % 4 == 0 { 0x0208 } else { TOLD }),
                lost,
                ..Talk::default()
            },
            &[],
        ),
        (
            "losses, and marks that the sender's capture does not show",
            Talk {
                at: At::Sender,
                told: |n| Some(if n % 4 == 0 { 0x0208 } else { TOLD }),
                lost,
                ..Talk::default()
            },
            &[],
        ),
        (
            "a receiver whose ACK has no room for all: it comes later",
            Talk {
                segments: 72,
                told: |n| match n {
                    0..=31 => Some(NOTHING),
                    32..=63 => Some(0x01ff),
                    _ => Some(0x01ff),
                },
                ..Talk::default()
            },
            &[],
        ),
        (
            "a server that answers without being asked, and nobody tags",
            Talk {
                offer: ["S", "S.V"],
                tag: |_| None,
                told: |_| None,
                ..Talk::default()
            },
            &[],
        ),
        (
            "a peer that does not know CAQM",
            Talk {
                offer: ["SA", "S."],
                tag: |_| None,
                told: |_| None,
                lost,
                ..Talk::default()
            },
            &[],
        ),
    ]);
}

#[test]
fn findings_about_switches() {
    let lost: &[u32] = LOST;
    check([
        (
            "a full port",
            Talk {
                tag: |n| Some([ASKS, REFUSED, MARKED, REFUSED][n as usize % 4]),
                told: |n| Some([TOLD, NOTHING, 0x0208, NOTHING][n as usize % 4]),
                ..Talk::default()
            },
            &["caqm_congestion"],
        ),
        (
            "a full port, seen from before it",
            Talk {
                at: At::Sender,
                told: |n| Some([TOLD, NOTHING, 0x0208, NOTHING][n as usize % 4]),
                ..Talk::default()
            },
            &["caqm_congestion"],
        ),
        (
            "no switch with CAQM",
            Talk {
                lost,
                ..Talk::default()
            },
            &["caqm_no_switch"],
        ),
        (
            "no switch with CAQM, seen from before it",
            Talk {
                at: At::Sender,
                lost,
                ..Talk::default()
            },
            &["caqm_no_switch"],
        ),
        (
            "a switch that leaves I",
            Talk {
                tag: |n| Some(if n % 4 == 0 { BOTH } else { ASKS }),
                told: |n| Some(if n % 4 == 0 { NOTHING } else { TOLD }),
                ..Talk::default()
            },
            &["caqm_both_bits"],
        ),
    ]);
}

#[test]
fn findings_about_hosts() {
    check([
        (
            "a receiver that loses every other grant",
            Talk {
                told: |n| Some(if n % 2 == 0 { TOLD } else { NOTHING }),
                ..Talk::default()
            },
            &["caqm_feedback_lost"],
        ),
        (
            "the receiver's interface is not enabled",
            Talk {
                told: |_| None,
                ..Talk::default()
            },
            &["caqm_one_sided"],
        ),
        (
            "no interface is enabled",
            Talk {
                tag: |_| None,
                told: |_| None,
                ..Talk::default()
            },
            &["caqm_one_sided"],
        ),
        (
            "full segments of 1460 bytes",
            Talk {
                payload: 1460,
                ..Talk::default()
            },
            &["caqm_oversize"],
        ),
        (
            "full segments of 1457 bytes",
            Talk {
                payload: 1457,
                ..Talk::default()
            },
            &["caqm_oversize"],
        ),
    ]);
}

#[test]
fn findings_about_handshakes() {
    check([
        (
            "tags without an agreement",
            Talk {
                offer: ["SA", "S."],
                told: |_| None,
                ..Talk::default()
            },
            &["caqm_unnegotiated"],
        ),
        (
            "Accurate ECN taken for CAQM",
            Talk {
                offer: ["SAEW", "S.V"],
                tag: |_| None,
                told: |_| None,
                ..Talk::default()
            },
            &["caqm_accecn"],
        ),
        (
            "CAQM taken for Accurate ECN",
            Talk {
                offer: ["SA", "S.W"],
                tag: |_| None,
                told: |_| None,
                ..Talk::default()
            },
            &["caqm_accecn"],
        ),
    ]);
}

#[test]
fn a_tag_on_a_syn() {
    let mut lines = Talk::default().lines();
    lines[0].push_str(" caqm=0580");
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let answer = analyze_script(&lines);
    assert_eq!(answer.ids(), ["caqm_unnegotiated"]);
    assert_eq!(answer.findings[0].packets, [1]);
}

#[test]
fn what_was_captured_twice_counts_once() {
    let lines = Talk::default().lines();
    let mut twice = Vec::new();
    for (n, line) in lines.iter().enumerate() {
        for _ in 0..2 {
            twice.push(format!("{line} id={}", n + 1));
        }
    }
    let twice: Vec<&str> = twice.iter().map(String::as_str).collect();
    let answer = analyze_script(&twice);
    let sent = &answer.streams[0].client_to_server;
    let tags = sent.caqm_tags.clone().expect("tags");
    assert_eq!(tags.requests, 64);
}
