//! What a packet costs on a shaped link: the words that `tbf` and `htb` share (tc-tbf(8), tc-htb(8)).

use super::words::{Lexer, Wrong, quantity};
use tcplab_base::quantity::TC_RATE;

/// `mpu`, `overhead`, `linklayer` (`struct tc_ratespec`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkLayer {
    /// Bytes added to each packet.
    pub overhead: u16,
    /// Bytes of the shortest packet.
    pub mpu: u16,
    /// Cells of 53 bytes with 48 of payload.
    pub is_atm: bool,
}

/// What may stand behind `linklayer`.
const LAYERS: [&str; 3] = ["ethernet", "atm", "adsl"];

impl LinkLayer {
    /// Parses `word` if it is an option of the link layer; otherwise returns false.
    pub(super) fn take<'a>(
        &mut self,
        word: &str,
        words: &mut Lexer<'a>,
    ) -> Result<bool, Wrong<'a>> {
        match word {
            "overhead" => self.overhead = short(words)?,
            "mpu" => self.mpu = short(words)?,
            "linklayer" => {
                let value = words.value()?;
                if !LAYERS.contains(&value) {
                    return Err(Wrong::unknown(value, "a link layer", &LAYERS));
                }
                self.is_atm = value != "ethernet";
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

fn short<'a>(words: &mut Lexer<'a>) -> Result<u16, Wrong<'a>> {
    let n = words.number(0, i64::from(u16::MAX))?;
    Ok(u16::try_from(n).unwrap_or(u16::MAX))
}

/// A rate in bytes a second, at least 1.
pub(super) fn byte_rate<'a>(words: &mut Lexer<'a>) -> Result<u64, Wrong<'a>> {
    let word = words.value()?;
    match quantity(word, &TC_RATE)? / 8 {
        0 => Err(Wrong::new(word, format!("the rate `{word}` is under 8bit"))),
        rate => Ok(rate),
    }
}

/// A size with the cell size that tc takes behind a slash, which the kernel no longer uses.
pub(super) fn size_with_cell<'a>(words: &mut Lexer<'a>) -> Result<u32, Wrong<'a>> {
    use tcplab_base::quantity::TC_SIZE;
    let word = words.value()?;
    let size = word.split_once('/').map_or(word, |(size, _)| size);
    let bytes = quantity(size, &TC_SIZE)?;
    match u32::try_from(bytes) {
        Ok(bytes) if bytes > 0 => Ok(bytes),
        _ => Err(Wrong::new(word, format!("`{word}` is not a size above 0"))),
    }
}

/// `TC_LINKLAYER_*`: with one of these, the kernel uses no table.
const ETHERNET: u8 = 1;
const ATM: u8 = 2;

/// `struct tc_ratespec`: 12 bytes; a rate over 32 bits stands in an attribute of its own beside it.
pub(crate) fn spec(bytes_a_second: u64, link: LinkLayer) -> Vec<u8> {
    // The cell of the table that is not sent, as tc has it for short frames.
    const CELL_LOG: u8 = 3;
    const CELL_ALIGN: i16 = -1;
    let layer = if link.is_atm { ATM } else { ETHERNET };
    let mut bytes = vec![CELL_LOG, layer];
    bytes.extend_from_slice(&link.overhead.to_ne_bytes());
    bytes.extend_from_slice(&CELL_ALIGN.to_ne_bytes());
    bytes.extend_from_slice(&link.mpu.to_ne_bytes());
    bytes.extend_from_slice(&low(bytes_a_second).to_ne_bytes());
    bytes
}

/// The rate in 32 bits.
pub(crate) fn low(bytes_a_second: u64) -> u32 {
    u32::try_from(bytes_a_second).unwrap_or(u32::MAX)
}

/// Whether the rate needs its 64 bits.
pub(crate) fn is_high(bytes_a_second: u64) -> bool {
    low(bytes_a_second) == u32::MAX
}
