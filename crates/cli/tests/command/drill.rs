//! `tcplab drill`: verdicts, what a failure says, JSON, KTAP, exit codes, our own scripts.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::{command, root, tcplab};

/// A connection that is opened and gets 1,000 bytes.
const PASSES: &str = "\
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 65535 <mss 1000,nop,nop,sackOK>
+0 > S. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK>
+.01 < . 1:1(0) ack 1 win 65535
+0 accept(3, ..., ...) = 4
+.01 < P. 1:1001(1000) ack 1 win 65535
+0 > . 1:1(0) ack 1001
+0 read(4, ..., 2000) = 1000
+0 %{ assert tcpi_rcv_mss == 1000, tcpi_rcv_mss }%
";

/// A folder with scripts in it.
fn folder(scripts: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in scripts {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn drill(folder: &Path, more: &[&str]) -> super::Run {
    let path = folder.display().to_string();
    let mut args = vec!["drill", &path];
    args.extend(more);
    tcplab(&args)
}

#[test]
fn a_script_passes_in_its_modes() {
    let folder = folder(&[("a.pkt", PASSES), ("b-v4.pkt", PASSES)]);
    let run = drill(folder.path(), &[]);
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{}", run.out);
    assert_eq!(run.out, "5 passed, 0 failed, 0 skipped\n");
    let run = drill(folder.path(), &["--ip", "ipv6", "-v"]);
    assert_eq!(run.out.lines().count(), 2, "{}", run.out);
    assert!(run.out.contains("a.pkt (ipv6)\n1 passed"), "{}", run.out);
    let run = drill(folder.path(), &["-4", "-S", "-v", "-v"]);
    assert!(run.out.contains("< S 0:0(0) win 65535"), "{}", run.out);
    let run = drill(folder.path(), &["--dry-run"]);
    assert_eq!(run.out.lines().count(), 5, "{}", run.out);
}

#[test]
fn a_named_script_that_the_address_family_leaves_out_is_skipped_by_name() {
    let folder = folder(&[("a-v6.pkt", PASSES), ("b.pkt", PASSES)]);
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (first, second) = (path("a-v6.pkt"), path("b.pkt"));
    let words = ["drill", &first, &second, "-4"];
    let run = tcplab(&words);
    assert_eq!(run.code, 0, "{}", run.err);
    let line = format!("SKIP {first} (ipv4): its name allows ipv6 only\n");
    assert_eq!(run.out, line + "1 passed, 0 failed, 1 skipped\n");
    let json = tcplab(&[&words[..], &["--json"]].concat()).json();
    assert_eq!(json["skipped"], 1);
    assert_eq!(json["results"][0]["script"], first.as_str());
    assert_eq!(json["results"][0]["verdict"], "skip");
    assert_eq!(json["results"][0]["why"], "its name allows ipv6 only");
    assert_eq!(json["results"][1]["verdict"], "pass");
    // Nothing could be run; a folder's scripts are left out without a word.
    assert_eq!(tcplab(&["drill", &first, "-4"]).code, 4);
    let run = drill(folder.path(), &["-4"]);
    assert_eq!(run.out, "1 passed, 0 failed, 0 skipped\n");
}

#[test]
fn options_that_cannot_be_are_wrong_usage() {
    let folder = folder(&[("a.pkt", PASSES)]);
    for more in [
        &["--dry-run", "--json"][..],
        &["--dry-run", "--tap"],
        &["--dry-run", "--junit", "x.xml"],
        &["--tolerance-us", "0"],
        &["--tolerance-us", "4294967296"],
    ] {
        let run = drill(folder.path(), more);
        assert_eq!(run.code, 2, "{more:?}: {}{}", run.out, run.err);
        if more.contains(&"--json") {
            assert_eq!(run.json()["error"]["kind"], "usage");
        }
    }
}

#[test]
fn failures_outside_the_known_list_are_news() {
    let wrong = PASSES.replace("ack 1001", "ack 1000");
    let folder = folder(&[("a.pkt", &wrong), ("b.pkt", PASSES), ("c.pkt", &wrong)]);
    let all = drill(folder.path(), &["-4"]);
    assert_eq!(all.code, 1);
    // Its own output is a list.
    let list = folder.path().join("known");
    std::fs::write(&list, &all.out).unwrap();
    let list = list.display().to_string();
    let none = drill(folder.path(), &["-4", "--expect", &list]);
    assert_eq!(none.code, 0, "{}", none.out);
    assert_eq!(none.out, "1 passed, 2 failed (2 known), 0 skipped\n");
    // A path by its end, without a mode; one that passes; one that there is not.
    std::fs::write(&list, "# since June\na.pkt\nb.pkt (ipv4)\nz.pkt\n").unwrap();
    let run = drill(folder.path(), &["-4", "--expect", &list]);
    assert_eq!(run.code, 1);
    let failed: Vec<&str> = run.out.lines().filter(|l| l.starts_with("FAIL")).collect();
    assert!(
        failed.len() == 1 && failed[0].ends_with("c.pkt (ipv4)"),
        "{}",
        run.out
    );
    for part in [
        "passes now, remove it",
        "b.pkt (ipv4)",
        "line 4: z.pkt matches no case",
    ] {
        assert!(run.out.contains(part), "{part}: {}", run.out);
    }
    let tap = drill(folder.path(), &["-4", "--expect", &list, "--tap"]).out;
    assert_eq!(tap.matches("DO known failure\n").count(), 1, "{tap}");
    let junit = folder.path().join("junit.xml").display().to_string();
    let flags = ["-4", "--expect", &list, "--json", "--junit", &junit];
    let json = drill(folder.path(), &flags).json();
    let xml = std::fs::read_to_string(junit).unwrap();
    for part in [
        "<testsuite name=\"tcplab drill on model\" tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\">\n",
        "b.pkt\" name=\"ipv4\"/>\n",
        "><skipped message=\"known failure: ",
        "the packet differs in `ack`\">",
        "\n  actual ",
    ] {
        assert!(xml.contains(part), "{part}: {xml}");
    }
    assert_eq!(json["expected"]["failed"], 1);
    let known = |n: usize| &json["results"][n]["known"];
    assert_eq!(
        (known(0), known(2)),
        (&true.into(), &serde_json::Value::Null)
    );
}

#[test]
fn a_failure_shows_both_packets_and_ends_with_1() {
    let wrong = PASSES.replace("ack 1001", "ack 1000");
    let folder = folder(&[("a.pkt", &wrong)]);
    let run = drill(folder.path(), &["-4"]);
    assert_eq!(run.code, 1);
    for part in ["a.pkt:9: ", "`ack`", "ack 1000", "ack 1001", "Established"] {
        assert!(run.out.contains(part), "{part}: {}", run.out);
    }
    let json = drill(folder.path(), &["-4", "--json"]);
    assert_eq!(json.code, 1);
    let document = json.json();
    assert_eq!(document["schema"], "tcplab.drill/1");
    assert_eq!(
        (&document["passed"], &document["failed"]),
        (&0.into(), &1.into())
    );
    let result = &document["results"][0];
    assert_eq!(
        (&result["mode"], &result["verdict"]),
        (&"ipv4".into(), &"fail".into())
    );
    assert_eq!(result["line"], 9);
    assert!(result["why"].as_str().unwrap().contains("ack 1001"));
    let tap = drill(folder.path(), &["-4", "--tap"]);
    assert!(
        tap.out.starts_with("KTAP version 1\n1..1\n# "),
        "{}",
        tap.out
    );
    assert!(tap.out.contains("\nnot ok 1 "), "{}", tap.out);
}

#[test]
fn failed_script_keeps_its_packets_and_names_the_file() {
    let wrong = PASSES.replace("ack 1001", "ack 1000");
    let folder = folder(&[("a.pkt", &wrong), ("b.pkt", PASSES)]);
    let cache = tempfile::tempdir().unwrap();
    let run = |more: &[&str]| {
        let mut command = command(&["drill", "-4", &folder.path().display().to_string()]);
        let output = command.args(more).env("XDG_CACHE_HOME", cache.path());
        super::Run::new(output.output().unwrap())
    };
    let text = run(&[]);
    let line = text
        .out
        .lines()
        .find_map(|l| l.trim().strip_prefix("packets: "));
    let file = PathBuf::from(line.unwrap_or_else(|| panic!("{}", text.out)));
    assert!(file.starts_with(cache.path()), "{}", file.display());
    let read = tcplab(&["analyze", "--json", file.to_str().unwrap()]);
    assert_eq!(read.json()["captures"][0]["tcp_packets"], 5, "{}", read.out);
    let kept = fs::read_dir(file.parent().unwrap()).unwrap();
    assert_eq!(kept.count(), 1, "only what failed");
    let json = run(&["--json"]).json();
    assert_eq!(json["results"][0]["capture"], file.to_str().unwrap());
    assert!(json["results"][1].get("capture").is_none());
    let tap = run(&["--tap"]).out;
    assert!(
        tap.contains(&format!("# packets: {}\nnot ok", file.display())),
        "{tap}"
    );
    // A cache that cannot be written loses no verdict.
    fs::remove_dir_all(cache.path()).unwrap();
    fs::write(cache.path(), "a file").unwrap();
    let none = run(&[]);
    assert_eq!(none.code, 1);
    assert!(none.err.contains("--pcap DIR"), "{}", none.err);
    assert!(
        none.out.ends_with("1 passed, 1 failed, 0 skipped\n"),
        "{}",
        none.out
    );
    fs::remove_file(cache.path()).unwrap();
    fs::create_dir(cache.path()).unwrap();
}

#[test]
fn shell_lines_are_never_run() {
    let witness = std::env::temp_dir().join(format!("tcplab-drill-{}", std::process::id()));
    let script = format!("`touch {}`\n{PASSES}", witness.display());
    let folder = folder(&[("a.pkt", &script)]);
    let run = drill(folder.path(), &["-4", "-v"]);
    assert!(!witness.exists());
    // Nothing could be run.
    assert_eq!(run.code, 4, "{}", run.out);
    assert!(run.out.contains("SKIP"), "{}", run.out);
    assert!(run.out.contains("needs shell"), "{}", run.out);
    assert!(
        run.out.ends_with("0 passed, 0 failed, 1 skipped\n"),
        "{}",
        run.out
    );
}

#[test]
fn shell_line_that_fails_fails_the_script() {
    for (line, code) in [
        ("false", 1),
        ("true; false", 1),
        ("true && false", 1),
        ("false || false", 1),
        ("false || true", 0),
    ] {
        let at_once = format!("`{line}`\n{PASSES}");
        let at_the_end = format!("{PASSES}+0 `{line}`\n+0 close(4) = 0\n");
        let folder = folder(&[("a.pkt", &at_once), ("b.pkt", &at_the_end)]);
        let run = drill(folder.path(), &["-4"]);
        assert_eq!(run.code, code, "{line}: {}", run.out);
        let says = "the shell line fails: the exit code of `false` is not 0";
        let count = run.out.matches(says).count();
        assert_eq!(count, 2 * usize::from(code == 1), "{line}: {}", run.out);
        for place in ["a.pkt:1:", "b.pkt:12:"] {
            assert_eq!(run.out.contains(place), code == 1, "{line}: {}", run.out);
        }
    }
}

#[test]
fn defaults_are_those_of_the_file_beside_the_script() {
    let script = format!("`./defaults.sh`\n{PASSES}");
    let without_sack = script.replace(",nop,nop,sackOK>\n+.01", ">\n+.01");
    let folder = folder(&[("a.pkt", &script), ("b.pkt", &without_sack)]);
    let run = drill(folder.path(), &["-4", "-v"]);
    assert!(
        run.out.contains("needs shell `./defaults.sh`"),
        "{}",
        run.out
    );
    let write = |text: &str| fs::write(folder.path().join("defaults.sh"), text).unwrap();
    write("#!/bin/bash\n# SACK is off.\nsysctl -q net.ipv4.tcp_sack=0\n");
    let run = drill(folder.path(), &["-4", "-v"]);
    assert!(
        run.out.contains("FAIL") && run.out.contains("a.pkt (ipv4)"),
        "{}",
        run.out
    );
    assert!(
        run.out.ends_with("1 passed, 1 failed, 0 skipped\n"),
        "{}",
        run.out
    );
    write("touch x");
    let run = drill(folder.path(), &["-4", "-v"]);
    assert!(run.out.contains("needs shell `touch x`"), "{}", run.out);
}

#[test]
fn scripts_for_another_system_are_skipped_by_name() {
    let names = "`sysctl -w net.inet.tcp.rexmit_min=30`\n";
    let mode = "--ip_version=ipv4\n";
    let folder = folder(&[("a.pkt", &format!("{mode}{names}{PASSES}"))]);
    let run = drill(folder.path(), &["-v"]);
    assert_eq!(run.code, 4, "{}", run.out);
    for expected in [
        "(ipv4): names net.inet.tcp.rexmit_min, a FreeBSD sysctl",
        "(ipv6): --ip_version=ipv4: it is for that mode only",
    ] {
        assert!(run.out.contains(expected), "{}", run.out);
    }
}

#[test]
fn bad_script_fails_with_its_place_and_bad_path_exits_with_2() {
    let folder = folder(&[("a.pkt", "0 socket(..., SOCK_STREAM, IPPROTO_TCP = 3\n")]);
    let run = drill(folder.path(), &["-4"]);
    assert_eq!(run.code, 1, "{}", run.out);
    assert!(run.out.contains("a.pkt:1:43: "), "{}", run.out);
    // An argument has a column, and is wrong on any stack.
    let script = PASSES.replace("IPPROTO_TCP", "IPPROTO_TPC");
    fs::write(folder.path().join("a.pkt"), script).unwrap();
    let run = drill(folder.path(), &["-4"]);
    assert!(run.out.contains("a.pkt:1:"), "{}", run.out);
    assert!(run.out.contains("IPPROTO_TPC"), "{}", run.out);
    let none = tcplab(&["drill", "no-such-folder", "--json"]);
    assert_eq!(none.code, 2);
    assert_eq!(none.json()["schema"], "tcplab.drill/1");
    assert_eq!(tcplab(&["drill", "docs"]).code, 2);
    assert_eq!(drill(folder.path(), &["--on", "model:linux-0.1"]).code, 2);
}

#[test]
fn captures_and_tap_files_are_written() {
    let folder = folder(&[("a.pkt", PASSES)]);
    let (pcap, tap) = (folder.path().join("pcap"), folder.path().join("tap"));
    let (pcap_arg, tap_arg) = (pcap.display().to_string(), tap.display().to_string());
    let run = drill(folder.path(), &["-4", "-c", &pcap_arg, "-t", &tap_arg]);
    assert_eq!(run.code, 0, "{}", run.err);
    let captures: Vec<PathBuf> = (fs::read_dir(&pcap).unwrap())
        .map(|e| e.unwrap().path())
        .collect();
    assert_eq!(captures.len(), 1, "{captures:?}");
    let read = tcplab(&["analyze", "--json", captures[0].to_str().unwrap()]);
    assert_eq!(read.code, 0, "{}", read.err);
    assert_eq!(read.json()["captures"][0]["tcp_packets"], 5, "{}", read.out);
    let files: Vec<_> = fs::read_dir(&tap).unwrap().collect();
    assert_eq!(files.len(), 1);
    let text = fs::read_to_string(files[0].as_ref().unwrap().path()).unwrap();
    assert!(text.starts_with("TAP version 13\n1..1\nok 1 "), "{text}");
}

#[test]
fn no_output_file_overwrites_another() {
    let wrong = PASSES.replace("ack 1001", "ack 1000");
    let root = folder(&[]);
    for (name, text) in [("net/tcp/a.pkt", wrong.as_str()), ("my/tcp/a.pkt", PASSES)] {
        let path = root.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fs::write(root.path().join("net-tcp-a.pkt"), PASSES).unwrap();
    let run = |more: &[&str]| {
        let mut command = command(&["drill", "-4", "-t", "tap", "-c", "pcap"]);
        let output = command.current_dir(root.path()).args(more).output();
        super::Run::new(output.unwrap())
    };
    let list = |folder: &str| {
        let files = fs::read_dir(root.path().join(folder)).unwrap();
        let name = |file: std::io::Result<fs::DirEntry>| file.unwrap().file_name();
        let names: BTreeSet<_> = files.map(name).collect();
        names
            .into_iter()
            .map(|name| name.into_string().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(run(&["net/tcp", "my/tcp", "net-tcp-a.pkt"]).code, 1);
    let taps = ["my-tcp", "net-tcp-a", "net-tcp"].map(|name| format!("packetdrill_{name}.tap"));
    assert_eq!(list("tap"), taps);
    let failed = fs::read_to_string(root.path().join("tap/packetdrill_net-tcp.tap")).unwrap();
    assert!(failed.contains("\nnot ok 1 net/tcp/a.pkt"), "{failed}");
    let captures = ["my-tcp-a_ipv4", "net-tcp-a_ipv4-2", "net-tcp-a_ipv4"];
    assert_eq!(list("pcap"), captures.map(|name| format!("{name}.pcapng")));
}

#[test]
fn reasons_of_skips_are_printed_once() {
    let shell = format!("`touch x`\n{PASSES}");
    let folder = folder(&[("a.pkt", PASSES), ("b.pkt", &shell), ("c.pkt", &shell)]);
    let run = drill(folder.path(), &[]);
    assert_eq!(run.code, 0, "{}", run.out);
    let says = "b.pkt (ipv4) and 5 more: needs shell `touch x`: `touch` is not understood\n";
    assert!(
        run.out.starts_with("SKIP ") && run.out.contains(says),
        "{}",
        run.out
    );
    assert_eq!(run.out.lines().count(), 2, "{}", run.out);
}

#[test]
fn entries_of_unknown_modes_are_named() {
    let folder = folder(&[("a.pkt", PASSES)]);
    let list = folder.path().join("known");
    fs::write(
        &list,
        "FAIL a.pkt (bogus)\nFAIL q.pkt (ipv-4)\nFAIL q.pkt (ipv6)\n",
    )
    .unwrap();
    let list = list.display().to_string();
    let run = drill(folder.path(), &["-4", "--expect", &list]);
    for part in [
        "line 1: a.pkt (bogus) matches no case",
        "line 2: q.pkt (ipv-4) matches no case",
    ] {
        assert!(run.out.contains(part), "{part}: {}", run.out);
    }
    assert!(!run.out.contains("line 3"), "{}", run.out);
}

#[test]
fn mutants_say_what_they_leave() {
    let loose = format!(
        "{PASSES}+0 %{{ assert tcpi_rto >= 5 }}%\n+0 write(4, ..., 10) = 10\n+0~+5 > P. 1:11(10) ack 1001\n"
    );
    let folder = folder(&[("a.pkt", &loose)]);
    let run = drill(folder.path(), &["-4", "--mutants", "5"]);
    let says = "numbers that no mutant changes: 1 (bounds in asserts), 2 (ends of time ranges)\n";
    assert!(run.out.contains(says), "{}", run.out);
    let json = drill(folder.path(), &["-4", "--mutants", "5", "--json"]).json();
    assert_eq!(json["mutants"]["unchanged"]["bounds"], 1);
}

#[test]
fn scripts_are_strict() {
    let run = tcplab(&["drill", "tests/pkt", "-4", "--json", "--mutants", "4"]);
    let mutants = &run.json()["mutants"];
    let (all, failed) = (
        mutants["run"].as_u64().unwrap(),
        mutants["failed"].as_u64().unwrap(),
    );
    assert!(all >= 900, "{mutants}");
    assert!(failed * 100 >= all * 95, "{mutants}");
    assert_eq!(
        tcplab(&["drill", "tests/pkt", "--mutants", "1", "--on", "host"]).code,
        2
    );
}

/// Runs tests/pkt on a stack: what fails must be what tests/pkt/expected-failures.txt lists, neither more nor less.
fn own_scripts(stack: &str) {
    let run = tcplab(&["drill", "tests/pkt", "--on", stack, "--json"]);
    let document = run.json();
    assert_eq!(document["skipped"], 0, "{}", run.err);
    let mut failed = BTreeSet::new();
    for result in document["results"].as_array().unwrap() {
        if result["verdict"] != "pass" {
            let script = result["script"].as_str().unwrap();
            let script = script.strip_prefix("tests/pkt/").unwrap();
            failed.insert((
                script.to_owned(),
                result["mode"].as_str().unwrap().to_owned(),
            ));
        }
    }
    let list = fs::read_to_string(root().join("tests/pkt/expected-failures.txt")).unwrap();
    let mut listed = BTreeSet::new();
    for line in list.lines().filter(|l| !l.starts_with('#')) {
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        let &[script, mode, on, reason] = words.as_slice() else {
            panic!("expected-failures.txt: `{line}` is not `path mode stack reason`");
        };
        assert!(!reason.is_empty());
        let is_mode =
            |m: &str| mode == "*" || mode == m || (mode == "mapped" && m.contains("mapped"));
        let results = document["results"].as_array().unwrap().iter();
        for result in results.filter(|_| on == stack) {
            let own = result["script"] == format!("tests/pkt/{script}");
            let m = result["mode"].as_str().unwrap();
            if own && is_mode(m) {
                listed.insert((script.to_owned(), m.to_owned()));
            }
        }
    }
    assert_eq!(failed, listed, "what fails on {stack}, and what is listed");
}

#[test]
fn own_scripts_on_the_model() {
    own_scripts("model:linux-6.1");
    let scripts = tcplab(&["drill", "tests/pkt", "--dry-run", "-6"]);
    assert!(scripts.out.lines().count() >= 120, "{}", scripts.out);
}

/// The longest script of our own.
#[test]
fn own_scripts_are_short() {
    let list = tcplab(&["drill", "tests/pkt", "--dry-run"]);
    for line in list.out.lines() {
        let path = line.rsplit_once(" (").unwrap().0;
        let text = fs::read_to_string(root().join(path)).unwrap();
        assert!(
            text.lines().count() < 65 && text.starts_with("//"),
            "{path}"
        );
    }
}

#[test]
#[ignore = "needs a kernel: tcplab kernel build 6.1"]
fn own_scripts_on_a_kernel() {
    own_scripts("uml:6.1");
}

#[test]
#[ignore = "needs a kernel: tcplab kernel build 6.1"]
fn a_kernel_says_the_same_twice_and_runs_no_shell() {
    let wrong = PASSES.replace("ack 1001", "ack 1000");
    let shell = format!("`touch x`\n{PASSES}");
    let folder = folder(&[("a.pkt", PASSES), ("b.pkt", &wrong), ("c.pkt", &shell)]);
    let path = folder.path().display().to_string();
    let args = ["drill", &path, "--on", "uml:6.1", "--json"];
    let (first, second) = (tcplab(&args), tcplab(&args));
    assert_eq!(first.code, 1, "{}", first.err);
    assert_eq!(first.out, second.out);
    let document = first.json();
    assert_eq!(
        (&document["passed"], &document["failed"]),
        (&3.into(), &3.into())
    );
    assert_eq!(document["skipped"], 3);
    assert!(!folder.path().join("x").exists() && !root().join("x").exists());
}

#[test]
fn verdicts_do_not_depend_on_the_number_of_threads() {
    let run = |jobs| {
        let args = ["drill", "tests/pkt/delayed-ack", "--json", "-j", jobs];
        command(&args).output().unwrap().stdout
    };
    assert_eq!(run("1"), run("4"));
}
