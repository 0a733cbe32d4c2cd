//! Embeds the built report page (`web/dist/index.html`) when it exists.
//!
//! Without it the crate still compiles, so that Rust work needs no Node; writing a page then
//! fails with a message that says what to run.

use std::path::Path;
use std::{env, fs};

/// Where the data goes in the built page.
const PLACE: &str = "<!--TCPLAB-DATA-->";

fn main() {
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let web = Path::new(&root).join("../../web");
    let page = web.join("dist/index.html");
    let code = match fs::read_to_string(&page) {
        Ok(text) => {
            assert!(
                text.matches(PLACE).count() == 1,
                "{} must hold {PLACE} exactly once: run make build",
                page.display()
            );
            fs::write(Path::new(&out).join("page.html"), text).expect("write page.html");
            println!("cargo::rerun-if-changed={}", page.display());
            "Some(include_str!(concat!(env!(\"OUT_DIR\"), \"/page.html\")))"
        }
        Err(_) => {
            // A path that does not exist would make cargo build this crate anew each time, so
            // watch the folder in which it will appear.
            let watch = if web.is_dir() {
                &web
            } else {
                Path::new("build.rs")
            };
            println!("cargo::rerun-if-changed={}", watch.display());
            "None"
        }
    };
    println!("cargo::rerun-if-changed=build.rs");
    fs::write(Path::new(&out).join("template.rs"), code).expect("write template.rs");
}
