//! Real captures of others (`../shared/captures`, not part of the project): what is known of them.

mod common;

use common::{analyze, shared};
use tcplab_analyze::Options;
use tcplab_analyze::report::AcksSent;

fn acks(name: &str) -> Option<(AcksSent, Vec<&'static str>)> {
    let answer = analyze(&shared(name)?, Options::default());
    let ids = answer.ids();
    assert_eq!(answer.streams.len(), 1);
    Some((answer.streams[0].client_to_server.acks_sent.clone(), ids))
}

#[test]
fn receiver_on_debian_12_is_late_from_the_17th_segment() {
    let Some((a, ids)) = acks("debian12-1k-100ms.cap") else {
        return;
    };
    assert_eq!(
        (a.immediate, a.delayed, a.first_delayed_segment),
        (16, 985, Some(17))
    );
    assert_eq!(
        (a.delayed_us.min, a.delayed_us.p50, a.delayed_us.max),
        (40_024, 42_242, 47_965)
    );
    assert_eq!(a.immediate_us.p50, 21);
    assert_eq!(ids, ["quickack_exhausted"]);
}

#[test]
fn the_same_seen_at_the_sender() {
    let Some((a, ids)) = acks("linux-6.1.0-9-client.cap") else {
        return;
    };
    assert_eq!((a.total, a.immediate, a.delayed), (100, 16, 84));
    assert_eq!(a.first_delayed_segment, Some(17));
    assert_eq!((a.delayed_us.min, a.delayed_us.max), (40_504, 48_614));
    assert!(
        (40_950..=40_980).contains(&a.delayed_us.p50),
        "{:?}",
        a.delayed_us
    );
    assert_eq!(ids, ["quickack_exhausted"]);
}

#[test]
fn none_are_late_on_the_fixed_kernel() {
    let Some((a, ids)) = acks("linux-6.1.0-26-client.cap") else {
        return;
    };
    assert_eq!((a.total, a.immediate, a.delayed), (100, 100, 0));
    assert_eq!((a.first_delayed_segment, a.immediate_us.p50), (None, 358));
    assert!(ids.is_empty(), "{ids:?}");
}
