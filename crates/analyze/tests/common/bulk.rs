//! A sender of bulk, as lines of a script.

use super::{Answer, analyze_script};

/// A bulk sender at the capture, 40 ms from its receiver, as lines of a script.
#[derive(Debug)]
pub struct Bulk {
    pub lines: Vec<(f64, String)>,
    pub seq: u32,
}

impl Bulk {
    pub fn new(options: &str) -> Self {
        let lines = vec![
            (0.0, format!("> S 100 0 0 60000 {options}")),
            (40.0, format!("< S. 500 101 0 60000 {options}")),
            (40.0, "> . 101 501 0 60000".to_owned()),
        ];
        Self { lines, seq: 101 }
    }

    pub fn say(&mut self, ms: f64, line: &str) {
        self.lines.push((ms, line.to_owned()));
    }

    /// Its handshake has time stamps.
    pub fn stamped(&mut self) {
        for (line, stamps) in self
            .lines
            .iter_mut()
            .zip(["1000,0", "7000,1000", "1040,7000"])
        {
            line.1 += &format!(" ts={stamps}");
        }
    }

    /// Full segments from `ms` on, one each `gap` milliseconds, each ACKed after what `wait` says for it.
    pub fn send(&mut self, ms: f64, count: u32, gap: f64, wait: impl Fn(u32) -> f64) -> f64 {
        for i in 0..count {
            let at = ms + f64::from(i) * gap;
            self.say(at, &format!("> . {} 501 1460 60000", self.seq));
            self.seq += 1460;
            self.say(at + wait(i), &format!("< . 501 {} 0 60000", self.seq));
        }
        ms + f64::from(count) * gap
    }

    /// Of `count + 4` segments at `ms` the first `count` are lost and repaired; SACK tells after `wait` milliseconds.
    pub fn lose(&mut self, ms: f64, count: u32, wait: f64) -> f64 {
        let (first, high) = (self.seq, self.seq + 1460 * count);
        for i in 0..count + 4 {
            self.say(
                ms + f64::from(i) * 0.1,
                &format!("> . {} 501 1460 60000", self.seq),
            );
            self.seq += 1460;
        }
        for i in 1..=4 {
            let told = high + 1460 * i;
            self.say(
                ms + wait + f64::from(i),
                &format!("< . 501 {first} 0 60000 sack={high}-{told}"),
            );
        }
        let again = ms + wait + 5.0;
        for i in 0..count {
            self.say(again, &format!("> . {} 501 1460 60000", first + 1460 * i));
        }
        self.say(again + wait, &format!("< . 501 {} 0 60000", self.seq));
        again + wait + 1.0
    }

    pub fn analyze(mut self) -> Answer {
        self.lines.sort_by(|a, b| a.0.total_cmp(&b.0));
        let lines: Vec<String> = self
            .lines
            .iter()
            .map(|(ms, line)| {
                let (direction, rest) = line.split_once(' ').expect("a direction");
                format!("{ms} {direction} {rest}")
            })
            .collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        analyze_script(&lines)
    }
}

/// The title of a finding.
pub fn title<'a>(answer: &'a Answer, id: &str) -> &'a str {
    let found = answer.findings.iter().find(|f| f.id.name() == id);
    &found
        .unwrap_or_else(|| panic!("no {id}: {:?}", answer.ids()))
        .title
}

/// The findings that were not looked for.
pub fn not_checked(answer: &Answer) -> Vec<&'static str> {
    let all = &answer.totals.not_checked;
    all.iter().map(|n| n.finding.name()).collect()
}
