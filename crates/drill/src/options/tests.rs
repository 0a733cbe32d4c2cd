//! Options of heads and command lines, as tables: the settings, and the errors.

use super::*;
use crate::parse::parse;

fn of(head: &str, mode: IpMode) -> Result<Settings, String> {
    let script =
        parse(&format!("{head}\n0 > S 0:0(0)\n"), &Defines::new()).map_err(|e| e.to_string())?;
    Settings::of(&script, mode, &[]).map_err(|e| e.to_string())
}

#[test]
fn each_mode_has_the_runners_network() {
    for (mode, local, remote, gateway, prefix, mtu) in [
        (
            IpMode::Ipv4,
            "192.168.0.1",
            "192.0.2.1",
            "192.168.0.1",
            16,
            1500,
        ),
        (
            IpMode::Mapped,
            "192.168.0.1",
            "192.0.2.1",
            "192.168.0.1",
            16,
            1500,
        ),
        (
            IpMode::Ipv6,
            "fd3d:a0b:17d6::1",
            "fd3d:fa7b:d17d::1",
            "fd3d:a0b:17d6:8888::1",
            48,
            1520,
        ),
    ] {
        let network = of("", mode).unwrap().network;
        assert_eq!(network.local.to_string(), local);
        assert_eq!(network.remote.to_string(), remote);
        assert_eq!(network.gateway.to_string(), gateway);
        assert_eq!(
            (network.prefix, network.mtu, network.mode),
            (prefix, mtu, mode)
        );
    }
}

#[test]
fn the_command_line_wins_over_the_script() {
    let settings = of(
        "--local_ip=10.1.2.3 --mtu=900 --ip_version=ipv6 --bind_port=99",
        IpMode::Ipv4,
    )
    .unwrap();
    assert_eq!(settings.network.local.to_string(), "192.168.0.1");
    // The runner says no MTU in this mode.
    assert_eq!(settings.network.mtu, 900);
    assert_eq!((settings.bind_port, settings.connect_port), (99, 8080));
    let script = parse("--bind_port=99\n0 > S 0:0(0)", &Defines::new()).unwrap();
    let extra = [("bind_port".to_string(), Some("100".to_string()))];
    assert_eq!(
        Settings::of(&script, IpMode::Ipv4, &extra)
            .unwrap()
            .bind_port,
        100
    );
}

#[test]
fn options_become_settings() {
    let head = "--tolerance_usecs=10000\n--tolerance_percent=7.25 --tcp_ts_ecr_scaled // with a comment\n\
        --mss=1000 --tcp_ts_tick_usecs=1000 --strict_segments --non_fatal=\"packet, syscall\" --init_scripts=\"a,b\"";
    let settings = of(head, IpMode::Ipv4).unwrap();
    assert_eq!(
        (settings.tolerance_us, settings.tolerance_ppm),
        (10_000, 72_500)
    );
    assert_eq!(
        (settings.network.gso_size, settings.ts_tick_us),
        (Some(1000), 1000)
    );
    assert!(settings.ts_ecr_scaled && settings.strict_segments);
    assert!(settings.non_fatal_packet && settings.non_fatal_syscall);
    assert_eq!(settings.init_scripts, ["a", "b"]);
    let plain = of("", IpMode::Ipv4).unwrap();
    assert_eq!((plain.tolerance_us, plain.tolerance_ppm), (4000, 125_000));
    assert!(!plain.ts_ecr_scaled && !plain.strict_segments && !plain.non_fatal_packet);
}

#[test]
fn wrong_option_is_told_with_its_place() {
    for (head, expected) in [
        (
            "--bind_port=0",
            "1:1: --bind_port=0: expected a port from 1 to 65535",
        ),
        (
            "\n  --tolerance_us=7",
            "2:3: --tolerance_us is not an option of packetdrill; did you mean `tolerance_usecs`?",
        ),
        ("--mss", "1:1: --mss needs a value: --mss=VALUE"),
        (
            "--strict_segments=1",
            "1:1: --strict_segments takes no value",
        ),
        (
            "--code_command=perl",
            "1:1: --code_command=perl: expected `python3`: code is evaluated here, no program is run",
        ),
        (
            "--tolerance_percent=100.1",
            "1:1: --tolerance_percent=100.1: expected a number from 0 to 100 with at most 4 decimals",
        ),
        (
            "--mtu=-1",
            "1:1: --mtu=-1: expected a number from 0 to 65535",
        ),
    ] {
        assert_eq!(of(head, IpMode::Ipv4).unwrap_err(), expected, "{head}");
    }
}

#[test]
fn options_for_missing_features_skip_the_script() {
    for (head, expected) in [
        (
            "--wire_client",
            "--wire_client asks for two machines and a real network, but scripts run on one host here",
        ),
        (
            "--so_filename=x.so",
            "--so_filename asks for a TCP in a shared object; choose a stack with --on",
        ),
    ] {
        let script = parse(&format!("{head} 0 > S 0:0(0)"), &Defines::new()).unwrap();
        assert_eq!(script.lacks[0].value, expected);
        assert!(Settings::of(&script, IpMode::Ipv4, &[]).is_ok(), "{head}");
        // On the command line it is an error.
        let name = script.options[0].value.0.clone();
        let wrong = Settings::of(&script, IpMode::Ipv4, &[(name, None)]).unwrap_err();
        assert_eq!(wrong.what, expected);
    }
}

#[test]
fn the_users_mode_and_addresses_win() {
    let script = parse("0 > S 0:0(0)", &Defines::new()).unwrap();
    let extra = |name: &str, value: &str| (name.to_string(), Some(value.to_string()));
    let options = [
        extra("ip_version", "ipv6"),
        extra("remote_ip", "2001:db8::7/40"),
        extra("netmask_ip", "255.0.0.0"),
    ];
    let settings = Settings::of(&script, IpMode::Ipv4, &options).unwrap();
    assert_eq!(settings.network.mode, IpMode::Ipv6);
    assert_eq!(settings.network.remote.to_string(), "2001:db8::7");
    assert_eq!((settings.remote_prefix, settings.network.prefix), (40, 48));
    let wrong = Settings::of(&script, IpMode::Ipv4, &[extra("remote_ip", "::1")]).unwrap_err();
    assert_eq!(wrong.what, "--remote_ip=::1: expected an IPv4 address");
}

#[test]
fn the_name_of_a_file_says_its_modes() {
    assert_eq!(runner_modes("mtu-v4.pkt"), [IpMode::Ipv4, IpMode::Mapped]);
    assert_eq!(runner_modes("mtu-v6.pkt"), [IpMode::Ipv6]);
    assert_eq!(runner_modes("mtu.pkt").len(), 3);
}

#[test]
fn the_runners_symbols_differ_by_mode() {
    assert_eq!(
        runner_defines(IpMode::Mapped).get("CMSG_LEVEL_IP"),
        Some("SOL_IPV6")
    );
    assert_eq!(
        runner_defines(IpMode::Ipv4).get("CMSG_LEVEL_IP"),
        Some("SOL_IP")
    );
    assert_eq!(runner_defines(IpMode::Ipv6).get("CODE"), None);
}
