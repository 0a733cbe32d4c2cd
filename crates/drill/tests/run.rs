//! Whole scripts against the simulated host: scripts that pass, scripts that fail and how strictly, and hostile
//! ones.

use tcplab_base::Random;
use tcplab_drill::mutate::mutant;
use tcplab_drill::options::{Settings, runner_defines};
use tcplab_drill::run::{Entry, Report, Verdict, What, run};
use tcplab_drill::script::Script;
use tcplab_drill::{IpMode, Model, parse};
use tcplab_plan::profile::named;

const MODES: [IpMode; 3] = IpMode::ALL;

/// A server: handshake, delayed ACK, data both ways, close by the client.
const SERVER: &str = r#"
    0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
   +0 setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0
   +0 bind(3, ..., ...) = 0
   +0 listen(3, 1) = 0

   +0 < S 1000:1000(0) win 32792 <mss 1000,sackOK,nop,nop,nop,wscale 7>
   +0 > S. 0:0(0) ack 1001 <mss 1460,nop,nop,sackOK,nop,wscale 7>
 +.05 < . 1:1(0) ack 1 win 257
   +0 accept(3, ..., ...) = 4
   +0 getsockopt(4, SOL_TCP, TCP_NODELAY, [0], [4]) = 0

   +0 < P. 1:101(100) ack 1 win 257
   +0 > . 1:1(0) ack 101
   +0 read(4, ..., 500) = 100
   +0 write(4, ..., 2500) = 2500
   +0 > P. 1:2501(2500) ack 101
 +.05 < . 101:101(0) ack 1001 win 257 <sack 2001:2501,nop,nop>
 +.01 < . 101:101(0) ack 2501 win 257
   +0 %{ assert tcpi_unacked == 0, tcpi_unacked
assert tcpi_state == 1 }%

 +.05 < F. 101:101(0) ack 2501 win 257
   +0~+.05 > . 2501:2501(0) ack 102
   +0 read(4, ..., 500) = 0
   +0 close(4) = 0
   +0 > F. 2501:2501(0) ack 102
 +.05 < . 102:102(0) ack 2502 win 257
"#;

/// A client: a connect that does not wait, a read that does, an error.
const CLIENT: &str = r#"
    0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
   +0 fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0
   +0 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)
   +0 > S 0:0(0) <mss 1460,sackOK,TS val 100 ecr 0,nop,wscale 7>
 +.02 < S. 500:500(0) ack 1 win 5792 <mss 1000,sackOK,TS val 700 ecr 100,nop,wscale 7>
   +0 > . 1:1(0) ack 1 <nop,nop,TS val 120 ecr 700>
   +0 getsockopt(3, SOL_SOCKET, SO_ERROR, [0], [4]) = 0
   +0 read(3, ..., 10) = -1 EAGAIN (nothing there)
   +0 fcntl(3, F_SETFL, O_RDWR) = 0
   +0 ...0.1 read(3, ..., 10) = 5
  +.1 < P. 1:6(5) ack 1 win 100 <nop,nop,TS val 800 ecr 120>
   +0 > . 1:1(0) ack 6 <nop,nop,TS val 220 ecr 800>
   +0 poll([{fd=3, events=POLLIN|POLLOUT, revents=POLLOUT}], 1, 0) = 1
   +0 close(3) = 0
   +0 > F. 1:1(0) ack 6 <nop,nop,TS val 220 ecr 800>
"#;

fn settings(script: &Script, mode: IpMode) -> Settings {
    let mut settings = Settings::of(script, mode, &[]).unwrap();
    settings.check_sums = true;
    settings
}

fn against_model(script: &Script, settings: &Settings) -> Report {
    let profile = named("linux-6.1").unwrap();
    let mut model = Model::new(&profile, settings.network.clone(), 1_000, 250_000, 1);
    run(script, settings, &mut model)
}

fn verdict(text: &str, mode: IpMode) -> Verdict {
    let script = parse(text, &runner_defines(mode)).unwrap();
    against_model(&script, &settings(&script, mode)).verdict
}

#[test]
fn scripts_pass_in_each_mode() {
    for mode in MODES {
        for text in [SERVER, CLIENT] {
            // The runner's MTU is 1,520 there, so the MSS is the same.
            assert_eq!(verdict(text, mode), Verdict::Pass, "{mode:?}\n{text}");
        }
    }
}

/// The handshake of an accepted connection, descriptor 4.
const ACCEPTED: &str = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 32792 <mss 1000,sackOK,nop,nop,nop,wscale 7>
+0 > S. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK,nop,wscale 7>
+.1 < . 1:1(0) ack 1 win 257
+0 accept(3, ..., ...) = 4
";

