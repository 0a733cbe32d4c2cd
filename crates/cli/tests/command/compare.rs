//! `tcplab compare`: tables, exit codes, documents, files of all kinds.

use serde_json::Value;

use super::schema::holds;
use super::tcplab;

const RUNS: &str = "tests/compare/samples/runs.csv";

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// iperf3's result with this rate, in a file of that name.
fn iperf3(folder: &tempfile::TempDir, name: &str, factor: f64, at: u64) -> String {
    let sample = super::root().join("tests/compare/samples/iperf3-tcp.json");
    let mut result: Value = serde_json::from_slice(&std::fs::read(sample).unwrap()).unwrap();
    for end in ["sum_sent", "sum_received"] {
        let rate = &mut result["end"][end]["bits_per_second"];
        *rate = Value::from(rate.as_f64().unwrap() * factor);
    }
    result["start"]["timestamp"]["timesecs"] = Value::from(at);
    let path = folder.path().join(name);
    std::fs::write(&path, result.to_string()).unwrap();
    path.display().to_string()
}

#[test]
fn duplicate_reports_count_as_one_run() {
    let folder = folder();
    let before = iperf3(&folder, "b.json", 1.0, 100);
    let after = iperf3(&folder, "a.json", 0.9, 200);
    let copy = iperf3(&folder, "copy.json", 0.9, 200);
    let beside = iperf3(&folder, "beside.json", 0.91, 200);
    let compare = |files: &[&str]| {
        let words = ["compare", "--before", &before, "--after"];
        tcplab(&[&words[..], files, &["--json"]].concat())
    };
    let twice = compare(&[&after, &after]);
    assert_eq!(twice.code, 2, "{}", twice.out);
    assert!(
        twice.err.contains("a.json: named twice in one arm"),
        "{}",
        twice.err
    );
    let copied = compare(&[&after, &copy]);
    assert_eq!(copied.code, 0, "{}", copied.err);
    let document = copied.json();
    assert_eq!(
        document["rows"][0]["runs_after"].as_array().unwrap().len(),
        1
    );
    assert!(
        copied.out.contains("copy.json: left out, a copy of"),
        "{}",
        copied.out
    );
    let parallel = compare(&[&after, &beside]).json();
    let flags = parallel["flags"].as_array().unwrap();
    let same = flags.iter().find(|flag| flag["kind"] == "same-time");
    let rows = same.unwrap()["rows"].to_string();
    assert!(rows.contains("(2 runs after)"), "{rows}");
    holds("compare", &parallel);

    // One file with the same report twice, and a folder with a folder in it.
    let text = std::fs::read_to_string(&after).unwrap();
    let inside = folder.path().join("runs");
    std::fs::create_dir_all(inside.join("sub")).unwrap();
    std::fs::write(inside.join("log.json"), format!("{text}\n{text}\n")).unwrap();
    let found = compare(&[inside.to_str().unwrap()]);
    let document = found.json();
    assert_eq!(
        document["rows"][0]["runs_after"].as_array().unwrap().len(),
        1
    );
    for part in [
        "document 2: left out, a copy of document 1",
        "runs/sub: skipped, a folder",
    ] {
        assert!(found.out.contains(part), "{part}: {}", found.out);
    }
}

#[test]
fn a_slowdown_is_told_by_table_exit_code_and_documents() {
    let folder = folder();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (junit, html, metrics) = (file("j.xml"), file("h.html"), file("m.json"));
    let args = [
        "compare",
        RUNS,
        "--fail-on",
        "worse",
        "--junit",
        &junit,
        "--html",
        &html,
        "--metrics",
        &metrics,
    ];
    let run = tcplab(&args);
    assert_eq!((run.code, run.err.as_str()), (1, ""));
    assert!(
        run.out.contains("-10.12") && run.out.contains("5p  worse"),
        "{}",
        run.out
    );
    assert!(run.out.lines().all(|line| line.chars().count() <= 100));
    let junit = std::fs::read_to_string(junit).unwrap();
    assert!(junit.contains("failures=\"1\""), "{junit}");
    let html = std::fs::read_to_string(html).unwrap();
    let (_, data) = html
        .split_once("id=\"tcplab-page\" type=\"application/json\">")
        .unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    let page: serde_json::Value = serde_json::from_str(data).unwrap();
    assert_eq!(page["schema"], "tcplab.page-compare/1");
    let runs = &page["parts"][0]["rows"][0]["arms"][1]["runs"];
    assert_eq!(runs.as_array().map(Vec::len), Some(5), "{runs}");
    // What was read can be read again, and says the same.
    let again = tcplab(&["compare", &metrics, "--json"]).json();
    let first = tcplab(&["compare", RUNS, "--json"]).json();
    assert_eq!(again["rows"], first["rows"]);
    assert_eq!(first["rows"][0]["verdict"], "worse");
    holds("compare", &first);
    let metrics = serde_json::from_slice(&std::fs::read(metrics).unwrap()).unwrap();
    holds("metrics", &metrics);
    let markdown = tcplab(&["compare", RUNS, "--markdown"]).out;
    assert!(
        markdown.contains("| TCP\\_RR | 1/s | higher |"),
        "{markdown}"
    );
    markdown_and_csv_go_into_files(&markdown);
}

