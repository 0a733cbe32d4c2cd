//! The files that `rate_trace` of a point's links names.

use std::borrow::Cow;
use std::fs;

use tcplab_plan::Point;
use tcplab_plan::point::RateTrace;

/// The point with the contents of its files, which is the form that a run needs.
///
/// # Errors
/// The file and what is wrong with it.
pub fn filled(point: &Point) -> Result<Cow<'_, Point>, String> {
    let ways = point
        .links
        .iter()
        .flat_map(|link| [&link.a_to_b, &link.b_to_a]);
    let mut traces = ways.filter_map(|way| way.rate_trace.as_ref());
    if traces.all(|trace| !trace.at_ms.is_empty()) {
        return Ok(Cow::Borrowed(point));
    }
    let mut point = point.clone();
    let links = point.links.iter_mut();
    let ways = links.flat_map(|link| [&mut link.a_to_b, &mut link.b_to_a]);
    for trace in ways.filter_map(|way| way.rate_trace.as_mut()) {
        if trace.at_ms.is_empty() {
            let wrong = |why: String| format!("rate_trace: {}: {why}", trace.file);
            let text = fs::read_to_string(&trace.file).map_err(|e| wrong(e.to_string()))?;
            trace.at_ms = RateTrace::parse(&text).map_err(wrong)?;
        }
    }
    Ok(Cow::Owned(point))
}
