//! Shell lines and what they ask for; lines that are refused, with the words.

use super::{Growth, Step, defaults_of};
use crate::target::Setting;

/// Without the text of a `defaults.sh`.
fn interpret(line: &str) -> Result<Vec<Step>, String> {
    super::interpret(line, None)
}

fn set(settings: &[Setting]) -> Vec<Step> {
    settings.iter().cloned().map(Step::Set).collect()
}

/// `nstat | grep NAME`
fn counter(name: &str, by: Option<i64>, keeps: bool) -> Step {
    let name = name.to_string();
    Step::Counters {
        wanted: Some(Growth { name, by }),
        keeps,
    }
}

fn sysctl(name: &str, value: &str) -> Setting {
    Setting::Sysctl(name.into(), value.into())
}

fn if_there(name: &str, value: &str) -> Setting {
    Setting::SysctlIfThere(name.into(), value.into())
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_string).collect()
}

#[test]
fn known_forms_become_settings() {
    let table: &[(&str, &[Setting])] = &[
        ("", &[]),
        ("  # nothing but a comment\n\n", &[]),
        (
            "sysctl -q net.ipv4.tcp_sack=0",
            &[sysctl("net.ipv4.tcp_sack", "0")],
        ),
        (
            "/sbin/sysctl -qw net/ipv4/tcp_rmem='4096 5 6' net.ipv4.tcp_wmem=\"1 $((2*1024)) 3\" 2>/dev/null",
            &[
                sysctl("net.ipv4.tcp_rmem", "4096 5 6"),
                sysctl("net.ipv4.tcp_wmem", "1 2048 3"),
            ],
        ),
        (
            "sysctl -e -q net.ipv4.tcp_min_tso_segs=2",
            &[if_there("net.ipv4.tcp_min_tso_segs", "2")],
        ),
        (
            "sysctl net.ipv4.a=1; sysctl net.ipv4.b=2 && sysctl net.ipv4.c=3",
            &[
                if_there("net.ipv4.a", "1"),
                sysctl("net.ipv4.b", "2"),
                sysctl("net.ipv4.c", "3"),
            ],
        ),
        (
            "../common/set_sysctls.py \\\n  /proc/sys/net/ipv4/tcp_frto=0\\\n /proc/sys/net/ipv4/tcp_ecn=\"1\"",
            &[
                sysctl("net.ipv4.tcp_frto", "0"),
                sysctl("net.ipv4.tcp_ecn", "1"),
            ],
        ),
        ("/tmp/sysctl_restore_${PPID}.sh", &[Setting::RestoreSysctls]),
        (
            "ip tcp_metrics flush all > /dev/null 2>&1",
            &[Setting::FlushMetrics],
        ),
        (
            "ip -6 route change 2001:db8::1 via fd00::1 dev tun0 mtu lock 1400",
            &[Setting::Route(
                "2001:db8::1".into(),
                words("via fd00::1 dev tun0 mtu lock 1400"),
            )],
        ),
        (
            "tc qdisc delete dev tun0 root 2>/dev/null ; tc qdisc add dev tun0 root pfifo limit 0",
            &[
                Setting::Qdisc(vec![]),
                Setting::Qdisc(words("pfifo limit 0")),
            ],
        ),
        (
            "ethtool -K tun0 gso off tcp-segmentation-offload on",
            &[
                Setting::Offload("gso".into(), false),
                Setting::Offload("tso".into(), true),
            ],
        ),
        ("ip link set dev tun0 mtu 9000", &[Setting::Mtu(9000)]),
        (
            "sysctl -w net.core.somaxconn=$((2*(3+1)))",
            &[sysctl("net.core.somaxconn", "8")],
        ),
        (
            "echo 1 2 > /proc/sys/net/ipv4/tcp_app_win",
            &[sysctl("net.ipv4.tcp_app_win", "1 2")],
        ),
        (
            "echo 3 > /sys/module/tcp_cubic/parameters/hystart_detect",
            &[sysctl(
                "/sys/module/tcp_cubic/parameters/hystart_detect",
                "3",
            )],
        ),
        (
            "rm -f /tmp/file && dd bs=1 count=5 if=/dev/zero of=/tmp/file",
            &[Setting::Nothing, Setting::Nothing],
        ),
        ("sysctl net.ipv4.tcp_sack; true", &[Setting::Nothing]),
        // The right side of `||` is for when the left one fails.
        (
            "sysctl -q net.ipv4.tcp_sack=1 || ip tcp_metrics flush",
            &[sysctl("net.ipv4.tcp_sack", "1")],
        ),
        (
            "sysctl -q net.ipv4.tcp_fastopen_cookies=0 &> /dev/null || ip tcp_metrics flush",
            &[Setting::FlushMetrics],
        ),
        ("false && sysctl -q net.ipv4.tcp_sack=1; true", &[]),
    ];
    for (line, expected) in table {
        assert_eq!(interpret(line), Ok(set(expected)), "{line}");
    }
}

