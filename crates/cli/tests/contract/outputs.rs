//! What a run came to, as named outputs that can be compared.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tcplab_os::Scratch;
use tcplab_plan::result::{PointResult, RunDocument};

/// One run.
pub(crate) struct Outputs {
    /// Its captures.
    packets: Vec<Vec<u8>>,
    /// Frames and bytes on the links, counters, what flows and links say, in this order.
    numbers: Vec<(String, f64)>,
    /// All others.
    texts: BTreeMap<String, String>,
}

/// What two runs differ in.
pub(crate) struct Change {
    /// Packets when they differ, else the first output that does.
    pub(crate) output: String,
    /// Differences of numbers by name, in the order of [`Outputs`].
    pub(crate) deltas: Vec<(String, f64)>,
}

/// Runs an experiment of so many points on a stack.
pub(crate) fn run(text: &str, stack: &str) -> Vec<Outputs> {
    let folder = Scratch::new().unwrap();
    let [file, out] = ["contract.toml", "out"].map(|name| folder.path().join(name));
    std::fs::write(&file, text).unwrap();
    let trace = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/contract/cellular.trace"
    );
    std::fs::copy(trace, folder.path().join("cellular.trace")).unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_tcplab"))
        .args([
            "run".as_ref(),
            file.as_os_str(),
            "--on".as_ref(),
            stack.as_ref(),
        ])
        .args(["--json".as_ref(), "--out".as_ref(), out.as_os_str()])
        .output()
        .unwrap();
    let document: RunDocument = serde_json::from_slice(&run.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&run.stderr)));
    let each = document.points.iter().enumerate();
    let outputs = each.map(|(number, result)| {
        let place = out.join(format!("points/{number:04}"));
        Outputs::of(result, &place)
    });
    outputs.collect()
}

impl Outputs {
    fn of(result: &PointResult, folder: &Path) -> Self {
        // A point that failed has no folder.
        let listed = std::fs::read_dir(folder).into_iter().flatten();
        let files = listed.map(|entry| entry.unwrap().path());
        let captures = files.filter(|path| path.extension().is_some_and(|end| end == "pcapng"));
        let mut packets: Vec<(PathBuf, Vec<u8>)> = captures
            .map(|path| (path.clone(), std::fs::read(&path).unwrap()))
            .collect();
        packets.sort();
        let ways = result.links.iter().flat_map(|l| [&l.a_to_b, &l.b_to_a]);
        let (frames, bytes) = ways.fold((0, 0), |(f, b), way| (f + way.frames, b + way.bytes));
        let mut out = Self {
            packets: packets.into_iter().map(|(_, bytes)| bytes).collect(),
            numbers: vec![
                ("frames".into(), frames as f64),
                ("bytes".into(), bytes as f64),
            ],
            texts: BTreeMap::new(),
        };
        for (name, value) in [
            ("counters", json!(result.counters)),
            ("flows", json!(result.flows)),
            ("links", json!(result.links)),
            ("link_series", json!(result.link_series)),
            ("measures", json!(result.measures)),
            ("error", json!(result.error)),
        ] {
            out.add(name.to_owned(), &value);
        }
        out
    }

    fn add(&mut self, name: String, value: &Value) {
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    self.add(format!("{name}.{key}"), value);
                }
            }
            Value::Array(items) => {
                for (index, value) in items.iter().enumerate() {
                    self.add(format!("{name}.{index}"), value);
                }
            }
            Value::Number(n) => self.numbers.push((name, n.as_f64().unwrap_or(0.0))),
            other => {
                self.texts.insert(name, other.to_string());
            }
        }
    }

    /// Why the run failed.
    pub(crate) fn error(&self) -> Option<&str> {
        let mut texts = self.texts.iter();
        let of_error =
            |(name, text): &(&String, &String)| name.starts_with("error") && *text != "null";
        texts.find(of_error).map(|(_, text)| text.as_str())
    }

    /// What is another after a change.
    pub(crate) fn change(&self, after: &Self) -> Option<Change> {
        let before: BTreeMap<&str, f64> = self.numbers.iter().map(|(k, n)| (&**k, *n)).collect();
        let numbers = after.numbers.iter();
        let deltas: Vec<(String, f64)> = numbers
            .map(|(name, n)| (name.clone(), n - before.get(&**name).unwrap_or(&0.0)))
            .filter(|(_, delta)| *delta != 0.0)
            .collect();
        let text = || {
            let other = |(name, text): &(&String, &String)| after.texts.get(*name) != Some(*text);
            let gone = self.texts.iter().find(other).map(|(name, _)| name.clone());
            let new = || {
                after
                    .texts
                    .keys()
                    .find(|name| !self.texts.contains_key(*name))
            };
            gone.or_else(|| new().cloned())
        };
        let count = || (self.numbers.len() != after.numbers.len()).then(|| "flows".to_owned());
        let first = || deltas.first().map(|(name, _)| name.clone());
        let output = match self.packets == after.packets {
            false => Some("packets".to_owned()),
            true => first().or_else(text).or_else(count),
        };
        output.map(|output| Change { output, deltas })
    }
}

impl Change {
    /// Why a change goes in different directions on a kernel and on the model, by the first number that it changes on
    /// both. One that changes no number on both must change the packets of both, or the same output.
    pub(crate) fn differs_from(&self, model: &Self) -> Option<String> {
        let own = |name: &str| model.deltas.iter().find(|(known, _)| known == name);
        let mut both = self.deltas.iter().filter_map(|(name, delta)| {
            let (_, own) = own(name)?;
            Some((name, *delta, *own))
        });
        if let Some((name, delta, own)) = both.next() {
            let same = own.signum() == delta.signum();
            return (!same).then(|| {
                format!("{name} changes by {delta} on the kernel, by {own} on the model")
            });
        }
        (self.output != model.output).then(|| {
            format!(
                "{} changes on the kernel, {} on the model",
                self.output, model.output
            )
        })
    }
}
