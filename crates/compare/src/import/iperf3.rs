//! `iperf3 --json`: one document, several appended by `--logfile`, or the lines of `--json-stream` (3.17).
//!
//! A run that failed has `error`, and iperf3 may exit with 0 all the same.

use serde_json::{Map, Value};

use tcplab_base::quantity::binary;

use super::builder::Builder;
use super::json::{at, documents, first, number, text};
use super::{ImportError, Input};
use crate::metrics::{Arm, Better, Metric, RemarkKind, Role, Run};

pub(super) fn is(text: &str) -> bool {
    let Some(document) = first(text) else {
        return false;
    };
    let is_whole = at(&document, &["start"]).is_some() && at(&document, &["end"]).is_some();
    is_whole || (is_event(&document) && at(&document, &["event"]).is_some_and(|e| e == "start"))
}

fn is_event(document: &Value) -> bool {
    at(document, &["event"]).is_some_and(Value::is_string) && at(document, &["data"]).is_some()
}

pub(super) fn read(input: &Input) -> Result<Vec<Arm>, ImportError> {
    let mut builder = Builder::new(input);
    let documents = joined(documents(input)?);
    let several = documents.len() > 1;
    for (number, document) in documents.iter().enumerate() {
        let place = match several {
            true => format!("{}: document {}", input.name, number + 1),
            false => input.name.to_owned(),
        };
        // A report has its time in it: the same one again is no other run.
        let earlier = documents[..number].iter().position(|d| d == document);
        if let Some(first) = earlier.filter(|_| began_s(document).is_some()) {
            let why = format!("left out, a copy of document {}", first + 1);
            builder.arm.remark(RemarkKind::Note, place, why);
            continue;
        }
        one(document, &place, &mut builder);
    }
    Ok(builder.done())
}

/// When a run began, seconds since 1970.
fn began_s(document: &Value) -> Option<f64> {
    number(document, &["start", "timestamp", "timesecs"])
}

/// The lines of a stream as the documents that iperf3 writes without it.
fn joined(values: Vec<Value>) -> Vec<Value> {
    if !values.first().is_some_and(is_event) {
        return values;
    }
    let mut documents = Vec::new();
    let mut open = Map::new();
    for value in values {
        let event = text(&value, &["event"]).unwrap_or_default().to_owned();
        let data = at(&value, &["data"]).cloned().unwrap_or_default();
        if event == "start" && !open.is_empty() {
            documents.push(Value::Object(std::mem::take(&mut open)));
        }
        if ["start", "end", "error"].contains(&event.as_str()) {
            open.insert(event, data);
        }
    }
    documents.push(Value::Object(open));
    documents
}

fn one(document: &Value, place: &str, builder: &mut Builder) {
    let source = builder.source();
    source.tool = text(document, &["start", "version"])
        .unwrap_or_default()
        .into();
    source.system = text(document, &["start", "system_info"])
        .unwrap_or_default()
        .into();
    for (key, path) in [
        ("sender congestion", ["end", "sender_tcp_congestion"]),
        ("receiver congestion", ["end", "receiver_tcp_congestion"]),
    ] {
        if let Some(value) = text(document, &path) {
            source.settings.insert(key.into(), value.into());
        }
    }
    let asked = |key| number(document, &["start", "test_start", key]);
    for (name, key, unit) in [
        ("duration", "duration", " s"),
        ("omitted at the beginning", "omit", " s"),
        ("bytes to send", "bytes", ""),
        ("target bitrate", "target_bitrate", " bit/s"),
    ] {
        if let Some(value) = asked(key) {
            source
                .settings
                .insert(name.into(), format!("{value}{unit}"));
        }
    }
    let error = text(document, &["error"]);
    if let Some(error) = error {
        builder.arm.remark(RemarkKind::Failed, place, error);
    }
    let test = Test::of(document, error);
    let is_udp = test.is_udp;
    test.direction("", test.is_reverse, builder);
    test.direction("_bidir_reverse", !test.is_reverse, builder);
    if is_udp {
        let udp = |key| number(document, &["end", "sum", key]);
        test.add(
            test.metric("UDP jitter", "ms", Better::Lower),
            udp("jitter_ms"),
            builder,
        );
        test.add(
            test.metric("UDP loss", "%", Better::Lower),
            udp("lost_percent"),
            builder,
        );
    }
    for (key, role) in [("host_total", Role::Client), ("remote_total", Role::Server)] {
        let cpu = number(document, &["end", "cpu_utilization_percent", key]);
        let metric = test.metric("CPU", "%", Better::Neither).at(role);
        test.add(metric, cpu, builder);
    }
}

