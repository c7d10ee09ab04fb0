//! What tools answered, kept whole beside the messages: written with the step it belongs to, read by parts, found by words and by time.
//!
//! A result is named by its session and its number there; a model reads `r3`, others `<session>:r3`. Short results stand in their messages and
//! are found there. What memories gave out is not found here: it has its own verbs, which know what was forgotten. Must not know: what of a
//! result a model reads.

use super::rows::{content, id_text};
use super::verbs::find;
use super::{SessionError, Sessions};
use crate::clock;
use crate::limits;
use crate::store::{Direction, SessionReads, StoreError, WriteTx};
use serde_json::Value;
use tiro_index::tokenize::{analyse, query_tokens, token_id};
use tiro_schema::record::{ResultPartRecord, ResultRecord, SessionRecord};
use tiro_schema::wire::Open;
use tiro_schema::wire::results::{
    ResultFormat, ResultGetParams, ResultPassage, ResultRange, ResultSearchParams, ResultSearchResult, StoredResult,
};
use tiro_schema::wire::session::ContentBlock;

/// A result to keep.
#[derive(Debug, Clone)]
pub struct NewResult {
    /// Its number in the session.
    pub number: u64,
    /// The call it answers and the tool; empty for what a person pasted.
    pub call_id: String,
    /// The tool.
    pub tool: String,
    /// Whether it is JSON.
    pub is_json: bool,
    /// Whether the tool failed.
    pub is_error: bool,
    /// Tokens, estimated.
    pub tokens: u32,
    /// One line about it.
    pub brief: String,
    /// The whole.
    pub text: String,
}

/// What a reference names.
pub fn reference(session_id: &str, number: u64) -> String {
    format!("{session_id}:r{number}")
}

/// The session and the number that a reference names.
pub fn parse_reference(text: &str) -> Option<(&str, u64)> {
    let (session, number) = text.trim().rsplit_once(':')?;
    Some((session, parse_number(number)?))
}

/// The number that a model's own reference names: `r3`.
pub fn parse_number(text: &str) -> Option<u64> {
    text.trim().strip_prefix('r')?.parse().ok()
}

/// Writes results with their turn.
pub(super) fn put(tx: &mut WriteTx, session: u64, turn: [u8; 16], results: &[NewResult]) -> Result<(), StoreError> {
    let now_ms = tx.now_ms();
    for result in results {
        let parts = parts_of(&result.text);
        let record = ResultRecord {
            number: result.number,
            turn,
            call_id: result.call_id.clone(),
            tool: result.tool.clone(),
            format: u8::from(result.is_json),
            is_error: result.is_error,
            chars: result.text.chars().count() as u64,
            tokens: u64::from(result.tokens),
            parts: u32::try_from(parts.len()).unwrap_or(u32::MAX),
            brief: result.brief.clone(),
            created_at_ms: now_ms,
        };
        tx.put_result(session, &record)?;
        for (part, text) in (0..).zip(parts) {
            tx.put_result_part(session, result.number, part, &ResultPartRecord { text: text.to_owned() })?;
        }
    }
    Ok(())
}

/// A text in parts of [`limits::RESULT_PART_CHARS`], at least one.
fn parts_of(text: &str) -> Vec<&str> {
    let mut bounds: Vec<usize> = text.char_indices().step_by(limits::RESULT_PART_CHARS).map(|(at, _)| at).collect();
    if bounds.is_empty() {
        bounds.push(0);
    }
    bounds.push(text.len());
    bounds.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect()
}

impl Sessions {
    /// The number of the next result of a session.
    ///
    /// # Errors
    /// The store's.
    pub fn next_result(&self, session: u64) -> Result<u64, SessionError> {
        Ok(self.store.read(|tx| tx.results(session, 0..=u64::MAX, Direction::Descending, 1))?.first().map_or(1, |r| r.number + 1))
    }

    /// The newest results of a session, newest first.
    ///
    /// # Errors
    /// The store's.
    pub fn newest_results(&self, session: u64, max: usize) -> Result<Vec<ResultRecord>, SessionError> {
        Ok(self.store.read(|tx| tx.results(session, 0..=u64::MAX, Direction::Descending, max))?)
    }

    /// `result/get`.
    ///
    /// # Errors
    /// A param that does not fit; `NotFound`; the store's.
    pub fn result(&self, params: &ResultGetParams) -> Result<StoredResult, SessionError> {
        self.store.read(|tx| {
            let (session, record) = named(tx, &params.reference)?;
            let session_id = id_text(&session.id);
            let range = params.range.clone().unwrap_or_default();
            let page = match &params.path {
                Some(path) => at_path(&whole(tx, session.key, &record)?, path, &range)?,
                None => stretch(tx, session.key, &record, &range)?,
            };
            Ok(wire(&record, &session_id, page))
        })
    }

