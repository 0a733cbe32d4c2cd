//! The errors of wrong scripts: the place, what was found, what was expected.

use super::read;

/// Scripts, and what is said of them.
const ERRORS: &[(&str, &str)] = &[
    (
        "",
        "1:1: found the end of the script, expected the time of the first event (`0`, `+.1`)",
    ),
    (
        "0 > . 1:1(0) ack",
        "1:17: found the end of the script, expected the acknowledgement number",
    ),
    (
        "0 > . 1:1(0) akc 1",
        "1:14: found `akc`, expected `ack`, `win`, `urg`, `<`, `*`, `+` or a time in seconds (`0.1`, `+.1`, `*`); \
            did you mean `ack`?",
    ),
    (
        "0 > X. 1:1(0)",
        "1:5: `X` in `X.` is not a flag of TCP: they are . F S R P U E W A, and 0 to 7 for ACE",
    ),
    (
        "0 > SE.5 1:1(0)",
        "1:5: `SE.5` says E, W or A and the ACE field, which is the same bits",
    ),
    (
        "0 > ipv4 1.1.1.300 > 2.2.2.2: . 1:1(0)",
        "1:10: found `1.1.1.300`, expected `[`, `(` or an IPv4 address",
    ),
    ("0 > . 1:3(1)", "1:7: 1:3(1) does not add up: 1 + 1 is 2"),
    (
        "0 > . 1:1(0) win 65536",
        "1:18: the window is 65536: it must fit in 16 bits without a sign",
    ),
    (
        "0 > . -1:1(0)",
        "1:7: the first sequence number (`1:1001(1000)`) is -1: it must fit in 32 bits without a sign",
    ),
    (
        "0 < . 1:1(0) ack 1",
        "1:5: a packet that arrives needs its window (`win N`)",
    ),
    (
        "0 < . 1:1(0) win 1 <...>",
        "1:20: `<...>` is for packets that leave (`>`) only",
    ),
    (
        "0 < [ect01] . 1:1(0) win 1",
        "1:5: `ect01` is for packets that leave (`>`) only: say which of the two arrives",
    ),
    (
        "0 > [ect0] udp (1)",
        "1:5: ECN marks are for TCP and ICMP packets only; `tos 0x..` says the whole byte",
    ),
    (
        "0 > S 0:0(0) <nop>",
        "1:14: the options have 1 bytes, which is not a multiple of 4: add `nop`s",
    ),
    (
        "0 > S 0:0(0) <mss 1,sack 1:2 1:2 1:2 1:2,mss 3>",
        "1:42: the options have more than 40 bytes with this one",
    ),
    (
        "0 > S 0:0(0) <FO abc>",
        "1:18: `abc` is not made of pairs of hexadecimal digits",
    ),
    (
        "0 > S 0:0(0) <msss 1>",
        "1:15: found `msss`, expected `...`, `nop`, `eol`, `sackOK`, `mss`, `wscale`, `TS`, `sack`, `FO`, `FOEXP`, \
            `md5` or `ECN`; did you mean `mss`?",
    ),
    (
        "* close(3) = 0",
        "1:1: `*` and ranges of time are for packets that leave (`>`) only",
    ),
    (
        "0~1 < . 1:1(0) win 1",
        "1:1: `*` and ranges of time are for packets that leave (`>`) only",
    ),
    (
        "1~0 > . 1:1(0)",
        "1:1: the range of time ends before it begins",
    ),
    ("+1~2 > . 1:1(0)", "1:4: found `2`, expected `+`"),
    ("-1 > . 1:1(0)", "1:1: the time -1 is negative"),
    (
        "1000001 > . 1:1(0)",
        "1:1: the time 1000001 is longer than a million seconds",
    ),
    (
        "1...0.5 close(3) = 0",
        "1:5: the call ends before it begins",
    ),
    ("0 close(3 = 0", "1:11: found `=`, expected `|`, `,` or `)`"),
    (
        "0 close(3) = -1 EBADF\n1 close(3) = 0",
        "2:1: found `1`, expected `(`",
    ),
    (
        "0 f(99999999999999999999) = 0",
        "1:5: the number 99999999999999999999 does not fit in 64 bits",
    ),
    ("0 f({fd=1}) = 0", "1:10: found `}`, expected `|` or `,`"),
    (
        "0 f(\"\\q\") = 0",
        "1:5: this string has an escape that is none of \\\\ \\\" \\f \\n \\r \\t \\v \\xhh",
    ),
    (
        "0 f(\"\\xg0\") = 0",
        "1:5: `\\x` in this string is not followed by two hexadecimal digits",
    ),
    (
        "0 f(inet_addr(\"1.2.3\")) = 0",
        "1:15: \"1.2.3\" is not an IPv4 address",
    ),
    (
        "0 `a`\n`b`\n`c`",
        "3:1: found the shell line `c`, expected the end of the script: a shell line without a time is the last one",
    ),
    (
        "0 > . 1:1(0)\n  /* no end",
        "2:3: the comment that begins here is not closed: `*/` is missing",
    ),
    (
        "0 `a",
        "1:3: the shell line that begins here is not closed: ``` is missing",
    ),
    (
        "0 %{ a",
        "1:3: the block of code that begins here is not closed: `}%` is missing",
    ),
    (
        "0 f(\"a) = 0",
        "1:5: the string that begins here is not closed: `\"` is missing",
    ),
    (
        "0 # x",
        "1:3: found `#`, expected `~` or `<` or `>` and a packet, a system call, a shell line or `%{ code }%`",
    ),
    (
        "0 > gre: gre: gre: gre: gre: . 1:1(0)",
        "1:25: too many headers around the packet: packetdrill takes 4",
    ),
    (
        "0 < icmp",
        "1:9: found the end of the script, expected the ICMP type (`unreachable`, `echo_request`, `type_N`)",
    ),
    (
        "0 > mpls (label 1048576, tc 0, ttl 0): . 1:1(0)",
        "1:17: the label is 1048576: it must fit in 20 bits without a sign",
    ),
];

#[test]
fn errors_say_where_and_what() {
    for (text, expected) in ERRORS {
        assert_eq!(read(text).map(drop), Err((*expected).to_string()), "{text}");
    }
}

#[test]
fn depth_and_length_are_bounded() {
    for text in [
        format!("0 f({}", "[".repeat(100_000)),
        format!("0 f({}", "a=".repeat(100_000)),
        format!("0 f({}", "{fd=".repeat(100_000)),
        format!("0 f(1{}) = 0", "|1".repeat(100_000)),
        " ".repeat(3 << 20),
    ] {
        let error = read(&text).unwrap_err();
        assert!(error.len() < 300, "{error}");
    }
    // Width is no depth.
    assert!(read(&format!("0 f(1{}) = 0", ",1".repeat(100_000))).is_ok());
}
