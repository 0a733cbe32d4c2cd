//! Which kernel releases have a behaviour: data, with the evidence for each line.

/// Which release sends late ACKs after quick-ACK mode for writes of exactly one `rcv_mss` (commit
/// 4720852ed9af, "tcp: fix delayed ACKs for MSS boundary condition").
pub(crate) struct Release {
    pub name: &'static str,
    pub late: bool,
    /// How it is known.
    pub evidence: &'static str,
}

/// Late ACKs by release.
pub(crate) const MSS_BOUNDARY: [Release; 9] = [
    Release {
        name: "Debian 12 linux 6.1.0-9",
        late: true,
        evidence: "capture",
    },
    Release {
        name: "Debian 12 linux 6.1.0-13 (6.1.55)",
        late: true,
        evidence: "capture",
    },
    Release {
        name: "Debian 12 linux 6.1.0-15 (6.1.66)",
        late: false,
        evidence: "capture",
    },
    Release {
        name: "Debian 12 linux 6.1.0-26",
        late: false,
        evidence: "capture",
    },
    Release {
        name: "Debian 12 linux 6.1.0-37",
        late: false,
        evidence: "capture",
    },
    Release {
        name: "upstream 6.1.56",
        late: true,
        evidence: "bisect",
    },
    Release {
        name: "upstream 6.1.57",
        late: false,
        evidence: "bisect",
    },
    Release {
        name: "upstream 5.10.46",
        late: true,
        evidence: "User-Mode Linux run",
    },
    Release {
        name: "upstream 6.1.192",
        late: false,
        evidence: "User-Mode Linux run",
    },
];

/// The table as a sentence.
pub(crate) fn mss_boundary() -> String {
    let list = |late: bool| {
        let names: Vec<String> = MSS_BOUNDARY
            .iter()
            .filter(|r| r.late == late)
            .map(|r| format!("{} ({})", r.name, r.evidence))
            .collect();
        names.join(", ")
    };
    format!("Affected: {}. Not affected: {}.", list(true), list(false))
}
