//! `kind = "rrul"`: the applications and series that it becomes, by the names of flent's tests.

use tcplab_plan::measure::Measure;
use tcplab_plan::{AppKind, Experiment, Point};

fn points(keys: &str) -> Vec<Point> {
    let text = format!("[[app]]\nkind = \"rrul\"\n{keys}\n");
    let experiment = Experiment::parse("t.toml", &text).unwrap_or_else(|e| panic!("{e}"));
    experiment.points().unwrap_or_else(|e| panic!("{e}"))
}

fn point(keys: &str) -> Point {
    points(keys).remove(0)
}

fn error(keys: &str) -> String {
    let text = format!("[[app]]\nkind = \"rrul\"\n{keys}\n");
    match Experiment::parse("t.toml", &text) {
        Err(e) => e.to_string(),
        Ok(experiment) => experiment.points().expect_err(keys).to_string(),
    }
}

/// flent 2.3.0, tests/rrul.conf, in the order of what runs there and what is computed.
const RRUL: [&str; 17] = [
    "TCP upload BE",
    "TCP upload BK",
    "TCP upload CS5",
    "TCP upload EF",
    "TCP download BE",
    "TCP download BK",
    "TCP download CS5",
    "TCP download EF",
    "Ping (ms) UDP EF",
    "Ping (ms) UDP BK",
    "Ping (ms) UDP BE",
    "Ping (ms) ICMP",
    "TCP upload avg",
    "TCP upload sum",
    "TCP download avg",
    "TCP download sum",
    "TCP totals",
];

#[test]
fn rrul_has_flent_s_series_marks_and_times() {
    let point = point("client = \"client\"");
    let set = &point.sets[0];
    assert_eq!((set.name.as_str(), set.test.as_str()), ("rrul", "rrul"));
    let mut names = set.names();
    assert_eq!(names.pop().unwrap(), "Ping (ms) avg");
    assert_eq!(names, RRUL);
    assert_eq!(point.tcp_info_every_ns, Some(200_000_000));
    assert_eq!(point.apps.len(), 12);
    let mut ports: Vec<u16> = point.apps.iter().map(|app| app.port).collect();
    ports.dedup();
    assert_eq!(ports.len(), 12);
    let seconds = |n: i64| n * 1_000_000_000;
    let tos = [0, 0x20, 0xa0, 0xb8];
    for (n, app) in point.apps.iter().enumerate() {
        assert_eq!(app.name, set.series[n].app);
        assert_eq!(app.group.as_deref(), Some("rrul"));
        let mark = match n {
            0..8 => Some(tos[n % 4]),
            8..11 => Some([0xb8, 0x20, 0][n - 8]),
            _ => None,
        };
        assert_eq!((app.client_socket.tos, app.server_socket.tos), (mark, mark));
        match &app.does {
            AppKind::Bulk {
                duration_ns,
                reverse,
                ..
            } => {
                assert_eq!(*duration_ns, Some(seconds(60)));
                assert_eq!((*reverse, app.start_ns), (n >= 4, seconds(5)));
            }
            AppKind::Ping {
                icmp,
                every_ns,
                until,
                ..
            } => {
                assert_eq!(*icmp, n == 11);
                assert_eq!((*every_ns, app.start_ns), (200_000_000, 0));
                assert_eq!(until.duration_ns, Some(seconds(70)));
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn the_variants_and_other_numbers_of_flows() {
    let all = |keys: &str| point(keys).sets[0].names();
    let be = all("marks = \"rrul_be\"");
    assert_eq!(be[..4].last().unwrap(), "TCP upload BE4");
    assert_eq!(be[4], "TCP download BE");
    assert_eq!(be[8], "Ping (ms) UDP BE1");
    let point_be = point("marks = \"rrul_be\"");
    let marked = |app: &&tcplab_plan::App| app.client_socket.tos.unwrap_or(0) != 0;
    assert_eq!(point_be.apps.iter().filter(marked).count(), 0);
    let plain = point("marks = \"rrul_noclassification\"");
    assert_eq!(plain.apps.iter().filter(marked).count(), 2);
    assert_eq!(
        all("up = 0\ndown = 5\npings = false"),
        [
            "TCP download BE",
            "TCP download BK",
            "TCP download CS5",
            "TCP download EF",
            "TCP download BE2",
            "TCP download avg",
            "TCP download sum",
            "TCP totals"
        ]
    );
    assert_eq!(all("up = 0\ndown = 0").len(), 5);
    let axis = points("up = { axis = [0, 4], name = \"up\" }");
    let sizes: Vec<usize> = axis.iter().map(|p| p.apps.len()).collect();
    assert_eq!(sizes, [8, 12]);
}

/// A group of homes: each has its own flows, and a series is their sum.
#[test]
fn a_group_of_clients_multiplies_with_it() {
    let text = "[[host]]\nname = \"home\"\ncount = 3\n[[host]]\nname = \"server\"\n\
                [[link]]\nbetween = [\"home\", \"server\"]\n\
                [[app]]\nkind = \"rrul\"\nclient = \"home\"\nup = 1\ndown = 1\n";
    let experiment = Experiment::parse("t.toml", text).unwrap_or_else(|e| panic!("{e}"));
    let point = experiment.points().unwrap().remove(0);
    assert_eq!(point.apps.len(), 3 * 6);
    for series in &point.sets[0].series {
        let members = point
            .apps
            .iter()
            .filter(|app| app.group.as_deref() == Some(&series.app));
        assert_eq!(members.count(), 3, "{}", series.name);
    }
}

#[test]
fn measures_have_flent_s_names() {
    let point = point("name = \"load\"");
    for name in [
        "TCP download sum.mean",
        "Ping (ms) UDP EF.p99",
        "Ping (ms) avg.median",
    ] {
        let name = format!("load.{name}");
        assert_eq!(Measure::parse(&name, &point).unwrap().name(), name);
    }
    assert!(Measure::parse("load.completed", &point).is_ok());
    assert!(Measure::parse("load-up-BE.goodput_bps", &point).is_ok());
    let wrong = Measure::parse("load.TCP downlod sum.mean", &point).unwrap_err();
    assert!(wrong.to_string().contains("TCP download sum"), "{wrong}");
    assert!(Measure::parse("load.TCP totals.mode", &point).is_err());
    let formula = "\"load.TCP totals.mean\" > 20 and \"load.Ping (ms) avg.p99\" < 100";
    tcplab_plan::measure::Expression::parse(formula).unwrap();
    assert!(tcplab_plan::measure::Expression::parse("\"load > 20").is_err());
}

#[test]
fn what_cannot_be_has_its_place() {
    for (keys, message) in [
        ("connections = 2", "`up` and `down` say how many"),
        ("settle = \"60s\"", "shorter than `duration`"),
        ("step = \"0\"", "at least 1ms"),
        (
            "step = \"1ms\"\nduration = \"1000s\"",
            "more than 100000 values",
        ),
        ("up = 65", "must be 0 to 64"),
        ("up = 0\ndown = 0\npings = false", "the set is empty"),
        ("chunk = 3", "unknown key `chunk`"),
        ("name = \"server\"", "cannot be called"),
        ("marks = \"rul\"", "did you mean `rrul`"),
        (
            "client_socket = { tos = \"EE\" }\nup = 0\ndown = 0",
            "is not a value of IP_TOS",
        ),
    ] {
        let error = error(keys);
        assert!(error.contains(message), "{keys}: {error}");
        assert!(error.starts_with("t.toml:"), "{error}");
    }
}
