//! Manifests and result folders that somebody else made: what is taken keeps the contract of an experiment, whatever is
//! refused says where.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tcplab_lab::campaign::{self, Campaign};
use tcplab_lab::{Lab, LabError, MANIFEST_SCHEMA, Manifest};
use tcplab_os::Stop;
use tcplab_plan::network::{capture_files, first_hops, narrower_link};
use tcplab_plan::result::RunDocument;
use tcplab_plan::{Experiment, Point};

use crate::mutate::Random;
use crate::tree;

/// What became of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was taken.
    Taken,
    /// It was refused, with a reason.
    Refused,
    /// It was taken and ended by the budget of its run.
    Stopped,
}

/// A manifest: an error that names the file, or points that keep the contract.
pub fn manifest(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    read(&text);
}

/// The points of a manifest's text, if it is one.
pub fn read(text: &str) -> Option<Vec<Point>> {
    match Manifest::read("sent.json", text) {
        Ok(manifest) => {
            assert!((1..=100_000).contains(&manifest.points.len()));
            manifest.points.iter().for_each(contract);
            Some(manifest.points)
        }
        Err(error) => {
            let error = error.to_string();
            assert!(
                error.starts_with("sent.json: ") && error.len() < 4_000,
                "{error}"
            );
            assert!(!error.contains('\u{1b}'), "{error:?}");
            None
        }
    }
}

/// What holds for every point that may run, in other words than the check's own.
pub fn contract(point: &Point) {
    let hosts = point.hosts.len();
    let time = |ns: i64| assert!((0..=1_000_000_000_000_000).contains(&ns), "{ns}");
    let name = |name: &str| {
        assert!(!name.is_empty() && name.len() <= 64, "{name:?}");
        assert!(!name.contains(['/', '.', '\\', '\0']) && !name.contains(char::is_control));
    };
    for host in &point.hosts {
        name(&host.name);
        for (key, value) in &host.sysctl {
            let path = format!("/proc/sys/{}", key.replace('.', "/"));
            let parts = Path::new(&path).components();
            assert!(
                path.starts_with("/proc/sys/net/") && parts.count() > 4,
                "{key}"
            );
            assert!(!key.contains(['/', '\0']) && !path.contains("//"), "{key}");
            assert!(!value.contains(['\n', '\0']), "{value:?}");
        }
    }
    for link in &point.links {
        assert!(link.a < hosts && link.b < hosts && link.a != link.b);
        for way in [&link.a_to_b, &link.b_to_a] {
            time(way.delay_ns);
            assert!(way.jitter_ns <= way.delay_ns && way.rate_bps != Some(0));
        }
    }
    for app in &point.apps {
        name(&app.name);
        assert!(app.client < hosts && app.server < hosts && app.port > 0);
        time(app.start_ns);
        if !app.does.is_udp() {
            narrower_link(point, (app.client, app.server), 1500);
        }
    }
    for set in &point.sets {
        name(&set.name);
    }
    for every in point
        .tcp_info_every_ns
        .into_iter()
        .chain(point.link_every_ns)
    {
        assert!(every > 0 && point.max_ns / every <= 10_000_000);
    }
    for host in 0..hosts.min(3) {
        first_hops(point, host);
    }
    for (_, interface, file) in capture_files(point) {
        let path = Path::new(&file);
        assert_eq!(
            path.file_name(),
            Some(path.as_os_str()),
            "{file} {interface}"
        );
    }
    let json = serde_json::to_vec(point).expect("a point has a JSON form");
    assert_eq!(Point::from_json(&json).as_ref(), Ok(point));
}

