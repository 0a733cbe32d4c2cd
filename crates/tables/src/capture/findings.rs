//! A row for each finding.

use tcplab_analyze::findings::Finding;

use super::name;
use crate::field::{Field, Kind};
use crate::table::Table;

pub(super) fn table() -> Table {
    Table::new(
        "findings",
        Field::all(&[
            ("file", Kind::Word, "Capture."),
            (
                "stream",
                Kind::Int,
                "Number of the stream; missing: it is about the capture as a whole.",
            ),
            ("id", Kind::Word, "Name of the finding (docs/findings.md)."),
            ("severity", Kind::Word, "How much it matters."),
            ("title", Kind::Text, "What was found, in a line."),
            ("cause", Kind::Text, "The mechanism."),
            ("remedy", Kind::Text, "What to do, a line for each way out."),
            (
                "confidence",
                Kind::Float,
                "Share of findings of this name that were right on captures with known causes, 0 to 1.",
            ),
            (
                "packets",
                Kind::Text,
                "Frame numbers that show it, separated by commas.",
            ),
        ]),
    )
}

pub(super) fn row(table: &mut Table, file: &str, finding: &Finding) {
    let packets: Vec<String> = finding.packets.iter().map(u64::to_string).collect();
    let is_whole = finding.id.is_about_the_capture();
    let mut row = table.row();
    row.text(file);
    row.maybe((!is_whole).then_some(finding.stream.into()));
    row.text(finding.id.name());
    row.text(&name(&finding.severity));
    row.text(&finding.title);
    row.text(&finding.cause);
    row.text(&finding.remedy.join("\n"));
    row.float(finding.confidence);
    row.text(&packets.join(","));
}