/// What Linux 6.1 answers, as tests on `uml:6.1` showed.
#[test]
fn calls_answer_as_on_linux() {
    let tcp = "+0 setsockopt(4, SOL_SOCKET, SO_LINGER, {onoff=1, linger=5}, 4) = -1 EINVAL (short)
+0 setsockopt(4, SOL_TCP, TCP_DEFER_ACCEPT, [5], 4) = 0
+0 getsockopt(4, SOL_TCP, TCP_DEFER_ACCEPT, [7], [4]) = 0
+0 setsockopt(4, SOL_TCP, TCP_LINGER2, [255], 4) = 0
+0 getsockopt(4, SOL_TCP, TCP_LINGER2, [120], [4]) = 0
+0 setsockopt(4, SOL_SOCKET, SO_OOBINLINE, [5], 4) = 0
+0 getsockopt(4, SOL_SOCKET, SO_OOBINLINE, [1], [4]) = 0
+0 setsockopt(4, SOL_TCP, TCP_THIN_LINEAR_TIMEOUTS, [2], 4) = -1 EINVAL (on or off)
+0 setsockopt(4, SOL_IP, IP_TTL, [1000], 4) = -1 EINVAL (too large)
+0 setsockopt(3, SOL_TCP, TCP_WINDOW_CLAMP, [0], 4) = -1 EINVAL (not closed)
+0 getsockopt(4, SOL_IP, IP_MTU_DISCOVER, [1], [4]) = 0
+0 setsockopt(4, SOL_IP, IP_TOS, [0x10], 4) = 0
+0 getsockopt(4, SOL_SOCKET, SO_PRIORITY, [6], [4]) = 0
+0 setsockopt(4, SOL_IP, IP_TOS, [256], 4) = 0
+0 getsockopt(4, SOL_IP, IP_TOS, [0], [4]) = 0
+0 read(4, ..., 0) = 0
+0 recv(4, ..., 0, MSG_DONTWAIT) = -1 EAGAIN (nothing there)
+0 epoll_create(1) = 5
+0 epoll_ctl(5, EPOLL_CTL_ADD, 5, {events=EPOLLIN, fd=5}) = -1 EINVAL (itself)
+0 socket(..., SOCK_STREAM|SOCK_CLOEXEC, IPPROTO_TCP) = 6
+0 fcntl(6, F_GETFD) = 1
+0 listen(6, 1) = 0
";
    let udp = "0 socket(..., SOCK_DGRAM, IPPROTO_UDP) = 3
+0 setsockopt(3, SOL_TCP, TCP_NODELAY, [1], 4) = -1 ENOPROTOOPT (not of UDP)
+0 getsockopt(3, SOL_SOCKET, SO_RCVBUF, [212992], [4]) = 0
+0 setsockopt(3, SOL_SOCKET, SO_RCVBUF, [1], 4) = 0
+0 getsockopt(3, SOL_SOCKET, SO_RCVBUF, [2304], [4]) = 0
";
    for mode in MODES {
        assert_eq!(verdict(&format!("{ACCEPTED}{tcp}"), mode), Verdict::Pass);
        assert_eq!(verdict(udp, mode), Verdict::Pass, "{mode:?}");
    }
}

#[test]
fn headers_have_what_the_options_say() {
    let udp = "0 `sysctl -q net.ipv4.ip_default_ttl=30`
+0 socket(..., SOCK_DGRAM, IPPROTO_UDP) = 3
+0 connect(3, ..., ...) = 0
+0 write(3, ..., 100) = 100
+0 > [ttl 30] udp (100)
+0 setsockopt(3, SOL_IP, IP_TOS, [9], 4) = 0
+0 setsockopt(3, SOL_IP, IP_TTL, [7], 4) = 0
+0 write(3, ..., 100) = 100
+0 > [tos 0x9, ttl 7] udp (100)
";
    assert_eq!(verdict(udp, IpMode::Ipv4), Verdict::Pass);
    let class = "0 socket(..., SOCK_DGRAM, IPPROTO_UDP) = 3
+0 setsockopt(3, SOL_IPV6, IPV6_TCLASS, [0x20], 4) = 0
+0 connect(3, ..., ...) = 0
+0 write(3, ..., 100) = 100
+0 > [tos 0x20] udp (100)
";
    assert_eq!(verdict(class, IpMode::Ipv6), Verdict::Pass);
    // The connection keeps its time to live when its descriptor is closed.
    let tcp = "+0 setsockopt(4, SOL_IP, IP_TTL, [9], 4) = 0
+0 getsockopt(4, SOL_IP, IP_TTL, [9], [4]) = 0
+0 write(4, ..., 100) = 100
+0 > [ttl 9] P. 1:101(100) ack 1
+0 close(4) = 0
+0 > [ttl 9] F. 101:101(0) ack 1
";
    let text = format!("{ACCEPTED}{tcp}");
    assert_eq!(verdict(&text, IpMode::Ipv4), Verdict::Pass);
}

