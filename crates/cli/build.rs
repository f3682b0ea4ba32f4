//! The demo library is part of the binary; cargo does not see by itself when a note changes.
#![expect(clippy::print_stdout, reason = "this is how a build script speaks to cargo")]

fn main() {
    println!("cargo::rerun-if-changed=../../demo");
}
