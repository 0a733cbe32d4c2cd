//! The target `manifest` for cargo-fuzz; what it does and checks stands in `fuzz/targets`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tcplab_fuzz_targets::manifest::manifest(data));
