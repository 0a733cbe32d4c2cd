//! Where in a tick a run starts.

use tcplab_base::{Duration, Random};

/// Two ticks of the slowest kernel (HZ = 100).
const PHASE_NS: u64 = 20_000_000;

/// By how much the start of a run of this seed is moved: where in a tick an experiment begins is chance on a real machine.
pub fn start_phase(seed: u64) -> Duration {
    let drawn = Random::stream(seed, "start/phase").below(PHASE_NS);
    Duration::from_nanos(drawn.cast_signed())
}
