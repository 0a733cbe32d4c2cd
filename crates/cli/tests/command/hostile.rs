//! Strings of strangers (names of files, of interfaces, in experiments, scripts and results of other tools) neither steer
//! the terminal nor hide text, in results and in errors; JSON holds them as they are.

use std::path::Path;

use tcplab_base::is_hidden;

use super::{QUICKACK, Run, bytes, folder, tcplab, text};

/// ESC, a C1 control, marks of direction, what is not seen.
const HOSTILE: &str = "a\x1b[2J\x1b]0;t\x07\u{9b}2J\u{202e}b\u{2066}c\u{200e}d\u{200b}e\u{feff}f";

/// Nothing hidden; but for colours of ours, when `painted`.
fn clean(run: &Run, painted: bool) {
    assert!(!run.err.contains("panicked"), "{}", run.err);
    for said in [&run.out, &run.err] {
        let mut said = said.clone();
        if painted {
            for code in ["0", "1", "2", "1;31", "33", "32", "36"] {
                said = said.replace(&format!("\x1b[{code}m"), "");
            }
        }
        let hidden = said
            .chars()
            .find(|c| is_hidden(*c) && !matches!(c, '\n' | '\t'));
        assert_eq!(hidden, None, "{said:?}");
    }
}

/// A file with a hostile name and this content.
fn hostile(place: &Path, end: &str, content: &[u8]) -> String {
    let file = place.join(format!("{HOSTILE}{end}"));
    std::fs::write(&file, content).unwrap();
    text(&file).to_owned()
}

#[test]
fn names_of_files_do_not_reach_the_terminal_as_they_are() {
    let place = folder();
    let pcap = hostile(place.path(), ".pcap", &bytes(QUICKACK));
    let broken = hostile(place.path(), "2.pcap", &bytes(QUICKACK)[..5_000]);
    let no_toml = hostile(place.path(), ".toml", "x = \u{202e}\u{9b}\n".as_bytes());
    let script = hostile(place.path(), ".pkt", b"0 nonsense(\x1b[2J)\n");
    let metrics = hostile(place.path(), ".json", b"{\"schema\": \"x\x1b[2J\"}");
    let none = format!("{HOSTILE}-not-there");
    for args in [
        &["analyze", &pcap][..],
        &["analyze", &pcap, &pcap],
        &["analyze", &pcap, &pcap, "--acks"],
        &["analyze", &pcap, &pcap, "--tshark-compat"],
        &["analyze", "--pair", &pcap, &pcap],
        &["analyze", &broken],
        &["analyze", &none],
        &["analyze", text(place.path())],
        &["explain", &broken],
        &["explain", &none],
        &["run", &no_toml],
        &["run", &none],
        &[
            "run",
            "examples/delayed-ack.toml",
            "--on",
            &format!("uml:{HOSTILE}"),
        ],
        &[
            "run",
            "examples/delayed-ack.toml",
            "--on",
            &format!("ssh:{HOSTILE},b"),
        ],
        &["population", "show", &no_toml],
        &["qa", &none, "--before", "model", "--after", "model"],
        &["drill", &script, "-v", "-v"],
        &["drill", &script, "--tap"],
        &["drill", &script, "--dry-run"],
        &["drill", &none],
        &["compare", &metrics, &metrics],
        &["compare", &none, &none],
        &["compare", &pcap, &none],
        &["report", &none],
        &["kernel", "rm", &none],
        &["link", HOSTILE, "new:b"],
        &["no-such-command", &none],
        &[HOSTILE],
    ] {
        clean(&tcplab(args), false);
        clean(&tcplab(&[args, &["--color", "always"]].concat()), true);
    }
    // As it is in JSON, and without a byte that a terminal obeys.
    let run = tcplab(&["analyze", "--json", &pcap]);
    clean(&run, false);
    assert_eq!(run.json()["captures"][0]["file"], pcap.as_str());
    let run = tcplab(&["run", "--json", &none]);
    clean(&run, false);
    assert!(
        run.json()["error"]["message"]
            .as_str()
            .unwrap()
            .contains(HOSTILE)
    );
}

#[test]
fn strings_in_files_do_not_reach_the_terminal_as_they_are() {
    let place = folder();
    // TOML refuses controls as text; marks of direction are letters to it.
    let file = place.path().join("t.toml");
    let experiment = "title = \"a\u{202e}b\u{200b}\"\n[[app]]\nkind = \"bulk\"\nbytes = 10000\nclient = \"client\"\n";
    std::fs::write(&file, experiment).unwrap();
    clean(&tcplab(&["run", text(&file)]), false);
    for json in [&[][..], &["--json"]] {
        let words = [&["run", text(&file), "--dry-run"], json].concat();
        clean(&tcplab(&words), false);
    }
    std::fs::write(
        &file,
        experiment.replace("client = \"", "client = \"\u{202e}"),
    )
    .unwrap();
    clean(&tcplab(&["run", text(&file)]), false);
    std::fs::write(&file, experiment.replace("title", "ti\\u202etle")).unwrap();
    clean(&tcplab(&["run", text(&file)]), false);
    // Names that another tool wrote.
    let name = serde_json::to_string(&format!("{HOSTILE}|<b>`x`")).unwrap();
    let metrics = format!(
        "{{\"schema\":\"tcplab.metrics/1\",\"arms\":[{{\"name\":{name},\"metrics\":[{{\"name\":{name},\"unit\":\"ms\",\
         \"better\":\"lower\",\"runs\":[{{\"value\":1}},{{\"value\":2}}]}}]}}]}}"
    );
    let file = place.path().join("m.json");
    std::fs::write(&file, metrics).unwrap();
    let (file, html, junit) = (
        text(&file),
        place.path().join("o.html"),
        place.path().join("o.xml"),
    );
    let run = tcplab(&[
        "compare",
        file,
        file,
        "--html",
        text(&html),
        "--junit",
        text(&junit),
    ]);
    assert!(run.code <= 1, "{}", run.err);
    clean(&run, false);
    let run = tcplab(&["compare", file, file, "--markdown"]);
    clean(&run, false);
    assert!(run.out.contains(r"\|&lt;b&gt;\`x\`"), "{}", run.out);
    for (file, shown) in [(html, r"\u003cb>"), (junit, "&lt;b&gt;")] {
        let written = std::fs::read_to_string(file).unwrap();
        assert!(
            !written.contains(|c| c != '\n' && is_hidden(c)),
            "{written:?}"
        );
        assert!(!written.contains("<b>") && written.contains(shown));
    }
}
