//! `tcplab kernel`, `stacks` and `doctor`, with an empty folder of kernels. Nothing is built here.

use super::{Run, command};

/// Runs tcplab with a cache of its own, which is empty and then gone.
fn run(args: &[&str]) -> Run {
    let cache = tempfile::tempdir().unwrap();
    let output = command(args)
        .env("XDG_CACHE_HOME", cache.path())
        .output()
        .unwrap();
    Run::new(output)
}

#[test]
fn an_empty_list_says_how_to_build_a_kernel() {
    let list = run(&["kernel", "list"]);
    assert_eq!((list.code, list.err.as_str()), (0, ""));
    assert!(
        list.out
            .starts_with("no kernel is built; `tcplab kernel build 6.1`"),
        "{}",
        list.out
    );
    let document = run(&["kernel", "list", "--json"]).json();
    assert_eq!(document["schema"], "tcplab.kernel-list/1");
    assert_eq!(document["kernels"].as_array().unwrap().len(), 0);
}

#[test]
fn wrong_requests_end_with_2_and_name_the_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().to_str().unwrap();
    let edit = folder.path().join("mine.toml");
    std::fs::write(&edit, "says = 'x'\nchange = 3\n").unwrap();
    let cases: &[(&[&str], &str)] = &[
        (&["kernel", "build"], "<VERSION>"),
        (
            &["kernel", "build", "6.1", "--hz", "60"],
            "100, 250, 300 or 1000",
        ),
        (
            &["kernel", "build", "6.1", "--source", tree],
            "cannot be used with",
        ),
        (
            &["kernel", "build", "6.1", "--edit", "mss-bondary"],
            "did you mean `mss-boundary`?",
        ),
        (
            &["kernel", "build", "6.1", "--edit", edit.to_str().unwrap()],
            "line 2",
        ),
        (&["kernel", "build", "6.1", "--name", "a b"], "--name a b"),
        (
            &["kernel", "build", "6.1", "--name", "mss-boundary"],
            "shipped edit",
        ),
        (
            &["kernel", "build", "--source", tree, "--name", "x"],
            "Makefile is missing",
        ),
        (
            &["kernel", "build", "--source", "/no/such/folder"],
            "no such folder",
        ),
        (&["kernel", "rm"], "<NAME>"),
        (&["kernel", "rm", "6.1"], "uml:6.1 is not built here"),
        (&["kernel", "rm", "../x"], "is not a name"),
    ];
    for (args, part) in cases {
        let text = run(args);
        assert_eq!(text.code, 2, "{args:?}: {}", text.err);
        assert!(
            text.err.contains(part) && text.out.is_empty(),
            "{args:?}: {}",
            text.err
        );
        let mut with_json = args.to_vec();
        with_json.push("--json");
        let json = run(&with_json);
        assert_eq!(json.code, 2);
        let error = json.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn unknown_name_is_refused_while_a_build_holds_the_lock() {
    let cache = tempfile::tempdir().unwrap();
    let store = cache.path().join("tcplab/kernels");
    std::fs::create_dir_all(&store).unwrap();
    let lock = std::fs::File::create(store.join("lock")).unwrap();
    lock.lock().unwrap();
    let mut child = command(&["kernel", "rm", "6.1"])
        .env("XDG_CACHE_HOME", cache.path())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    for _ in 0..400 {
        if child.try_wait().unwrap().is_some() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    // It has ended, or it waits for the lock.
    let _ = child.kill();
    let run = Run::new(child.wait_with_output().unwrap());
    assert_eq!(run.code, 2, "{}", run.err);
    assert!(run.err.contains("uml:6.1 is not built here"), "{}", run.err);
    drop(lock);
}

#[test]
fn removing_missing_sources_is_no_error() {
    let json = run(&["kernel", "rm", "--sources", "--json"]).json();
    assert_eq!(json["sources_bytes"], 0);
}

#[test]
fn missing_stacks_say_what_they_need() {
    let document = run(&["stacks", "--json"]).json();
    let stacks = document["stacks"].as_array().unwrap();
    let uml = stacks.iter().find(|s| s["stack"] == "uml:6.1").unwrap();
    assert!(
        uml["lacks"]
            .as_str()
            .unwrap()
            .contains("tcplab kernel build 6.1")
    );
    let text = run(&["stacks"]);
    assert!(text.code == 0 && text.out.contains("\numl:6.1 ") || text.out.starts_with("uml:6.1 "));
}

#[test]
fn doctor_tries_things_and_names_the_remedies() {
    let document = run(&["doctor", "--json"]).json();
    assert_eq!(document["schema"], "tcplab.doctor/1");
    let checks = document["checks"].as_array().unwrap();
    let kernels = checks.iter().find(|c| c["id"] == "kernels").unwrap();
    assert_eq!(kernels["verdict"], "missing");
    assert_eq!(kernels["remedy"], "tcplab kernel build 6.1");
    let text = run(&["doctor"]);
    assert_eq!(text.code, 0);
    assert_eq!(
        text.out.lines().filter(|l| !l.starts_with(' ')).count(),
        checks.len()
    );
}