#[test]
fn questions_are_for_the_run() {
    let nothing = Step::Counters {
        wanted: None,
        keeps: false,
    };
    for (line, expected) in [
        (
            "nstat > /dev/null; nstat | grep TcpExtX > /dev/null",
            vec![nothing.clone(), counter("TcpExtX", None, false)],
        ),
        ("false && nstat | grep TcpExtX; nstat -n", vec![nothing]),
        (
            "nstat -s | grep TcpExtX| grep -q \" 3 \"",
            vec![counter("TcpExtX", Some(3), true)],
        ),
        (
            "grep \" 0A \" /proc/net/tcp /proc/net/tcp6 | grep \":1F90\"",
            vec![Step::Listens(8080)],
        ),
    ] {
        assert_eq!(interpret(line), Ok(expected), "{line}");
    }
}

#[test]
fn line_whose_last_command_fails_says_so() {
    let fails = || Step::Fails("false".into());
    let flush = || Step::Set(Setting::FlushMetrics);
    for (line, expected) in [
        ("false", vec![fails()]),
        ("true && false", vec![fails()]),
        ("ip tcp_metrics flush; false", vec![flush(), fails()]),
        ("false || false", vec![fails()]),
        ("false && ip tcp_metrics flush", vec![fails()]),
        ("false && nstat | grep TcpExtX", vec![fails()]),
        ("false || ip tcp_metrics flush", vec![flush()]),
        ("false; ip tcp_metrics flush", vec![flush()]),
        ("false && true || true", vec![]),
    ] {
        assert_eq!(interpret(line), Ok(expected), "{line}");
    }
}

#[test]
fn sysctl_that_fails_on_a_real_machine_fails_here() {
    let fails = |line: &str| Step::Fails(line.into());
    let has = |name: &str| Step::HasSysctl(name.into());
    let nothing = || Step::Set(Setting::Nothing);
    let set = |value: &str| Step::Set(sysctl("net.ipv4.tcp_sack", value));
    // Exit codes of procps-ng 4.0.2.
    for (line, expected) in [
        (
            "sysctl -q net.ipv4.tcp_sack 0",
            vec![has("net.ipv4.tcp_sack"), has("0")],
        ),
        ("sysctl - a", vec![has("-"), has("a")]),
        ("sysctl", vec![fails("sysctl")]),
        ("sysctl -q -w", vec![fails("sysctl -q -w")]),
        (
            "sysctl -w net.ipv4.tcp_sack",
            vec![nothing(), fails("sysctl -w net.ipv4.tcp_sack")],
        ),
        (
            "sysctl net.ipv4.tcp_sack=1 net.ipv4.tcp_sack=",
            vec![
                set("1"),
                fails("sysctl net.ipv4.tcp_sack=1 net.ipv4.tcp_sack="),
            ],
        ),
        ("sysctl q -e", vec![nothing()]),
        (
            "sysctl q; sysctl net.ipv4.tcp_sack=0",
            vec![nothing(), set("0")],
        ),
    ] {
        assert_eq!(interpret(line), Ok(expected), "{line}");
    }
    for (line, why) in [
        ("sysctl --system", "`--system` is not understood"),
        (
            "sysctl q || true",
            "whether `||` follows depends on the host",
        ),
    ] {
        assert!(interpret(line).unwrap_err().ends_with(why), "{line}");
    }
}

#[test]
fn defaults_that_end_with_a_failure_have_failed() {
    let steps = super::interpret("./defaults.sh", Some("true\nfalse"));
    assert!(matches!(steps.unwrap().last(), Some(Step::Fails(_))));
}

#[test]
fn a_file_of_defaults_is_read_where_it_is_named() {
    let file = "# What holds\nsysctl -q net.ipv4.tcp_sack=0";
    let line = "./defaults.sh\nsysctl -q net.ipv4.tcp_ecn=1";
    assert_eq!(
        defaults_of(&format!("// x\n`{line}`")),
        Some("./defaults.sh")
    );
    assert_eq!(
        defaults_of("--init_scripts=../a/defaults.sh"),
        Some("../a/defaults.sh")
    );
    assert_eq!(defaults_of("`sysctl -q x=1`"), None);
    let expected = set(&[
        if_there("net.ipv4.tcp_sack", "0"),
        sysctl("net.ipv4.tcp_ecn", "1"),
    ]);
    assert_eq!(super::interpret(line, Some(file)), Ok(expected));
    let own = super::interpret("./defaults.sh", Some("./defaults.sh")).unwrap_err();
    assert_eq!(
        own,
        "needs shell `./defaults.sh`: `defaults.sh` is not understood"
    );
}

#[test]
fn the_suites_defaults_are_a_table() {
    let steps = interpret("../../common/defaults.sh\nsysctl -q net.ipv4.tcp_ecn=1").unwrap();
    let has = |setting: Setting| steps.contains(&Step::Set(setting));
    assert_eq!(steps.first(), Some(&Step::Set(Setting::FlushMetrics)));
    assert!(has(if_there("net.ipv4.tcp_rmem", "4096 540000 15728640")));
    assert!(has(Setting::Qdisc(vec!["pfifo".into()])));
    assert_eq!(
        steps.last(),
        Some(&Step::Set(sysctl("net.ipv4.tcp_ecn", "1")))
    );
}

