//! Where the time of one stream went, as bytes: for each span its class, the gap to the span before and its length,
//! microseconds, in LEB128. `web/src/data/spans.ts` reads it back; the document names the classes in their order.

use tcplab_analyze::budget::Span;

use super::columns::leb128;

/// Packs `spans`, oldest first.
pub(super) fn encode(spans: &[Span]) -> Vec<u8> {
    let mut out = Vec::with_capacity(spans.len() * 5);
    let mut end = 0;
    for span in spans {
        let from = span.from_us.max(end);
        let to = span.to_us.max(from);
        leb128(&mut out, span.class as u64);
        leb128(&mut out, from - end);
        leb128(&mut out, to - from);
        end = to;
    }
    out
}
