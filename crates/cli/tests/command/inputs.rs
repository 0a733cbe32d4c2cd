//! Inputs that are not what they should be (devices without an end, folders, pipes), an environment without a home, and
//! results of less than was asked for.

use std::process::Stdio;

use super::{Run, command, folder, root, tcplab, tcplab_with, text};

#[test]
fn endless_files_are_read_to_a_limit_and_folders_refused() {
    let place = folder();
    let here = text(place.path());
    let experiment = "examples/delayed-ack.toml";
    for (args, says) in [
        (
            &["run", "/dev/zero"][..],
            "/dev/zero: larger than 1048576 bytes",
        ),
        (
            &["run", "/dev/zero", "--json"],
            "/dev/zero: larger than 1048576 bytes",
        ),
        (
            &["bisect", "/dev/zero", "--bad", "1 > 2", "--over", "model"],
            "larger than 1048576 bytes",
        ),
        (
            &["population", "show", "/dev/zero"],
            "larger than 1048576 bytes",
        ),
        (
            &["population", "sample", "/dev/zero", "--on", "model"],
            "larger than 1048576 bytes",
        ),
        (
            &["population", "connection", "/dev/zero", "1"],
            "larger than 1048576 bytes",
        ),
        (
            &["qa", "/dev/zero", "--before", "model", "--after", "model"],
            "larger than 1048576 bytes",
        ),
        (&["drill", "/dev/zero"], "/dev/zero"),
        (
            &["compare", "/dev/zero", "/dev/zero"],
            "/dev/zero: larger than 256 MiB",
        ),
        (&["analyze", "/dev/zero"], "/dev/zero"),
        (&["run", here], "is a folder; name a file"),
        (&["population", "show", here], "is a folder; name a file"),
        (
            &["qa", here, "--before", "model", "--after", "model"],
            "is a folder; name a file",
        ),
        (&["analyze", here], "is a folder"),
        (
            &["run", "no-such-file"],
            "no-such-file: cannot read: No such file",
        ),
        (&["run", "/dev/null"], "no application"),
        (
            &[
                "bisect",
                experiment,
                "--bad",
                "1 > 2",
                "--over",
                "/dev/zero",
            ],
            "/dev/zero",
        ),
    ] {
        let run = tcplab(args);
        assert_eq!(run.code, 2, "{args:?}: {}", run.err);
        assert!(run.err.contains(says), "{args:?}: {}", run.err);
    }
    // Not text.
    let file = place.path().join("x");
    std::fs::write(&file, b"title = \"\xff\"\n").unwrap();
    let run = tcplab(&["run", text(&file)]);
    assert!(run.err.contains("byte 9 is not UTF-8"), "{}", run.err);
}

#[test]
fn an_experiment_may_come_through_a_pipe() {
    let read = |name: &str| std::fs::read(root().join("examples").join(name)).unwrap();
    let run = tcplab_with(&["run", "/dev/stdin", "--json"], &read("delayed-ack.toml"));
    assert_eq!(run.code, 0, "{}", run.err);
    let shown = tcplab_with(&["population", "show", "/dev/stdin"], &read("rto-p0.toml"));
    assert_eq!(shown.code, 0, "{}", shown.err);
    let args = ["run", "/dev/stdin", "--connections", "4", "--json"];
    let run = tcplab_with(&args, &read("rto-p0.toml"));
    assert_eq!(run.code, 0, "{}", run.err);
}

#[test]
fn only_real_kernels_need_a_home() {
    let homeless = |args: &[&str]| {
        let mut command = command(args);
        command.env_remove("HOME").env_remove("XDG_CACHE_HOME");
        Run::new(command.stdin(Stdio::null()).output().unwrap())
    };
    for args in [
        &["run", "examples/delayed-ack.toml"][..],
        &["drill", "tests/pkt/open"],
        &["stacks"],
        &["stacks", "--json"],
        &["doctor"],
        &["doctor", "--json"],
    ] {
        let run = homeless(args);
        assert_eq!(run.code, 0, "{args:?}: {}", run.err);
    }
    assert!(
        homeless(&["stacks"])
            .out
            .contains("set HOME or XDG_CACHE_HOME")
    );
    for args in [
        &["run", "examples/delayed-ack.toml", "--on", "uml:6.1"][..],
        &["kernel", "list"],
    ] {
        let run = homeless(args);
        assert_eq!(run.code, 4, "{args:?}: {}", run.err);
        assert!(
            run.err.contains("set HOME or XDG_CACHE_HOME"),
            "{}",
            run.err
        );
    }
}

#[test]
fn connections_without_a_port_are_no_answer() {
    let place = folder();
    let file = place.path().join("t.toml");
    // A client's port waits a minute in TIME-WAIT.
    let experiment = "[[host]]\nname = \"client\"\nsysctl = { \"net.ipv4.ip_local_port_range\" = \"40000 40009\" }\n\
                      [[host]]\nname = \"server\"\n[[app]]\nkind = \"connect-request-response\"\n";
    std::fs::write(&file, format!("{experiment}count = 11\n")).unwrap();
    let run = tcplab(&["run", text(&file), "--json"]);
    assert_eq!(run.code, 3, "{}", run.err);
    let error = &run.json()["error"];
    assert_eq!(error["kind"], "inconclusive");
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("1 of 1 clients found no free port"),
        "{message}"
    );
    assert!(run.err.contains(message), "{}", run.err);
    std::fs::write(&file, format!("{experiment}count = 10\n")).unwrap();
    assert_eq!(tcplab(&["run", text(&file)]).code, 0);
}

#[test]
fn bytes_a_second_are_told_where_bits_may_be_meant() {
    let place = folder();
    let file = place.path().join("t.toml");
    let write = |rate: &str| {
        let content =
            format!("[[link]]\nrate = \"{rate}\"\n[[app]]\nkind = \"bulk\"\nbytes = 10000\n");
        std::fs::write(&file, content).unwrap();
        tcplab(&["run", text(&file), "--json"])
    };
    let run = write("50mbps");
    assert_eq!(run.code, 0, "{}", run.err);
    let told = "t.toml:2: rate: `50mbps` is read as bytes a second, as tc does: 400 Mbit/s; for 50 Mbit/s write 50mbit";
    assert!(run.err.contains(told), "{}", run.err);
    let warning = &run.json()["points"][0]["warnings"][0];
    assert!(warning.as_str().unwrap().contains(told), "{warning}");
    let run = write("50 Mbit/s");
    assert_eq!((run.code, run.err.as_str()), (0, ""));
}