#[test]
fn thin_streams_do_not_back_off() {
    let thin = "+0 setsockopt(4, SOL_TCP, TCP_THIN_LINEAR_TIMEOUTS, [1], 4) = 0
+0 write(4, ..., 100) = 100
+0 > P. 1:101(100) ack 1
+.2~+.32 > P. 1:101(100) ack 1
+.25~+.4 > P. 1:101(100) ack 1
+.25~+.4 > P. 1:101(100) ack 1
+.25~+.4 > P. 1:101(100) ack 1
";
    let text = format!("{ACCEPTED}{thin}");
    assert_eq!(verdict(&text, IpMode::Ipv4), Verdict::Pass);
}

#[test]
fn queue_without_room_drops_every_packet() {
    let text = "0 `tc qdisc add dev tun0 root pfifo limit 0`
+0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 32792 <mss 1000>
+0 > S. 0:0(0) ack 1 <mss 1460>
";
    assert!(matches!(verdict(text, IpMode::Ipv4), Verdict::Fail(_)));
}

#[test]
fn what_the_model_lacks_skips_the_script() {
    let udp = "0 socket(..., SOCK_DGRAM, IPPROTO_UDP) = 3\n";
    let pmtu = "+0 setsockopt(4, SOL_IP, IP_MTU_DISCOVER, [IP_PMTUDISC_DONT], 4) = 0
+0 write(4, ..., 1000) = 1000
+0 > P. 1:1001(1000) ack 1
+.05 < icmp unreachable frag_needed mtu 600 [1:1001(1000)]
";
    let urgent = "+0 setsockopt(4, SOL_SOCKET, SO_OOBINLINE, [1], 4) = 0
+.1 < PU. 1:11(10) ack 1 win 257 urg 10
";
    for (text, why) in [
        (
            format!("{udp}+0 connect(3, ..., ...) = 0\n+0 send(3, ..., 9, MSG_MORE) = 9\n"),
            "MSG_MORE",
        ),
        (
            format!("{udp}+0 setsockopt(3, SOL_UDP, UDP_CORK, [1], 4) = 0\n"),
            "level 17",
        ),
        (
            "0 socket(..., SOCK_RAW, IPPROTO_TCP) = 3\n".to_owned(),
            "raw sockets",
        ),
        (format!("{udp}+0 ioctl(3, FIONBIO, [1]) = 0\n"), "ioctl"),
        (
            format!("{ACCEPTED}+0 ioctl(4, FIONBIO, [1]) = 0\n"),
            "ioctl",
        ),
        (format!("{ACCEPTED}{pmtu}"), "IP_MTU_DISCOVER"),
        (format!("{ACCEPTED}{urgent}"), "SO_OOBINLINE"),
        (
            format!("`sysctl -q net.ipv4.tcp_challenge_ack_limit=1`\n{udp}"),
            "acts as with 2147483647",
        ),
        (
            format!("`sysctl -q net.ipv4.tcp_nosuch`\n{udp}"),
            "no sysctl net.ipv4.tcp_nosuch",
        ),
        (
            format!("`tc qdisc replace dev tun0 root fq maxrate 1mbit`\n{udp}"),
            "no maxrate",
        ),
    ] {
        let verdict = verdict(&text, IpMode::Ipv4);
        let is_it = matches!(&verdict, Verdict::Skip { why: said, .. } if said.contains(why));
        assert!(is_it, "{text}: {verdict:?}");
    }
    let blank = format!("`sysctl -q net.ipv4.tcp_sack 0`\n{udp}");
    assert!(matches!(verdict(&blank, IpMode::Ipv4), Verdict::Fail(_)));
}

#[test]
fn a_run_is_the_same_each_time() {
    let script = parse(SERVER, &runner_defines(IpMode::Ipv4)).unwrap();
    let settings = settings(&script, IpMode::Ipv4);
    let first = against_model(&script, &settings);
    assert_eq!(first, against_model(&script, &settings));
    // Every packet stands in the script, and in the order of time.
    let packets = |e: &&Entry| matches!(e.what, What::Packet { .. });
    let is_known = first.entries.iter().filter(packets).all(|e| e.line > 0);
    assert!(is_known, "{}", first.transcript("a.pkt"));
    assert!(first.entries.is_sorted_by_key(|e| e.at));
    let transcript = first.transcript("a.pkt");
    assert!(
        transcript.contains("> P. 2001:2501(500) ack 101"),
        "{transcript}"
    );
    assert!(transcript.contains("write(4, ...) = 2500"), "{transcript}");
}

