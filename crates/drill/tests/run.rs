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
