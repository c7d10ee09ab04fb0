//! What the leg reads from the store and writes into it: which memories lack their vectors, and the vectors themselves.
//!
//! Must not know: when it is done, or how the model is asked.

use super::follow::Wanted;
use crate::limits::{EMBED_BATCH_CHARS_MAX, EMBED_REMOVED_ROWS, EMBED_SCAN_MEMORIES, EMBED_TEXT_CHARS_MAX};
use crate::memory::documents::{index_key, said};
use crate::memory::passages::passages;
use crate::memory::{Memory, MemoryError};
use crate::store::{ModelReads, ReadTx, Reads, StoreError};
use std::ops::ControlFlow;
use tiro_index::vector::admit;
use tiro_schema::convert::STATUS_FORGOTTEN;
use tiro_schema::record::MemoryRecord;

/// A vector let in at the door: finite, of this length, of norm 1.
pub(super) fn checked(vector: Vec<f32>, dimension: usize) -> Result<Vec<f32>, String> {
    let mut vector = admit(vector, dimension).map_err(|error| format!("refused at the door: {error}"))?;
    let norm = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
    vector.iter_mut().for_each(|x| *x = (f64::from(*x) / norm) as f32);
    Ok(vector)
}

/// What a look at some memories found.
#[derive(Debug, Default)]
pub(super) struct Look {
    /// Those that lack vectors, as many as one call takes.
    pub wanted: Vec<Wanted>,
    /// Vectors that the store has: key in the index, sequence, vector.
    pub there: Vec<(u64, u64, Vec<f32>)>,
    /// The last memory looked at, if any was.
    pub last: Option<u64>,
    texts: usize,
    chars: usize,
}

impl Look {
    fn is_full(&self, texts_max: usize) -> bool {
        self.texts >= texts_max || self.chars >= EMBED_BATCH_CHARS_MAX
    }

    fn at(&mut self, tx: &ReadTx, model: u32, record: MemoryRecord) -> Result<(), StoreError> {
        self.last = Some(record.key);
        if record.status == STATUS_FORGOTTEN {
            return Ok(());
        }
        let ranges = passages(&record.text);
        let vectors = tx.model_vectors(model, record.key, record.vector_version)?;
        if vectors.len() == ranges.len() {
            let keyed = vectors.into_iter().enumerate();
            self.there.extend(keyed.map(|(n, vector)| (index_key(record.key, n), record.seq, vector)));
            return Ok(());
        }
        let source = record.sources.first();
        let short = |text: &str| text.chars().take(EMBED_TEXT_CHARS_MAX).collect::<String>();
        let texts: Vec<String> = ranges.into_iter().map(|range| short(&said(source, &record.text[range]))).collect();
        self.texts += texts.len();
        self.chars += texts.iter().map(String::len).sum::<usize>();
        self.wanted.push(Wanted { key: record.key, version: record.vector_version, texts });
        Ok(())
    }
}

impl Memory {
    /// Looks at memories from a key on.
    pub(super) async fn look_from(&self, model: u32, from: u64, texts_max: usize) -> Result<Look, MemoryError> {
        self.blocking(move |memory| {
            let mut look = Look::default();
            let mut seen = 0;
            memory.store().read(|tx| {
                tx.all_memories(from, &mut |record| {
                    look.at(tx, model, record)?;
                    seen += 1;
                    let full = seen >= EMBED_SCAN_MEMORIES || look.is_full(texts_max);
                    Ok(if full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
                })
            })?;
            Ok(look)
        })
        .await
    }

    /// Looks at these memories.
    pub(super) async fn look_at(&self, model: u32, keys: Vec<u64>) -> Result<Look, MemoryError> {
        self.blocking(move |memory| {
            let mut look = Look::default();
            memory.store().read(|tx| {
                for key in keys {
                    if let Some(record) = tx.memory(key)? {
                        look.at(tx, model, record)?;
                    }
                }
                Ok::<_, StoreError>(())
            })?;
            Ok(look)
        })
        .await
    }

    /// Keeps vectors and tells the index of them. What changed or went since they were asked for is passed over.
    pub(super) async fn keep_model_vectors(&self, model: u32, made: Vec<(Wanted, Vec<Vec<f32>>)>) -> Result<(), MemoryError> {
        let memory = self.clone();
        let written = self.store().write("keep a model's vectors", move |tx| {
            if tx.embedder_in_use()? != Some(model) {
                return Ok(());
            }
            let mut told = Vec::new();
            for (wanted, vectors) in &made {
                let Some(record) = tx.memory(wanted.key)? else { continue };
                if record.status == STATUS_FORGOTTEN || record.vector_version != wanted.version {
                    continue;
                }
                tx.put_model_vectors(model, wanted.key, wanted.version, vectors)?;
                told.extend(vectors.iter().enumerate().map(|(n, vector)| (index_key(record.key, n), record.seq, vector.clone())));
            }
            let memory = memory.clone();
            tx.after_commit(Box::new(move || memory.index().put_model_vectors(&told)));
            Ok::<_, MemoryError>(())
        });
        Ok(written.await?)
    }

    /// Takes out what models other than this one left. Ends early when it is told to stop.
    pub(super) async fn remove_other_models(&self, keep: Option<u32>) -> Result<(), MemoryError> {
        let all = self.store().read(|tx| tx.embedders())?;
        for (number, record) in all.into_iter().filter(|(number, _)| Some(*number) != keep) {
            tracing::info!(model = record.id, "removing the vectors of a model that is not used any more");
            while self
                .store()
                .write("remove a model's vectors", move |tx| {
                    if tx.embedder_in_use()? == Some(number) {
                        return Ok(false);
                    }
                    tx.remove_embedder(number, EMBED_REMOVED_ROWS).map_err(MemoryError::from)
                })
                .await?
            {}
        }
        Ok(())
    }

    /// From now on the built-in table serves alone; what models left is removed.
    pub(super) async fn use_no_model(&self) -> Result<(), MemoryError> {
        if self.store().read(|tx| tx.embedders())?.is_empty() {
            return Ok(());
        }
        self.store().write("use no model", |tx| tx.use_no_embedder().map_err(MemoryError::from)).await?;
        self.remove_other_models(None).await
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    // M27
    #[test]
    fn what_enters_has_norm_one_whatever_the_model_gave() {
        for given in [vec![3.0, 4.0], vec![0.03, 0.04], vec![f32::MAX, f32::MAX]] {
            let norm: f32 = checked(given, 2).unwrap().iter().map(|x| x * x).sum();
            assert!((norm - 1.0).abs() < 1e-5);
        }
        for bad in [vec![f32::NAN, 1.0], vec![f32::INFINITY, 1.0], vec![0.0, 0.0], vec![1.0], vec![]] {
            assert!(checked(bad, 2).unwrap_err().starts_with("refused at the door"));
        }
    }
}