#[test]
fn no_script_passes_with_another_number() {
    let mut alive = Vec::new();
    for text in [SERVER, CLIENT] {
        let script = parse(text, &runner_defines(IpMode::Ipv4)).unwrap();
        let settings = settings(&script, IpMode::Ipv4);
        assert_eq!(against_model(&script, &settings).verdict, Verdict::Pass);
        for seed in 0..300 {
            let mutant = mutant(&script, &settings, seed).unwrap();
            if against_model(&mutant.script, &settings).verdict == Verdict::Pass {
                alive.push((mutant.line, mutant.what));
            }
        }
    }
    assert_eq!(alive, []);
}

#[test]
fn a_reset_to_nobody_is_seen() {
    let text = "
        0 < S 0:0(0) win 1000
       +0 > R. 0:0(0) ack 1 win 0";
    for mode in MODES {
        assert_eq!(verdict(text, mode), Verdict::Pass, "{mode:?}");
    }
}

#[test]
fn hostile_scripts_end_without_a_panic() {
    // Lines in any order, with numbers drawn from where things break.
    let lines: Vec<&str> = [SERVER, CLIENT]
        .iter()
        .flat_map(|t| t.lines())
        .filter(|l| l.starts_with(' ') && !l.contains("%{"))
        .collect();
    let numbers = [
        "0",
        "1",
        "65535",
        "65536",
        "4294967295",
        "4294967296",
        "2147483647",
    ];
    let mut ran = 0;
    for seed in 0..3_000 {
        let mut random = Random::stream(seed, "hostile");
        let mut pick = |n: usize| random.below(n as u64) as usize;
        let mut text = String::from("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n");
        for _ in 0..1 + pick(12) {
            let line = lines[pick(lines.len())].trim_start();
            let mut line = line.replacen("0 socket", "+0 socket", 1);
            if pick(3) == 0 {
                let number = numbers[pick(numbers.len())];
                let digits: Vec<usize> = line
                    .match_indices(char::is_numeric)
                    .map(|(at, _)| at)
                    .collect();
                let at = digits[pick(digits.len())];
                line.replace_range(at..=at, number);
            }
            text += &line;
            text.push('\n');
        }
        let mode = MODES[pick(3)];
        let Ok(script) = parse(&text, &runner_defines(mode)) else {
            continue;
        };
        ran += 1;
        let report = against_model(&script, &settings(&script, mode));
        let mut capture = Vec::new();
        report.write_pcapng("x", &mut capture).unwrap();
    }
    assert!(ran > 1_000, "{ran}");
}

#[test]
fn settings_and_questions_of_the_kernels_selftests() {
    let text = r#"`ip link set dev tun0 mtu 1000`
    0 `nstat -n`
   +0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
   +0 setsockopt(3, SOL_SOCKET, SO_RCVBUF, [10000], 4) = 0
   +0 bind(3, ..., ...) = 0
   +0 listen(3, 1) = 0
   +0 `grep " 0A " /proc/net/tcp /proc/net/tcp6 | grep ":1F90"`
   +0 < S 0:0(0) win 32792 <mss 1000>
   +0 > S. 0:0(0) ack 1 <mss 960>
   +0 < . 1:1(0) ack 1 win 257
   +0 accept(3, ..., ...) = 4
   +0 `nstat | grep PassiveOpens | grep -q " 1 "`
   +0 %{ assert SK_MEMINFO_RCVBUF == 20000, SK_MEMINFO_RCVBUF }%
"#;
    for mode in [IpMode::Ipv4, IpMode::Mapped] {
        assert_eq!(verdict(text, mode), Verdict::Pass, "{mode:?}");
    }
    // An assert over memory that the model does not count is no failure.
    let more = format!("{text}   +0 %{{ assert SK_MEMINFO_DROPS == 0 }}%");
    assert!(matches!(
        verdict(&more, IpMode::Ipv4),
        Verdict::Skip { line: 14, .. }
    ));
}

#[test]
fn a_datagram_reaches_a_socket_that_is_only_bound() {
    let text = "
        0 socket(..., SOCK_DGRAM, IPPROTO_UDP) = 3
       +0 bind(3, ..., ...) = 0
       +0 < udp (10)
       +0 recvfrom(3, ..., 20, 0, ..., ...) = 10";
    for mode in MODES {
        assert_eq!(verdict(text, mode), Verdict::Pass, "{mode:?}");
    }
}
