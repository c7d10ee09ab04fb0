//! tirod
fn main() {}
