//! flent's data files, version 4: one JSON object, gzipped as `NAME.flent.gz`.
//!
//! flent reads them with `flent -i FILE` and `flent-gui FILE` (its `resultset.py`). `x_values` are seconds from the
//! begin, `results` the series at these times (null: no value), `raw_values` each sample with its date, `metadata` what
//! flent records of a test. The date is the start of the run, given by the caller.

use serde_json::{Map, Value as Json, json};

use super::{AppSet, PING, Series, Table};
use crate::app::{App, AppKind};
use crate::measure::is_app;
use crate::outcome::Flow;
use crate::point::Point;

/// `version` of a file.
pub const VERSION: u32 = 4;

/// What the ending of a file's name must be.
pub const SUFFIX: &str = ".flent.gz";

/// What a file says beside the series.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// The date of the run's start in nanoseconds since 1970.
    pub epoch_ns: i64,
    /// The stack that ran it.
    pub stack: &'a str,
    /// Release and version of the kernel, or the profile.
    pub kernel: &'a str,
    /// tcplab's version.
    pub version: &'a str,
}

/// The file of a set, before it is packed.
pub fn document(set: &AppSet, point: &Point, flows: &[Flow], about: &About<'_>) -> Json {
    let table = Table::new(set, point, flows);
    let steps = table.series.first().map_or(0, |s| s.values.len());
    let step_s = table.step_ns as f64 / 1e9;
    let x: Vec<f64> = (0..steps).map(|k| k as f64 * step_s).collect();
    let epoch_s = about.epoch_ns.saturating_add(set.start_ns) as f64 / 1e9;
    let mut results = Map::new();
    let mut raw = Map::new();
    let mut meta = Map::new();
    for series in &table.series {
        results.insert(series.name.clone(), json!(series.values));
        let sample = |(at, value): &(i64, f64)| match series.name.starts_with(PING) {
            true => json!({"t": epoch_s + *at as f64 / 1e9, "val": value}),
            false => json!({"t": epoch_s + *at as f64 / 1e9, "val": value, "dur": step_s}),
        };
        let samples: Vec<Json> = series.raw.iter().map(sample).collect();
        raw.insert(series.name.clone(), Json::from(samples));
        meta.insert(series.name.clone(), series_meta(set, point, series));
    }
    json!({
        "version": VERSION,
        "x_values": x,
        "results": results,
        "raw_values": raw,
        "metadata": metadata(set, point, about, meta),
    })
}

fn metadata(set: &AppSet, point: &Point, about: &About<'_>, series: Map<String, Json>) -> Json {
    let first = set.series.first();
    let app = first.and_then(|s| point.apps.iter().find(|app| is_app(app, &s.app)));
    let host = |of: fn(&App) -> usize| app.and_then(|app| point.hosts.get(of(app)));
    let [client, server] = [host(|a| a.client), host(|a| a.server)];
    let name = |host: Option<&crate::point::Host>| host.map_or(String::new(), |h| h.name.clone());
    let seconds = |ns: i64| ns as f64 / 1e9;
    let time = date(about.epoch_ns.saturating_add(set.start_ns));
    let axes = point.axes.iter().map(|(name, value)| match value {
        Json::String(text) => format!("{name}={text}"),
        other => format!("{name}={other}"),
    });
    let axes: Vec<String> = axes.collect();
    let title = [
        &[point.experiment.clone(), about.stack.to_owned()],
        &axes[..],
    ]
    .concat();
    let sysctls = client.map_or_else(Map::new, |host| {
        let text = |(k, v): (&String, &String)| (k.clone(), Json::from(v.as_str()));
        host.sysctl.iter().map(text).collect()
    });
    json!({
        "NAME": set.test,
        "TITLE": title.join(" "),
        "NOTE": format!("tcplab {}, seed {}, {}", about.version, point.seed, about.stack),
        "TIME": time,
        "T0": time,
        "HOST": name(server),
        "HOSTS": [name(server)],
        "LOCAL_HOST": name(client),
        "LENGTH": seconds(set.duration_ns),
        "TOTAL_LENGTH": seconds(set.duration_ns.saturating_add(set.delay_ns.saturating_mul(2))),
        "STEP_SIZE": seconds(set.step_ns),
        "DELAY": seconds(set.delay_ns),
        "IP_VERSION": 4,
        "TEST_PARAMETERS": {},
        "FAILED_RUNNERS": 0,
        "KERNEL_NAME": "Linux",
        "KERNEL_RELEASE": about.kernel,
        "SYSCTLS": sysctls,
        "DATA_FILENAME": format!("{}{SUFFIX}", set.name),
        "SERIES_META": series,
    })
}

fn series_meta(set: &AppSet, point: &Point, series: &Series) -> Json {
    let units = match series.name.starts_with(PING) {
        true => "ms",
        false => "Mbits/s",
    };
    let values: Vec<f64> = series.values.iter().copied().flatten().collect();
    let mean = (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    let mut meta = json!({"UNITS": units, "MEAN_VALUE": mean});
    let own = set.series.iter().find(|s| s.name == series.name);
    if let (Some(meta), Some(own)) = (meta.as_object_mut(), own)
        && let Some(app) = point.apps.iter().find(|app| is_app(app, &own.app))
    {
        let tos = |of: Option<u8>| of.unwrap_or(0);
        let (up, down) = (tos(app.client_socket.tos), tos(app.server_socket.tos));
        meta.insert("UPSTREAM_TOS".into(), up.into());
        meta.insert("DOWNSTREAM_TOS".into(), down.into());
        if let AppKind::Bulk { reverse, .. } = app.does {
            meta.insert("DATA_TOS".into(), if reverse { down } else { up }.into());
        }
    }
    meta
}

/// A date as flent writes it: `2026-11-22T18:00:00.000000Z` (RFC 3339, UTC).
fn date(epoch_ns: i64) -> String {
    let (us, seconds) = (
        epoch_ns.rem_euclid(1_000_000_000) / 1_000,
        epoch_ns.div_euclid(1_000_000_000),
    );
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Howard Hinnant's days_to_civil: eras of 400 years that begin on the 1st of March.
    let shifted = days + 719_468;
    let (era, day) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{of_month:02}T{hour:02}:{minute:02}:{second:02}.{us:06}Z")
}

#[cfg(test)]
mod tests {
    use super::date;

    /// As `date -u -d @SECONDS` says.
    #[test]
    fn dates() {
        let cases = [
            (0, "1970-01-01T00:00:00.000000Z"),
            (951_782_400_000_000_000, "2000-02-29T00:00:00.000000Z"),
            (1_790_000_004_012_345_678, "2026-09-21T14:13:24.012345Z"),
            (1_798_761_599_000_000_000, "2026-12-31T23:59:59.000000Z"),
        ];
        for (ns, text) in cases {
            assert_eq!(date(ns), text);
        }
    }
}
