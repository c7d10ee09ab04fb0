//! Exact vector search: contiguous int8 rows of one space, scanned whole. This is the default path and the oracle of the approximate one.
//! It must not know texts, models or files.

mod block;
mod bytes;
mod codes;
mod door;
mod kernels;
mod top;

pub use block::Block;
pub use bytes::BlockBytesError;
pub use door::{VectorError, admit, check_vector};
pub use kernels::dot;

pub(crate) use codes::{encode, row_len};
pub(crate) use kernels::{add_codes, dot_codes};
