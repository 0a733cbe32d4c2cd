//! A world step by step, and congestion controls from outside in it.

mod congestion;
mod experiments;
mod runs;
mod steps;
mod told;
