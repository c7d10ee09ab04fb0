//! Writes a snapshot: the state is copied under a read lock (documents share their tokens, so the copy is small), everything else
//! happens outside it. It must not know how a snapshot is read.

use super::bytes::Sink;
use super::manifest::Manifest;
use super::{
    FLAG_ASKS, FLAG_KNOWN, FLAG_PINNED, FLAG_REPLY, FLAG_UNSPACED, FLAG_VALIDITY, GENERATION, MAGIC, MANIFEST_FILE, STATE_FILE,
    TEMPORARY,
};
use crate::settings::Identity;
use crate::state::State;
use crate::state::slot::Slot;
use crate::state::space::Space;
use parking_lot::RwLock;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes a snapshot into `dir` and removes older ones. Gives the sequence it stands for, or `None` when the state is not whole yet.
pub(crate) fn write(dir: &Path, identity: &Identity, state: &RwLock<State>) -> io::Result<Option<u64>> {
    let (seq, documents, changes, spaces) = {
        let state = state.read();
        if !state.loaded {
            return Ok(None);
        }
        let spaces: Vec<(u32, Space)> = state.spaces.iter().map(|(&number, space)| (number, space.clone())).collect();
        (state.seq, state.len(), state.changes, spaces)
    };
    let temporary = dir.join(format!("{TEMPORARY}{seq}"));
    remove(&temporary)?;
    fs::create_dir_all(&temporary)?;
    let result = write_files(&temporary, identity, seq, documents, &spaces).and_then(|()| {
        let name = format!("{GENERATION}{seq}");
        remove(&dir.join(&name))?;
        fs::rename(&temporary, dir.join(&name))?;
        File::open(dir)?.sync_all()?;
        Ok(name)
    });
    match result {
        Ok(name) => {
            if let Err(error) = remove_others(dir, &name) {
                tracing::warn!(%error, "an old snapshot could not be removed");
            }
            let mut state = state.write();
            state.changes = state.changes.saturating_sub(changes);
            state.snapshot_seq = seq;
            Ok(Some(seq))
        }
        Err(error) => {
            let _ = remove(&temporary);
            Err(error)
        }
    }
}

fn write_files(folder: &Path, identity: &Identity, seq: u64, documents: usize, spaces: &[(u32, Space)]) -> io::Result<()> {
    let mut sink = Sink::new(BufWriter::with_capacity(1 << 18, File::create(folder.join(STATE_FILE))?));
    sink.raw(MAGIC)?;
    sink.raw(&(spaces.len() as u32).to_le_bytes())?;
    let mut row = Vec::new();
    for (number, space) in spaces {
        sink.raw(&number.to_le_bytes())?;
        sink.raw(&(space.len() as u32).to_le_bytes())?;
        for (at, slot) in space.iter() {
            row.clear();
            encode(at, slot, &mut row);
            sink.raw(&row)?;
        }
        sink.raw(&(space.vectors.byte_len() as u64).to_le_bytes())?;
        space.vectors.write_to(&mut |piece| sink.raw(piece))?;
        sink.raw(&(space.statistics.frequencies.len() as u32).to_le_bytes())?;
        row.clear();
        for (token, frequency) in &space.statistics.frequencies {
            row.extend_from_slice(&token.to_le_bytes());
            row.extend_from_slice(&frequency.to_le_bytes());
        }
        sink.raw(&row)?;
    }
    let (file, bytes, checksum) = sink.finish();
    file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
    let manifest = Manifest::of(identity, seq, documents, bytes, checksum);
    let mut file = File::create(folder.join(MANIFEST_FILE))?;
    file.write_all(&serde_json::to_vec_pretty(&manifest)?)?;
    file.sync_all()?;
    File::open(folder)?.sync_all()
}

/// One document: where it stands, its numbers, its span of validity and what is known of its time where it has them (its
/// flags say so), its labels, its tokens.
fn encode(at: u32, slot: &Slot, out: &mut Vec<u8>) {
    let facets = slot.facets;
    out.extend_from_slice(&at.to_le_bytes());
    out.extend_from_slice(&[facets.status as u8, facets.kind, facets.category, flags(slot)]);
    for number in [slot.key, slot.seq, slot.position, slot.thread] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    for time in [slot.created_at_ms, slot.occurred_at_ms, slot.last_used_at_ms] {
        out.extend_from_slice(&time.to_le_bytes());
    }
    if let Some(validity) = &slot.validity {
        out.extend_from_slice(&validity.from_ms.to_le_bytes());
        out.extend_from_slice(&validity.to_ms.to_le_bytes());
    }
    for time in slot.known.iter().flat_map(|known| [known.told.0, known.told.1, known.held.0, known.held.1]) {
        out.extend_from_slice(&time.to_le_bytes());
    }
    let labels = slot.labels.as_deref().unwrap_or_default();
    for number in [
        slot.name,
        slot.use_count,
        slot.importance.to_bits(),
        labels.len() as u32,
        slot.tokens.ids().len() as u32,
        slot.tokens.length(),
    ] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    labels.iter().for_each(|label| out.extend_from_slice(&label.to_le_bytes()));
    slot.tokens.words().iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
}

/// The small truths of a document, one bit each.
fn flags(slot: &Slot) -> u8 {
    let facets = slot.facets;
    let bits = [
        (facets.pinned, FLAG_PINNED),
        (facets.reply, FLAG_REPLY),
        (facets.asks, FLAG_ASKS),
        (slot.validity.is_some(), FLAG_VALIDITY),
        (facets.unspaced, FLAG_UNSPACED),
        (slot.known.is_some(), FLAG_KNOWN),
    ];
    bits.into_iter().filter(|(set, _)| *set).fold(0, |flags, (_, bit)| flags | bit)
}

/// Removes every snapshot and leftover but that of a sequence.
pub(crate) fn keep_only(dir: &Path, seq: u64) -> io::Result<()> {
    remove_others(dir, &format!("{GENERATION}{seq}"))
}

/// Removes every snapshot and leftover but one.
fn remove_others(dir: &Path, keep: &str) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name != keep && (name.starts_with(GENERATION) || name.starts_with(TEMPORARY)) {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

/// Removes a folder or a file of that name, if there is one.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
    }
}
