//! `tcplab inject`: frames of every group, and what is said of them.

use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::run::script_as_kernel;
use super::schema::holds;
use super::{command, folder, tcplab};

#[test]
fn a_small_run_does_no_harm_and_says_so() {
    let run = tcplab(&["inject", "--count", "2000", "--json"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let document: Value = serde_json::from_str(&run.out).unwrap();
    holds("inject", &document);
    assert_eq!(document["frames"], 2000);
    assert_eq!(document["harm"], 0);
    let text = tcplab(&["inject", "--count", "500", "--target", "endpoint"]);
    assert_eq!(text.code, 0, "{}", text.err);
    assert!(
        text.out
            .contains("500 frames into parser, endpoint (seed 1): 0 did harm")
    );
}

#[test]
fn groups_are_listed_and_one_frame_is_sent() {
    let list = tcplab(&["inject", "--list"]);
    assert_eq!(list.code, 0);
    for group in ["tag-alone", "option-lengths", "mutated-segment"] {
        assert!(list.out.contains(group), "{}", list.out);
    }
    let one = tcplab(&["inject", "--only", "cut:314", "--json"]);
    let document: Value = serde_json::from_str(&one.out).unwrap();
    assert_eq!(document["frames"], 1);
    assert_eq!(document["groups"][0]["group"], "cut");
    for wrong in [
        ["--only", "none"],
        ["--only", "cut:1000000"],
        ["--only", "cut:x"],
    ] {
        let run = tcplab(&["inject", wrong[0], wrong[1]]);
        assert_eq!(run.code, 2, "{wrong:?}: {}", run.err);
    }
}

#[test]
fn frames_that_time_left_out_are_told() {
    let words = ["inject", "--for", "200ms", "--count", "2000000"];
    let run = tcplab(&words);
    assert!([0, 3].contains(&run.code), "{}", run.err);
    let mut lines = run.out.lines();
    let note = lines.find(|line| line.starts_with("note: ended after 200ms: "));
    let note = note.unwrap_or_else(|| panic!("{}", run.out));
    assert!(note.ends_with(" of 2000000 frames were sent"), "{note}");
    let run = tcplab(&[&words[..], &["--json"]].concat());
    let json = run.json();
    holds("inject", &json);
    // A target that got no frame was not tested.
    let notes = json["notes"].to_string();
    let is_missed = notes.contains(" got 0 of ");
    assert_eq!(run.code, if is_missed { 3 } else { 0 }, "{notes}");
    let note = json["notes"][0].as_str().unwrap();
    assert!(note.starts_with("ended after 200ms: "), "{note}");
    // Enough time: nothing to say.
    let whole = ["inject", "--for", "10m", "--only", "tag-alone", "--json"];
    assert_eq!(
        tcplab(&whole).json()["notes"].as_array().map(Vec::len),
        Some(0)
    );
}

#[test]
fn options_without_an_effect_are_refused() {
    for (words, says) in [
        (&["--count", "0"][..], "0 is not in 1.."),
        (&["--rate", "5"], "--target kernel"),
        (&["--rate", "5", "--target", "endpoint"], "--target kernel"),
        (&["--only", "cut:3", "--count", "5"], "leave --count out"),
        (&["--list", "--count", "5"], "cannot be used with"),
        (&["--list", "--rate", "5"], "cannot be used with"),
    ] {
        let run = tcplab(&[&["inject"], words].concat());
        assert_eq!(run.code, 2, "{words:?}: {}", run.err);
        assert!(run.err.contains(says), "{words:?}: {}", run.err);
    }
    // A target named twice is one.
    let twice = ["inject", "--target", "endpoint,endpoint", "--only", "cut:3"];
    let run = tcplab(&twice);
    assert_eq!(run.code, 0, "{}", run.err);
    let line = "1 frames into parser, endpoint (seed 1): 0 did harm";
    assert!(run.out.contains(line), "{}", run.out);
}

#[test]
fn this_machine_s_kernel_keeps_working() {
    let run = tcplab(&[
        "inject", "--target", "kernel", "--only", "cut", "--count", "200", "--json",
    ]);
    if run.code == 4 {
        eprintln!("skipped: {}", run.err);
        return;
    }
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    let document: Value = serde_json::from_str(&run.out).unwrap();
    holds("inject", &document);
    // Frames shorter than an Ethernet header are not taken by the interface.
    let sent = document["groups"][0]["sent_to_kernel"].as_u64().unwrap();
    assert!((100..=200).contains(&sent), "{sent}");
}

#[test]
#[ignore = "needs a kernel: tcplab kernel build 6.1"]
fn a_kernel_in_a_guest_gets_the_same_frames_and_repeats() {
    let words = ["inject", "--target", "uml:6.1", "--count", "600", "--json"];
    let (run, again) = (tcplab(&words), tcplab(&words));
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    assert_eq!(run.out, again.out);
    let document = run.json();
    holds("inject", &document);
    assert_eq!(document["frames"], 600);
    assert_eq!(document["targets"][1], "uml:6.1");
    assert_eq!(document["notes"].as_array().map(Vec::len), Some(0));
    let groups = document["groups"].as_array().unwrap();
    let sent = |group: &Value| group["sent_to_kernel"].as_u64().unwrap();
    assert!(groups.iter().map(sent).sum::<u64>() > 500);
    let counted = |name: &str| {
        let counters = groups
            .iter()
            .flat_map(|group| group["kernel_counters"].as_array());
        counters.flatten().any(|counter| counter["name"] == name)
    };
    for name in ["TcpInErrs", "Ip6InDelivers", "IpReasmFails"] {
        assert!(counted(name), "{name}");
    }
}

/// A kernel that dies at a frame: what the guest writes before each one says which; the rest goes on in another one.
const DIES: &str = r#"
for word in "$@"; do case "$word" in TCPLAB_SHARE=*) share="${word#*=}";; esac; done
part='{"frames":FRAMES,"effects":[1,0],"is_kernel":true,"counters":[],"harm":0,"harms":[],"notes":[]}'
part() { printf %s "$part" | sed "s/FRAMES/$1/"; }
if grep -q '"from":0' "$share/inject.json"; then
    printf '{"pick":0,"number":314,"frame":"00ff","part":%s}
' "$(part 2)" > "$share/inject.step"
    echo '<4>[ 0.2] a warning'
    echo '<0>[ 0.3] Kernel panic - not syncing: planted'
    exit 134
fi
grep -q '"from":2,"to":3' "$share/inject.json" || exit 9
printf '{"Over":[0,%s]}
' "$(part 1)" >> "$share/inject.lines"
"#;

#[test]
fn dead_kernel_is_harm_with_its_frame() {
    let place = folder();
    script_as_kernel(place.path(), "dies", DIES);
    let run = |words: &[&str]| {
        let mut run = command(&[&["inject", "--target", "uml:dies", "--json"], words].concat());
        run.env("XDG_CACHE_HOME", place.path());
        super::Run::new(run.output().unwrap())
    };
    let died = run(&["--only", "cut", "--count", "3"]);
    assert_eq!(died.code, 1, "{}{}", died.out, died.err);
    let document = died.json();
    holds("inject", &document);
    let group = &document["groups"][0];
    assert_eq!((&group["frames"], &group["harm"]), (&3.into(), &1.into()));
    assert_eq!(group["sent_to_kernel"], 2);
    let harm = &document["harms"][0];
    assert_eq!(
        (&harm["target"], &harm["number"], &harm["frame"]),
        (&"uml:dies".into(), &314.into(), &"00ff".into())
    );
    assert_eq!(
        harm["what"],
        "the kernel died: Kernel panic - not syncing: planted"
    );
    let again = "tcplab inject --target uml:dies --only cut:314 --seed 1";
    assert_eq!(harm["again"], again);
}

#[test]
fn kernel_that_fails_to_boot_is_no_harm() {
    let place = folder();
    script_as_kernel(
        place.path(),
        "broken",
        "echo no init here
exit 9
",
    );
    let mut run = command(&[
        "inject",
        "--target",
        "uml:broken",
        "--only",
        "cut:1",
        "--json",
    ]);
    run.env("XDG_CACHE_HOME", place.path());
    let run = super::Run::new(run.output().unwrap());
    assert_eq!(run.code, 4, "{}{}", run.out, run.err);
    let message = run.json()["error"]["message"].to_string();
    assert!(message.contains("no init here"), "{message}");
    for (target, code, says) in [
        ("uml:no-such", 4, "not built"),
        ("elsewhere", 2, "such as uml:6.1"),
        ("model:linux-6.1", 4, "malformed frames go into"),
    ] {
        let run = tcplab(&["inject", "--target", target]);
        assert_eq!(run.code, code, "{target}: {}", run.err);
        assert!(run.err.contains(says), "{target}: {}", run.err);
    }
}

/// A namespace of ip-netns(8) with one end of a veth pair, `eth0`, the other end here; they go with it.
struct Namespace {
    name: String,
    device: String,
}

fn ip(words: &str) -> bool {
    let words = words.split_whitespace();
    let run = Command::new("ip")
        .args(words)
        .stderr(Stdio::null())
        .status();
    run.is_ok_and(|status| status.success())
}

impl Namespace {
    /// None: this user may not, or there is no ip(8).
    fn new(tag: &str, address: u8) -> Option<Self> {
        let id = std::process::id();
        let made = Self {
            name: format!("tcplab-{tag}-{id}"),
            device: format!("tcl{tag}{}", id % 100_000),
        };
        let Self { name, device } = &made;
        if !ip(&format!("netns add {name}")) {
            eprintln!("skipped: `ip netns add` does not work here (needs root)");
            return None;
        }
        for words in [
            format!("link add {device} type veth peer name eth0 netns {name}"),
            format!("addr add 10.78.{address}.1/24 dev {device}"),
            format!("link set {device} up"),
            format!("-n {name} addr add 10.78.{address}.2/24 dev eth0"),
            format!("-n {name} link set eth0 up"),
        ] {
            assert!(ip(&words), "ip {words}");
        }
        Some(made)
    }

    /// `tcplab` in it, until it is dropped.
    fn start(&self, words: &str) -> Running {
        let mut run = Command::new("ip");
        run.args(["netns", "exec", &self.name, env!("CARGO_BIN_EXE_tcplab")]);
        run.args(words.split_whitespace());
        let run = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        Running(run.expect("a program in a namespace"))
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        ip(&format!("link del {}", self.device));
        ip(&format!("netns del {}", self.name));
    }
}

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn an_interface_of_a_namespace_gets_the_frames_and_keeps_working() {
    let Some(red) = Namespace::new("i", 31) else {
        return;
    };
    let into = format!("{}:eth0", red.name);
    let words = [
        "inject",
        "--into",
        &into,
        "--only",
        "option-lengths",
        "--json",
    ];
    let run = tcplab(&[&words[..], &["--count", "200"]].concat());
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    let document = run.json();
    holds("inject", &document);
    let site = &document["site"];
    assert_eq!(
        (&site["at"], &site["from"]),
        (&into.clone().into(), &red.device.clone().into())
    );
    assert_eq!(site["own_listener"], true);
    let group = &document["groups"][0];
    assert_eq!(group["sent_to_kernel"], 200);
    // They came in, and its TCP saw those in no VLAN.
    let counter = |name: &str| {
        let all = group["kernel_counters"].as_array().unwrap();
        let one = all.iter().find(|c| c["name"] == name);
        one.map_or(0, |c| c["by"].as_i64().unwrap())
    };
    assert!(counter("IfInPackets") >= 200, "{group}");
    assert!(counter("TcpInSegs") > 20, "{group}");
}

#[test]
fn a_program_that_dies_under_the_frames_is_harm() {
    let Some(red) = Namespace::new("d", 32) else {
        return;
    };
    let server = red.start("probe server echo --port 7007 --no-looks");
    // Peers of connections that stand, by /proc/net/tcp; or who listens.
    let at_port = |state: &str| -> Vec<String> {
        let mut ip = Command::new("ip");
        ip.args([
            "netns",
            "exec",
            &red.name,
            "cat",
            "/proc/net/tcp",
            "/proc/net/tcp6",
        ]);
        let text = ip.output().map(|run| run.stdout).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        let of = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().take(4).collect();
            let [_, local, remote, is] = words[..] else {
                return None;
            };
            (local.ends_with(":1B5F") && is == state).then(|| remote.to_owned())
        };
        text.lines().filter_map(of).collect()
    };
    let pause = || std::thread::sleep(std::time::Duration::from_millis(50));
    while at_port("0A").is_empty() {
        pause();
    }
    let into = format!("{}:eth0", red.name);
    let words = [
        "inject", "--into", &into, "--port", "7007", "--only", "cut", "--json",
    ];
    let mut run = Command::new(env!("CARGO_BIN_EXE_tcplab"));
    // On a busy machine the server is ended late: there must be frames left by then.
    run.args(words).args(["--count", "200", "--rate", "20"]);
    let run = run.stdout(Stdio::piped()).spawn().expect("tcplab");
    // The first try is over, the connection that frames are aimed at stands.
    let mut before = Vec::new();
    while before.is_empty() || !at_port("01").iter().any(|peer| before.contains(peer)) {
        before = at_port("01");
        pause();
    }
    drop(server);
    let run = run.wait_with_output().expect("a result");
    let out = String::from_utf8_lossy(&run.stdout);
    assert_eq!(run.status.code(), Some(1), "{out}");
    let document: Value = serde_json::from_str(&out).unwrap();
    let harm = &document["harms"][0];
    assert_eq!(harm["target"], "into");
    let what = harm["what"].as_str().unwrap();
    assert!(what.contains("connection"), "{harm}");
    let again = format!("tcplab inject --into {into} --port 7007 --only cut --seed 1");
    assert_eq!(harm["again"], again);
}