    /// What a model's tool reads of a result of its session: a stretch of it, or the value at a path.
    ///
    /// # Errors
    /// A param that does not fit; `NotFound`; the store's.
    pub fn result_part(&self, session: u64, number: u64, path: Option<&str>, range: &ResultRange) -> Result<Page, SessionError> {
        self.store.read(|tx| {
            let record = tx.result(session, number)?.ok_or_else(|| gone(&format!("r{number}")))?;
            match path {
                Some(path) => at_path(&whole(tx, session, &record)?, path, range),
                None => stretch(tx, session, &record, range),
            }
        })
    }

    /// `result/search`.
    ///
    /// # Errors
    /// A param that does not fit; `NotFound`; the store's.
    pub fn search_results(&self, params: &ResultSearchParams) -> Result<ResultSearchResult, SessionError> {
        let limit = match params.limit.unwrap_or(limits::RESULT_PASSAGES_DEFAULT) {
            n if (1..=limits::RESULT_PASSAGES_MAX).contains(&n) => n as usize,
            _ => return Err(SessionError::invalid("limit", format!("between 1 and {}", limits::RESULT_PASSAGES_MAX))),
        };
        let instant = |path, at: &Option<tiro_schema::wire::Timestamp>| match at {
            Some(at) => clock::parse(&at.0).map(|parsed| Some(parsed.0)).map_err(|wrong| SessionError::invalid(path, wrong)),
            None => Ok(None),
        };
        let (after, before) = (instant("after", &params.after)?, instant("before", &params.before)?);
        let query = params.query.as_deref().unwrap_or_default();
        if query.len() > limits::QUERY_BYTES_MAX {
            return Err(SessionError::too_large("query", "queryBytesMax", limits::QUERY_BYTES_MAX));
        }
        self.store.read(|tx| {
            let (session, one) = match (&params.reference, &params.session_id) {
                (Some(reference), _) => named(tx, reference).map(|(session, record)| (session, Some(record)))?,
                (None, Some(session)) => (find(tx, session)?, None),
                (None, None) => return Err(SessionError::invalid("sessionId", "a session or a ref is needed")),
            };
            let is_in = |at_ms: i64| after.is_none_or(|after| at_ms > after) && before.is_none_or(|before| at_ms < before);
            let texts = texts(tx, &session, one, &is_in)?;
            Ok(ResultSearchResult { items: passages(&texts, query, limit) })
        })
    }
}

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Its place, in characters.
    pub from: u64,
    /// The text.
    pub text: String,
    /// Characters of the whole.
    pub chars: u64,
}

impl Page {
    /// Where the next part begins, if there is one.
    pub fn next_from(&self) -> Option<u64> {
        let end = self.from + self.text.chars().count() as u64;
        (end < self.chars).then_some(end)
    }
}

fn wire(record: &ResultRecord, session_id: &str, page: Page) -> StoredResult {
    let next_from = page.next_from();
    StoredResult {
        reference: reference(session_id, record.number),
        session_id: session_id.to_owned(),
        turn_id: id_text(&record.turn),
        call_id: Some(record.call_id.clone()).filter(|id| !id.is_empty()),
        tool: Some(record.tool.clone()).filter(|tool| !tool.is_empty()),
        format: Open::Known(if record.format == 1 { ResultFormat::Json } else { ResultFormat::Text }),
        is_error: record.is_error,
        chars: page.chars,
        tokens: record.tokens,
        created_at: clock::format(record.created_at_ms, None),
        from: page.from,
        text: page.text,
        next_from,
    }
}

fn gone(what: &str) -> SessionError {
    SessionError::NotFound { what: "result", id: what.chars().take(64).collect() }
}

fn named(tx: &impl SessionReads, reference: &str) -> Result<(SessionRecord, ResultRecord), SessionError> {
    let Some((session, number)) = parse_reference(reference) else { return Err(gone(reference)) };
    let session = find(tx, session).map_err(|error| match error {
        // As for one whose session its asker may not read.
        SessionError::NotFound { .. } => gone(reference),
        other => other,
    })?;
    let record = tx.result(session.key, number)?.ok_or_else(|| gone(reference))?;
    Ok((session, record))
}

/// The stored text, whole.
fn whole(tx: &impl SessionReads, session: u64, record: &ResultRecord) -> Result<String, StoreError> {
    let mut text = String::new();
    for part in 0..record.parts {
        text.push_str(&tx.result_part(session, record.number, part)?.text);
    }
    Ok(text)
}

