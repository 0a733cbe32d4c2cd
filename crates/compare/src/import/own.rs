//! `tcplab.metrics/1`: our own document.

use super::{ImportError, Input, json};
use crate::metrics::{Arm, METRICS_SCHEMA, Metrics};

pub(super) fn is(text: &str) -> bool {
    let document = json::first(text);
    document.is_some_and(|d| json::text(&d, &["schema"]) == Some(METRICS_SCHEMA))
}

pub(super) fn read(input: &Input) -> Result<Vec<Arm>, ImportError> {
    let document: Metrics =
        serde_json::from_str(input.text).map_err(|e| json::damaged(input, &e))?;
    if document.schema != METRICS_SCHEMA {
        return Err(ImportError::new(
            input,
            "schema",
            format!("`{}` is not {METRICS_SCHEMA}", document.schema),
            "use the tcplab version that wrote it",
        ));
    }
    Ok(document.arms)
}
