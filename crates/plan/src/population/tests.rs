//! Populations: what is read, what is drawn.

use super::*;

const ARMS: &str = "[[arm]]\nname = \"B\"\n";

fn parse(population: &str) -> Population {
    let text = format!("[population]\n{population}\n{ARMS}");
    Population::parse("test.toml", &text).unwrap_or_else(|e| panic!("{e}"))
}

fn wrong(population: &str) -> String {
    let text = format!("[population]\n{population}\n{ARMS}");
    match Population::parse("test.toml", &text) {
        Ok(_) => panic!("{population} was read"),
        Err(e) => e.to_string(),
    }
}

#[test]
fn a_connection_depends_on_seed_and_number_only() {
    let a = parse("seed = 7\nconnections = 10");
    let b = parse("seed = 7\nconnections = 1000000");
    assert_eq!(a.draw(3), b.draw(3));
    assert_ne!(a.draw(3), a.draw(4));
    let other = parse("seed = 8");
    assert_ne!(a.draw(3).rtt_ns, other.draw(3).rtt_ns);
    // A change of one key moves no draw of another.
    let slower = parse("seed = 7\nrtt = \"1s\"");
    assert_eq!(slower.draw(3).rate_bps, a.draw(3).rate_bps);
    assert_eq!(slower.draw(3).responses, a.draw(3).responses);
    assert_eq!(slower.draw(3).rtt_ns, 1_000_000_000);
}

#[test]
fn the_web_population_has_the_figures_of_its_sources() {
    let web = parse("");
    let n = 20_000;
    let all: Vec<Drawn> = (0..n).map(|i| web.draw(i)).collect();
    let mean = |f: &dyn Fn(&Drawn) -> f64| all.iter().map(f).sum::<f64>() / n as f64;
    let near = |what: &str, got: f64, want: f64, within: f64| {
        assert!(
            (got - want).abs() <= within,
            "{what}: {got}, expected {want}"
        );
    };
    near("rtt", mean(&|d| d.rtt_ns as f64 / 1e6), 99.8, 2.6);
    near("rate", mean(&|d| d.rate_bps as f64 / 1e6), 22.0, 1.2);
    near("requests", mean(&|d| d.responses.len() as f64), 2.96, 0.1);
    let share = |f: &dyn Fn(&Drawn) -> bool| all.iter().filter(|d| f(d)).count() as f64 / n as f64;
    near(
        "independent",
        share(&|d| matches!(d.loss, LossKind::Independent(_))),
        0.1,
        0.011,
    );
    near(
        "bursts",
        share(&|d| matches!(d.loss, LossKind::Bursts(_))),
        0.02,
        0.005,
    );
    near("outages", share(&|d| d.outage.is_some()), 0.002, 0.0016);
    near("linux clients", share(&|d| d.client == 0), 0.45, 0.018);
    assert!(all.iter().all(|d| d.buffer_bytes >= 15_000));
}

#[test]
fn bursts_have_their_mean_loss_and_length() {
    let web = parse("loss = [{ share = \"100%\", rate = \"6%\", burst = 2.5, bad = \"80%\" }]");
    let point = web.point(&web.draw(0));
    let chain = point.links[0].a_to_b.faults.burst_loss.unwrap();
    let (there, back) = (chain.good_to_bad_ppb as f64, chain.bad_to_good_ppb as f64);
    let loss = there / (there + back) * 0.8;
    assert!((loss - 0.06).abs() < 1e-6, "{loss}");
    assert!((1e9 / back - 2.5).abs() < 1e-6);
    // A fifth of it on the way back, each by itself.
    assert_eq!(point.links[0].b_to_a.loss_ppb, 12_000_000);
    assert_eq!(point.links[0].b_to_a.faults.burst_loss, None);
}

#[test]
fn errors_name_the_place() {
    assert!(wrong("rtt = \"lognormal(median 80ms)\"").contains("test.toml:2:"));
    assert!(wrong("rttt = \"80ms\"").contains("did you mean `rtt`?"));
    assert!(wrong("clients = [{ share = \"45%\" }]").contains("the shares add to 45%"));
    assert!(
        wrong("loss = [{ share = \"1%\", rate = \"1%\", burst = 0.5 }]")
            .contains("at least one packet")
    );
    let none = Population::parse("x.toml", "[population]\n")
        .unwrap_err()
        .to_string();
    assert!(none.contains("[[arm]]"), "{none}");
}

