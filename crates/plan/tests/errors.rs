//! Errors of experiment files: the place, the key, the nearest word.

use tcplab_plan::{Experiment, ParseError};

fn error(text: &str) -> ParseError {
    match Experiment::parse("exp.toml", text) {
        Err(error) => error,
        Ok(experiment) => experiment.points().expect_err(text),
    }
}

const APP: &str = "[[app]]\nkind = \"stream\"\n";

#[test]
fn an_error_shows_file_line_column_key_and_the_nearest_word() {
    let text = "[[app]]\nname = \"data\"\nkind = \"stream\"\nchnk = 1000\n";
    assert_eq!(
        error(text).to_string(),
        "exp.toml:4:1: app.data: unknown key `chnk`\n\
         4 | chnk = 1000\n  | ^^^^\n\
         did you mean `chunk`?"
    );
    let text = "[[host]]\nname = \"a\"\nroute = \"rto_min 5ms quikack 1\"\n";
    assert_eq!(
        error(text).to_string(),
        "exp.toml:3:22: host.a.route: `quikack` is not a metric of a route\n\
         3 | route = \"rto_min 5ms quikack 1\"\n  |                      ^^^^^^^\n\
         did you mean `quickack`?"
    );
    let text = "a = [1, 2\n";
    let error = error(text);
    assert_eq!((error.line(), error.path()), (1, ""));
    assert!(error.message().starts_with("no TOML: "), "{error}");
}

/// The cases of a file under `tests/errors`: a text, then `#! LINE:COLUMN KEY | message | help` with
/// parts of what must be said about it.
fn check(cases: &str) -> usize {
    let mut seen = 0;
    let (_, cases) = cases.split_once("\n\n").unwrap();
    let mut text = String::new();
    for line in cases.lines() {
        let Some(right) = line.strip_prefix("#! ") else {
            text += &format!("{line}\n");
            continue;
        };
        let text = std::mem::take(&mut text);
        let text = text.trim_start_matches('\n');
        let e = error(text);
        let mut parts = right.split('|').map(str::trim);
        let place = format!("{}:{} {}", e.line(), e.column(), e.path());
        assert_eq!(place.trim(), parts.next().unwrap(), "{text}\n{e}");
        assert!(e.message().contains(parts.next().unwrap()), "{text}\n{e}");
        assert!(
            e.help().unwrap_or_default().contains(parts.next().unwrap()),
            "{text}\n{e}"
        );
        seen += 1;
    }
    seen
}

#[test]
fn wrong_files_are_told_where_and_how() {
    assert_eq!(check(include_str!("errors/file.txt")), 65);
    assert_eq!(check(include_str!("errors/hosts.txt")), 56);
    assert_eq!(check(include_str!("errors/axes.txt")), 24);
    assert!(error("").message().contains("no application"));
}

#[test]
fn bytes_a_second_where_bits_may_be_meant_are_told() {
    let text = format!(
        "title = \"50mbps\"\n[[link]]\nrate = \"50mbps\"\na_to_b = {{ rate = {{ axis = [\"1gbit\", \"1 Gbps\"] }} }}\n{APP}\
         [[variant]]\nname = \"slow\"\nset = {{ \"link.client-server.rate\" = \"8kbps\" }}\n"
    );
    let told = Experiment::parse("x.toml", &text).unwrap().warnings();
    assert_eq!(told.len(), 3, "{told:#?}");
    let of = |line: &str| told.iter().find(|told| told.starts_with(line)).unwrap();
    assert!(of("x.toml:3: rate: ").contains("400 Mbit/s; for 50 Mbit/s write 50mbit"));
    assert!(of("x.toml:4: rate: ").contains("8 Gbit/s; for 1 Gbit/s write 1gbit"));
    assert!(of("x.toml:9: rate: ").contains("64 kbit/s; for 8 kbit/s write 8kbit"));
    let text = format!(
        "[[link]]\nrate = \"1gbit\"\nchange = [\"5s rate 2Mbps\"]\n{APP}client_socket = {{ max_pacing_rate = \"1Mbps\" }}\n"
    );
    let sets = ["link.client-server.rate=10Mbps".to_owned()];
    let told = Experiment::parse_with("x.toml", &text, &sets, None)
        .unwrap()
        .warnings();
    assert_eq!(told.len(), 3, "{told:#?}");
    assert!(told[2].starts_with("--set:1: rate: "), "{told:#?}");
    let text = format!("[[link]]\nrate = \"50 Mbit/s\"\n{APP}");
    let experiment = Experiment::parse("x.toml", &text).unwrap();
    assert!(experiment.warnings().is_empty());
    assert_eq!(
        experiment.points().unwrap()[0].links[0].a_to_b.rate_bps,
        Some(50_000_000)
    );
}

#[test]
fn impossible_combination_is_found_when_made() {
    let text = format!(
        "[[link]]\ndelay = {{ axis = [\"2ms\", \"5ms\"] }}\njitter = {{ axis = [\"0\", \"1ms\"] }}\n{APP}"
    );
    assert_eq!(
        Experiment::parse("x", &text)
            .unwrap()
            .points()
            .unwrap()
            .len(),
        4
    );
    let text = text
        .replace("\"2ms\"", "\"0\"")
        .replace("[\"0\", \"5ms\"]", "[\"5ms\", \"0\"]");
    let experiment = Experiment::parse("x", &text).unwrap();
    let error = experiment.points().expect_err("jitter");
    assert!(error.message().contains("larger than the delay"), "{error}");
}

#[test]
fn too_many_points_name_the_axes() {
    let list: Vec<String> = (1..=1000).map(|n| n.to_string()).collect();
    let axis = |name: &str| format!("{name} = {{ axis = [{}] }}\n", list.join(","));
    let text = format!("{APP}{}{}", axis("chunk"), axis("read"));
    let error = error(&text);
    assert!(
        error.message().contains("chunk (1000), read (1000)"),
        "{error}"
    );
}

#[test]
fn long_lines_and_strange_characters_are_shown_short_and_plain() {
    let text = format!("# \u{1b}[2J\ntitle = \"{}\"; x\n", "ä".repeat(5000));
    let shown = error(&text).to_string();
    assert!(shown.len() < 1500 && !shown.contains('\u{1b}'), "{shown}");
    let text = "[[app]]\n\u{1b}[2J = 1\n";
    assert!(!error(text).to_string().contains('\u{1b}'));
}
