//! TCP options (RFC 9293 3.2, RFC 7323, RFC 2018): the ones that the analyser reads.

use tcplab_base::Seq;

/// Up to four SACK blocks (RFC 2018 3), in the order of the option.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SackBlocks {
    blocks: [(Seq, Seq); 4],
    len: u8,
}

impl SackBlocks {
    /// Adds a block `[left, right)`; a fifth one is ignored (it cannot fit into an option).
    pub fn push(&mut self, left: Seq, right: Seq) {
        if let Some(slot) = self.blocks.get_mut(usize::from(self.len)) {
            *slot = (left, right);
            self.len += 1;
        }
    }

    /// The blocks as `(left, right)`, right edge exclusive.
    #[inline]
    pub fn as_slice(&self) -> &[(Seq, Seq)] {
        self.blocks.get(..usize::from(self.len)).unwrap_or_default()
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// What the options of one header say.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TcpOptions {
    /// Maximum segment size (kind 2), bytes.
    pub mss: Option<u16>,
    /// Window scale shift (kind 3) as sent; values above 14 count as 14 (RFC 7323 2.3).
    pub window_scale: Option<u8>,
    /// SACK permitted (kind 4).
    pub sack_permitted: bool,
    /// SACK blocks (kind 5).
    pub sack: SackBlocks,
    /// Time stamps (kind 8): TSval, TSecr.
    pub timestamps: Option<(u32, u32)>,
    /// An option ran past the header, or had an impossible length; what stood before it was read.
    pub malformed: bool,
}