/// Every construct of a file, with little to simulate.
const FILES: [&str; 5] = [
    r#"
measures = ["client.acks.delayed", "stream.completed", "run.virtual_s"]
[[host]]
name = "client"
sysctl = { "net.ipv4.tcp_rmem" = "4096 131072 6291456" }
route = "quickack 1 initcwnd 10 rto_min 5ms congctl reno"
socket = { nodelay = true, quickack = "each 1", rcvbuf = "256k", user_timeout = "3s", rto_min = "20ms", delack_max = "10ms", keepalive = "5s", cork = true, linger2 = "2s", syncnt = 3, window_clamp = 9000, max_pacing_rate = "5mbit" }
[[host]]
name = "server"
behaviour = { rto_estimator = "rfc6298" }
[[link]]
between = ["client", "server"]
rate = "10mbit"
delay = "5ms"
jitter = "1ms"
loss = "1%"
burst_loss = "1% 10%"
reordering = "1% by 2ms..5ms"
spikes = "0.2% median 25ms sigma 0.8"
outage = ["200ms..300ms"]
change = ["100ms rate 5mbit delay 3ms", "150ms loss 2% limit 20", "160ms qdisc fq_codel"]
middlebox = ["strip-options sack,timestamp", "set-mss 1200", "ecn-ip-ect 1", "ecn-tcp-remove", "drop-options fastopen", "drop-ecn-syn"]
inject = ["100ms rst seq +7", "110ms data 12 ack -3", "120ms syn"]
a_to_b = { drop = ["data 2"], late = ["data 3 by 5ms"] }
[[app]]
kind = "stream"
count = 20
every = "10ms"
"#,
    r#"
run = { tcp_info_every = "10ms", link_every = "1ms", log = true, boot = "3s", ip = "ipv6" }
host = [{ name = "a", count = 3 }, { name = "r", forward = true, rx_queues = 2, rx_usecs = "10us" }, { name = "b", offload = "gro" }]
link = [{ between = ["a", "r"], rate = "100mbit" }, { between = ["r", "b"], rate = "20mbit", qdisc = "cake bandwidth 15mbit ack-filter" }]
[[app]]
kind = "bulk"
client = "a"
server = "b"
bytes = "50k"
stagger = "1ms"
[[app]]
kind = "web"
client = "b"
server = "r"
sizes = ["10k", 500]
think = ["20ms"]
client_timeout = "3s"
[[app]]
kind = "web"
name = "drawn"
client = "b"
server = "r"
sizes = "5 of uniform(1..5000)"
"#,
    r#"
[[link]]
rate = "5mbit"
delay = "10ms"
qdisc = "fq_codel"
[[app]]
kind = "rrul"
duration = "1s"
delay = "100ms"
up = 1
down = 1
"#,
    r#"
[[app]]
kind = "udp-rr"
count = 10
timeout = "50ms"
client_socket = { tos = "EF" }
[[app]]
kind = "udp-stream"
count = 20
[[app]]
kind = "ping"
count = 5
[[app]]
kind = "write-write-read"
count = 5
[[app]]
kind = "echo"
count = 5
pause = "1ms"
[[app]]
kind = "request-response"
duration = "50ms"
pause = "1ms"
burst = 3
[[app]]
kind = "messages"
messages = ["client 100 x 2 more", "server 9000 at once", "client shutdown after 1ms", "server 50", "server close"]
[[app]]
kind = "connect-request-response"
count = 5
fastopen = true
[[app]]
name = "crossed"
kind = "stream"
count = 3
more = 2
open = "simultaneous"
server_start = "1ms"
[[host]]
name = "client"
[[host]]
name = "server"
sysctl = { "net.ipv4.tcp_fastopen" = 3 }
[[link]]
[[app]]
kind = "sink"
hold = "100ms"
"#,
    r#"
host = [{ name = "client", socket = { congestion = "cubic" } }, { name = "server", sysctl = { "net.ipv4.tcp_congestion_control" = "bbr" } }]
link = [{ by = "kernel", qdisc = "netem delay 5ms" }]
[[app]]
kind = "stream"
count = 3
"#,
];

/// The manifests that mutants are made of.
pub fn trees() -> Vec<Value> {
    let tree = |(n, text): (usize, &&str)| {
        let experiment = Experiment::parse(&format!("seed{n}.toml"), text);
        let experiment = experiment.unwrap_or_else(|e| panic!("{e}"));
        let points = experiment.points().unwrap_or_else(|e| panic!("{e}"));
        json!({
            "schema": MANIFEST_SCHEMA,
            "experiment": experiment.name,
            "tcplab": "0",
            "program_sha256": "",
            "stacks": [["model:linux-6.1", ""]],
            "measures": experiment.measures,
            "view": {"title": "t", "band_ppb": 1},
            "points": points,
        })
    };
    FILES.iter().enumerate().map(tree).collect()
}

