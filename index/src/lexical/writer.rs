//! Writes batches to the full-text index and checks that they arrived. It must not know where batches come from, nor what
//! happens after a failure.

use super::open::Opened;
use super::reader::Reader;
use super::schema::{Payload, push_term};
use crate::limits::LEXICAL_WRITER_BYTES;
use crate::state::Batch;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy, NoMergePolicy};
use tantivy::{IndexWriter, TantivyDocument, Term};

/// Share of deleted documents above which a segment is merged by itself.
const DELETED_SHARE_MAX: f32 = 0.2;

/// The full-text index, for writing.
pub(crate) struct Writer {
    opened: Opened,
    writer: Option<IndexWriter>,
    /// Documents that the last commit holds.
    documents: u64,
}

impl Writer {
    /// Takes over an open index.
    pub(super) fn new(opened: Opened) -> Self {
        let documents = opened.reader.documents();
        Self { opened, writer: None, documents }
    }

    /// Gives the memory of the writer back until the next batch.
    pub(super) fn rest(&mut self) {
        self.writer = None;
    }

    /// Merges every segment that holds deleted documents into one without them. Gives a reader on what is left; the files of before
    /// go with [`Writer::collect`], once nobody reads them. After an error this writer must not be used again.
    pub(super) fn merge_deleted(&mut self, seq: u64) -> Result<Arc<Reader>, String> {
        catch_unwind(AssertUnwindSafe(|| self.merge_and_check(seq)))
            .map_err(|_| "merging panicked".to_owned())?
            .map_err(|error| error.to_string())
    }

    fn merge_and_check(&mut self, seq: u64) -> tantivy::Result<Arc<Reader>> {
        // Merges under way would hold segments; a new writer begins without any and, by its policy, begins none.
        if let Some(writer) = self.writer.take() {
            writer.wait_merging_threads()?;
        }
        let mut writer = self.quiet_writer()?;
        let metas = self.opened.index.load_metas()?;
        let with_deleted: Vec<_> =
            metas.segments.iter().filter(|segment| segment.has_deletes()).map(tantivy::SegmentMeta::id).collect();
        drop(metas);
        if !with_deleted.is_empty() {
            writer.merge(&with_deleted).wait()?;
        }
        writer.wait_merging_threads()?;
        self.opened.readers.reload()?;
        let reader = Reader::new(self.opened.readers.searcher(), self.opened.fields, seq)?;
        if reader.documents() != self.documents {
            return Err(failure(format!("{} documents are left of {} by a merge", reader.documents(), self.documents)));
        }
        Ok(Arc::new(reader))
    }

    /// Deletes files that no commit and no reader needs.
    pub(super) fn collect(&mut self) -> Result<(), String> {
        let collect = || {
            let writer = self.quiet_writer()?;
            writer.garbage_collect_files().wait()?;
            writer.wait_merging_threads()
        };
        catch_unwind(AssertUnwindSafe(collect))
            .map_err(|_| "deleting files panicked".to_owned())?
            .map_err(|error: tantivy::TantivyError| error.to_string())
    }

    /// A writer that merges nothing by itself. There must be no other.
    fn quiet_writer(&self) -> tantivy::Result<IndexWriter> {
        let options = IndexWriterOptions::builder()
            .num_worker_threads(1)
            .num_merge_threads(1)
            .memory_budget_per_thread(LEXICAL_WRITER_BYTES)
            .build();
        let writer: IndexWriter = self.opened.index.writer_with_options(options)?;
        writer.set_merge_policy(Box::new(NoMergePolicy));
        Ok(writer)
    }

    /// Writes and commits a batch; gives a reader that is known to hold it. After an error, or a panic inside, this writer must not
    /// be used again.
    pub(super) fn write(&mut self, batch: &Batch, payload: &Payload) -> Result<Arc<Reader>, String> {
        catch_unwind(AssertUnwindSafe(|| self.write_and_check(batch, payload)))
            .map_err(|_| "writing panicked".to_owned())?
            .map_err(|error| error.to_string())
    }

    fn write_and_check(&mut self, batch: &Batch, payload: &Payload) -> tantivy::Result<Arc<Reader>> {
        let fields = self.opened.fields;
        if self.writer.is_none() {
            let options = IndexWriterOptions::builder()
                .num_worker_threads(1)
                .num_merge_threads(1)
                .memory_budget_per_thread(LEXICAL_WRITER_BYTES)
                .build();
            let writer: IndexWriter = self.opened.index.writer_with_options(options)?;
            let mut policy = LogMergePolicy::default();
            policy.set_del_docs_ratio_before_merge(DELETED_SHARE_MAX);
            writer.set_merge_policy(Box::new(policy));
            // The first operation of a new writer has the stamp of the last commit (`IndexWriter::new` starts its counter there), so that a merge
            // which is under way takes a deletion with that stamp for one it has seen, and brings the document back. A key that is never
            // used takes the blow.
            writer.delete_term(Term::from_field_u64(fields.key, u64::MAX));
            self.writer = Some(writer);
        }
        let writer = self.writer.as_mut().ok_or_else(|| failure("no writer".to_owned()))?;
        for &key in &batch.removals {
            writer.delete_term(Term::from_field_u64(fields.key, key));
        }
        let mut text = String::new();
        for added in &batch.additions {
            if added.replaces {
                writer.delete_term(Term::from_field_u64(fields.key, added.key));
            }
            text.clear();
            for (token, count) in added.tokens.iter() {
                for _ in 0..count {
                    push_term(&mut text, added.space, token);
                    text.push(' ');
                }
            }
            let mut document = TantivyDocument::default();
            document.add_text(fields.terms, &text);
            document.add_u64(fields.key, added.key);
            document.add_u64(fields.seq, added.seq);
            writer.add_document(document)?;
        }
        let mut prepared = writer.prepare_commit()?;
        prepared.set_payload(&payload.to_text());
        prepared.commit()?;
        self.check(batch, payload)
    }

    /// Reads back what was committed: a full disk can lose documents without an error.
    fn check(&mut self, batch: &Batch, payload: &Payload) -> tantivy::Result<Arc<Reader>> {
        let written = self.opened.index.load_metas()?.payload;
        if written.as_deref().and_then(Payload::parse).as_ref() != Some(payload) {
            return Err(failure("the commit cannot be read back".to_owned()));
        }
        self.opened.readers.reload()?;
        let reader = Reader::new(self.opened.readers.searcher(), self.opened.fields, payload.seq)?;
        let added = batch.additions.iter().filter(|added| !added.replaces).count() as u64;
        let expected = (self.documents + added).saturating_sub(batch.removals.len() as u64);
        if reader.documents() != expected {
            return Err(failure(format!("{} documents where {expected} were committed", reader.documents())));
        }
        self.documents = expected;
        Ok(Arc::new(reader))
    }
}

fn failure(message: String) -> tantivy::TantivyError {
    tantivy::TantivyError::InternalError(message)
}
