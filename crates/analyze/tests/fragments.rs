//! IP fragments that the snap length cut: their data is missing, and the capture did not lose it.

mod common;

use common::{answer, frames, root};
use tcplab_analyze::findings::Need;
use tcplab_analyze::report::Artefact;
use tcplab_analyze::{Analyzer, Options};
use tcplab_wire::{Parsed, Standing};

#[test]
fn cut_fragments_are_named_as_the_reason() {
    let mut analyzer = Analyzer::new(Options::default());
    let path = root().join("tests/captures/bulk-clean.a.pcap");
    frames(&path, |number, time, parse| {
        if let Parsed::Tcp(mut p) = parse(usize::MAX).parsed {
            if p.payload_len > 1_000 && number % 20 == 0 {
                p.standing = Standing::FirstFragment;
            }
            analyzer.packet(number, time, &p);
        }
    });
    let answer = answer(analyzer);
    let artefacts = &answer.streams[0].artefacts;
    assert_eq!(artefacts, &[Artefact::CutFragments]);
    let lacks = |need| answer.totals.not_checked.iter().any(|n| n.lacks == need);
    assert!(lacks(Need::WholeFragments) && !lacks(Need::EveryPacket));
    assert_eq!(answer.ids(), ["capture_artefacts"]);
}
