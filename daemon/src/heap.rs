//! The C library's heap, kept small.
//!
//! Must not know: what is allocated.
#![allow(unsafe_code)] // mallopt and malloc_trim are calls of the C library on integers; there is no safe form of them.

use crate::limits::HEAP_ARENAS_MAX;

/// Bounds the number of arenas. By itself glibc makes eight for every core, and what a burst of work left free in one cannot serve
/// another: 100,000 memories written in a row cost 370 MiB instead of 290. To be called before threads are started; elsewhere than
/// with glibc it does nothing.
pub fn bound() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: no other thread runs yet, and both arguments are plain integers that glibc documents.
    unsafe {
        nix::libc::mallopt(nix::libc::M_ARENA_MAX, HEAP_ARENAS_MAX);
    }
}

/// Gives the system back what a large piece of work has freed, such as a model that was loaded. Takes some milliseconds; elsewhere than
/// with glibc it does nothing.
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: any thread may call it at any time; the argument is the number of bytes to leave at the end of the heap.
    unsafe {
        nix::libc::malloc_trim(0);
    }
}
