//! TCP options as bytes (RFC 9293 3.2 and those after it), in the order of the script.

use crate::script::{AccEcnField, TcpOption};

const EOL: u8 = 0;
const NOP: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;
const MD5: u8 = 19;
const FAST_OPEN: u8 = 34;
/// AccECN with EE0B first.
const ACCECN_0: u8 = 172;
/// AccECN with EE1B first.
const ACCECN_1: u8 = 174;
const EXPERIMENT: u8 = 254;
/// RFC 7413 4.1.1: the experiment's number of Fast Open.
const FAST_OPEN_MAGIC: [u8; 2] = [0xf9, 0x89];

/// The kind of an option.
pub(crate) fn kind(option: &TcpOption) -> u8 {
    match option {
        TcpOption::Eol => EOL,
        TcpOption::Nop => NOP,
        TcpOption::Mss(_) => MSS,
        TcpOption::WindowScale(_) => WINDOW_SCALE,
        TcpOption::SackPermitted => SACK_PERMITTED,
        TcpOption::Sack(_) => SACK,
        TcpOption::Timestamps { .. } => TIMESTAMPS,
        TcpOption::Md5(_) => MD5,
        TcpOption::FastOpen(_) => FAST_OPEN,
        TcpOption::FastOpenExp(_) => EXPERIMENT,
        TcpOption::AccEcn(fields) => match fields.first() {
            Some((AccEcnField::E1b, _)) => ACCECN_1,
            _ => ACCECN_0,
        },
        TcpOption::Other { kind, .. } => *kind,
    }
}

/// What follows kind and length.
fn data(option: &TcpOption) -> Vec<u8> {
    match option {
        TcpOption::Eol | TcpOption::Nop | TcpOption::SackPermitted => Vec::new(),
        TcpOption::Mss(mss) => mss.to_be_bytes().to_vec(),
        TcpOption::WindowScale(shift) => vec![*shift],
        TcpOption::Sack(blocks) => blocks
            .iter()
            .flat_map(|(l, r)| [l.to_be_bytes(), r.to_be_bytes()])
            .flatten()
            .collect(),
        TcpOption::Timestamps { val, ecr } => [val.to_be_bytes(), ecr.to_be_bytes()].concat(),
        TcpOption::Md5(bytes) | TcpOption::FastOpen(bytes) => bytes.clone(),
        TcpOption::FastOpenExp(cookie) => [&FAST_OPEN_MAGIC[..], cookie].concat(),
        TcpOption::AccEcn(fields) => fields
            .iter()
            .flat_map(|(_, n)| n.to_be_bytes().into_iter().skip(1))
            .collect(),
        TcpOption::Other { data, .. } => data.clone(),
    }
}

/// Appends an option; what is too long for its length byte is cut, the sum is checked elsewhere.
pub(crate) fn write(option: &TcpOption, out: &mut Vec<u8>) {
    let kind = kind(option);
    out.push(kind);
    if matches!(kind, EOL | NOP) {
        return;
    }
    let mut data = data(option);
    data.truncate(253);
    out.push(data.len() as u8 + 2);
    out.extend(data);
}

/// Reads options; true: they end in the middle of one.
pub(super) fn read(mut bytes: &[u8]) -> (Vec<TcpOption>, bool) {
    let mut options = Vec::new();
    while let [kind, rest @ ..] = bytes {
        match *kind {
            // What stands after it is read too: scripts list it, and so does the original.
            EOL => {
                options.push(TcpOption::Eol);
                bytes = rest;
                continue;
            }
            NOP => {
                options.push(TcpOption::Nop);
                bytes = rest;
                continue;
            }
            _ => {}
        }
        let Some((&len, _)) = rest.split_first() else {
            return (options, true);
        };
        let Some((option, after)) = bytes.split_at_checked(usize::from(len)) else {
            return (options, true);
        };
        let Some(data) = option.get(2..) else {
            return (options, true);
        };
        options.push(one(*kind, data));
        bytes = after;
    }
    (options, false)
}

fn one(kind: u8, data: &[u8]) -> TcpOption {
    match (kind, data) {
        (MSS, &[a, b]) => TcpOption::Mss(u16::from_be_bytes([a, b])),
        (WINDOW_SCALE, &[shift]) => TcpOption::WindowScale(shift),
        (SACK_PERMITTED, []) => TcpOption::SackPermitted,
        (SACK, blocks) if !blocks.is_empty() && blocks.len() % 8 == 0 => {
            let (words, _) = blocks.as_chunks::<8>();
            let pair = |&[a, b, c, d, e, f, g, h]: &[u8; 8]| {
                (
                    u32::from_be_bytes([a, b, c, d]),
                    u32::from_be_bytes([e, f, g, h]),
                )
            };
            TcpOption::Sack(words.iter().map(pair).collect())
        }
        (TIMESTAMPS, &[a, b, c, d, e, f, g, h]) => TcpOption::Timestamps {
            val: u32::from_be_bytes([a, b, c, d]),
            ecr: u32::from_be_bytes([e, f, g, h]),
        },
        (MD5, digest) => TcpOption::Md5(digest.to_vec()),
        (FAST_OPEN, cookie) => TcpOption::FastOpen(cookie.to_vec()),
        (EXPERIMENT, [a, b, cookie @ ..]) if [*a, *b] == FAST_OPEN_MAGIC => {
            TcpOption::FastOpenExp(cookie.to_vec())
        }
        (ACCECN_0 | ACCECN_1, fields) if matches!(fields.len(), 3 | 6 | 9) => {
            use AccEcnField::{Ceb, E0b, E1b};
            let order = if kind == ACCECN_0 {
                [E0b, Ceb, E1b]
            } else {
                [E1b, Ceb, E0b]
            };
            let (words, _) = fields.as_chunks::<3>();
            let number = |&[a, b, c]: &[u8; 3]| u32::from_be_bytes([0, a, b, c]);
            TcpOption::AccEcn(order.into_iter().zip(words.iter().map(number)).collect())
        }
        _ => TcpOption::Other {
            kind,
            data: data.to_vec(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_as_they_were_written() {
        use AccEcnField::{Ceb, E0b, E1b};
        let options = vec![
            TcpOption::Nop,
            TcpOption::Mss(1460),
            TcpOption::WindowScale(200),
            TcpOption::SackPermitted,
            TcpOption::Sack(vec![(1, 2), (3, u32::MAX)]),
            TcpOption::Timestamps { val: 7, ecr: 9 },
            TcpOption::Md5(vec![1; 16]),
            TcpOption::FastOpen(vec![]),
            TcpOption::FastOpenExp(vec![1, 2, 3, 4]),
            TcpOption::AccEcn(vec![(E0b, 1), (Ceb, 0xff_ffff)]),
            TcpOption::AccEcn(vec![(E1b, 1), (Ceb, 2), (E0b, 3)]),
            TcpOption::Other {
                kind: 99,
                data: vec![5],
            },
            TcpOption::Eol,
        ];
        let mut bytes = Vec::new();
        options.iter().for_each(|o| write(o, &mut bytes));
        assert_eq!(read(&bytes), (options, false));
    }

    #[test]
    fn cut_options_are_told() {
        for bytes in [&[2, 4, 5][..], &[2][..], &[8, 1][..], &[8, 0][..]] {
            assert_eq!(read(bytes), (vec![], true), "{bytes:?}");
        }
    }
}
