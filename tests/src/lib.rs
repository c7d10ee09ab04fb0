//! tests
pub mod storage;
pub mod store_writes;
