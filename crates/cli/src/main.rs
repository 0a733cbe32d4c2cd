//! The `tcplab` command: thin; every subcommand is a function of the library crates.

fn main() {}
