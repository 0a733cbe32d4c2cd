//! `--set` and `--repeat`: changes of a file by the command line.

use tcplab_plan::{Experiment, ParseError, Point};

const FILE: &str = "[[host]]\nname = \"a\"\n[[host]]\nname = \"b\"\n[[link]]\nbetween = [\"a\", \"b\"]\na_to_b = \"cake bandwidth 5mbit\"\n\
[[app]]\nkind = \"bulk\"\nclient = \"a\"\nserver = \"b\"\n[[variant]]\nname = \"near\"\n[[variant]]\nname = \"far\"\nset = { \"link.a-b.delay\" = \"50ms\" }\n";

fn parse(set: &[&str], repeat: Option<u32>) -> Result<Experiment, ParseError> {
    let set: Vec<String> = set.iter().map(|word| (*word).to_owned()).collect();
    Experiment::parse_with("exp.toml", FILE, &set, repeat)
}

fn points(set: &[&str], repeat: Option<u32>) -> Vec<Point> {
    parse(set, repeat).unwrap().points().unwrap()
}

fn error(set: &[&str]) -> String {
    let read = parse(set, None).and_then(|experiment| experiment.points());
    read.expect_err("wrong").to_string()
}

#[test]
fn a_setting_holds_for_every_variant_and_the_last_one_wins() {
    let of = |points: &[Point]| -> Vec<i64> {
        let ways = points.iter().map(|point| &point.links[0].a_to_b);
        ways.map(|way| way.delay_ns).collect()
    };
    assert_eq!(of(&points(&[], None)), [0, 50_000_000]);
    let set = ["link.a-b.delay=10ms", "link.a-b.delay = 20ms"];
    assert_eq!(of(&points(&set, None)), [20_000_000, 20_000_000]);
    let warnings = parse(&set[..1], None).unwrap().warnings();
    assert_eq!(
        warnings,
        ["--set link.a-b.delay overrides the value that variant `far` sets"]
    );
}

#[test]
fn values_at_commas_are_an_axis() {
    let points = points(&["link.a-b.a_to_b.rate=1mbit,2mbit", "run.seed=7"], Some(3));
    assert_eq!(points.len(), 2 * 2 * 3);
    let rates: Vec<&str> = points
        .iter()
        .map(|point| point.axes["link.a-b.a_to_b.rate"].as_str().unwrap())
        .collect();
    assert_eq!(
        rates[..6],
        ["1mbit", "1mbit", "1mbit", "2mbit", "2mbit", "2mbit"]
    );
    // tc's words beside it stay.
    let way = &points[0].links[0].a_to_b;
    assert_eq!(way.rate_bps, Some(1_000_000));
    assert!(way.queue.is_some());
}

#[test]
fn a_value_is_tomls_or_a_text() {
    let point = |set: &str| points(&[set], None).remove(0);
    let app = |set: &str| format!("{:?}", point(set).apps[0]);
    assert_eq!(app("app.bulk.chunk=2 kB"), app("app.bulk.chunk=\"2 kB\""));
    assert_eq!(app("app.bulk.chunk=2 kB"), app("app.bulk.chunk=2000"));
    assert_ne!(app("app.bulk.chunk=2 kB"), app("app.bulk.chunk=2001"));
    let host = |set: &str| format!("{:?}", point(set).hosts[0]);
    assert_eq!(
        host("host.a.sysctl={\"net.ipv4.tcp_sack\"=0}"),
        host("host.a.sysctl.net.ipv4.tcp_sack=0")
    );
}

#[test]
fn error_points_to_the_written_place() {
    assert_eq!(
        error(&["link.a-b.delay=1ms", "link.a-c.delay=2ms"]),
        "--set:1:1: no `[[link]]` is named `a-c`\n\
         1 | link.a-c.delay=2ms\n  | ^^^^^^^^^^^^^^\n\
         did you mean `a-b`?"
    );
    let value = error(&["link.a-b.delay=1ms", "link.a-b.delay=fast"]);
    assert!(value.starts_with("--set:1:16: link.a-b.delay: "), "{value}");
    assert!(value.contains("link.a-b.delay=fast\n"), "{value}");
    let of_axis = error(&["link.a-b.delay=1ms,fast"]);
    assert!(of_axis.starts_with("--set:1:16: "), "{of_axis}");
    for (word, why) in [
        ("link.a-b.delay", "missing `=`"),
        ("=3", "write a path"),
        ("link.a-b.delay=", "write a path"),
        ("run.repeat=3", "`--repeat N` changes it"),
        ("run.stacks=host", "`--on STACK` changes it"),
        ("app.bulk.chnk=3", "did you mean `chunk`?"),
        ("title=x", "such as"),
    ] {
        let found = error(&[word]);
        assert!(
            found.starts_with("--set:1:") && found.contains(why),
            "{found}"
        );
    }
}

#[test]
fn a_fault_of_the_file_stays_in_the_file() {
    let set = ["link.client-server.delay=1ms".to_owned()];
    let text = "[[app]]\nkind = \"bulk\"\nchnk = 1\n";
    let read = Experiment::parse_with("exp.toml", text, &set, None);
    assert!(read.unwrap_err().to_string().starts_with("exp.toml:3:1: "));
}

/// A key that both directions override labels rows of the same points.
#[test]
fn what_changes_no_point_is_told() {
    let file = "[[host]]\nname = \"a\"\n[[host]]\nname = \"b\"\n[[link]]\nbetween = [\"a\", \"b\"]\nrate = \"10mbit\"\n\
a_to_b = { rate = \"2mbit\" }\nb_to_a = { rate = \"3mbit\" }\n[[app]]\nkind = \"bulk\"\nclient = \"a\"\nserver = \"b\"\n";
    let told = |set: &[&str]| {
        let set: Vec<String> = set.iter().map(|word| (*word).to_owned()).collect();
        let read = Experiment::parse_with("exp.toml", file, &set, None);
        read.unwrap().warnings()
    };
    assert_eq!(
        told(&["link.a-b.rate=1mbit,100mbit"]),
        [
            "the axis `link.a-b.rate` changes nothing: its values are equal, or other keys override them all"
        ]
    );
    assert_eq!(
        told(&["link.a-b.rate=1mbit", "link.a-b.delay=1ms"]),
        ["--set link.a-b.rate changes nothing: other keys override it, or it is the default"]
    );
    let acts: [&[&str]; 5] = [
        &["link.a-b.a_to_b.rate=1mbit,100mbit"],
        &["link.a-b.a_to_b.rate=1mbit"],
        &["link.a-b.rate=10mbit"],
        &["run.seed=1,2"],
        &["app.bulk.bytes=1k", "app.bulk.bytes=2k"],
    ];
    for set in acts {
        assert!(told(set).is_empty(), "{set:?}");
    }
}
