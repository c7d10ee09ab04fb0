//! How answers look to a person, and to a pipe.
//!
//! Pure: takes wire types and a [`Style`], gives text. Must not know: arguments, connections, exit codes.

pub mod audit;
pub mod escape;
pub mod history;
pub mod hits;
pub mod memory;
pub mod problem;
pub mod size;
pub mod style;
pub mod table;
pub mod time;
pub mod wrap;

pub use style::Style;

/// Characters of an id that a terminal shows; enough to tell memories apart, and to name one by.
pub const ID_SHOWN: usize = 8;

/// An id as a terminal shows it; whole in a pipe.
pub fn id<'a>(id: &'a str, style: &Style) -> &'a str {
    if style.terminal { id.get(..ID_SHOWN).unwrap_or(id) } else { id }
}
