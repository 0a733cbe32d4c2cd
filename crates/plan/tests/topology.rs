//! Topologies: groups of hosts, routers, ways, and their errors.

use std::collections::BTreeSet;

use tcplab_plan::network::first_hops;
use tcplab_plan::{Experiment, Point};

fn points(text: &str) -> Vec<Point> {
    let experiment = Experiment::parse("t.toml", text).unwrap_or_else(|e| panic!("{e}"));
    experiment.points().unwrap_or_else(|e| panic!("{e}"))
}

fn error(text: &str) -> String {
    match Experiment::parse("t.toml", text) {
        Err(error) => error.to_string(),
        Ok(experiment) => experiment.points().expect_err(text).to_string(),
    }
}

fn name(point: &Point, host: usize) -> &str {
    &point.hosts[host].name
}

fn links(point: &Point) -> Vec<String> {
    let name = |host| name(point, host);
    let links = point.links.iter();
    links
        .map(|link| format!("{} {}", name(link.a), name(link.b)))
        .collect()
}

/// The hosts on the way from one to another, both included.
fn way(point: &Point, from: &str, to: &str) -> Vec<String> {
    let index = |name: &str| point.hosts.iter().position(|h| h.name == name).unwrap();
    let (mut at, to) = (index(from), index(to));
    let mut way = vec![from.to_owned()];
    while at != to {
        let Some(link) = first_hops(point, at)[to] else {
            return Vec::new();
        };
        let link = &point.links[link];
        at = if link.a == at { link.b } else { link.a };
        way.push(name(point, at).to_owned());
        assert!(way.len() <= point.hosts.len(), "in a circle: {way:?}");
    }
    way
}

const INCAST: &str = r#"
host = [{ name = "sender", count = { axis = [2, 3] } }, { name = "switch", forward = true }, { name = "sink" }]
link = [{ between = ["sender", "switch"], rate = "10mbit" }, { between = ["switch", "sink"] }]
[[app]]
kind = "bulk"
name = "burst"
bytes = "10k"
client = "sender"
server = "sink"
"#;

#[test]
fn a_group_multiplies_with_its_links_and_applications() {
    let points = points(INCAST);
    assert_eq!(points.len(), 2);
    assert_eq!(points[0].axes["count"], 2);
    let point = &points[1];
    let names: Vec<&str> = point.hosts.iter().map(|h| h.name.as_str()).collect();
    assert_eq!(
        names,
        ["sender-1", "sender-2", "sender-3", "switch", "sink"]
    );
    assert_eq!(
        links(point),
        [
            "sender-1 switch",
            "sender-2 switch",
            "sender-3 switch",
            "switch sink"
        ]
    );
    assert!(
        point.links[..3]
            .iter()
            .all(|l| l.a_to_b.rate_bps == Some(10_000_000))
    );
    let apps = point.apps.iter();
    let apps: Vec<_> = apps
        .map(|a| (a.name.as_str(), name(point, a.client)))
        .collect();
    assert_eq!(
        apps,
        [
            ("burst-1", "sender-1"),
            ("burst-2", "sender-2"),
            ("burst-3", "sender-3")
        ]
    );
    assert!(point.apps.iter().all(|a| name(point, a.server) == "sink"));
    let ports: BTreeSet<u16> = point.apps.iter().map(|a| a.port).collect();
    assert_eq!(ports.len(), 3, "one server needs a port for each");
    assert_eq!(point.apps[0].group.as_deref(), Some("burst"));
    assert_eq!(point.hosts[0].group.as_deref(), Some("sender"));
    assert_eq!(point.hosts[3].group, None);
    // A point is complete: it can be written and read back.
    let text = serde_json::to_string(point).unwrap();
    assert_eq!(&serde_json::from_str::<Point>(&text).unwrap(), point);
}

#[test]
fn groups_of_one_size_meet_member_by_member() {
    let text = r#"
host = [{ name = "l", count = 2 }, { name = "r", count = 2 }, { name = "m", forward = true }]
link = [{ between = ["l", "m"] }, { between = ["m", "r"] }]
[[app]]
kind = "bulk"
client = "l"
server = "r"
port = 80
[[app]]
kind = "bulk"
name = "up"
client = "l"
server = "r-2"
port = 90
"#;
    let point = &points(text)[0];
    let apps = point.apps.iter();
    let apps: Vec<String> = apps
        .map(|a| {
            let (client, server) = (name(point, a.client), name(point, a.server));
            format!("{} {client} {server} {}", a.name, a.port)
        })
        .collect();
    let right = [
        "bulk-1 l-1 r-1 80",
        "bulk-2 l-2 r-2 80",
        "up-1 l-1 r-2 90",
        "up-2 l-2 r-2 91",
    ];
    assert_eq!(apps, right);
    assert_eq!(way(point, "l-1", "r-2"), ["l-1", "m", "r-2"]);
    // With two tables of hosts and no links, members are joined.
    let text = "host = [{ name = \"l\", count = 2 }, { name = \"r\", count = 2 }]\n\
                [[app]]\nkind = \"bulk\"\nclient = \"l\"\nserver = \"r\"\n";
    assert_eq!(links(&points(text)[0]), ["l-1 r-1", "l-2 r-2"]);
}