/// Mutant `n` of a seed, as text.
pub fn mutant(trees: &[Value], seed: u64, n: u64) -> String {
    let mut random = Random::new(seed ^ n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut tree = trees[random.below(trees.len())].clone();
    tree::mutate(&mut tree, &mut random);
    tree::to_text(&tree, &mut random)
}

/// Runs the first point of mutant `n` on the model, with captures into a folder of `root`; `stop` ends the run.
pub fn run(trees: &[Value], seed: u64, n: u64, root: &Path, stop: &Stop) -> Fate {
    let Some(point) = read(&mutant(trees, seed, n)).and_then(|mut points| points.pop()) else {
        return Fate::Refused;
    };
    let folder = root.join("deep/down/out");
    fs::create_dir_all(&folder).expect("a folder");
    let lab = Lab::new(stop.clone());
    let stack = lab.stack("model").expect("the model");
    let done = lab.run_one(&point, &stack, &folder, None);
    assert_eq!(names(root), ["deep"], "files outside of the result folder");
    assert_eq!(names(&root.join("deep")), ["down"]);
    assert_eq!(names(&root.join("deep/down")), ["out"]);
    let known: Vec<String> = capture_files(&point)
        .into_iter()
        .map(|(.., file)| file)
        .collect();
    for name in names(&folder) {
        assert!(
            known.contains(&name) || name.ends_with(".flent.gz"),
            "{name}"
        );
    }
    fs::remove_dir_all(root.join("deep")).expect("the folder goes");
    match done {
        Ok(_) => Fate::Taken,
        Err(LabError::Interrupted) => Fate::Stopped,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            Fate::Refused
        }
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let mut names: Vec<String> = entries
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// A finished result folder, to be changed: its path, and what it says.
#[derive(Debug)]
pub struct Finished {
    folder: PathBuf,
    experiment: Experiment,
    points: Vec<Point>,
    result: Value,
    document: RunDocument,
}

impl Finished {
    /// Runs a small experiment into this folder.
    pub fn new(folder: &Path) -> Self {
        let text =
            "[[app]]\nkind = \"stream\"\ncount = 3\nevery = \"1ms\"\n[run]\nlinger = \"1ms\"\n";
        let experiment = Experiment::parse("folder.toml", text).expect("an experiment");
        let points = experiment.points().expect("its points");
        let mut finished = Self {
            folder: folder.to_owned(),
            experiment,
            points,
            result: Value::Null,
            document: RunDocument::default(),
        };
        finished.document = finished.go_on().expect("it runs");
        let text = fs::read_to_string(finished.file()).expect("a result");
        finished.result = serde_json::from_str(&text).expect("JSON");
        finished
    }

    fn file(&self) -> PathBuf {
        self.folder.join("points/0000/result.json")
    }

    fn go_on(&self) -> Result<RunDocument, LabError> {
        let lab = Lab::new(Stop::never());
        let stacks = [lab.stack("model")?];
        let measures = ["stream.completed".to_owned()];
        let campaign = Campaign {
            experiment: &self.experiment.name,
            points: &self.points,
            stacks: &stacks,
            measures: &measures,
            jobs: 1,
            out: Some(&self.folder),
            view: None,
            only: None,
        };
        campaign::run(&lab, &campaign, |_| ())
    }

    /// Goes on with the folder when its result is mutant `n`: it is refused by its name, or it is of this point.
    pub fn changed(&self, seed: u64, n: u64) -> Fate {
        let mut random = Random::new(seed ^ n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut tree = self.result.clone();
        tree::mutate(&mut tree, &mut random);
        let text = tree::to_text(&tree, &mut random);
        fs::write(self.file(), text).expect("it can be written");
        match self.go_on() {
            Ok(document) => {
                let [point] = document.points.as_slice() else {
                    panic!("there is one point");
                };
                let own = &self.document.points[0];
                assert_eq!(
                    (&point.axes, &point.stack, point.seed),
                    (&own.axes, &own.stack, own.seed)
                );
                assert!(point.measures.keys().eq(own.measures.keys()));
                Fate::Taken
            }
            Err(error) => {
                let error = error.to_string();
                assert!(
                    error.contains("points/0000") && error.contains("remove the folder"),
                    "{error}"
                );
                Fate::Refused
            }
        }
    }
}
