//! fortio's JSON: `ActualQPS`, a histogram of durations in seconds, return codes.

use serde_json::Value;

use super::builder::Builder;
use super::json::{at, first, number, one, text};
use super::{ImportError, Input};
use crate::metrics::{Arm, Better, Metric};

pub(super) fn is(text: &str) -> bool {
    first(text).is_some_and(|d| {
        at(&d, &["ActualQPS"]).is_some() && at(&d, &["DurationHistogram"]).is_some()
    })
}

pub(super) fn read(input: &Input) -> Result<Vec<Arm>, ImportError> {
    let document = one(input)?;
    let mut builder = Builder::new(input);
    let source = builder.source();
    let version = text(&document, &["Version"]).unwrap_or_default();
    source.tool = format!("fortio {version}").trim().to_owned();
    for key in [
        "Labels",
        "URL",
        "RequestedQPS",
        "RequestedDuration",
        "NumThreads",
    ] {
        if let Some(value) = at(&document, &[key]) {
            let value = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            source.settings.insert(key.into(), value);
        }
    }
    let rate = Metric::new("fortio requests", "1/s", Better::Higher);
    builder.value(rate, number(&document, &["ActualQPS"]));
    let time = |name: &str| Metric::new(format!("fortio latency {name}"), "ms", Better::Lower);
    let ms = |seconds: Option<f64>| seconds.map(|s| s * 1_000.0);
    let mean = number(&document, &["DurationHistogram", "Avg"]);
    builder.value(time("mean"), ms(mean));
    let percentiles = at(&document, &["DurationHistogram", "Percentiles"]);
    for each in percentiles.and_then(Value::as_array).into_iter().flatten() {
        if let Some(percentile) = number(each, &["Percentile"]) {
            builder.value(
                time(&format!("p{percentile}")),
                ms(number(each, &["Value"])),
            );
        }
    }
    codes(&document, &mut builder);
    Ok(builder.done())
}

/// Answers by their code: 200 of HTTP, SERVING of gRPC's health check and -1 of sockets aside they are errors.
fn codes(document: &Value, builder: &mut Builder) {
    let Some(codes) = at(document, &["RetCodes"]).and_then(Value::as_object) else {
        return;
    };
    let is_good = |code: &str| code.starts_with('2') || code == "SERVING" || code == "OK";
    let bad = codes.iter().filter(|(code, _)| !is_good(code));
    let bad: f64 = bad.filter_map(|(_, count)| count.as_f64()).sum();
    builder.value(
        Metric::new("fortio errors", "answers", Better::Lower),
        Some(bad),
    );
    if bad > 0.0 && codes.keys().all(|code| !is_good(code)) {
        builder.no_success("no request succeeded: the rate counts errors only");
    }
}
