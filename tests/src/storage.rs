//! Storage that fails on purpose: it records what a power cut could leave, fails at the n-th call, or is slow.
//!
//! Each kind is a `BackendFactory` to open a store with. Must not know: tables, records, the socket.

use parking_lot::Mutex;
use redb::StorageBackend;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;
use tiro_daemon::store::{BackendFactory, FileFactory};

/// Small random numbers from a seed, so that a failing run can be run again.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Numbers that follow from `seed`.
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.draw() >> 11) as usize % bound
    }
}

/// What a recording storage saw.
#[derive(Debug, Clone)]
enum Event {
    Write(u64, Vec<u8>),
    SetLen(u64),
    Sync,
    Acknowledged(u64),
}

/// Records every change of a store file, for images of what a power cut would leave.
#[derive(Debug, Clone, Default)]
pub struct Recorder {
    start: Arc<Mutex<Vec<u8>>>,
    events: Arc<Mutex<Vec<Event>>>,
}

/// What a power cut left, and the newest write that had been acknowledged by then.
pub struct Image {
    /// The file.
    pub bytes: Vec<u8>,
    /// The number given to [`Recorder::acknowledged`] last.
    pub acknowledged: u64,
}

impl Recorder {
    /// Notes that a write was acknowledged.
    pub fn acknowledged(&self, number: u64) {
        self.events.lock().push(Event::Acknowledged(number));
    }

    /// An image of the file after a power cut at a random moment: everything up to the last sync that was honoured, and a random
    /// half of the later changes, some of them torn at 512 bytes. `syncs_lost` is how many syncs before the cut were not honoured
    /// (0 on an honest disk).
    pub fn power_cut(&self, random: &mut Random, syncs_lost: usize) -> Image {
        let events = self.events.lock();
        let cut = random.below(events.len() + 1);
        let syncs: Vec<usize> = (0..cut).filter(|at| matches!(events[*at], Event::Sync)).collect();
        let durable = syncs.len().checked_sub(syncs_lost + 1).map_or(0, |kept| syncs[kept]);
        let mut bytes = self.start.lock().clone();
        let mut acknowledged = 0;
        for (at, event) in events[..cut].iter().enumerate() {
            let kept = at < durable || random.below(2) == 0;
            match event {
                Event::Acknowledged(number) => acknowledged = *number,
                Event::SetLen(len) if kept => bytes.resize(*len as usize, 0),
                Event::Write(offset, data) if at < durable => put(&mut bytes, *offset as usize, data),
                Event::Write(offset, data) if kept => tear(&mut bytes, *offset as usize, data, random),
                _ => {}
            }
        }
        Image { bytes, acknowledged }
    }
}

fn put(bytes: &mut Vec<u8>, at: usize, data: &[u8]) {
    if bytes.len() < at + data.len() {
        bytes.resize(at + data.len(), 0);
    }
    bytes[at..at + data.len()].copy_from_slice(data);
}

/// Writes all of the data, or, one time in four, a random half of its sectors.
fn tear(bytes: &mut Vec<u8>, at: usize, data: &[u8], random: &mut Random) {
    let torn = random.below(4) == 0;
    for (sector, part) in data.chunks(512).enumerate() {
        if !torn || random.below(2) == 0 {
            put(bytes, at + sector * 512, part);
        }
    }
}

impl BackendFactory for Recorder {
    fn open(&self, path: &Path) -> io::Result<Box<dyn StorageBackend>> {
        *self.start.lock() = std::fs::read(path)?;
        self.events.lock().clear();
        let inner = FileFactory.open(path)?;
        let events = Arc::clone(&self.events);
        Ok(Box::new(Watched {
            inner,
            watch: move |call: Call<'_>| {
                match call {
                    Call::Write(offset, data) => events.lock().push(Event::Write(offset, data.to_vec())),
                    Call::SetLen(len) => events.lock().push(Event::SetLen(len)),
                    Call::Sync => events.lock().push(Event::Sync),
                    Call::Read => {}
                }
                Ok(())
            },
        }))
    }
}

