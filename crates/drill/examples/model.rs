//! Runs packetdrill scripts against the model: `cargo run -p tcplab-drill --example model -- PATH...`
//!
//! A line for each case that does not pass, counts for each directory. `HZ` and `PHASE_US` set the clock, `MODES` the
//! modes (`4m6`), `SHOW=1` prints what happened.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tcplab_drill::options::{runner_defines, runner_modes};
use tcplab_drill::run::{Verdict, run};
use tcplab_drill::{IpMode, Model, Settings, parse};
use tcplab_plan::profile::{Profile, named};

fn scripts(path: &Path, found: &mut Vec<PathBuf>) {
    if let Ok(entries) = std::fs::read_dir(path) {
        let mut entries: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
        entries.sort();
        for entry in &entries {
            if entry.is_dir() || entry.extension().is_some_and(|e| e == "pkt") {
                scripts(entry, found);
            }
        }
    } else {
        found.push(path.to_owned());
    }
}

fn number(name: &str, otherwise: i64) -> i64 {
    let text = std::env::var(name).ok();
    text.and_then(|t| t.parse().ok()).unwrap_or(otherwise)
}

fn one(path: &Path, text: &str, mode: IpMode, profile: &Profile) -> (char, String) {
    let script = match parse(text, &runner_defines(mode)) {
        Ok(script) => script,
        Err(error) => return ('e', error.to_string()),
    };
    let settings = match Settings::of(&script, mode, &[]) {
        Ok(settings) => settings,
        Err(error) => return ('e', error.to_string()),
    };
    let hz = number("HZ", 1000) as u32;
    let phase = number("PHASE_US", 0) * 1000;
    let mut model = Model::new(profile, settings.network.clone(), hz, phase, 1);
    let report = run(&script, &settings, &mut model);
    if std::env::var_os("SHOW").is_some() {
        println!("{}", report.transcript(&path.display().to_string()));
    }
    match report.verdict {
        Verdict::Pass => ('p', String::new()),
        Verdict::Fail(f) => ('f', format!("{}:{}: {}", f.line, f.column, f.why)),
        Verdict::Skip { line, why } => ('s', format!("{line}: {why}")),
    }
}

fn main() {
    let name = std::env::var("PROFILE").unwrap_or_else(|_| "linux-6.1".into());
    let profile = named(&name).unwrap_or_else(|| panic!("no profile {name}"));
    let modes = std::env::var("MODES").unwrap_or_else(|_| "4m6".into());
    let mut found = Vec::new();
    for path in std::env::args().skip(1) {
        scripts(Path::new(&path), &mut found);
    }
    let mut counts: BTreeMap<String, BTreeMap<char, u32>> = BTreeMap::new();
    for path in &found {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let folder = path.parent().unwrap_or(path).display().to_string();
        for &mode in runner_modes(&name) {
            let letter = match mode {
                IpMode::Ipv4 => '4',
                IpMode::Mapped => 'm',
                IpMode::Ipv6 => '6',
            };
            if !modes.contains(letter) {
                continue;
            }
            let (verdict, why) = one(path, &text, mode, &profile);
            if verdict != 'p' {
                println!("{verdict} {letter} {}: {why}", path.display());
            }
            for folder in [folder.as_str(), "all"] {
                *(counts.entry(folder.to_owned()).or_default())
                    .entry(verdict)
                    .or_default() += 1;
            }
        }
    }
    for (folder, counts) in counts {
        println!("{folder}: {counts:?}");
    }
}
