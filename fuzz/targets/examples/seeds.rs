//! Writes the seeds of each target to `fuzz/corpus/TARGET`, where cargo-fuzz begins.

use std::io;
use std::path::Path;

use tcplab_fuzz_targets::TARGETS;

fn main() -> io::Result<()> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus");
    for target in TARGETS {
        let folder = corpus.join(target.name);
        std::fs::create_dir_all(&folder)?;
        for (i, seed) in (target.seeds)().iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{i:02}")), seed)?;
        }
        println!("{}", folder.display());
    }
    Ok(())
}
