//! What stands between the Ethernet addresses and the IP packet.

/// An outer shape of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// What people call it.
    pub name: &'static str,
    /// The types of its tags, the outermost first; [`Shape::CAQM`] stands for CAQM's.
    pub tags: &'static [u16],
    /// The two bytes behind each type: priority and VLAN, or INFO.
    pub value: u16,
    /// VLAN tags among them.
    pub vlan_tags: u8,
    /// A host without VLAN devices takes an IP packet that stands in it (when it knows CAQM, if there is such a tag).
    pub is_taken: bool,
}

/// Priority 1, VLAN 7; as INFO: type 1.
const TAG: u16 = 0x2007;

/// The ten shapes.
pub const SHAPES: [Shape; 10] = [
    Shape::new("plain", &[]),
    Shape::new("802.1Q", &[0x8100]),
    Shape::new("802.1ad", &[0x88a8]),
    Shape::new("QinQ", &[0x88a8, 0x8100]),
    Shape::new("0x9100", &[0x9100, 0x8100]),
    Shape::new("CAQM", &[Shape::CAQM]),
    Shape::new("CAQM inside VLAN", &[0x8100, Shape::CAQM]),
    Shape::new("CAQM outside VLAN", &[Shape::CAQM, 0x8100]),
    Shape {
        name: "priority tag",
        tags: &[0x8100],
        value: 0xe000,
        vlan_tags: 1,
        is_taken: true,
    },
    Shape::new(
        "eight nested tags",
        &[
            0x88a8, 0x88a8, 0x88a8, 0x88a8, 0x9100, 0x9100, 0x8100, 0x8100,
        ],
    ),
];

impl Shape {
    /// Stands for the EtherType of CAQM, which is configurable.
    pub const CAQM: u16 = 0;

    const fn new(name: &'static str, tags: &'static [u16]) -> Self {
        let mut vlan_tags = 0;
        let mut at = 0;
        while at < tags.len() {
            vlan_tags += (tags[at] != Self::CAQM) as u8;
            at += 1;
        }
        Self {
            name,
            tags,
            value: TAG,
            vlan_tags,
            is_taken: vlan_tags == 0,
        }
    }

    /// Whether a CAQM tag is among its tags.
    pub fn has_caqm(&self) -> bool {
        self.tags.contains(&Self::CAQM)
    }

    /// The bytes of its tags: each with its type before it.
    pub fn bytes(&self, caqm_ethertype: u16) -> Vec<u8> {
        let one = |&kind: &u16| {
            let kind = if kind == Self::CAQM {
                caqm_ethertype
            } else {
                kind
            };
            let ([a, b], [c, d]) = (kind.to_be_bytes(), self.value.to_be_bytes());
            [a, b, c, d]
        };
        self.tags.iter().flat_map(one).collect()
    }
}
