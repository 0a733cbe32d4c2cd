//! Answers that were lost before the capture, at the client.

mod common;

use common::{Answer, adds_up, analyze_script};
use tcplab_analyze::budget::Class;

/// A client asks, and has its answer 24 ms later; the second one is lost. The client's probe is answered by an ACK whose
/// number is `seq`, then the server sends its answer again.
fn talk(seq: u32, again: u32) -> Vec<String> {
    vec![
        "0 > S 100 0 0 60000 mss=1460 sackok".to_owned(),
        "24 < S. 500 101 0 60000 mss=1460 sackok".to_owned(),
        "24 > . 101 501 0 60000".to_owned(),
        "25 > P. 101 501 400 60000".to_owned(),
        "49 < P. 501 501 400 60000".to_owned(),
        "49 > P. 501 901 400 60000".to_owned(),
        "280 > P. 501 901 400 60000".to_owned(),
        format!("304 < . {seq} 901 0 60000 sack=501-901"),
        format!("{again} < P. 901 901 400 60000"),
        format!("{again} > P. 901 1301 400 60000"),
        format!("{} < P. 1301 1301 400 60000", again + 24),
    ]
}

#[test]
fn number_of_an_ack_shows_that_the_answer_was_lost() {
    let read = |seq, again| {
        let lines = talk(seq, again);
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        analyze_script(&lines)
    };
    let of = |answer: &Answer, class| answer.streams[0].budget_us.of(class);
    let lost = read(1301, 330);
    adds_up(&lost.streams[0]);
    assert_eq!(lost.ids(), ["tail_loss"]);
    assert_eq!(of(&lost, Class::Tlp), 281_000);
    assert_eq!(of(&lost, Class::Spurious), 0);
    assert_eq!(lost.streams[0].server_to_client.retransmissions.tlp, 1);
    // The server had sent nothing yet, or the answer may only have been late.
    for late in [read(901, 330), read(1301, 305)] {
        assert_eq!(late.ids(), [""; 0]);
        assert_eq!(of(&late, Class::Spurious), 255_000);
    }
}