#[test]
fn path_has_the_fewest_links_then_the_first_listed() {
    let text = r#"
host = [{ name = "a" }, { name = "r1", forward = true }, { name = "r2", forward = true }, { name = "r3", forward = true }, { name = "b" }]
link = [{ between = ["a", "r1"] }, { between = ["r1", "r2"] }, { between = ["r2", "b"] }, { between = ["a", "r3"] }, { between = ["b", "r3"] }, { between = ["r1", "b"] }]
[[app]]
kind = "bulk"
client = "a"
server = "b"
"#;
    let point = &mut points(text)[0];
    assert_eq!(way(point, "a", "b"), ["a", "r1", "b"]);
    assert_eq!(way(point, "b", "a"), ["b", "r3", "a"]);
    // Neither end of an application is on the way of others.
    assert_eq!(way(point, "r2", "r3"), [""; 0]);
    // Without r1, the longer way is still not taken: r3 is as short.
    point.hosts[1].forward = false;
    assert_eq!(way(point, "a", "b"), ["a", "r3", "b"]);
    point.hosts[3].forward = false;
    assert_eq!(way(point, "a", "b"), [""; 0]);
}

#[test]
fn missing_path_is_an_error_with_its_place() {
    let chain = INCAST.replace(", forward = true", "");
    let said = error(&chain);
    assert!(said.starts_with("t.toml:9:10: app.burst-1.server: the path from `sender-1` to `sink` passes `switch`, which does not forward"), "{said}");
    let cut = INCAST.replace(", { between = [\"switch\", \"sink\"] }", "");
    let said = error(&cut);
    assert!(
        said.starts_with("t.toml:9:10: app.burst-1.server: no link joins `sender-1` and `sink`"),
        "{said}"
    );
}

#[test]
fn wrong_groups_are_errors_with_their_place() {
    let table = [
        (
            "[2, 3]",
            "[0]",
            "t.toml:2:46: host.sender.count: must be 1 to 1024, not 0",
        ),
        ("[2, 3]", "[1023]", "more than 1024 hosts in all"),
        (
            "\"switch\", forward",
            "\"sender\", forward",
            "duplicate host `sender`",
        ),
        (
            "\"switch\", forward",
            "\"sender-1\", forward",
            "duplicate host `sender-1`",
        ),
        (
            "\"sink\" }]",
            "\"sink\", count = 7 }]",
            "`sender` has 2 hosts and `sink` has 7",
        ),
        (
            "name = \"burst\"",
            "name = \"sender\"",
            "an application cannot be called",
        ),
        (
            "name = \"burst\"",
            "port = 65535",
            "must be 1 to 65535, not 65536",
        ),
        (
            "name = \"switch\"",
            "name = \"switch\", sysctl = { \"net.ipv4.ip_forward\" = 1 }",
            "write `forward = true`",
        ),
    ];
    for (from, to, why) in table {
        assert!(INCAST.contains(from), "{from}");
        let said = error(&INCAST.replace(from, to));
        assert!(said.contains(why), "{said}\nand not: {why}");
    }
}

#[test]
fn variants_change_a_group_as_a_whole() {
    let text = format!(
        "{INCAST}[[variant]]\nname = \"v\"\nset = {{ \"host.sender.route\" = \"quickack 1\", \
         \"link.sender-switch.delay\" = \"1ms\", \"app.burst.bytes\" = 7 }}\n"
    );
    let point = &points(&text)[1];
    assert_eq!(point.hosts[2].route.quickack, Some(1));
    assert_eq!(point.hosts[3].route.quickack, None);
    assert_eq!(point.links[2].b_to_a.delay_ns, 1_000_000);
    let same = point.apps.iter().all(|app| app.does == point.apps[0].does);
    assert!(same, "{:?}", point.apps);
}

#[test]
fn many_hosts_in_many_points_are_too_much() {
    let bytes: Vec<String> = (1..=2_000).map(|n| n.to_string()).collect();
    let text = INCAST
        .replace("[2, 3]", "[2, 1000]")
        .replace("\"10k\"", &format!("{{ axis = [{}] }}", bytes.join(", ")));
    let said = error(&text);
    assert!(
        said.contains("more than") && said.contains("points"),
        "{said}"
    );
}

#[test]
fn connections_of_a_group_start_one_after_another() {
    let text = r#"
host = [{ name = "sender", count = 3 }, { name = "sink" }]
link = [{ between = ["sender", "sink"] }]
app = [{ kind = "bulk", client = "sender", server = "sink", start = "1s", connections = 2, stagger = "10ms", duration = "1s" }]
"#;
    let experiment = tcplab_plan::Experiment::parse("t.toml", text).unwrap();
    let point = experiment.points().unwrap().remove(0);
    let starts: Vec<i64> = point.apps.iter().map(|app| app.start_ns).collect();
    assert_eq!(starts, [1_000_000_000, 1_020_000_000, 1_040_000_000]);
    assert!(point.max_ns > 2_050_000_000);
}
