//! A run that cannot end in virtual time is refused before it starts; others are not.

use tcplab_plan::Experiment;
use tcplab_plan::endless::endless;

/// An application's keys, and what stands before it.
fn why(before: &str, app: &str) -> Option<String> {
    let text = format!("{before}\n[[app]]\n{app}\n");
    let experiment = Experiment::parse("test.toml", &text).expect("it is well-formed");
    let points = experiment.points().expect("it has points");
    endless(&points[0])
}

const SENDERS: [&str; 8] = [
    "kind = \"stream\"",
    "kind = \"stream\"\nduration = \"1s\"",
    "kind = \"bulk\"",
    "kind = \"bulk\"\nreverse = true",
    "kind = \"echo\"",
    "kind = \"request-response\"",
    "kind = \"connect-request-response\"",
    "kind = \"udp-rr\"",
];

#[test]
fn without_a_rate_or_a_delay_no_time_passes() {
    for app in SENDERS {
        let found = why("", app).unwrap_or_else(|| panic!("{app}"));
        assert!(found.contains("`client` and `server`"), "{found}");
        assert!(
            found.contains("give a link a `rate` or a `delay`"),
            "{found}"
        );
    }
}

#[test]
fn over_lo_no_time_passes_either() {
    for app in SENDERS {
        let typo = format!("{app}\nclient = \"server\"");
        let link = "[[link]]\nrate = \"10mbit\"\ndelay = \"10ms\"";
        let found = why(link, &typo).unwrap_or_else(|| panic!("{app}"));
        assert!(found.contains("are both host `server`"), "{found}");
    }
}

#[test]
fn delay_or_an_end_of_its_own_ends_a_run() {
    let links = [
        "[[link]]\nrate = \"10gbit\"",
        "[[link]]\ndelay = \"1us\"",
        "[[link]]\nb_to_a = { delay = \"1us\" }",
        "[[link]]\na_to_b = \"cake bandwidth 30mbit\"",
        "[[link]]\na_to_b = { loss = \"1%\" }",
    ];
    for link in links {
        for app in SENDERS {
            assert_eq!(why(link, app), None, "{link} {app}");
        }
    }
    for app in [
        "kind = \"stream\"\nevery = \"1ms\"",
        "kind = \"stream\"\ncount = 1000",
        "kind = \"stream\"\nlate = \"1ms\"",
        "kind = \"bulk\"\nbytes = \"1 MB\"",
        "kind = \"echo\"\npause = \"1ms\"",
        "kind = \"echo\"\ncount = 5",
        "kind = \"udp-rr\"\npause = \"1ms\"",
        "kind = \"udp-stream\"",
        "kind = \"udp-ping\"",
        "kind = \"web\"",
        "kind = \"sink\"",
    ] {
        assert_eq!(why("", app), None, "{app}");
    }
}

#[test]
fn datagrams_without_a_pause_never_end_whatever_the_link() {
    let app = "kind = \"udp-stream\"\nevery = 0";
    let found = why("[[link]]\nrate = \"10mbit\"\ndelay = \"10ms\"", app);
    assert!(found.is_some_and(|why| why.contains("`every` or a `count`")));
    assert_eq!(why("", &format!("{app}\ncount = 10")), None);
}
