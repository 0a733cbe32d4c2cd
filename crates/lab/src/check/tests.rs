//! What each kind of stack refuses.

use tcplab_plan::{Experiment, Point, Population};
use tcplab_tcp::{Sysctl, UNREAD};

use tcplab_plan::contract::{Rule, entries, rules};

use super::{Kind, kind_of, left_out, points, refusals};

fn point(text: &str) -> Point {
    let experiment = Experiment::parse("x.toml", text).unwrap_or_else(|e| panic!("{e}"));
    experiment.points().unwrap().remove(0)
}

/// An experiment with keys in `[run]`, at the client and at the application.
fn with(run: &str, host: &str, app: &str) -> Point {
    point(&format!(
        "[run]\n{run}\n[[host]]\nname = \"client\"\n{host}\n[[host]]\nname = \"server\"\n[[app]]\n{app}\n"
    ))
}

const BULK: &str = "kind = \"bulk\"\nbytes = \"1k\"";

fn words(point: &Point, kind: Kind) -> Vec<String> {
    refusals(point, kind)
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[test]
fn congestion_control_unknown_to_the_model_is_refused_in_every_key() {
    for name in ["bbr3", "vegas", "nonsense", "Reno", "caqm_reno"] {
        for (host, app) in [
            (
                format!("sysctl = {{ \"net.ipv4.tcp_congestion_control\" = \"{name}\" }}"),
                String::new(),
            ),
            (format!("route = \"congctl {name}\""), String::new()),
            (
                format!("socket = {{ congestion = \"{name}\" }}"),
                String::new(),
            ),
            (
                String::new(),
                format!("client_socket = {{ congestion = \"{name}\" }}"),
            ),
            (
                String::new(),
                format!("server_socket = {{ congestion = \"{name}\" }}"),
            ),
        ] {
            let point = with("", &host, &format!("{BULK}\n{app}"));
            let [line] = words(&point, Kind::Model).try_into().unwrap();
            assert!(
                line.contains(name) && line.contains("reno, cubic, dctcp, bbr, "),
                "{line}"
            );
            // A kernel says itself what it has.
            assert_eq!(words(&point, Kind::Uml), [""; 0]);
        }
    }
    let known = with("", "socket = { congestion = \"dctcp\" }", BULK);
    assert_eq!(words(&known, Kind::Model), [""; 0]);
}

/// Every sysctl that the model takes is read (a test of crate `tcp`), or refused here.
#[test]
fn sysctls_that_the_model_never_reads_are_refused() {
    for name in Sysctl::NAMES {
        let unread = UNREAD.iter().find(|unread| unread.name == *name);
        let Some(unread) = unread else { continue };
        let sysctl = |value: &str| format!("sysctl = {{ \"{name}\" = \"{value}\" }}");
        let point = with("", &sysctl("77"), BULK);
        let [line] = words(&point, Kind::Model).try_into().unwrap();
        assert!(
            line.contains(name) && line.contains("run.tolerate"),
            "{line}"
        );
        assert_eq!(words(&point, Kind::Uml), [""; 0], "{name}");
        let same = with("", &sysctl(unread.acts_as), BULK);
        assert_eq!(words(&same, Kind::Model), [""; 0], "{name}");
        let run = format!("tolerate = [\"{name}\"]");
        let tolerated = with(&run, &sysctl("77"), BULK);
        assert!(points(std::slice::from_ref(&tolerated), &[("model", Kind::Model)]).is_ok());
        assert_eq!(left_out(&tolerated, Kind::Model).len(), 1, "{name}");
        assert_eq!(left_out(&tolerated, Kind::Uml).len(), 0, "{name}");
    }
}

#[test]
fn sysctl_unknown_to_the_model_is_refused() {
    let point = with("", "sysctl = { \"net.ipv4.tcp_nonsense\" = 1 }", BULK);
    let [line] = words(&point, Kind::Model).try_into().unwrap();
    assert!(
        line.starts_with("host.client.sysctl.\"net.ipv4.tcp_nonsense\""),
        "{line}"
    );
}

#[test]
fn unknown_name_in_tolerate_is_refused() {
    let point = with("tolerate = [\"net.ipv4.tcp_sak\"]", "", BULK);
    let error = points(&[point], &[("uml:6.1", Kind::Uml)]).unwrap_err();
    assert!(error.to_string().contains("tcp_sak"), "{error}");
}

/// The list of rules is that of the keys.
#[test]
fn every_rule_is_listed_once_and_stands_at_a_key() {
    let of_keys: Vec<&Rule> = entries().iter().flat_map(|e| e.rules).collect();
    let is_in =
        |list: &[&Rule], rule: &Rule| list.iter().filter(|r| std::ptr::eq(**r, rule)).count();
    for rule in rules() {
        assert!(is_in(&of_keys, rule) > 0, "{}", rule.name);
    }
    for rule in of_keys {
        assert_eq!(is_in(rules(), rule), 1, "{}", rule.name);
    }
}

/// What the release of a kernel's name says, before anything runs.
#[test]
fn sysctls_that_a_release_lacks_are_refused() {
    let kinds = [
        ("model", [true; 4]),
        ("uml:6.1", [false; 4]),
        ("uml:6.1.192+mss-boundary@1000", [false; 4]),
        ("uml:6.6", [false, true, false, false]),
        ("uml:6.11", [false, true, true, false]),
        ("uml:6.1+mine", [false, true, true, true]),
        ("uml:mine", [false, true, true, true]),
        ("qemu:debian", [false, true, true, true]),
        ("host", [false, true, true, true]),
        ("ssh:a,b", [true; 4]),
    ];
    let names = [
        "net.core.rmem_max",
        "net.ipv4.tcp_syn_linear_timeouts",
        "net.ipv4.tcp_rto_min_us",
        "net.core.sysctl_caqm_enable",
    ];
    for (stack, takes) in kinds {
        for (name, takes) in names.iter().zip(takes) {
            let host = format!("sysctl = {{ \"{name}\" = 1 }}");
            let stacks = [(stack, kind_of(stack).unwrap())];
            let one = with("", &host, BULK);
            let result = points(&[one], &stacks);
            assert_eq!(result.is_ok(), takes, "{name} on {stack}: {result:?}");
            let tolerated = with(&format!("tolerate = [\"{name}\"]"), &host, BULK);
            assert!(points(&[tolerated], &stacks).is_ok(), "{name} on {stack}");
        }
    }
}

/// Socket options of Linux 6.15.
#[test]
fn socket_options_that_a_release_lacks_are_refused() {
    let kinds = [
        ("model", false),
        ("model:linux-6.1.56@1000", false),
        ("model:linux-7.2", true),
        ("uml:6.1", false),
        ("uml:6.12@1000", false),
        ("uml:7.2", true),
        ("uml:mine", true),
        ("host", true),
    ];
    for (stack, takes) in kinds {
        for key in ["rto_min", "delack_max"] {
            let host = format!("socket = {{ {key} = \"20ms\" }}");
            let stacks = [(stack, kind_of(stack).unwrap())];
            let result = points(&[with("", &host, BULK)], &stacks);
            assert_eq!(result.is_ok(), takes, "{key} on {stack}: {result:?}");
            let host = format!("{host}\nprofile = \"linux-7.2\"");
            let newer = points(&[with("", &host, BULK)], &[("model", Kind::Model)]);
            assert!(newer.is_ok(), "{key}: {newer:?}");
        }
    }
}

/// A point is refused on the kinds of the rule of this name, and by no other rule.
fn stands_against_its_kinds(name: &str, point: &Point) {
    for kind in [Kind::Model, Kind::Uml, Kind::Qemu, Kind::Host, Kind::Ssh] {
        let rules = rules();
        let own = rules.iter().filter(|rule| rule.name == name);
        let wants = own
            .filter(|rule| rule.not_on.contains(&kind))
            .map(|rule| rule.judge(point, kind).len());
        let wants: usize = wants.sum();
        // An example has links of kernels for another rule, too.
        let others = rules
            .iter()
            .filter(|rule| rule.name != "by" || name == "by");
        let found = others
            .map(|rule| rule.judge(point, kind).len())
            .sum::<usize>();
        assert_eq!(found, wants, "{name} on {kind:?}");
    }
}

/// For each rule a point that asks for it.
fn examples_of_rules() -> Vec<(&'static str, Point)> {
    let udp = "kind = \"udp-rr\"\ncount = 1";
    let by_kernel = "\n[[link]]\nby = \"kernel\"";
    vec![
        ("profile", with("", "profile = \"linux-4.18\"", BULK)),
        (
            "behaviour",
            with("", "behaviour = { tlp_rule = \"delack-max\" }", BULK),
        ),
        ("card", with("", "rx_usecs = \"5us\"", BULK)),
        ("cpu", with("", "socket = { cpu = 0 }", BULK)),
        (
            "cpu",
            with(
                "",
                "",
                &format!("{BULK}\nclient_socket = {{ cpu = 0 }}\nserver_socket = {{ cpu = 1 }}"),
            ),
        ),
        ("boot", with("boot = \"5s\"", "", BULK)),
        ("max_events", with("max_events = 1000", "", BULK)),
        (
            "link_every",
            with("link_every = \"1ms\"", "", &format!("{BULK}{by_kernel}")),
        ),
        ("offload", with("", "offload = \"gro\"", BULK)),
        ("by", with("", "", &format!("{BULK}{by_kernel}"))),
        (
            "mtu",
            with("", "", &format!("{BULK}\n[[link]]\nmtu = 65530")),
        ),
        (
            "qdisc",
            with(
                "",
                "",
                &format!("{BULK}{by_kernel}\na_to_b = \"cake ack-filter-naive\""),
            ),
        ),
        ("route", with("", "route = \"quickack 1\"", BULK)),
        ("forward", with("", "forward = true", BULK)),
        (
            "change",
            with("", "change = [\"1s net.ipv4.tcp_sack=0\"]", BULK),
        ),
        (
            "rcvbuf, sndbuf",
            with(
                "",
                "",
                &format!("{udp}\nserver_socket = {{ rcvbuf = \"1k\" }}"),
            ),
        ),
        (
            "rcvbuf, sndbuf",
            with("", "socket = { sndbuf = \"1k\" }", udp),
        ),
        (
            "options of TCP",
            with(
                "",
                "",
                &format!("{udp}\nclient_socket = {{ nodelay = true }}"),
            ),
        ),
    ]
}

/// The same of the rules about tcplab's own links.
fn examples_of_links() -> impl Iterator<Item = (&'static str, Point)> {
    let links = [
        ("middlebox", "middlebox = [\"set-mss 900\"]"),
        ("inject", "inject = [\"1s rst\"]"),
        ("rate_trace", "a_to_b = { rate_trace = \"x.trace\" }"),
        ("change", "change = [\"1s delay 5ms\"]"),
        ("drop", "a_to_b = { drop = [\"data 3\"] }"),
        ("duplicate", "a_to_b = { duplicate = [\"data 3\"] }"),
        ("mark", "b_to_a = { mark = [\"data 3\"] }"),
        ("late", "a_to_b = { late = [\"data 3 by 5ms\"] }"),
        ("outage", "outage = [\"1s..2s\"]"),
    ];
    let point = |(name, link)| (name, with("", "", &format!("{BULK}\n[[link]]\n{link}")));
    links.into_iter().map(point)
}

/// It is refused on the kinds of the rule, and on no other.
#[test]
fn every_rule_stands_against_its_kinds_and_no_other() {
    let mut examples = examples_of_rules();
    examples.extend(examples_of_links());
    for rule in rules() {
        if rule.name != "options of a socket" {
            assert!(
                examples.iter().any(|(name, _)| *name == rule.name),
                "{}",
                rule.name
            );
        }
    }
    for (name, point) in &examples {
        stands_against_its_kinds(name, point);
    }
}

#[test]
fn the_examples_run_on_the_stacks_that_they_name() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let mut checked = 0;
    let starters = format!("{folder}/new");
    let all = [folder, &starters].map(|folder| std::fs::read_dir(folder).unwrap());
    for entry in all.into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|end| end != "toml") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        if Population::is_population(&text) {
            continue;
        }
        let experiment = Experiment::parse(&path.display().to_string(), &text).unwrap();
        let stacks = match experiment.stacks.is_empty() {
            true => vec!["model".to_owned()],
            false => experiment.stacks.clone(),
        };
        for stack in &stacks {
            let kind = kind_of(stack).unwrap();
            let result = points(&experiment.points().unwrap(), &[(stack, kind)]);
            assert!(result.is_ok(), "{}: {result:?}", path.display());
        }
        checked += 1;
    }
    assert!(checked > 20, "{checked}");
}

/// The model's routers do not say that a packet expired.
#[test]
fn packets_that_expire_at_a_router_of_the_model_are_refused() {
    let file = |ttl: u8| {
        format!(
            "[[host]]\nname = \"client\"\nsysctl = {{ \"net.ipv4.ip_default_ttl\" = {ttl} }}\n[[host]]\nname = \"r\"\n\
             forward = true\n[[host]]\nname = \"server\"\n[[link]]\nbetween = [\"client\", \"r\"]\n[[link]]\n\
             between = [\"r\", \"server\"]\n[[app]]\nkind = \"stream\"\ncount = 10\nclient = \"client\"\nserver = \"server\"\n"
        )
    };
    let [expires, arrives] = [1, 2].map(|ttl| words(&point(&file(ttl)), Kind::Model));
    assert!(
        expires
            .iter()
            .any(|text| text.contains("expire at router 1 of 1")),
        "{expires:?}"
    );
    assert!(arrives.is_empty(), "{arrives:?}");
    assert!(words(&point(&file(1)), Kind::Uml).is_empty());
}