fn markdown_and_csv_go_into_files(printed: &str) {
    let place = folder();
    let [md, csv] = ["t.md", "t.csv"].map(|name| place.path().join(name).display().to_string());
    let run = tcplab(&["compare", RUNS, "--markdown", &md, "--csv", &csv, "--json"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(std::fs::read_to_string(&md).unwrap(), printed);
    let rows = std::fs::read_to_string(&csv).unwrap();
    assert_eq!(
        rows.lines().count(),
        run.json()["rows"].as_array().unwrap().len() + 1
    );
    // One standard output has one form; and an input behind `--markdown` is not written over.
    for args in [
        &["compare", RUNS, "--markdown", "--json"][..],
        &["compare", "--markdown", &csv, RUNS],
    ] {
        let run = tcplab(args);
        assert_eq!(run.code, 2, "{args:?}: {}", run.err);
        assert!(run.err.contains("--markdown"), "{args:?}: {}", run.err);
    }
    assert_eq!(std::fs::read_to_string(&csv).unwrap(), rows);
}

#[test]
fn repeats_in_files_and_folders_are_paired_by_their_times() {
    let (before, after) = (folder(), folder());
    let mut files = [Vec::new(), Vec::new()];
    for (i, wobble) in [1.0, 1.02, 0.99, 1.01, 1.0].into_iter().enumerate() {
        let at = 1_000 + 20 * i as u64;
        files[0].push(iperf3(&before, &format!("{i}.json"), wobble, at));
        files[1].push(iperf3(
            &after,
            &format!("{i}.json"),
            0.8 * wobble + 0.002 * (i % 3) as f64,
            at + 10,
        ));
    }
    let mut args = vec!["compare", "--json", "--before"];
    args.extend(files[0].iter().map(String::as_str));
    args.push("--after");
    args.extend(files[1].iter().map(String::as_str));
    let by_file = tcplab(&args).json();
    let row = &by_file["rows"][0];
    assert_eq!(
        (&row["verdict"], &row["paired"]),
        (&Value::from("worse"), &Value::from(true)),
        "{row}"
    );
    let paths = [&before, &after].map(|f| f.path().display().to_string());
    let by_folder = tcplab(&["compare", "--json", &paths[0], &paths[1]]).json();
    assert_eq!(by_folder["rows"], by_file["rows"]);
}

#[test]
fn two_stacks_of_one_folder_are_equal_or_not() {
    let folder = folder();
    let out = folder.path().join("out").display().to_string();
    let args = [
        "run",
        "examples/write-write-read.toml",
        "--on",
        "model:linux-6.1,model:linux-5.14",
        "--out",
        &out,
    ];
    let run = tcplab(&args);
    assert_eq!(run.code, 0, "{}", run.err);
    let both = tcplab(&["compare", &out, "--json"]);
    assert_eq!(both.code, 0, "{}", both.err);
    let rows = both.json()["rows"].as_array().unwrap().clone();
    assert!(
        rows.len() > 20
            && rows
                .iter()
                .all(|row| row["exact"] == true && row["p"].is_null())
    );
    let equal = rows.iter().filter(|row| row["verdict"] == "equal").count();
    assert!(equal > 10, "{equal} of {}", rows.len());
    let arms = "model:linux-6.1,model:linux-6.1";
    let itself = tcplab(&["compare", &out, "--arms", arms, "--json"]).json();
    let all = itself["rows"].as_array().unwrap();
    assert!(
        all.iter()
            .all(|row| row["verdict"] == "equal" || row["before"].is_null())
    );
}

#[test]
fn open_rows_and_bad_input_have_their_codes() {
    let open = tcplab(&[
        "compare",
        "tests/compare/seed-nginx.csv",
        "--require-verdict",
    ]);
    assert_eq!(open.code, 3);
    assert!(
        open.out.contains("the change is within the noise"),
        "{}",
        open.out
    );
    let killed = folder();
    std::fs::write(killed.path().join("manifest.json"), "{}").unwrap();
    let unfinished = killed.path().display().to_string();
    for (args, part) in [
        (vec!["compare", "Cargo.toml", RUNS], "--format"),
        (vec!["compare", "no-such-file", RUNS], "cannot open"),
        (vec!["compare", "tests/compare/samples/ab.txt"], "one arm"),
        (vec!["compare", RUNS, RUNS], "--arms"),
        (vec!["compare", RUNS, "--arms", "x,y"], "no arm `x`"),
        (vec!["compare", RUNS, "--fail-on", "bad"], "too-noisy"),
        (vec!["compare", &unfinished, RUNS], "summary.json"),
        (
            vec!["compare", RUNS, "--format", "iperf3"],
            "line 1 column 1",
        ),
    ] {
        let run = tcplab(&args);
        assert_eq!(
            (run.code, run.out.as_str()),
            (2, ""),
            "{args:?}: {}",
            run.err
        );
        assert!(run.err.contains(part), "{args:?}: {}", run.err);
        let mut json = args.clone();
        json.push("--json");
        let run = tcplab(&json);
        assert!(
            run.code == 2 && run.json()["error"]["message"].is_string(),
            "{args:?}"
        );
    }
}

/// Exact values are equal or differ: `--fail-on worse` alone cannot see them, and says so.
#[test]
fn fail_on_worse_tells_of_exact_values() {
    let place = folder();
    let result = |delay: &str| {
        let [file, out] = ["toml", "out"].map(|end| place.path().join(format!("{delay}.{end}")));
        let text = format!("[[link]]\ndelay = \"{delay}\"\n[[app]]\nkind = \"echo\"\ncount = 3\n");
        std::fs::write(&file, text).unwrap();
        let [file, out] = [file, out].map(|path| path.display().to_string());
        let run = tcplab(&["run", &file, "--on", "model", "--out", &out]);
        assert_eq!(run.code, 0, "{}", run.err);
        out
    };
    let (short, long) = (result("1ms"), result("20ms"));
    let run = tcplab(&["compare", &short, &long, "--fail-on", "worse"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.err.contains("rows of exact values"), "{}", run.err);
    let run = tcplab(&["compare", &short, &long, "--fail-on", "worse,differs"]);
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(!run.err.contains("rows of exact values"), "{}", run.err);
}