/// One run.
struct Test<'a> {
    document: &'a Value,
    is_udp: bool,
    is_reverse: bool,
    /// Behind the name of each metric: what was asked for.
    suffix: String,
    began_s: Option<f64>,
    failed: Option<String>,
    /// How long it was to last, or how much it was to send.
    extent: Option<String>,
}

impl<'a> Test<'a> {
    fn of(document: &'a Value, error: Option<&str>) -> Self {
        let asked = |key| number(document, &["start", "test_start", key]);
        let is_reverse = asked("reverse") == Some(1.0);
        let mut words = Vec::new();
        words.extend(asked("blksize").map(binary));
        let streams = asked("num_streams").filter(|n| *n > 1.0);
        words.extend(streams.map(|n| format!("{n} streams")));
        if is_reverse {
            words.push("reverse".to_owned());
        }
        Self {
            document,
            is_udp: text(document, &["start", "test_start", "protocol"]) == Some("UDP"),
            is_reverse,
            suffix: words.iter().map(|word| format!(" {word}")).collect(),
            began_s: began_s(document),
            failed: error.map(str::to_owned),
            extent: match (asked("duration"), asked("bytes")) {
                (Some(s), _) if s > 0.0 => Some(format!("{s} s")),
                (_, Some(bytes)) if bytes > 0.0 => Some(format!("{bytes} bytes")),
                _ => None,
            },
        }
    }

    fn metric(&self, name: &str, unit: &str, better: Better) -> Metric {
        Metric::new(format!("{name}{}", self.suffix), unit, better)
    }

    fn add(&self, metric: Metric, value: Option<f64>, builder: &mut Builder) {
        let Some(value) = value else { return };
        let run = Run {
            began_s: self.began_s,
            failed: self.failed.clone(),
            ..Run::of(value)
        };
        builder.run(metric, run);
    }

    /// A run without a value that should have one.
    fn failed(&self, why: String) -> Run {
        Run {
            began_s: self.began_s,
            failed: Some(why),
            ..Run::default()
        }
    }

    /// What went one way: `sum_sent` is the sender's, `sum_received` the receiver's. Old versions have only `sum` of UDP,
    /// which the client tells of what the server received.
    fn direction(&self, which: &str, from_server: bool, builder: &mut Builder) {
        let protocol = if self.is_udp { "UDP" } else { "TCP" };
        let (sender, receiver) = match from_server {
            false => (Role::Client, Role::Server),
            true => (Role::Server, Role::Client),
        };
        let name = match which {
            "" => format!("{protocol} throughput"),
            _ => format!("{protocol} throughput back"),
        };
        let sum = |end: &str, key| number(self.document, &["end", &format!("{end}{which}"), key]);
        let received = sum("sum_received", "bits_per_second");
        let received = received.or_else(|| match self.is_udp && which.is_empty() {
            true => sum("sum", "bits_per_second"),
            false => None,
        });
        for (role, end, value) in [
            (sender, "sum_sent", sum("sum_sent", "bits_per_second")),
            (receiver, "sum_received", received),
        ] {
            let metric = self.metric(&name, "bit/s", Better::Higher).at(role);
            let has_sum = at(self.document, &["end", &format!("{end}{which}")]).is_some();
            match value.filter(|rate| *rate >= 0.0) {
                None if has_sum && self.failed.is_none() => {
                    let why = format!("`{end}{which}` has no `bits_per_second`");
                    builder.run(metric, self.failed(why));
                }
                value => self.add(metric, value, builder),
            }
        }
        let again = sum("sum_sent", "retransmits");
        let back = if which.is_empty() { "" } else { " back" };
        let metric = self.metric(
            &format!("TCP retransmissions{back}"),
            "segments",
            Better::Lower,
        );
        let metric = Metric {
            total_over: self.extent.clone(),
            ..metric
        };
        self.add(metric, again, builder);
        if which.is_empty() {
            let metric = self.metric("TCP mean RTT", "us", Better::Lower);
            self.add(metric, self.mean_rtt(), builder);
        }
    }

    /// Mean over the streams of the sender's mean tcpi_rtt.
    fn mean_rtt(&self) -> Option<f64> {
        let streams = at(self.document, &["end", "streams"])?.as_array()?;
        let each = streams
            .iter()
            .filter_map(|s| number(s, &["sender", "mean_rtt"]));
        let each: Vec<f64> = each.filter(|rtt| *rtt > 0.0).collect();
        (!each.is_empty()).then(|| each.iter().sum::<f64>() / each.len() as f64)
    }
}
