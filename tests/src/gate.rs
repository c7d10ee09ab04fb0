//! A storage whose opening waits until the test lets it: a daemon that is starting for as long as a test needs.
//!
//! Must not know: what is done meanwhile.

use parking_lot::{Condvar, Mutex};
use redb::StorageBackend;
use std::path::Path;
use std::sync::Arc;
use tiro_daemon::store::{BackendFactory, FileFactory};

/// The gate: closed at first, opened once, at the latest when it is dropped.
#[derive(Default)]
pub struct Gate {
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    is_open: Mutex<bool>,
    opened: Condvar,
}

/// The storage behind the gate.
struct Gated(Arc<State>);

impl Gate {
    /// The storage to start a daemon with.
    pub fn backend(&self) -> Arc<dyn BackendFactory> {
        Arc::new(Gated(self.state.clone()))
    }

    /// Lets the store open.
    pub fn open(&self) {
        *self.state.is_open.lock() = true;
        self.state.opened.notify_all();
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.open();
    }
}

impl BackendFactory for Gated {
    fn open(&self, path: &Path) -> std::io::Result<Box<dyn StorageBackend>> {
        let mut is_open = self.0.is_open.lock();
        while !*is_open {
            self.0.opened.wait(&mut is_open);
        }
        FileFactory.open(path)
    }
}