/// A stretch of a stored text; only the parts it lies in are read.
fn stretch(tx: &impl SessionReads, session: u64, record: &ResultRecord, range: &ResultRange) -> Result<Page, SessionError> {
    let (from, to) = bounds(range, record.chars)?;
    let part_chars = limits::RESULT_PART_CHARS as u64;
    let mut text = String::new();
    let mut part = from / part_chars;
    while part * part_chars < to {
        let stored = tx.result_part(session, record.number, u32::try_from(part).unwrap_or(u32::MAX))?.text;
        let begin = from.saturating_sub(part * part_chars);
        let end = (to - part * part_chars).min(part_chars);
        text.extend(stored.chars().skip(begin as usize).take((end - begin) as usize));
        part += 1;
    }
    Ok(Page { from, text, chars: record.chars })
}

/// First and one past the last character of a range, within what one answer holds.
fn bounds(range: &ResultRange, chars: u64) -> Result<(u64, u64), SessionError> {
    let to = range.to.unwrap_or(u64::MAX);
    if to < range.from || range.from > chars {
        return Err(SessionError::invalid("range", format!("from must be at most to and at most {chars}")));
    }
    Ok((range.from, to.min(chars).min(range.from.saturating_add(limits::RESULT_ANSWER_CHARS_MAX))))
}

