//! A conversation in any order: lines of a script, each with its time.

use tcplab_analyze::budget::Class;
use tcplab_analyze::{Analyzer, Options};
use tcplab_wire::TcpPacket;

use super::{Answer, analyze_script, script};

/// A conversation, sorted by time.
#[derive(Debug, Default)]
pub struct Talk(pub Vec<(f64, String)>);

impl Talk {
    /// The capture is at the client; its path to the server and back is `ms` long.
    pub fn at_client(ms: f64, options: &str) -> Self {
        let mut talk = Self::default();
        talk.say(0.0, &format!("> S 100 0 0 60000 mss=1460 {options}"));
        talk.say(ms, &format!("< S. 500 101 0 60000 mss=1460 {options}"));
        talk.say(ms, "> . 101 501 0 60000");
        talk
    }

    pub fn say(&mut self, ms: f64, line: &str) {
        self.0.push((ms, line.to_owned()));
    }

    pub fn analyze(mut self) -> Answer {
        self.0.sort_by(|a, b| a.0.total_cmp(&b.0));
        let lines: Vec<String> = self.0.iter().map(|(ms, l)| format!("{ms} {l}")).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        analyze_script(&lines)
    }
}

impl Talk {
    /// The same where the snap length cut headers: `cut` takes the options and says whether it did.
    pub fn snapped(mut self, cut: impl Fn(&mut TcpPacket) -> bool) -> Answer {
        self.0.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut analyzer = Analyzer::new(Options::default());
        for (number, (ms, line)) in (1..).zip(&self.0) {
            let (time, _, mut packet) = script::parse(&format!("{ms} {line}"));
            packet.header_truncated = cut(&mut packet);
            analyzer.packet(number, Some(time), &packet);
        }
        super::answer(analyzer)
    }
}

/// Milliseconds of a class.
pub fn time(answer: &Answer, class: Class) -> u64 {
    answer.streams[0].budget_us.of(class) / 1000
}
