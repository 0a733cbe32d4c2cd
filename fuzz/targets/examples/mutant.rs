//! Prints mutant N of a seed, as `campaign` makes it: `mutant SEED N > sent.json`.

use tcplab_fuzz_targets::manifest::{mutant, trees};

fn main() {
    let numbers: Vec<u64> = std::env::args()
        .skip(1)
        .filter_map(|word| word.parse().ok())
        .collect();
    match numbers.as_slice() {
        [seed, n] => println!("{}", mutant(&trees(), *seed, *n)),
        _ => eprintln!("usage: mutant SEED N"),
    }
}