fn at_path(text: &str, path: &str, range: &ResultRange) -> Result<Page, SessionError> {
    let value: Value = serde_json::from_str(text)
        .map_err(|_| SessionError::invalid("path", "the result is no JSON: use range, or search it"))?;
    let found = value
        .pointer(path)
        .ok_or_else(|| SessionError::invalid("path", format!("there is nothing at {path:?}; {}", told_of(&value, path))))?;
    let text = match found {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let chars = text.chars().count() as u64;
    let (from, to) = bounds(range, chars)?;
    Ok(Page { from, text: text.chars().skip(from as usize).take((to - from) as usize).collect(), chars })
}

/// What there is at the deepest part of a path that exists.
fn told_of(value: &Value, path: &str) -> String {
    let mut known = path;
    while !known.is_empty() {
        known = known.rsplit_once('/').map_or("", |(before, _)| before);
        match value.pointer(known) {
            Some(Value::Object(members)) => {
                let names: Vec<&str> = members.keys().take(20).map(String::as_str).collect();
                return format!("{:?} has {}", known, names.join(", "));
            }
            Some(Value::Array(items)) => return format!("{known:?} has items 0 to {}", items.len().saturating_sub(1)),
            Some(_) => return format!("{known:?} is a value without members"),
            None => {}
        }
    }
    "a path begins with / and names members and item numbers".to_owned()
}

/// A text that is looked through.
struct Source {
    reference: Option<String>,
    call_id: String,
    tool: String,
    turn: [u8; 16],
    at_ms: i64,
    text: String,
}

/// The texts of one result, or of the session's newest, newest first, within what one search reads.
fn texts(
    tx: &impl SessionReads,
    session: &SessionRecord,
    one: Option<ResultRecord>,
    is_in: &dyn Fn(i64) -> bool,
) -> Result<Vec<Source>, StoreError> {
    let session_id = id_text(&session.id);
    let is_one = one.is_some();
    let records = match one {
        Some(record) => vec![record],
        None => tx.results(session.key, 0..=u64::MAX, Direction::Descending, limits::RESULTS_SEARCHED_MAX)?,
    };
    let (mut out, mut chars) = (Vec::new(), 0);
    for record in records.into_iter().filter(|record| is_in(record.created_at_ms)) {
        chars += record.chars;
        if chars > limits::RESULT_SEARCHED_CHARS_MAX && !is_one {
            break;
        }
        let text = whole(tx, session.key, &record)?;
        let reference = Some(reference(&session_id, record.number));
        out.push(Source {
            reference,
            call_id: record.call_id,
            tool: record.tool,
            turn: record.turn,
            at_ms: record.created_at_ms,
            text,
        });
    }
    if !is_one {
        let messages = tx.messages(session.key, 0..=u64::MAX, Direction::Descending, limits::AGENT_HISTORY_MESSAGES_MAX)?;
        for message in messages.iter().filter(|message| is_in(message.created_at_ms)) {
            for block in content(message) {
                let ContentBlock::ToolResult { call_id, name, text, reference: None, .. } = block else { continue };
                if !name.starts_with("memory_") && name != "result_read" {
                    let (turn, at_ms) = (message.turn, message.created_at_ms);
                    out.push(Source { reference: None, call_id, tool: name, turn, at_ms, text });
                }
            }
        }
        out.sort_by_key(|source| std::cmp::Reverse(source.at_ms));
    }
    Ok(out)
}

/// The passages that share most with the query; rarer words count more (their share of all passages, as in IDF).
fn passages(sources: &[Source], query: &str, limit: usize) -> Vec<ResultPassage> {
    let shown = |source: &Source, from: u64, text: &str, score: f32| ResultPassage {
        reference: source.reference.clone(),
        call_id: Some(source.call_id.clone()).filter(|id| !id.is_empty()),
        tool: Some(source.tool.clone()).filter(|tool| !tool.is_empty()),
        turn_id: id_text(&source.turn),
        created_at: clock::format(source.at_ms, None),
        from,
        text: text.to_owned(),
        score,
    };
    let all: Vec<(usize, u64, &str)> = sources
        .iter()
        .enumerate()
        .flat_map(|(at, source)| cut(&source.text).into_iter().map(move |(from, text)| (at, from, text)))
        .collect();
    let wanted = query_tokens(query);
    if wanted.is_empty() {
        let firsts = all.iter().filter(|(_, from, _)| *from == 0).take(limit);
        return firsts.map(|(at, from, text)| shown(&sources[*at], *from, text, 0.0)).collect();
    }
    let mut holders = vec![0u32; wanted.len()];
    let mut found: Vec<(usize, u64)> = Vec::new();
    for (place, (_, _, text)) in all.iter().enumerate() {
        let mut held = 0u64;
        analyse(text, &mut |token, _| {
            let id = token_id(token);
            if let Some(at) = wanted.iter().take(64).position(|token| token.id == id) {
                held |= 1 << at;
            }
        });
        (0..wanted.len().min(64)).filter(|at| held & (1 << at) != 0).for_each(|at| holders[at] += 1);
        if held != 0 {
            found.push((place, held));
        }
    }
    let idf = |at: usize| wanted[at].weight * ((1.0 + all.len() as f32) / (1.0 + holders[at] as f32)).ln().max(0.05);
    let most: f32 = (0..wanted.len().min(64)).map(idf).sum();
    let mut scored: Vec<(usize, f32)> = found
        .into_iter()
        .map(|(place, held)| (place, (0..wanted.len().min(64)).filter(|at| held & (1 << at) != 0).map(idf).sum::<f32>() / most))
        .collect();
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    scored.truncate(limit);
    scored.into_iter().map(|(place, score)| shown(&sources[all[place].0], all[place].1, all[place].2, score)).collect()
}

/// A text in passages of about [`limits::RESULT_PASSAGE_CHARS`], cut at line ends, else at spaces, else where it must be.
pub(super) fn cut(text: &str) -> Vec<(u64, &str)> {
    let (mut out, mut begin, mut from) = (Vec::new(), 0, 0u64);
    while begin < text.len() {
        let rest = &text[begin..];
        let hard = rest.char_indices().nth(limits::RESULT_PASSAGE_CHARS).map_or(rest.len(), |(at, _)| at);
        let window = &rest[..hard];
        let soft = window.rfind('\n').or_else(|| window.rfind(char::is_whitespace)).map(|at| at + 1);
        let end = match soft {
            Some(at) if hard < rest.len() && at > hard / 3 && window.is_char_boundary(at) => at,
            _ => hard,
        };
        out.push((from, &rest[..end]));
        from += rest[..end].chars().count() as u64;
        begin += end;
    }
    out
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn references_are_read_back() {
        let id = "0b0e9a4e-5a53-4c26-9d0e-0d8b5d2a1f00";
        assert_eq!(parse_reference(&reference(id, 12)), Some((id, 12)));
        assert_eq!((parse_number("r3"), parse_number("3"), parse_reference("r3")), (Some(3), None, None));
    }

    // A13: parts and passages lose no character
    #[test]
    fn parts_and_passages_are_the_whole() {
        for text in [String::new(), "一二三 four\n".repeat(40_000), "x".repeat(limits::RESULT_PART_CHARS * 2)] {
            assert_eq!(parts_of(&text).concat(), text);
            let passages = cut(&text);
            assert_eq!(passages.iter().map(|(_, text)| *text).collect::<String>(), text);
            for (from, passage) in passages.iter().take(50) {
                assert_eq!(
                    text.chars().skip(*from as usize).take(3).collect::<String>(),
                    passage.chars().take(3).collect::<String>()
                );
            }
        }
    }
}
