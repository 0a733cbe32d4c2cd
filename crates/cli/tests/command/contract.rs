//! What a stack does not honour is refused before anything runs, or named in the result.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{folder, tcplab, text};

const BULK: &str = "[[app]]\nkind = \"bulk\"\nbytes = \"10k\"\n";

/// Runs a file with this text; exit code, standard output, standard error.
fn run(place: &Path, content: &str, more: &[&str]) -> (i32, String, String) {
    let file = place.join("x.toml");
    fs::write(&file, content).unwrap();
    let words = [&["run", text(&file)], more].concat();
    let done = tcplab(&words);
    (done.code, done.out, done.err)
}

fn client(keys: &str) -> String {
    format!("[[host]]\nname = \"client\"\n{keys}\n[[host]]\nname = \"server\"\n{BULK}")
}

#[test]
fn an_unknown_congestion_control_is_refused_with_and_without_a_dry_run() {
    let place = folder();
    let by_socket = client("socket = { congestion = \"bbr3\" }");
    let by_sysctl = client("sysctl = { \"net.ipv4.tcp_congestion_control\" = \"vegas\" }");
    let by_route = client("route = \"congctl nonsense\"");
    let by_axis = client("socket = { congestion = { axis = [\"reno\", \"bbr3\"] } }");
    let by_app = format!("{BULK}server_socket = {{ congestion = \"nonsense\" }}\n");
    let by_variant = format!(
        "{BULK}[[variant]]\nname = \"v\"\nset = {{ \"app.bulk.client_socket.congestion\" = \"vegas\" }}\n"
    );
    for file in [by_socket, by_sysctl, by_route, by_axis, by_app, by_variant] {
        for more in [&[][..], &["--dry-run"], &["--json"]] {
            let (code, out, err) = run(place.path(), &file, more);
            assert_eq!(code, 4, "{file}\n{out}{err}");
            let said = format!("{out}{err}");
            assert!(said.contains("x.toml"), "{said}");
            assert!(said.contains("reno, cubic, dctcp, bbr, caqm"), "{said}");
        }
    }
}

#[test]
fn a_population_with_an_unknown_congestion_control_is_refused() {
    let place = folder();
    let head = "[population]\nconnections = 4\n";
    for arm in [
        "socket = { congestion = \"bbr3\" }",
        "sysctl = { \"net.ipv4.tcp_congestion_control\" = \"bbr3\" }",
        "sysctl = { \"net.ipv4.tcp_autocorking\" = 1 }",
    ] {
        let file = format!("{head}[[arm]]\nname = \"A\"\n{arm}\n");
        for more in [&[][..], &["--dry-run"]] {
            let (code, out, err) = run(place.path(), &file, more);
            assert_eq!((code, out.as_str()), (4, ""), "{err}");
            assert!(err.contains("arm.A.") && !err.contains("tolerate"), "{err}");
        }
    }
    let clients = "clients = [{ share = \"100%\", sysctl = { \"net.ipv4.tcp_sak\" = 1 } }]\n";
    let file = format!("{head}{clients}[[arm]]\nname = \"A\"\n");
    let (code, _, err) = run(place.path(), &file, &[]);
    assert!(code == 4 && err.contains("population.clients[1]"), "{err}");
}

#[test]
fn sysctl_without_effect_is_refused_or_named_in_the_result() {
    let place = folder();
    let of = |value: &str| {
        client(&format!(
            "sysctl = {{ \"net.ipv4.tcp_autocorking\" = {value} }}"
        ))
    };
    let (code, _, err) = run(place.path(), &of("{ axis = [0, 1] }"), &[]);
    assert_eq!(code, 4, "{err}");
    assert!(
        err.contains("host.client.sysctl.\"net.ipv4.tcp_autocorking\": 1 changes nothing"),
        "{err}"
    );
    assert_eq!(run(place.path(), &of("0"), &[]).0, 0);
    let tolerated = format!(
        "[run]\ntolerate = [\"net.ipv4.tcp_autocorking\"]\n{}",
        of("1")
    );
    let (code, out, err) = run(place.path(), &tolerated, &["--json"]);
    assert_eq!(code, 0, "{err}");
    let document: Value = serde_json::from_str(&out).unwrap();
    let left = document["points"][0]["tolerated"][0].as_str().unwrap();
    assert!(left.contains("tcp_autocorking"), "{left}");
    let (_, table, _) = run(place.path(), &tolerated, &[]);
    assert!(table.contains("left out: host.client.sysctl"), "{table}");
}

