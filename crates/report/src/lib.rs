//! Tables for the terminal and the HTML page.

pub mod compare;
pub mod matrix;
pub mod page;
pub mod qa;
pub mod terminal;
