//! Every example under `examples/` can be read and has the points that its text promises.

use std::path::Path;

use tcplab_plan::{Experiment, Point, Population};

fn read(name: &str) -> Vec<Point> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let path = path.join(format!("{name}.toml"));
    let text = std::fs::read_to_string(&path).unwrap();
    let experiment = Experiment::parse(&path.display().to_string(), &text);
    let experiment = experiment.unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(experiment.name, name);
    assert!(experiment.view.title.is_some());
    assert!(!experiment.measures.is_empty());
    experiment.points().unwrap_or_else(|e| panic!("{e}"))
}

/// Those with `[population]`, and how many arms they have.
const POPULATIONS: [(&str, usize); 6] = [
    ("rto-web", 5),
    ("rto-p0", 5),
    ("rto-p4", 5),
    ("rto-floor", 26),
    ("rto-sensitivity", 5),
    ("rto-rows", 4),
];

fn population(name: &str) -> Population {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let path = path.join(format!("{name}.toml"));
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(Population::is_population(&text));
    Population::parse(&path.display().to_string(), &text).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn each_example_has_its_points() {
    let examples = [
        ("delayed-ack", 1),
        ("delayed-ack-intervals", 20),
        ("delayed-ack-sizes", 15),
        ("delayed-ack-echo", 20),
        ("write-write-read", 5),
        ("bench-bulk-1", 1),
        ("bench-bulk-100", 1),
        ("bench-web", 1),
        ("bench-window", 3),
        ("path-mtu", 6),
        ("fastopen", 4),
        ("changing-line", 2),
        ("middle-boxes", 7),
        ("dumbbell", 4),
        ("rrul", 2),
        ("incast", 10),
        ("ack-filter-rrul", 30),
        ("ack-filter-100k", 25),
        ("ack-filter-symmetric", 15),
        ("ack-filter-harm", 75),
        ("ack-filter-grid", 60),
        ("ack-filter-kernel", 6),
        ("ack-filter-slow-start", 12),
        ("caqm-incast", 5),
        ("caqm-incast-shared", 2),
        ("caqm-qt0", 70),
        ("caqm-10g", 4),
        ("caqm-fairness", 4),
        ("caqm-interop", 6),
        ("caqm-nic", 4),
        ("caqm-rtt", 15),
        ("caqm-incast-n", 24),
        ("caqm-unequal", 4),
        ("caqm-web", 4),
        ("caqm-public", 4),
        ("caqm-public-incast", 4),
        ("rrul-cake", 20),
        ("rrul-cake-be", 10),
        ("replay", 3),
        ("upload-beside-call", 40),
    ];
    for (name, points) in examples {
        assert_eq!(read(name).len(), points, "{name}");
    }
    for (name, arms) in POPULATIONS {
        let population = population(name);
        assert_eq!(population.name, name);
        assert_eq!(population.arms.len(), arms, "{name}");
        assert!(population.title.is_some());
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let files = std::fs::read_dir(folder).unwrap();
    let files = files.filter(|f| {
        f.as_ref()
            .unwrap()
            .path()
            .extension()
            .is_some_and(|e| e == "toml")
    });
    assert_eq!(
        files.count(),
        examples.len() + POPULATIONS.len(),
        "an example is not in this test"
    );
}

/// `rto-sensitivity.toml` is `rto-p4.toml`, then one change at a time.
#[test]
fn the_first_variant_is_p4_and_each_other_one_is_not() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/rto-sensitivity.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    let variants = Population::variants("rto-sensitivity.toml", &text).unwrap();
    assert_eq!(variants.len(), 12);
    let p4 = population("rto-p4");
    let named = |of: &Population| Population {
        name: p4.name.clone(),
        title: p4.title.clone(),
        variant: None,
        connections: p4.connections,
        ..of.clone()
    };
    assert_eq!(named(&variants[0]), p4);
    for variant in &variants[1..] {
        assert_ne!(named(variant), p4, "{:?}", variant.variant);
    }
}

#[test]
fn a_point_of_the_first_example() {
    let point = serde_json::to_value(&read("delayed-ack")[0]).unwrap();
    let text = serde_json::to_string_pretty(&point).unwrap();
    assert_eq!(point["apps"][0]["does"]["stream"]["chunk"], 1000);
    assert_eq!(
        point["apps"][0]["does"]["stream"]["until"]["count"], 100,
        "{text}"
    );
    assert_eq!(point["apps"][0]["server_socket"]["nodelay"], true);
    assert_eq!(point["hosts"][0]["name"], "client");
    assert_eq!(point["links"][0]["a_to_b"]["limit_pkts"], 1000);
    assert_eq!(point["seed"], 1);
    assert_eq!(point["max_ns"], 80_000_000_000_i64);
}

#[test]
fn points_survive_json() {
    for name in [
        "delayed-ack-echo",
        "write-write-read",
        "delayed-ack-intervals",
    ] {
        for point in read(name) {
            let text = serde_json::to_string(&point).unwrap();
            assert_eq!(serde_json::from_str::<Point>(&text).unwrap(), point);
        }
    }
}