#[test]
fn a_dry_run_checks_what_needs_no_machine() {
    let place = folder();
    for (run_keys, app, says) in [
        ("stacks = [\"modle\"]", "", "did you mean `model`"),
        ("stacks = [\"model:linux-9.9\"]", "", "no profile"),
        ("stacks = [\"uml:6.1@7\"]", "", "timer frequency"),
        ("stacks = []", "", "the list is empty"),
        ("repeat = 0", "", "must be 1"),
        ("", "duration = \"0s\"", "longer than 0"),
        ("", "connections = 0", "must be 1"),
        ("", "bytes = 0", "must be 1"),
    ] {
        let app = match app.is_empty() {
            true => BULK.to_owned(),
            false => format!("[[app]]\nkind = \"bulk\"\n{app}\n"),
        };
        let file = format!("[run]\n{run_keys}\n{app}");
        let (code, out, err) = run(place.path(), &file, &["--dry-run"]);
        assert!(code != 0 && out.is_empty(), "{file}: {code} {out}");
        assert!(err.contains(says), "{file}: {err}");
    }
    // A kernel that is not built is no reason: the plan is for a machine that has it.
    let file = format!("[run]\nstacks = [\"uml:9.9\"]\n{BULK}");
    assert_eq!(run(place.path(), &file, &["--dry-run"]).0, 0);
}

#[test]
fn keys_of_the_model_are_refused_before_a_kernel_is_looked_for() {
    let place = folder();
    let file = client("behaviour = { tlp_rule = \"delack-max\" }");
    let (code, _, err) = run(place.path(), &file, &["--on", "uml:9.9"]);
    assert!(code == 4 && err.contains("host.client.behaviour"), "{err}");
}

#[test]
#[ignore = "needs a kernel: tcplab kernel build 6.1"]
fn kernel_runs_the_sysctls_congestion_control_and_refuses_unknown_ones() {
    let place = folder();
    let dctcp = client(
        "sysctl = { \"net.ipv4.tcp_congestion_control\" = \"dctcp\", \"net.ipv4.tcp_ecn\" = 1 }",
    );
    let (code, out, err) = run(place.path(), &dctcp, &["--on", "uml:6.1", "--json"]);
    assert_eq!(code, 0, "{out}{err}");
    let document: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(document["points"][0].get("warnings"), None);
    for sysctl in [
        "\"net.ipv4.tcp_congestion_control\" = \"bbr3\"",
        "\"net.ipv4.tcp_nonsense\" = 1",
        "\"net.ipv4.tcp_sack\" = 1000",
    ] {
        let file = client(&format!("sysctl = {{ {sysctl} }}"));
        let (code, out, err) = run(place.path(), &file, &["--on", "uml:6.1"]);
        assert_eq!(code, 4, "{out}{err}");
        assert!(out.contains("host.client.sysctl"), "{out}");
        let name = sysctl.split('"').nth(1).unwrap();
        let file = format!("[run]\ntolerate = [\"{name}\"]\n{file}");
        let (code, out, err) = run(place.path(), &file, &["--on", "uml:6.1"]);
        assert_eq!(code, 0, "{out}{err}");
        assert!(out.contains("left out: host.client.sysctl"), "{out}");
    }
}

/// The contract as it is printed: each key and sysctl with what a user needs, in 80 columns.
#[test]
fn the_contract_is_printed_for_people_and_programs() {
    let text = tcplab(&["stacks", "--keys"]);
    assert_eq!(text.code, 0, "{}", text.err);
    let long = text.out.lines().find(|line| line.chars().count() > 80);
    assert_eq!(long, None);
    let done = tcplab(&["stacks", "--keys", "--json"]);
    let document: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(document["schema"], "tcplab.keys/1");
    let rows = |of: &str| document[of].as_array().unwrap().clone();
    for (row, name) in [("keys", "key"), ("sysctls", "sysctl")]
        .into_iter()
        .flat_map(|(of, name)| rows(of).into_iter().map(move |row| (row, name)))
    {
        let name = row[name].as_str().unwrap();
        assert!(text.out.contains(&format!("\n{name}: ")), "{name}");
        for member in ["takes", "meaning"] {
            assert!(!row[member].as_str().unwrap().is_empty(), "{row}");
        }
        assert!(!row["honoured"].as_array().unwrap().is_empty(), "{row}");
    }
    let find = |of: &str, name: &str, is: &str| {
        let row = rows(of).into_iter().find(|row| row[name] == is);
        row.unwrap_or_else(|| panic!("{is}"))
    };
    assert_eq!(find("keys", "key", "rx_ring")["honoured"][0], "model");
    assert_eq!(find("keys", "key", "rx_ring")["range"][1], 1 << 20);
    let linear = find("sysctls", "sysctl", "net.ipv4.tcp_syn_linear_timeouts");
    assert_eq!(linear["since"], "6.5");
    assert_eq!(
        find("sysctls", "sysctl", "net.ipv4.tcp_autocorking")["model_acts_as"],
        "0"
    );
    // What runs begin with, not what Linux does.
    let metrics = find("sysctls", "sysctl", "net.ipv4.tcp_no_metrics_save");
    assert_eq!(
        (&metrics["default"], &metrics["linux_default"]),
        (&"1".into(), &"0".into())
    );
    let other = tcplab(&["stacks", "--keys", "--profiles"]);
    assert_eq!(other.code, 2, "{}", other.err);
}

