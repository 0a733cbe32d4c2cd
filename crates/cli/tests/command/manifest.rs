//! A manifest is an experiment: it has the rules of one, and chooses no stack that reaches a real machine.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{Run, folder, tcplab, text};

const FILE: &str = "[[app]]\nkind = \"stream\"\nevery = \"10ms\"\ncount = 5\n";

/// The manifest that a run of [`FILE`] on the model leaves.
fn manifest(place: &Path) -> Value {
    let file = place.join("t.toml");
    fs::write(&file, FILE).unwrap();
    let out = place.join("out");
    let run = tcplab(&["run", text(&file), "--out", text(&out)]);
    assert_eq!(run.code, 0, "{}", run.err);
    serde_json::from_str(&fs::read_to_string(out.join("manifest.json")).unwrap()).unwrap()
}

fn run(place: &Path, manifest: &Value, more: &[&str]) -> Run {
    let file = place.join("sent.json");
    fs::write(&file, manifest.to_string()).unwrap();
    let out = place.join("again");
    tcplab(&[&["run", text(&file), "--out", text(&out)], more].concat())
}

/// All that lies in a folder.
fn names(place: &Path) -> Vec<String> {
    let entries = fs::read_dir(place).unwrap().flatten();
    let mut names: Vec<String> = entries
        .map(|e| e.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_manifest_repeats_its_run() {
    let place = folder();
    let manifest = manifest(place.path());
    let again = run(place.path(), &manifest, &[]);
    assert_eq!(again.code, 0, "{}", again.err);
    let read = |folder: &str| fs::read_to_string(place.path().join(folder).join("summary.json"));
    assert_eq!(read("out").unwrap(), read("again").unwrap());
}

#[test]
fn impossible_value_is_refused_with_its_path() {
    let place = folder();
    let good = manifest(place.path());
    let before = names(place.path());
    let cases = [
        (
            "/points/0/links/0/a",
            json!(7),
            "points[0].links[0].a: 7, but there are 2 hosts: write 0 to 1",
        ),
        (
            "/points/0/apps/0/client",
            json!(9),
            "points[0].apps[0].client: 9, but there are 2 hosts",
        ),
        (
            "/points/0/hosts/0/name",
            json!("../../x"),
            "points[0].hosts[0].name: \"../../x\" is not a name",
        ),
        (
            "/points/0/hosts/0/sysctl",
            json!({"kernel.hostname": "x"}),
            "points[0].hosts[0].sysctl.\"kernel.hostname\"",
        ),
        (
            "/points/0/tcp_info_every_ns",
            json!(0),
            "points[0].tcp_info_every_ns: must be",
        ),
        (
            "/points/0/max_ns",
            json!("1s"),
            "expected i64 at line 1 column",
        ),
        ("/points", json!([]), "points: the list is empty"),
        ("/measures", json!(["nobody.x"]), "measures: at points[0]:"),
        ("/schema", json!("x"), "must be tcplab.manifest/1"),
        (
            "/experiment",
            json!("a\u{1b}"),
            "experiment: this is not a name",
        ),
        (
            "/experiment",
            json!("../../x"),
            "experiment: this is not a name",
        ),
        (
            "/view",
            json!({"title": "\u{1b}", "band_ppb": 1}),
            "view.title: holds a control character",
        ),
    ];
    for (path, value, error) in cases {
        let mut manifest = good.clone();
        match manifest.pointer_mut(path) {
            Some(place) => *place = value,
            None => manifest[&path[1..]] = value,
        }
        let refused = run(place.path(), &manifest, &[]);
        assert_eq!(refused.code, 2, "{path}: {} {}", refused.out, refused.err);
        assert!(refused.err.contains("sent.json: "), "{}", refused.err);
        assert!(refused.err.contains(error), "{path}: {}", refused.err);
    }
    fs::remove_file(place.path().join("sent.json")).unwrap();
    assert_eq!(names(place.path()), before, "something was written");
}

/// A result folder is one that somebody sent, too: its page is made of its manifest.
#[test]
fn the_page_of_a_folder_checks_its_manifest() {
    let place = folder();
    let mut manifest = manifest(place.path());
    manifest["points"][0]["links"][0]["a"] = json!(7);
    fs::write(place.path().join("out/manifest.json"), manifest.to_string()).unwrap();
    let refused = tcplab(&["report", text(&place.path().join("out"))]);
    assert_eq!(refused.code, 2, "{}", refused.err);
    let is_named = refused.err.contains("points[0].links[0].a: 7");
    // A build without the page says so instead.
    assert!(is_named || refused.err.contains("page"), "{}", refused.err);
}

#[test]
fn finished_point_is_reused_only_from_this_run() {
    let place = folder();
    manifest(place.path());
    let (file, out) = (place.path().join("t.toml"), place.path().join("out"));
    let go_on = || tcplab(&["run", text(&file), "--out", text(&out)]);
    assert_eq!(go_on().code, 0);
    let result = out.join("points/0000/result.json");
    let good = fs::read_to_string(&result).unwrap();
    let json: Value = serde_json::from_str(&good).unwrap();
    let with = |key: &str, value: Value| {
        let mut json = json.clone();
        json[key] = value;
        json.to_string()
    };
    for (bad, error) in [
        ("{".to_owned(), "damaged: EOF"),
        (with("seed", json!(99)), "the result of another point"),
        (with("stack", json!("host")), "the result of another point"),
        (with("measures", json!({})), "the result of another point"),
        (with("axes", json!({"a": 1})), "the result of another point"),
        (with("unknown", json!(1)), "damaged: unknown field"),
    ] {
        fs::write(&result, bad).unwrap();
        let refused = go_on();
        assert_eq!(refused.code, 2, "{error}: {}", refused.err);
        assert!(refused.err.contains(error), "{error}: {}", refused.err);
        assert!(refused.err.contains("remove the folder"), "{}", refused.err);
    }
    // The remedy works.
    fs::remove_dir_all(out.join("points/0000")).unwrap();
    assert_eq!(go_on().code, 0);
    assert_eq!(fs::read_to_string(&result).unwrap(), good);
    // A link in the place of the points' folder leads nowhere.
    let elsewhere = place.path().join("elsewhere");
    fs::rename(out.join("points"), &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, out.join("points")).unwrap();
    let refused = go_on();
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(
        refused.err.contains("is a symbolic link"),
        "{}",
        refused.err
    );
}

#[test]
fn a_file_chooses_no_real_machine() {
    let place = folder();
    let good = manifest(place.path());
    for stack in ["host", "ssh:a,b", "qemu:/boot/vmlinuz"] {
        let mut manifest = good.clone();
        manifest["stacks"] = json!([["model", ""], [stack, ""]]);
        let refused = run(place.path(), &manifest, &[]);
        assert_eq!(refused.code, 2, "{stack}: {}", refused.err);
        let words = format!("asks for the stack `{stack}`");
        assert!(refused.err.contains(&words), "{}", refused.err);
        let remedy = format!("--on model,{stack}");
        assert!(refused.err.contains(&remedy), "{}", refused.err);
        // Named by the user, another one runs.
        let named = run(place.path(), &manifest, &["--on", "model"]);
        assert_eq!(named.code, 0, "{}", named.err);
        fs::remove_dir_all(place.path().join("again")).unwrap();
        let file = place.path().join("chooses.toml");
        fs::write(&file, format!("[run]\nstacks = [\"{stack}\"]\n{FILE}")).unwrap();
        let refused = tcplab(&["run", text(&file)]);
        assert_eq!(refused.code, 2, "{stack}: {}", refused.err);
        assert!(refused.err.contains(&words), "{}", refused.err);
        assert!(refused.err.contains("chooses.toml: "), "{}", refused.err);
        // A dry run checks what a run checks.
        let dry = tcplab(&["run", text(&file), "--dry-run"]);
        assert_eq!((dry.code, dry.err), (2, refused.err));
        let named = tcplab(&["run", text(&file), "--dry-run", "--on", "model"]);
        assert_eq!(named.code, 0, "{}", named.err);
    }
}