#[test]
fn middlebox_share_of_paths_moves_no_other_draw() {
    let boxes = parse(
        "middlebox = [{ share = \"20%\", rules = [\"strip-options timestamp\"] }, { share = \"10%\", rules = [\"set-mss 1200\", \"ecn-ip-ect 0\"] }]",
    );
    let plain = parse("");
    let mut found = [0; 3];
    for number in 0..4_000 {
        let drawn = boxes.draw(number);
        let without = Drawn {
            middlebox: None,
            ..drawn.clone()
        };
        assert_eq!(without, plain.draw(number));
        found[drawn.middlebox.map_or(2, |kind| kind)] += 1;
        let link = &boxes.point(&drawn).links[0];
        assert_eq!(link.a_to_b.middlebox, link.b_to_a.middlebox);
        assert_eq!(
            link.a_to_b.middlebox.len(),
            drawn.middlebox.map_or(0, |kind| kind + 1)
        );
    }
    assert!(
        (700..900).contains(&found[0]) && (330..470).contains(&found[1]),
        "{found:?}"
    );
    for (text, why) in [
        ("middlebox = [{ share = \"20%\" }]", "`rules` is missing"),
        (
            "middlebox = [{ share = \"20%\", rules = [\"set-mss\"] }]",
            "set-mss N",
        ),
        (
            "middlebox = [{ share = \"60%\", rules = [\"drop-ecn-syn\"] }, { share = \"60%\", rules = [\"ecn-tcp-remove\"] }]",
            "the shares add to 120%",
        ),
    ] {
        let said = wrong(text);
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn path_changes_and_forged_segments_move_no_other_draw() {
    let rules = "change = [{ share = \"30%\", at = \"uniform(1s .. 3s)\", rate = \"2mbit\", rtt = \"101ms\" }]\n\
                 inject = [{ share = \"20%\", at = \"500ms\", segment = \"rst seq +9\", to = \"server\" }]";
    let (all, plain) = (parse(rules), parse(""));
    let (mut changed, mut forged) = (0, 0);
    for number in 0..4_000 {
        let drawn = all.draw(number);
        let without = Drawn {
            change: None,
            inject: None,
            ..drawn.clone()
        };
        assert_eq!(without, plain.draw(number));
        let link = &all.point(&drawn).links[0];
        for (way, delay_ns) in [(&link.a_to_b, 50_500_000), (&link.b_to_a, 50_500_000)] {
            assert_eq!(way.changes.len(), usize::from(drawn.change.is_some()));
            for change in &way.changes {
                assert!((1_000_000_000..=3_000_000_000).contains(&change.at_ns));
                assert_eq!(change.rate_bps, Some(2_000_000));
                assert_eq!(change.delay_ns, Some(delay_ns));
            }
        }
        assert!(link.a_to_b.injects.is_empty());
        let said: Vec<_> = link
            .b_to_a
            .injects
            .iter()
            .map(|i| (i.at_ns, i.segment()))
            .collect();
        match drawn.inject {
            Some(_) => assert_eq!(said, [(500_000_000, "rst seq +9".to_owned())]),
            None => assert!(said.is_empty()),
        }
        changed += usize::from(drawn.change.is_some());
        forged += usize::from(drawn.inject.is_some());
    }
    assert!((1_100..1_300).contains(&changed), "{changed}");
    assert!((720..880).contains(&forged), "{forged}");
    for (text, why) in [
        (
            "change = [{ share = \"9%\", at = \"1s\" }]",
            "changes nothing: add `rate` or `rtt`",
        ),
        (
            "change = [{ share = \"9%\", rtt = \"1s\" }]",
            "`at` is missing",
        ),
        (
            "inject = [{ share = \"9%\", at = \"1s\" }]",
            "`segment` is missing",
        ),
        (
            "inject = [{ share = \"9%\", at = \"1s\", segment = \"2s rst\" }]",
            "write `rst`, `syn`",
        ),
        (
            "inject = [{ share = \"9%\", at = \"1s\", segment = \"rst\", to = \"me\" }]",
            "known: client, server",
        ),
    ] {
        let said = wrong(text);
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn clients_have_options_of_their_own() {
    let some = parse(
        "clients = [{ share = \"50%\", socket = { user_timeout = \"30s\", notsent_lowat = \"16k\" } }, { share = \"50%\" }]",
    );
    let mut timed = 0;
    for number in 0..200 {
        let drawn = some.draw(number);
        let client = &some.point(&drawn).hosts[1];
        assert_eq!(client.socket, some.clients[drawn.client].socket);
        timed += usize::from(client.socket.user_timeout_ns == Some(30_000_000_000));
    }
    assert!((60..140).contains(&timed), "{timed}");
    assert!(!some.clients[0].is_plain() && some.clients[1].is_plain());
    assert_eq!(
        some.clients[0].words(),
        "socket user_timeout, socket notsent_lowat"
    );
}

#[test]
fn a_final_outage_never_ends() {
    let web =
        parse("outage = { share = \"100%\", start = \"1s\", length = \"2s\", final = \"50%\" }");
    let outages: Vec<_> = (0..1000).map(|n| web.draw(n).outage.unwrap()).collect();
    let finals = outages.iter().filter(|o| o.until_ns.is_none()).count();
    assert!(finals.abs_diff(500) < 80, "{finals}");
    assert!(outages.iter().all(|o| o.from_ns == 1_000_000_000));
    assert!(
        outages
            .iter()
            .all(|o| o.until_ns.is_none_or(|at| at == 3_000_000_000))
    );
}

const VARIED: &str = r#"
[population]
reordering = { data = "1%", most = "10ms" }

[[arm]]
name = "B"

[[arm]]
name = "D"

[[variant]]
name = "as-it-is"

[[variant]]
name = "plain"
set = { "population.spikes.data" = "0%", "population.loss" = [], "population.reordering.data" = "0%", "arm.D.sysctl.net.ipv4.tcp_early_retrans" = 0 }
"#;

#[test]
fn a_variant_changes_its_keys_and_no_other_draw() {
    let variants = Population::variants("test.toml", VARIED).unwrap();
    let [same, plain] = variants.as_slice() else {
        panic!("{} variants", variants.len())
    };
    let written = Population::parse("test.toml", VARIED).unwrap();
    assert_eq!(written.variant, None);
    assert_eq!(same.variant.as_deref(), Some("as-it-is"));
    assert_eq!(plain.variant.as_deref(), Some("plain"));
    assert_eq!(
        Population {
            variant: None,
            ..same.clone()
        },
        written
    );
    // What is not said within the table of spikes is the base population's.
    assert_eq!(plain.spikes.data_ppb, 0);
    assert_eq!(plain.spikes.ack_ppb, same.spikes.ack_ppb);
    assert!(plain.losses.is_empty() && !same.losses.is_empty());
    assert_eq!(plain.arms[1].sysctl["net.ipv4.tcp_early_retrans"], "0");
    assert!(plain.arms[0].sysctl.is_empty());
    let (a, b) = (same.draw(3), plain.draw(3));
    assert_ne!(a.faults, b.faults);
    let of_path = |d: &Drawn| (d.seed, d.rtt_ns, d.rate_bps, d.buffer_bytes, d.jitter_ns);
    assert_eq!(of_path(&a), of_path(&b));
    assert_eq!((a.responses, a.think_ns), (b.responses, b.think_ns));
    assert_eq!((a.client, a.outage), (b.client, b.outage));
}

#[test]
fn a_variant_that_cannot_be_names_its_place() {
    let with = |set: &str| {
        let text = format!("[population]\n{ARMS}[[variant]]\nname = \"v\"\nset = {{ {set} }}\n");
        Population::parse("test.toml", &text)
            .unwrap_err()
            .to_string()
    };
    assert!(
        with("\"population.seed\" = 2").contains("applies to the whole experiment"),
        "{}",
        with("\"population.seed\" = 2")
    );
    let unknown = with("\"population.spikes.dat\" = \"0%\"");
    assert!(unknown.contains("did you mean `data`?"), "{unknown}");
    assert!(unknown.contains("test.toml:6:9"), "{unknown}");
    let arm = with("\"arm.C.route\" = \"\"");
    assert!(arm.contains("no `[[arm]]` is named `C`"), "{arm}");
    let section = with("\"host.B.route\" = \"\"");
    assert!(
        section.contains("begins with population or arm"),
        "{section}"
    );
    let twice = format!("[population]\n{ARMS}{0}{0}", "[[variant]]\nname = \"v\"\n");
    let twice = Population::variants("test.toml", &twice).unwrap_err();
    assert!(twice.to_string().contains("duplicate variant `v`"));
}

#[test]
fn required_keys_refuse_a_constant_0() {
    for key in [
        "rate",
        "buffer",
        "requests",
        "request",
        "response",
        "client_timeout",
        "server_timeout",
    ] {
        let with = |value: &str| {
            let text = format!("[population]\n{key} = {value}\n{ARMS}");
            Population::parse("test.toml", &text).map_err(|e| e.to_string())
        };
        let said = with("0").unwrap_err();
        assert!(
            said.contains("more than 0") && said.contains("test.toml:2:"),
            "{key}: {said}"
        );
        assert!(with("1").is_ok() || with("\"1s\"").is_ok(), "{key}");
    }
}

#[test]
fn bursts_lose_what_was_asked_or_the_file_is_refused() {
    let kind = |rate: &str, burst: &str| {
        format!("loss = [{{ share = \"100%\", rate = \"{rate}\", {burst} }}]")
    };
    for (rate, burst) in [
        ("40%", "burst = 4, bad = \"30%\""),
        ("uniform(1% .. 40%)", "burst = 4, bad = \"30%\""),
        (
            "exponential(mean 1%) clip ..25%",
            "burst = 4, bad = \"30%\"",
        ),
        ("81%", "burst = 4"),
    ] {
        let said = wrong(&kind(rate, burst));
        assert!(
            said.contains("lose at most") && said.contains("`burst`"),
            "{said}"
        );
    }
    assert!(wrong(&kind("40%", "burst = 4, bad = \"30%\"")).contains("24.00%"));
    // The limit itself, and no bursts.
    parse(&kind("24%", "burst = 4, bad = \"30%\""));
    parse("loss = [{ share = \"100%\", rate = \"100%\" }]");
    let open = parse(&kind("exponential(mean 20%)", "burst = 4, bad = \"30%\""));
    let met = (0..1_000).filter(|n| open.limits(*n) == [Limit::Loss(0)]);
    // exp(-24 / 20) = 30 %.
    let met: Vec<u64> = met.collect();
    assert!((250..350).contains(&met.len()), "{}", met.len());
    for number in met {
        assert_eq!(open.draw(number).loss, LossKind::Bursts(240_000_000));
    }
    assert!(open.limit_words(Limit::Loss(0)).contains("24.00 %"));
}

#[test]
fn the_rtt_is_no_part_of_itself() {
    for text in [
        "50% rtt",
        "20ms + 10% rtt",
        "uniform(1ms..9ms) clip ..1% rtt",
    ] {
        let said = wrong(&format!("rtt = \"{text}\""));
        assert!(said.contains("is the RTT itself"), "{said}");
    }
    // A change has a path before it.
    parse("change = [{ share = \"50%\", at = \"1s\", rtt = \"200% rtt\" }]");
}

#[test]
fn texts_beyond_the_limits_are_refused_and_draws_beyond_are_counted() {
    let reordering = |least: &str, most: &str| {
        format!("reordering = {{ data = \"1%\", least = \"{least}\", most = \"{most}\" }}")
    };
    for (text, why) in [
        ("requests = 10001".to_owned(), "from 1 to 10000"),
        (
            "requests = \"uniform(1 .. 20000)\"".to_owned(),
            "from 1 to 10000",
        ),
        ("requests = \"2.5\"".to_owned(), "a whole number"),
        ("buffer = \"1kB\"".to_owned(), "1514 bytes"),
        ("buffer = \"1 bdp clip 100B..\"".to_owned(), "1514 bytes"),
        (reordering("9ms", "5ms"), "`least`"),
        (reordering("uniform(1ms..9ms)", "5ms"), "`least`"),
    ] {
        let said = wrong(&text);
        assert!(said.contains(why), "{text}: {said}");
    }
    let late = reordering("1% rtt", "1ms");
    let limits = [
        (
            "requests = \"pareto(minimum 9000, alpha 2)\"",
            Limit::Requests,
        ),
        ("buffer = \"exponential(mean 2kB)\"", Limit::Buffer),
        (late.as_str(), Limit::Reordering),
    ];
    for (text, limit) in limits {
        let open = parse(text);
        let met = (0..200)
            .filter(|n| open.limits(*n).contains(&limit))
            .count();
        assert!((1..200).contains(&met), "{text}: {met}");
    }
    let plain = parse("");
    assert!((0..1_000).all(|n| plain.limits(n).is_empty()));
}

#[test]
fn keys_that_an_arm_ignores_are_refused() {
    for key in ["count = 2", "forward = true", "forward = false"] {
        let text = format!("[population]\n{ARMS}{key}\n");
        let said = Population::parse("x.toml", &text).unwrap_err().to_string();
        assert!(said.contains("does not apply to an arm"), "{said}");
    }
    let card = format!("[population]\n{ARMS}rx_usecs = \"10us\"\n");
    assert_eq!(Population::parse("x.toml", &card).unwrap().arms.len(), 1);
}
