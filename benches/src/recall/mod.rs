//! Recall measured over the socket: a set is imported, its questions are asked, and what came back is judged.
//!
//! Must not know: the daemon's insides, nor which set is asked.

pub mod ablation;
pub mod facts;
pub mod measures;
pub mod report;
pub mod set;
pub mod statistics;
pub mod trial;
pub mod updates;
