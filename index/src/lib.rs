//! Lexical and vector search over text it is given: derived from a store, rebuildable from it at any time.
//! It must not know the store, sessions or the network.
//!
//! The daemon opens an [`Index`], replays every change after the watermark it is told, calls [`Index::loaded`], and from then on
//! hands every committed change to [`Index::apply`]; a search that starts after `apply` returned sees it.

mod document;
pub mod embed;
mod error;
mod frozen;
pub mod graph;
mod graphs;
pub mod hash;
mod index;
mod lexical;
pub mod limits;
mod near;
mod query;
mod result;
mod search;
mod settings;
mod snapshot;
mod state;
pub mod tokenize;
pub mod vector;

pub use document::{Change, Document, Prepared, Status, Voice, prepare};
pub use error::{IndexError, Result};
pub use frozen::Frozen;
pub use index::{Index, Opened, Standing, Stats};
pub use near::{Near, Neighbour};
pub use query::{DecayParams, Filter, Mode, Query, TimeSpan};
pub use result::{Features, GaveWay, Hit, Part, SearchResult, ServedBy, Strength};
pub use search::{WEIGHTS, Weights};
pub use settings::{Calibration, Identity, ModelCalibration, ModelLeg, Settings};
