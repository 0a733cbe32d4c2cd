//! When a run starts, and so where in a tick and in the timer wheel.

use tcplab_base::{Duration, Random};

/// Two ticks of the slowest kernel (HZ = 100).
const PHASE_NS: u64 = 20_000_000;
/// A guest of `uml:` with its hosts stands well before.
const BOOT_NS: i64 = 4_000_000_000;

/// By how much the start of a run of this seed is moved: where in a tick an experiment begins is chance on a real machine.
pub fn start_phase(seed: u64) -> Duration {
    let drawn = Random::stream(seed, "start/phase").below(PHASE_NS);
    Duration::from_nanos(drawn.cast_signed())
}

/// Default time from the hosts' boot to the start of a run with this seed, in virtual time and without `boot`. It is
/// equal on every stack, because timers fire at ticks counted from the boot.
pub fn default_boot(seed: u64) -> Duration {
    Duration::from_nanos(BOOT_NS) + start_phase(seed)
}
