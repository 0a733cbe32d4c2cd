//! TCP options as tcpdump prints them: `mss 1460,sackOK,TS val 1 ecr 0,nop,wscale 7`.

use tcplab_base::Seq;
use tcplab_wire::{SackBlocks, TcpOptions};

/// The options, and the bytes that they took with their padding.
pub(crate) fn read(text: &str) -> (TcpOptions, u8) {
    let mut options = TcpOptions::default();
    let mut len = 0_usize;
    for option in text.split(',') {
        let mut words = option.split_ascii_whitespace();
        let Some(name) = words.next() else {
            continue;
        };
        let mut number = || words.next().and_then(|w| w.parse::<u32>().ok());
        len += match name {
            "mss" => {
                options.mss = number().and_then(|n| u16::try_from(n).ok());
                4
            }
            "wscale" => {
                options.window_scale = number()
                    .and_then(|n| u8::try_from(n).ok())
                    .map(|n| n.min(14));
                3
            }
            "sackOK" => {
                options.sack_permitted = true;
                2
            }
            "TS" | "timestamp" => {
                let mut numbers = option
                    .split_ascii_whitespace()
                    .filter_map(|w| w.parse().ok());
                options.timestamps = numbers.next().zip(numbers.next());
                10
            }
            "sack" => {
                sack(option, &mut options.sack);
                2 + 8 * options.sack.as_slice().len()
            }
            "nop" | "eol" => 1,
            _ => 0,
        };
    }
    (options, len.next_multiple_of(4).min(40) as u8)
}

/// `sack 2 {1449:2897}{4345:5793}`; tcpdump 3 wrote `sack 1 {1449:2897}` too.
fn sack(text: &str, blocks: &mut SackBlocks) {
    for block in text.split('{').skip(1) {
        let block = block.split('}').next().unwrap_or_default();
        if let Some((left, right)) = block.split_once(':')
            && let (Ok(left), Ok(right)) = (left.parse(), right.parse())
        {
            blocks.push(Seq(left), Seq(right));
        }
    }
}