#[test]
fn a_loopback_interface_gets_them_too() {
    let Some(red) = Namespace::new("l", 33) else {
        return;
    };
    assert!(ip(&format!("-n {} link set lo up", red.name)));
    let into = format!("{}:lo", red.name);
    let run = tcplab(&[
        "inject",
        "--into",
        &into,
        "--only",
        "tcp-offset",
        "--count",
        "400",
        "--json",
    ]);
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    let group = &run.json()["groups"][0];
    // TCP answered to old data: the frames came that far.
    let text = group["kernel_counters"].to_string();
    assert!(text.contains("TcpExtTCPDSACKOldSent"), "{group}");
}

#[test]
fn what_may_reach_others_is_refused() {
    let says = |words: &[&str], what: &str| {
        let run = tcplab(&[&["inject"], words].concat());
        assert_eq!(run.code, 2, "{words:?}: {}", run.err);
        assert!(run.err.contains(what), "{words:?}: {}", run.err);
    };
    let devices = std::fs::read_dir("/sys/class/net")
        .into_iter()
        .flatten()
        .flatten();
    let mut names = devices.filter_map(|device| device.file_name().into_string().ok());
    match names.find(|name| name != "lo") {
        Some(name) => says(&["--into", &name], "--allow-any-target"),
        None => eprintln!("skipped: this machine has no interface but lo"),
    }
    says(&["--into", "no-such-namespace:eth0"], "no-such-namespace");
    says(&["--into", "no-such-if"], "no interface no-such-if");
    says(&["--into", "a/b"], "NAMESPACE:IF");
    says(&["--port", "80"], "--into");
    let Some(red) = Namespace::new("r", 34) else {
        return;
    };
    let into = format!("{}:eth0", red.name);
    // The other end, which is in the namespace that tcplab runs in.
    says(&["--into", &red.device], "namespace that tcplab runs in");
    says(&["--into", &into, "--from", "lo"], "--allow-any-target");
    says(&["--into", &into, "--port", "81"], "refused");
    let key = "net.ipv4.conf.eth0.forwarding=1";
    let mut ip = Command::new("ip");
    let set = ip.args(["netns", "exec", &red.name, "sysctl", "-q", "-w", key]);
    if set.status().is_ok_and(|status| status.success()) {
        says(&["--into", &into], "forwarding is on");
        let only = ["--only", "address", "--allow-any-target"];
        let run = tcplab(&[&["inject", "--into", &into], &only[..]].concat());
        assert_eq!(run.code, 0, "{}", run.err);
    }
}
