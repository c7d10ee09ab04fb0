//! Reads a snapshot. Nothing is believed before the checksum of the whole file matched, and every length is checked even then.
//! It must not know how a snapshot is written.

use super::bytes::Source;
use super::manifest::Manifest;
use super::write::remove;
use super::{
    FLAG_ASKS, FLAG_KNOWN, FLAG_PINNED, FLAG_REPLY, FLAG_UNSPACED, FLAG_VALIDITY, GENERATION, MAGIC, MANIFEST_FILE, STATE_FILE,
    TEMPORARY,
};
use crate::document::Status;
use crate::limits::SPACE_SLOTS_MAX;
use crate::settings::Identity;
use crate::state::State;
use crate::state::slot::{Facets, Known, Lexical, Slot, Validity};
use crate::state::space::Space;
use crate::state::tokens::Tokens;
use crate::vector::Block;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What was found.
pub(crate) struct Loaded {
    /// The state, empty when there was nothing to trust.
    pub(crate) state: State,
    /// Why snapshots were removed, one line each.
    pub(crate) removed: Vec<String>,
}

/// Loads the newest snapshot that fits; removes every other.
pub(crate) fn load(dir: &Path, identity: &Identity, store_seq: u64) -> Loaded {
    let mut removed = Vec::new();
    let mut loaded = None;
    for (name, path) in generations(dir, &mut removed) {
        if loaded.is_some() {
            let _ = remove(&path);
            continue;
        }
        match read(&path, identity, store_seq) {
            Ok(state) => loaded = Some(state),
            Err(reason) => {
                removed.push(format!("snapshot {name}: {reason}"));
                let _ = remove(&path);
            }
        }
    }
    Loaded { state: loaded.unwrap_or_else(|| State::new(identity.dim)), removed }
}

/// Snapshots, newest first; leftovers of unfinished ones are removed.
fn generations(dir: &Path, removed: &mut Vec<String>) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(TEMPORARY) {
            let _ = remove(&entry.path());
        } else if let Some(seq) = name.strip_prefix(GENERATION) {
            match seq.parse::<u64>() {
                Ok(seq) => found.push((seq, name, entry.path())),
                Err(_) => {
                    removed.push(format!("snapshot {name}: its name has no sequence"));
                    let _ = remove(&entry.path());
                }
            }
        }
    }
    found.sort_unstable_by_key(|generation| std::cmp::Reverse(generation.0));
    found.into_iter().map(|(_, name, path)| (name, path)).collect()
}

fn read(folder: &Path, identity: &Identity, store_seq: u64) -> Result<State, String> {
    let text = fs::read(folder.join(MANIFEST_FILE)).map_err(|error| format!("its manifest cannot be read: {error}"))?;
    let manifest: Manifest = serde_json::from_slice(&text).map_err(|error| format!("its manifest is damaged: {error}"))?;
    if let Some(reason) = manifest.unfit(identity, store_seq) {
        return Err(reason.to_owned());
    }
    let path = folder.join(STATE_FILE);
    let length = fs::metadata(&path).map_err(|error| format!("its state cannot be read: {error}"))?.len();
    if length != manifest.bytes {
        return Err(format!("its state is {length} bytes long where {} were written", manifest.bytes));
    }
    let bytes = fs::read(&path).map_err(|error| format!("its state cannot be read: {error}"))?;
    if format!("{:016x}", xxhash_rust::xxh3::xxh3_64(&bytes)) != manifest.checksum {
        return Err("the checksum of its state does not match".to_owned());
    }
    let mut state = decode(&bytes, identity.dim).ok_or("its state contradicts itself")?;
    if state.len() != manifest.documents {
        return Err("its state holds another number of documents than its manifest says".to_owned());
    }
    state.seq = manifest.seq;
    state.snapshot_seq = manifest.seq;
    Ok(state)
}

fn decode(bytes: &[u8], dim: usize) -> Option<State> {
    let mut source = Source::new(bytes);
    (source.raw(MAGIC.len())? == MAGIC).then_some(())?;
    let mut state = State::new(dim);
    for _ in 0..source.u32()? {
        let number = source.u32()?;
        let documents = source.u32()?;
        let mut slots: Vec<Option<Slot>> = Vec::new();
        for _ in 0..documents {
            let (at, slot) = decode_slot(&mut source)?;
            let at = at as usize;
            if at < slots.len() || at >= SPACE_SLOTS_MAX {
                return None;
            }
            slots.resize(at, None);
            slots.push(Some(slot));
        }
        let length = usize::try_from(source.u64()?).ok()?;
        let vectors = Block::from_bytes(source.raw(length)?).ok().filter(|vectors| vectors.dimension() == dim)?;
        let tokens = source.u32()? as usize;
        let pairs = source.u32s(tokens.checked_mul(2)?)?;
        let frequencies = pairs.as_chunks::<2>().0.iter().map(|&[token, frequency]| (token, frequency));
        state.adopt(number, Space::from_parts(slots, vectors, frequencies));
    }
    source.is_empty().then_some(state)
}

fn decode_slot(source: &mut Source<'_>) -> Option<(u32, Slot)> {
    let at = source.u32()?;
    let &[status, kind, category, flags] = source.raw(4)? else { return None };
    let facets = Facets {
        status: Status::from_code(status)?,
        kind,
        category,
        pinned: flags & FLAG_PINNED != 0,
        reply: flags & FLAG_REPLY != 0,
        asks: flags & FLAG_ASKS != 0,
        unspaced: flags & FLAG_UNSPACED != 0,
    };
    let (key, seq, position, thread) = (source.u64()?, source.u64()?, source.u64()?, source.u64()?);
    let (created_at_ms, occurred_at_ms, last_used_at_ms) = (source.i64()?, source.i64()?, source.i64()?);
    let validity = match flags & FLAG_VALIDITY {
        0 => None,
        _ => Some(Arc::new(Validity { from_ms: source.i64()?, to_ms: source.i64()? })),
    };
    let known = match flags & FLAG_KNOWN {
        0 => None,
        _ => Some(Arc::new(Known { told: (source.i64()?, source.i64()?), held: (source.i64()?, source.i64()?) })),
    };
    let (name, use_count, importance) = (source.u32()?, source.u32()?, f32::from_bits(source.u32()?));
    let (labels, distinct, length) = (source.u32()? as usize, source.u32()?, source.u32()?);
    let labels = source.u64s(labels)?;
    let words = source.u32s((distinct as usize).checked_add((distinct as usize).div_ceil(4))?)?;
    let slot = Slot {
        key,
        seq,
        created_at_ms,
        occurred_at_ms,
        last_used_at_ms,
        position,
        thread,
        name,
        tokens: Tokens::from_words(&words, distinct, length)?,
        labels: (!labels.is_empty()).then(|| labels.into()),
        validity,
        known,
        use_count,
        importance,
        facets,
        lexical: Lexical::Absent,
    };
    Some((at, slot))
}
