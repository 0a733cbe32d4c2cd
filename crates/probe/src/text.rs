//! The log as text: one line for each step, with the delayed-ACK state where it was read.

use std::fmt::Write;
use std::io;

use tcplab_base::Duration;
use tcplab_base::quantity::rate;

use super::report::{Connection, Ended, LogLine, Sample, What};

/// How times are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Times {
    /// Seconds since the probe began.
    #[default]
    Relative,
    /// The time of day in UTC, and the seconds since the probe began.
    Absolute {
        /// When it began, in nanoseconds since 1970.
        began_unix_ns: i64,
    },
}

/// A time in the unit that people say it in.
pub(super) fn span(of: Duration) -> String {
    match of.as_nanos() as f64 / 1e9 {
        s if s < 1.0 => format!("{} ms", s * 1e3),
        s => format!("{s} s"),
    }
}

/// The beginning of each line.
pub(super) fn stamp(times: Times, time_ns: i64) -> String {
    let mut text = String::new();
    if let Times::Absolute { began_unix_ns } = times {
        let us = began_unix_ns.saturating_add(time_ns).max(0) / 1_000;
        let (seconds, us) = (us / 1_000_000, us % 1_000_000);
        let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
        let _ = write!(text, "{hour:02}:{minute:02}:{second:02}.{us:06} ");
    }
    let us = time_ns / 1_000;
    let _ = write!(text, "{:>5}.{:06}", us / 1_000_000, us % 1_000_000);
    text
}

/// A line of the log, without the stamp.
pub(super) fn line(number: u32, line: &LogLine) -> String {
    let mut text = format!("#{number:<2} {:<22}", event(line));
    if let Some(ns) = line.after_send_ns {
        let _ = write!(text, " {:.3} ms after it was sent", ns as f64 / 1e6);
    }
    if let Some(on) = line.quickack {
        let _ = write!(text, " TCP_QUICKACK {on}");
    }
    if let (Some(quick), Some(pingpong)) = (line.quick, line.pingpong) {
        let _ = write!(
            text,
            "  kernel: quick {quick:>2} pingpong {}",
            u8::from(pingpong)
        );
    }
    if let Some(ato) = line.ato_ms {
        let _ = write!(text, " ato {ato:>3} ms");
    }
    text.truncate(text.trim_end().len());
    text
}

fn event(line: &LogLine) -> String {
    let value = line.value.unwrap_or(0);
    match line.what {
        What::Connect => "connected".into(),
        What::Accept => "accepted".into(),
        What::ReadStart => "read start".into(),
        What::ReadEnd => format!("read {value} bytes"),
        What::Write => format!("wrote {value} bytes"),
        What::SetQuickack => format!("set TCP_QUICKACK {value}"),
        What::Pause => format!("SIGUSR1: pause of {value} s"),
        What::Resume => "goes on".into(),
        What::Shutdown => "sent FIN".into(),
        What::End => "end: the peer sent FIN".into(),
        What::Close => "closed".into(),
        What::Error => {
            let errno = i32::try_from(value).unwrap_or(0);
            match errno {
                libc::ETIME => "gives up".into(),
                _ => format!("error: {}", io::Error::from_raw_os_error(errno)),
            }
        }
    }
}

/// How a connection ended and what it did, without the stamp.
pub(super) fn closed(of: &Connection) -> String {
    let why = match of.ended {
        Ended::Finished => "finished",
        Ended::Time => "time is over",
        Ended::Peer => "the peer closed",
        Ended::Reset => "reset by the peer",
        Ended::Interrupted => "interrupted",
        Ended::Error => of.error.as_deref().unwrap_or("error"),
    };
    let seconds = (of.closed_ns - of.opened_ns).max(1) as f64 / 1e9;
    let mut text = format!("#{:<2} closed after {seconds:.3} s: {why}", of.number);
    let did = &of.traffic;
    for (verb, bytes, calls, noun) in [
        ("read", did.read_bytes, did.reads, "reads"),
        ("wrote", did.written_bytes, did.writes, "writes"),
    ] {
        let rate = rate(bytes as f64 * 8.0 / seconds);
        if calls > 0 {
            let _ = write!(text, "; {verb} {bytes} bytes in {calls} {noun}, {rate}");
        } else if bytes > 0 {
            let _ = write!(text, "; {verb} {bytes} bytes, {rate}");
        }
    }
    text
}

/// The fields of tcp_info that a line of text shows.
const SHOWN: [(&str, &str); 8] = [
    ("tcpi_rtt", "rtt"),
    ("tcpi_rttvar", "rttvar"),
    ("tcpi_rto", "rto"),
    ("tcpi_ato", "ato"),
    ("tcpi_snd_cwnd", "cwnd"),
    ("tcpi_snd_ssthresh", "ssthresh"),
    ("tcpi_unacked", "unacked"),
    ("tcpi_total_retrans", "total_retrans"),
];

/// A sample of tcp_info, without the stamp.
pub(super) fn sample(number: u32, sample: &Sample) -> String {
    let mut text = format!("#{number:<2} tcp_info");
    for (name, short) in SHOWN {
        if let Some(value) = sample.fields.get(name) {
            let _ = write!(text, " {short} {value}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps() {
        assert_eq!(stamp(Times::Relative, 1_234_567_899), "    1.234567");
        let began_unix_ns = 1_763_771_899_999_999_000;
        let absolute = Times::Absolute { began_unix_ns };
        assert_eq!(stamp(absolute, 1_000), "00:38:20.000000     0.000001");
    }

    #[test]
    fn lines() {
        let read = LogLine {
            what: What::ReadEnd,
            value: Some(1024),
            quickack: Some(1),
            quick: Some(0),
            pingpong: Some(false),
            ato_ms: Some(40),
            ..LogLine::default()
        };
        assert_eq!(
            line(0, &read),
            "#0  read 1024 bytes        TCP_QUICKACK 1  kernel: quick  0 pingpong 0 ato  40 ms"
        );
        let close = LogLine {
            what: What::Close,
            ..LogLine::default()
        };
        assert_eq!(line(12, &close), "#12 closed");
    }
}