#[test]
fn anything_else_is_refused() {
    for (line, expected) in [
        (
            "touch /tmp/x",
            "needs shell `touch /tmp/x`: `touch` is not understood",
        ),
        (
            "sysctl -q net.ipv4.tcp_sack=1; /bin/touch x",
            "needs shell `/bin/touch x`: `touch` is not understood",
        ),
        (
            "cat <<END",
            "needs shell `<<`: no file is written from a script",
        ),
        (
            "echo 1 > /etc/passwd",
            "needs shell `echo 1`: no file is written from a script (`/etc/passwd`)",
        ),
        (
            "nstat > counters",
            "needs shell `nstat`: no file is written from a script (`counters`)",
        ),
        (
            "cat x | grep y",
            "needs shell `cat x`: of pipes, `nstat | grep NAME` is understood",
        ),
        ("nstat | grep .*", "needs shell `*`"),
        (
            "nstat | grep a | grep b",
            "needs shell `nstat`: of pipes, `nstat | grep NAME` is understood",
        ),
        (
            "nstat |",
            "needs shell `nstat`: of pipes, `nstat | grep NAME` is understood",
        ),
        (
            "nstat &",
            "needs shell `&`: commands run one after the other",
        ),
        ("sysctl -q net.ipv4.tcp_sack=$X", "needs shell `$X`"),
        ("sysctl -q net.ipv4.tcp_sack=$(id)", "needs shell `$(id)`"),
        (
            "sysctl -p",
            "needs shell `sysctl -p`: `-p` is not understood",
        ),
        (
            "sysctl ../../x=1",
            "needs shell `sysctl ../../x=1`: `../../x` is not the name of a sysctl",
        ),
        (
            "rm -rf /tmp/x",
            "needs shell `rm -rf /tmp/x`: `rm` is not understood",
        ),
        (
            "rm -f /tmp/../x",
            "needs shell `rm -f /tmp/../x`: `rm` is not understood",
        ),
        (
            "sleep 1",
            "needs shell `sleep 1`: `sleep` is not understood",
        ),
        (
            "ip link set lo up",
            "needs shell `ip link set lo up`: of `ip`, `tcp_metrics flush`, `route change` and `link set dev tun0 mtu N` are understood",
        ),
        (
            "sysctl -w net.inet.tcp.rexmit_min=30",
            "names net.inet.tcp.rexmit_min, a FreeBSD sysctl",
        ),
        (
            "evil/defaults.sh",
            "needs shell `evil/defaults.sh`: `defaults.sh` is not understood",
        ),
        ("sysctl 'x", "needs shell `'` without its end"),
        ("echo $((1/0))", "needs shell `$((1/0))`"),
        (
            "ethtool -K tun0 gso",
            "needs shell `ethtool -K tun0 gso`: `gso` needs `on` or `off`",
        ),
        (
            "dd if=/dev/sda of=/tmp/x",
            "needs shell `dd if=/dev/sda of=/tmp/x`: `dd` is not understood",
        ),
        ("true >", "needs shell `>` without a file"),
        (
            "&& true",
            "needs shell `&&`, `||` or `|` without a command before it",
        ),
    ] {
        assert_eq!(interpret(line), Err(expected.to_string()), "{line}");
    }
}

#[test]
fn sums_are_whole_numbers() {
    for (text, expected) in [
        ("15*1024*1024", Some(15_728_640)),
        (" 1 + 2*(3-4) ", Some(-1)),
        ("-7/2", Some(-3)),
        ("0x10 % 7", Some(2)),
        ("1 +", None),
        ("9223372036854775807+1", None),
        ("a", None),
        ("2**3", None),
    ] {
        assert_eq!(super::arithmetic::value(text).ok(), expected, "{text}");
    }
    let deep = "(".repeat(10_000);
    assert!(super::arithmetic::value(&deep).is_err());
}

#[test]
fn an_mtu_that_no_device_takes_is_refused() {
    for mtu in ["20", "67", "65536", "99999999", "x"] {
        let why = interpret(&format!("ip link set dev tun0 mtu {mtu}")).unwrap_err();
        assert!(why.contains("68 to 65535"), "{why}");
    }
    assert_eq!(
        interpret("ip link set dev tun0 mtu 68"),
        Ok(set(&[Setting::Mtu(68)]))
    );
}

#[test]
fn only_the_route_of_the_script_is_changed() {
    let network = |remote: &str| crate::Network {
        mode: crate::IpMode::Ipv4,
        local: "192.168.0.1".parse().unwrap(),
        remote: remote.parse().unwrap(),
        gateway: "192.168.0.2".parse().unwrap(),
        prefix: 24,
        mtu: 1_500,
        gso_size: None,
    };
    let v4 = network("192.0.2.1");
    assert!(v4.has_route_to("192.0.2.1").is_ok() && v4.has_route_to("192.0.2.1/32").is_ok());
    for other in ["10.0.0.0/8", "default", "192.0.2.1/24", "192.0.2.2", "::1"] {
        assert!(v4.has_route_to(other).is_err(), "{other}");
    }
    assert!(network("2001:db8::1").has_route_to("2001:DB8::1").is_ok());
}