/// What the release in a kernel's name does not have, before the kernel is looked for.
#[test]
fn dry_run_refuses_a_sysctl_that_the_release_lacks() {
    let place = folder();
    for (name, why) in [
        ("net.core.rmem_max", "the whole machine"),
        ("net.core.wmem_max", "the whole machine"),
        ("net.ipv4.tcp_rto_min_us", "since 6.11"),
        ("net.ipv4.tcp_pingpong_thresh", "since 6.7"),
        ("net.ipv4.tcp_syn_linear_timeouts", "since 6.5"),
    ] {
        let file = client(&format!("sysctl = {{ \"{name}\" = 5 }}"));
        for more in [&["--on", "uml:6.1"][..], &["--on", "uml:6.1", "--dry-run"]] {
            let (code, out, err) = run(place.path(), &file, more);
            assert_eq!((code, out.as_str()), (4, ""), "{err}");
            let place = format!("x.toml: uml:6.1: host.client.sysctl.\"{name}\": 5 cannot be set");
            assert!(err.contains(&place) && err.contains(why), "{err}");
            assert!(err.contains("run it on model:"), "{err}");
        }
        assert_eq!(run(place.path(), &file, &["--dry-run"]).0, 0, "{name}");
    }
}

/// The contract's word on sysctls is held to a kernel: it takes each with its default, or is known to refuse it.
#[test]
#[ignore = "needs a kernel: tcplab kernel build 6.1"]
fn a_kernel_takes_the_sysctls_that_the_contract_says() {
    let place = folder();
    let done = tcplab(&["stacks", "--keys", "--json"]);
    let document: Value = serde_json::from_str(&done.out).unwrap();
    let (mut names, mut values, mut refused) = (Vec::new(), Vec::new(), 0);
    for row in document["sysctls"].as_array().unwrap() {
        let (name, default) = (&row["sysctl"], row["default"].as_str().unwrap());
        refused += usize::from(row.get("refused").is_some());
        let value = match default {
            "made from the seed" => "1-2-3-4",
            default => default,
        };
        names.push(name.to_string());
        values.push(format!("{name} = \"{value}\""));
    }
    let file = format!(
        "[run]\ntolerate = [{}]\n{}",
        names.join(", "),
        client(&format!("sysctl = {{ {} }}", values.join(", ")))
    );
    let (code, out, err) = run(place.path(), &file, &["--on", "uml:6.1", "--json"]);
    assert_eq!(code, 0, "{out}{err}");
    let document: Value = serde_json::from_str(&out).unwrap();
    let left = document["points"][0]["tolerated"].as_array().unwrap();
    assert_eq!(left.len(), refused, "{left:#?}");
}

/// tcplab's own TCP on a device: refused before a device is made.
#[test]
fn an_endpoint_refuses_what_it_does_not_honour() {
    for (option, value, says) in [
        ("--congestion", "vegas", "reno, cubic, dctcp, bbr, caqm"),
        (
            "--sysctl",
            "net.ipv4.tcp_congestion_control=bbr3",
            "reno, cubic, dctcp, bbr, caqm",
        ),
        ("--sysctl", "net.ipv4.tcp_autocorking=1", "changes nothing"),
    ] {
        let place = ["--via", "tap:tcplabx", "--address", "10.77.0.1/24"];
        let words = [
            &["probe", "client", "bulk", option, value][..],
            &place,
            &["10.77.0.2"],
        ];
        let done = tcplab(&words.concat());
        assert!(done.code != 0 && done.err.contains(says), "{}", done.err);
    }
}

/// A script keeps packetdrill's rules: Linux answers ENOENT.
#[test]
fn unknown_congestion_control_in_a_script_is_enoent() {
    let place = folder();
    let script = place.path().join("x.pkt");
    let text_of = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n\
         +0 setsockopt(3, SOL_TCP, TCP_CONGESTION, \"vegas\", 5) = -1 ENOENT (No such file or directory)\n\
         +0 setsockopt(3, SOL_TCP, TCP_CONGESTION, \"dctcp\", 5) = 0\n";
    fs::write(&script, text_of).unwrap();
    let done = tcplab(&["drill", text(&script)]);
    assert_eq!(done.code, 0, "{}{}", done.out, done.err);
}
