//! Lexical and vector search over text it is given: derived from a store, rebuildable from it at any time.
//! It must not know the store, sessions or the network.

pub mod embed;
pub mod limits;
pub mod vector;