/// Fails one call, or every call from one on, of those that change the file.
#[derive(Debug, Clone)]
pub struct FailAt {
    /// Calls left before the one that fails; negative when it is past.
    countdown: Arc<AtomicI64>,
    /// Calls seen.
    calls: Arc<AtomicU64>,
    goes_on: Arc<AtomicBool>,
    kind: io::ErrorKind,
}

impl FailAt {
    /// Fails the `nth` call (from 0) once armed with [`FailAt::arm`]; with this kind of error.
    pub fn new(kind: io::ErrorKind) -> Self {
        FailAt {
            countdown: Arc::new(AtomicI64::new(i64::MAX)),
            calls: Arc::new(AtomicU64::new(0)),
            goes_on: Arc::new(AtomicBool::new(false)),
            kind,
        }
    }

    /// From now on the `nth` call (from 0) fails; all after it too when `goes_on`.
    pub fn arm(&self, nth: u64, goes_on: bool) {
        self.goes_on.store(goes_on, Ordering::SeqCst);
        self.countdown.store(i64::try_from(nth).unwrap_or(i64::MAX), Ordering::SeqCst);
    }

    /// No call fails any more. True when one had failed since it was armed.
    pub fn disarm(&self) -> bool {
        self.countdown.swap(i64::MAX, Ordering::SeqCst) < 0
    }

    /// Changing calls seen.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::SeqCst)
    }
}

impl BackendFactory for FailAt {
    fn open(&self, path: &Path) -> io::Result<Box<dyn StorageBackend>> {
        let inner = FileFactory.open(path)?;
        let this = self.clone();
        Ok(Box::new(Watched {
            inner,
            watch: move |call: Call<'_>| {
                if matches!(call, Call::Read) {
                    return Ok(());
                }
                this.calls.fetch_add(1, Ordering::SeqCst);
                let left = this.countdown.fetch_sub(1, Ordering::SeqCst);
                if left == 0 || (left < 0 && this.goes_on.load(Ordering::SeqCst)) {
                    return Err(io::Error::new(this.kind, "a fault put in by a test"));
                }
                Ok(())
            },
        }))
    }
}

/// Adds a time to every sync, and counts them.
#[derive(Debug, Clone)]
pub struct SlowSync {
    added: Duration,
    syncs: Arc<AtomicU64>,
}

impl SlowSync {
    /// Adds this time.
    pub fn new(added: Duration) -> Self {
        SlowSync { added, syncs: Arc::new(AtomicU64::new(0)) }
    }

    /// Syncs seen.
    pub fn syncs(&self) -> u64 {
        self.syncs.load(Ordering::SeqCst)
    }
}

impl BackendFactory for SlowSync {
    fn open(&self, path: &Path) -> io::Result<Box<dyn StorageBackend>> {
        let inner = FileFactory.open(path)?;
        let this = self.clone();
        Ok(Box::new(Watched {
            inner,
            watch: move |call: Call<'_>| {
                if matches!(call, Call::Sync) {
                    this.syncs.fetch_add(1, Ordering::SeqCst);
                    std::thread::sleep(this.added);
                }
                Ok(())
            },
        }))
    }
}

/// A call that goes through.
enum Call<'a> {
    Read,
    Write(u64, &'a [u8]),
    SetLen(u64),
    Sync,
}

/// A storage whose calls are shown to a closure first, which may fail them.
struct Watched<W> {
    inner: Box<dyn StorageBackend>,
    watch: W,
}

impl<W> std::fmt::Debug for Watched<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watched")
    }
}

impl<W: Fn(Call<'_>) -> io::Result<()> + Send + Sync + 'static> StorageBackend for Watched<W> {
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        (self.watch)(Call::Read)?;
        self.inner.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        (self.watch)(Call::SetLen(len))?;
        self.inner.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        (self.watch)(Call::Sync)?;
        self.inner.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        (self.watch)(Call::Write(offset, data))?;
        self.inner.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.inner.close()
    }
}
