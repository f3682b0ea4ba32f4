//! The page's built files are embedded; a change of them is a change of the crate.
fn main() {
    println!("cargo::rerun-if-changed=ui/dist");
}
