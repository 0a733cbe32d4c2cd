//! Tables for the terminal and the HTML page.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod compare;
pub mod glossary;
mod groups;
pub mod matrix;
pub mod page;
pub mod qa;
mod scope;
pub mod terminal;
