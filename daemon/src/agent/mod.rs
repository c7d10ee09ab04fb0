//! The decision layer of the loop: what a turn does next, as a pure function.
//!
//! Must not know: models' wires, tools' workings, the store, time. It is told what happened and says what to do.

mod guard;
pub mod kind;
mod near;
mod progress;
mod step;

pub use guard::{CallGuard, Verdict};
pub use near::near_names;
pub use progress::{Progress, ProgressGuard};
pub use step::{Cause, Effect, Event, Note, PlannedCall, StepConfig, StepState, Synthetic, ToolInfo, ToolOutcome, step};
