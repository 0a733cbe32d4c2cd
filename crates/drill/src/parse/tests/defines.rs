//! Options at the head and symbols.

use super::{Defines, parse, read};
use crate::script::{Action, Body, Expr, Script, TcpOption};

fn with(text: &str, defines: &[&str]) -> Result<Script, String> {
    let mut all = Defines::new();
    for define in defines {
        all.define(define).unwrap();
    }
    parse(text, &all).map_err(|e| e.to_string())
}

fn args(script: &Script) -> Vec<Expr> {
    match &script.events[0].action {
        Action::Call(call) => call.args.iter().map(|a| a.value.clone()).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn options_at_the_head() {
    let text = "--mss=1000 --tcp_ts_ecr_scaled // a comment\n\
        --local_ip=10.0.0.1\n--remote_ip=fd::1 --ip_version=ipv4-mapped-ipv6\n--init_scripts=\"a b\"\n\
        --tolerance_percent=12.5\n--define=CC=\"reno\" --define=N=0x10\n0 > . 1:1(0)";
    let script = read(text).unwrap();
    let options: Vec<(&str, Option<&str>)> = script
        .options
        .iter()
        .map(|o| (o.value.0.as_str(), o.value.1.as_deref()))
        .collect();
    assert_eq!(
        options,
        [
            ("mss", Some("1000")),
            ("tcp_ts_ecr_scaled", None),
            ("local_ip", Some("10.0.0.1")),
            ("remote_ip", Some("fd::1")),
            ("ip_version", Some("ipv4-mapped-ipv6")),
            ("init_scripts", Some("a b")),
            ("tolerance_percent", Some("12.5")),
            ("define", Some("CC=\"reno\"")),
            ("define", Some("N=0x10")),
        ]
    );
}

#[test]
fn symbols_stand_for_their_values() {
    let defines = [
        "A=7",
        "H=0x1f",
        "O=010",
        "M=-3",
        "W=SOL_IP",
        "S=\"text\"",
        "E=",
        "D=12a",
    ];
    let script = with("0 f(A, H, O, M, W, S, E, D, \"A\") = 0", &defines).unwrap();
    let word = |word: &str| Expr::Word(word.into());
    assert_eq!(
        args(&script),
        [
            Expr::Int(7),
            Expr::Int(31),
            Expr::Int(8),
            Expr::Int(-3),
            word("SOL_IP"),
            Expr::Str(b"text".to_vec()),
            word(""),
            word("12a"),
            Expr::Str(b"A".to_vec()),
        ]
    );
}

#[test]
fn the_command_line_wins_over_the_script() {
    let text = "--define=A=1 --define=A=2 --define=B=3\n0 f(A, B) = 0";
    assert_eq!(args(&read(text).unwrap()), [Expr::Int(2), Expr::Int(3)]);
    assert_eq!(
        args(&with(text, &["B=9"]).unwrap()),
        [Expr::Int(2), Expr::Int(9)]
    );
}

#[test]
fn symbols_may_be_cookies_names_times_and_shell_lines() {
    let defines = [
        "COOKIE=0123456789",
        "CALL=close",
        "T=2",
        "LINE=`nstat`",
        "fd=5",
    ];
    let script = with(
        "LINE\nT CALL(3) = 0\n+1 > S 0:0(0) <FO COOKIE,nop>\n+1 LINE",
        &defines,
    )
    .unwrap();
    assert_eq!(script.init.unwrap().value, "nstat");
    assert_eq!(
        script.events[0].time,
        crate::script::Time::Absolute(2_000_000)
    );
    assert!(matches!(&script.events[0].action, Action::Call(call) if call.name.value == "close"));
    let Action::Packet(packet) = &script.events[1].action else {
        panic!()
    };
    let Body::Tcp(tcp) = &packet.body else {
        panic!()
    };
    let cookie = TcpOption::FastOpen(vec![1, 0x23, 0x45, 0x67, 0x89]);
    assert_eq!(tcp.options.as_ref().unwrap()[0], cookie);
    assert!(matches!(&script.events[2].action, Action::Shell(line) if line.value == "nstat"));
    // A word of the language is never a symbol.
    assert!(with("0 f(fd) = 0", &["fd=5"]).is_err());
}

#[test]
fn invalid_definitions() {
    assert_eq!(
        read("\n--define=5\n0 > . 1:1(0)").unwrap_err(),
        "2:1: expected `--define=NAME=VALUE`"
    );
    let mut defines = Defines::new();
    assert_eq!(
        defines.define("A").unwrap_err(),
        "`A` is not a definition: expected NAME=VALUE"
    );
    assert!(defines.define("=1").is_err());
    assert_eq!(defines.get("A"), None);
}
