//! tiro
fn main() {}
