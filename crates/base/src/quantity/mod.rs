//! Times, sizes, rates and shares as people write and read them: one parser, which takes a table of units, and one
//! formatter.

mod figure;
mod parse;
mod tables;

pub use figure::{
    BITS_PER_SECOND, BYTES, Digits, MICROSECONDS, NANOSECONDS, Scale, binary, bytes, count,
    decimal, exact, figure, micros, percent, rate, time,
};
pub use parse::Quantity;
pub use tables::*;
