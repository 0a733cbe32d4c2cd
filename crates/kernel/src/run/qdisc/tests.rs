//! What a kernel is not asked for.

use super::*;

#[test]
fn unsupported_qdisc_is_refused_by_name() {
    for (text, word) in [
        ("cake ack-filter-2018", "ack-filter-2018"),
        (
            "cake ack-filter-2018-aggressive",
            "ack-filter-2018-aggressive",
        ),
        ("cake ack-filter-naive", "ack-filter-naive"),
        ("caqm rate 1gbit", "caqm"),
        (
            "red limit 400000 avpkt 1000 ecn nodrop adaptive",
            "adaptive",
        ),
    ] {
        let settings = Settings::parse(text).expect(text);
        let why = messages(settings.kind()).expect_err(text);
        assert!(why.contains(&format!("`{word}`")), "{why}");
    }
}
