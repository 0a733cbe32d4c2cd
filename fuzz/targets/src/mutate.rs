//! A seeded mutator: the same seed gives the same inputs on every machine.

/// splitmix64 (Steele, Lea, Flood 2014): one number of state, good enough to choose mutations.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// From a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n` (0 for 0).
    pub fn below(&mut self, n: usize) -> usize {
        if n == 0 {
            0
        } else {
            usize::try_from(self.draw() % n as u64).unwrap_or(0)
        }
    }
}

/// Values at which lengths and counters turn over.
const EDGES: [u32; 16] = [
    0,
    1,
    2,
    7,
    8,
    11,
    12,
    0x7f,
    0x80,
    0xff,
    0x100,
    0x7fff,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
];

/// Changes `input` a little, once to eight times. `other` is another input to take pieces from. The result has at most `limit` bytes.
pub fn mutate(input: &[u8], other: &[u8], limit: usize, random: &mut Random) -> Vec<u8> {
    let mut out = input.to_vec();
    for _ in 0..=random.below(8) {
        once(&mut out, other, random);
    }
    out.truncate(limit);
    out
}

fn once(out: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let at = random.below(out.len());
    match random.below(9) {
        0 => flip(out, at, random),
        1 => put(out, at, &[random.draw() as u8]),
        2 => put(out, at, &(edge(random) as u16).to_le_bytes()),
        3 => put(out, at & !3, &edge(random).to_le_bytes()),
        4 => put(out, at & !1, &edge(random).to_be_bytes()),
        5 => out.truncate(at),
        6 => {
            let end = at + random.below((out.len() - at).min(64));
            out.drain(at..end);
        }
        7 => {
            let end = at + random.below((out.len() - at).min(64));
            let piece = out[at..end].to_vec();
            insert(out, at, &piece);
        }
        _ => {
            let from = random.below(other.len());
            let end = from + random.below((other.len() - from).min(128));
            insert(out, at, &other[from..end]);
        }
    }
}

fn edge(random: &mut Random) -> u32 {
    EDGES[random.below(EDGES.len())]
}

fn flip(out: &mut [u8], at: usize, random: &mut Random) {
    if let Some(byte) = out.get_mut(at) {
        *byte ^= 1 << random.below(8);
    }
}

/// Overwrites from `at`, as far as the input goes.
fn put(out: &mut [u8], at: usize, bytes: &[u8]) {
    for (to, from) in out.iter_mut().skip(at).zip(bytes) {
        *to = *from;
    }
}

fn insert(out: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    out.splice(at..at, bytes.iter().copied());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_inputs_and_different_seeds_differ() {
        let input = vec![7; 100];
        let other: Vec<u8> = (0..=255).collect();
        let make = |seed| {
            let mut random = Random::new(seed);
            (0..50)
                .map(|_| mutate(&input, &other, 200, &mut random))
                .collect::<Vec<_>>()
        };
        assert_eq!(make(1), make(1));
        assert_ne!(make(1), make(2));
        assert!(make(3).iter().all(|m| m.len() <= 200));
        assert!(
            make(4).iter().filter(|m| **m != input).count() >= 45,
            "nearly each one is changed"
        );
    }

    #[test]
    fn an_empty_input_can_be_mutated() {
        let mut random = Random::new(9);
        for _ in 0..100 {
            mutate(&[], &[], 10, &mut random);
        }
    }
}
