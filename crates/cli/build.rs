//! The demo library is part of the binary; cargo does not see by itself when a note changes.
fn main() {
    println!("cargo::rerun-if-changed=../../demo");
}
