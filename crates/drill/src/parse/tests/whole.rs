//! Whole scripts: order, times, places, comments; and damaged ones.

use super::{event, read};
use crate::script::{Action, Place, Time};

const SCRIPT: &str = "// A small script of our own.
--tolerance_usecs=5000
`sysctl -q net.ipv4.tcp_sack=1`

    0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
   +0 bind(3, ..., ...) = 0 /* any
address */
   +0 listen(3, 1) = 0
  +.1 < S 0:0(0) win 65535 <mss 1460,sackOK,TS val 100 ecr 0,nop,wscale 7>
   +0 > S. 0:0(0) ack 1 <...>
 +.01 < . 1:1(0) ack 1 win 512
+0...0.2 accept(3, ..., ...) = 4
   +0 setsockopt(4, SOL_TCP, TCP_NODELAY, [1], 4) = 0
   +0 sendmsg(4, {msg_name(...)=..., msg_iov(1)=[{..., 10}], msg_flags=0}, 0) = 10
    * > P. 1:11(10) ack 1
 +0.1~+0.2 > [ect0] P. 1:11(10) ack 1 <nop,nop,sack 1:2>
   +0 %{
assert tcpi_unacked == 1, tcpi_unacked
}%
   +0 `nstat`
`sysctl -q net.ipv4.tcp_sack=0`
";

#[test]
fn a_whole_script() {
    let script = read(SCRIPT).unwrap();
    assert_eq!(script.options.len(), 1);
    assert_eq!(script.init.unwrap().value, "sysctl -q net.ipv4.tcp_sack=1");
    assert_eq!(
        script.cleanup.unwrap().place,
        Place {
            line: 21,
            column: 1
        }
    );
    let times: Vec<Time> = script.events.iter().map(|e| e.time).collect();
    let zero = Time::Relative(0);
    assert_eq!(
        times,
        [
            Time::Absolute(0),
            zero,
            zero,
            Time::Relative(100_000),
            zero,
            Time::Relative(10_000),
            zero,
            zero,
            zero,
            Time::Any,
            Time::RelativeRange(100_000, 200_000),
            zero,
            zero,
        ]
    );
    let lines: Vec<u32> = script.events.iter().map(|e| e.place.line).collect();
    assert_eq!(lines, [5, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 20]);
    let Action::Code(code) = &script.events[11].action else {
        panic!()
    };
    assert_eq!(code.value, "\nassert tcpi_unacked == 1, tcpi_unacked\n");
    assert_eq!(
        code.place,
        Place {
            line: 17,
            column: 7
        }
    );
}

#[test]
fn times() {
    for (text, expected) in [
        ("0", Time::Absolute(0)),
        ("1.5", Time::Absolute(1_500_000)),
        (".000001", Time::Absolute(1)),
        ("0.0000019", Time::Absolute(1)),
        ("+3", Time::Relative(3_000_000)),
        ("+.29", Time::Relative(290_000)),
        ("+0.57", Time::Relative(570_000)),
        ("*", Time::Any),
        ("0.1~.2", Time::AbsoluteRange(100_000, 200_000)),
        ("+0 ~ +1", Time::RelativeRange(0, 1_000_000)),
        ("1000000", Time::Absolute(1_000_000_000_000)),
    ] {
        assert_eq!(
            event(&format!("{text} > . 1:1(0)")).unwrap().time,
            expected,
            "{text}"
        );
    }
}

#[test]
fn comments_and_blanks() {
    let text = "/**/ /* a ** b */\r\n0 /* c */ > /***/ . // d\n 1:1 // e\n (0) // f without an end";
    assert!(read(text).is_ok());
    // Characters count, not bytes.
    let error = read("/* äöü */ 0 ? x").unwrap_err();
    assert!(error.starts_with("1:13: found `?`"), "{error}");
}

#[test]
fn every_piece_of_a_script_is_read_or_refused() {
    for end in 0..SCRIPT.len() {
        if let Err(error) = read(&SCRIPT[..end]) {
            let line: u32 = error.split(':').next().unwrap().parse().unwrap();
            assert!((1..=22).contains(&line), "{error}");
        }
    }
    // Without one character: the parser must not panic.
    for gone in 0..SCRIPT.len() {
        let text = format!("{}{}", &SCRIPT[..gone], &SCRIPT[gone + 1..]);
        let _ = read(&text);
    }
}
