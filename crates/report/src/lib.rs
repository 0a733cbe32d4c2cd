//! Tables for the terminal and the HTML page.

pub mod page;
pub mod terminal;
