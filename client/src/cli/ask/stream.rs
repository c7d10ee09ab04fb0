//! What a turn says, put on the terminal as it arrives.
//!
//! Deltas say where in their item they belong, and whole items follow: text that was missed is made up for, text that
//! comes twice is shown once. Must not know: how the notifications were got.

use super::super::{Failure, Shell};
use crate::render::escape;
use std::collections::HashMap;
use tiro_schema::wire::event::{ItemDelta, ItemEvent, ItemKind, TurnEvent};
use tiro_schema::wire::question::Question;
use tiro_schema::wire::session::ContentBlock;
use tiro_schema::wire::turn::Turn;
use tiro_schema::wire::{Notification, Open};

/// Characters of a call's arguments or result that a notice shows.
const NOTICE_CHARS_MAX: usize = 120;

/// What of one turn is on the terminal already.
pub struct Shown<'a> {
    shell: &'a Shell,
    turn_id: String,
    /// Kind of each item that began.
    kinds: HashMap<String, Open<ItemKind>>,
    /// Characters shown of each text item.
    shown: HashMap<String, usize>,
    /// The text item written to last.
    last: String,
    /// What of it was written.
    last_text: String,
    /// Whether the last thing written ended its line.
    line_ended: bool,
    wrote: bool,
}

impl<'a> Shown<'a> {
    /// Nothing yet.
    pub fn new(shell: &'a Shell, turn_id: String) -> Self {
        Shown {
            shell,
            turn_id,
            kinds: HashMap::new(),
            shown: HashMap::new(),
            last: String::new(),
            last_text: String::new(),
            line_ended: true,
            wrote: false,
        }
    }

    /// Shows what a notification adds; those of other turns add nothing. Gives the turn when it says that it has ended.
    ///
    /// # Errors
    /// When standard output cannot be written to.
    pub fn take(&mut self, note: Notification) -> Result<Option<Turn>, Failure> {
        let Some(params) = note.params else { return Ok(None) };
        match note.method.as_str() {
            "item/started" | "item/completed" => match serde_json::from_value::<ItemEvent>(params) {
                Ok(event) if event.turn_id == self.turn_id => self.item(event)?,
                _ => {}
            },
            "item/delta" => match serde_json::from_value::<ItemDelta>(params) {
                Ok(delta) if delta.turn_id == self.turn_id => self.delta(&delta)?,
                _ => {}
            },
            "turn/completed" => {
                let event = serde_json::from_value::<TurnEvent>(params).ok();
                return Ok(event.map(|event| event.turn).filter(|turn| turn.turn_id == self.turn_id));
            }
            _ => {}
        }
        Ok(None)
    }

    fn item(&mut self, event: ItemEvent) -> Result<(), Failure> {
        self.kinds.insert(event.item_id.clone(), event.kind);
        match event.content {
            Some(ContentBlock::Text { text }) => self.text(&event.item_id, 0, &text),
            Some(ContentBlock::ToolCall { name, arguments, .. }) => {
                self.notice(&event.item_id, &format!("-> {name} {arguments}"))
            }
            Some(ContentBlock::ToolResult { name, text, is_error, .. }) => {
                let mark = if is_error { "failed: " } else { "" };
                self.notice(&event.item_id, &format!("<- {name}: {mark}{text}"))
            }
            Some(ContentBlock::Thinking { .. } | ContentBlock::Stored { .. }) | None => Ok(()),
        }
    }

    fn delta(&mut self, delta: &ItemDelta) -> Result<(), Failure> {
        match self.kinds.get(&delta.item_id) {
            None | Some(Open::Known(ItemKind::Text)) => {}
            Some(_) => return Ok(()),
        }
        let at = usize::try_from(delta.offset).unwrap_or(usize::MAX);
        if at > self.shown.get(&delta.item_id).copied().unwrap_or(0) {
            return Ok(()); // something before it was missed: the whole item makes up for it
        }
        self.text(&delta.item_id, at, &delta.text)
    }

    /// Writes the part of a text that is not there yet.
    fn text(&mut self, item_id: &str, offset: usize, text: &str) -> Result<(), Failure> {
        let shown = self.shown.entry(item_id.to_owned()).or_default();
        let new: String = text.chars().skip(shown.saturating_sub(offset)).collect();
        if new.is_empty() {
            return Ok(());
        }
        let begins = *shown == 0;
        if self.last != item_id {
            item_id.clone_into(&mut self.last);
            self.last_text.clear();
        }
        self.last_text.push_str(&new);
        *shown += new.chars().count();
        if self.shell.global.json {
            return Ok(());
        }
        if begins && self.wrote && !self.line_ended {
            self.shell.print("\n")?;
        }
        self.line_ended = new.ends_with('\n');
        self.wrote = true;
        if self.shell.out.terminal { self.shell.print(&escape::terminal(&new)) } else { self.shell.print(&new) }
    }

    /// A dim line on standard error, once an item.
    fn notice(&mut self, item_id: &str, text: &str) -> Result<(), Failure> {
        if self.shown.insert(item_id.to_owned(), 0).is_some() || self.shell.global.json {
            return Ok(());
        }
        if !self.line_ended && self.shell.out.terminal {
            self.shell.print("\n")?;
            self.line_ended = true;
        }
        let line = escape::terminal_line(text);
        let cut: String = line.chars().take(NOTICE_CHARS_MAX).collect();
        self.shell.note(&if cut.len() < line.len() { format!("{cut}…") } else { cut });
        Ok(())
    }

    /// Puts a question to the person at the terminal and gives the answer; none where nobody is there, or nothing is said.
    ///
    /// # Errors
    /// When the terminal cannot be read.
    pub async fn question(&mut self, question: &Question) -> Result<Option<String>, Failure> {
        if !self.line_ended && self.shell.out.terminal {
            self.shell.print("\n")?;
            self.line_ended = true;
        }
        let text = escape::terminal_line(&question.prompt);
        let options =
            question.options.iter().enumerate().map(|(n, option)| format!("  {}) {}", n + 1, escape::terminal_line(option)));
        let options: Vec<String> = options.collect();
        self.shell.note(&[vec![format!("? {text}")], options].concat().join("\n"));
        if !self.shell.can_ask() {
            self.shell.note(&format!("answer it: tiro questions answer {} TEXT", question.question_id));
            return Ok(None);
        }
        let line = tokio::task::spawn_blocking(|| {
            let mut line = String::new();
            std::io::stdin().read_line(&mut line).map(|_| line)
        });
        let line = line.await.map_err(|error| Failure::failed(format!("the answer cannot be read: {error}")))??;
        let said = line.trim();
        let chosen = said.parse::<usize>().ok().and_then(|n| question.options.get(n.checked_sub(1)?));
        Ok(Some(chosen.cloned().unwrap_or_else(|| said.to_owned())).filter(|said| !said.is_empty()))
    }

    /// Says something beside the turn.
    pub fn told(&self, text: &str) {
        self.shell.note(text);
    }

    /// Ends the last line; shows what of the turn's last text did not come by events.
    ///
    /// # Errors
    /// When standard output cannot be written to.
    pub fn finish(&mut self, turn: &Turn) -> Result<(), Failure> {
        if self.shell.global.json {
            return Ok(());
        }
        // Another text than the one written to last is an item of which nothing came.
        let last = if turn.text.starts_with(&self.last_text) { self.last.clone() } else { String::new() };
        self.text(&last, 0, &turn.text)?;
        if self.wrote && !self.line_ended {
            self.shell.print("\n")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::cli::Global;
    use serde_json::json;

    fn quiet() -> Shell {
        Shell::new(Global { json: true, ..Global::default() })
    }

    fn delta(offset: u64, text: &str) -> Notification {
        let params = json!({"sessionId": "s", "turnId": "t", "itemId": "i", "offset": offset, "text": text});
        Notification { jsonrpc: "2.0".into(), method: "item/delta".into(), params: Some(params) }
    }

    #[test]
    fn deltas_collapse_and_gaps_wait_for_the_whole_item() {
        let shell = quiet();
        let mut shown = Shown::new(&shell, "t".into());
        shown.take(delta(0, "甲乙")).unwrap();
        shown.take(delta(1, "乙丙")).unwrap();
        assert_eq!(shown.shown["i"], 3);
        shown.take(delta(9, "late")).unwrap();
        assert_eq!(shown.shown["i"], 3);
        let whole = json!({"sessionId": "s", "eventSeq": 3, "at": "2026-03-05T12:00:00.000Z", "turnId": "t", "itemId": "i", "kind": "text",
            "content": {"type": "text", "text": "甲乙丙 and more"}});
        shown.take(Notification { jsonrpc: "2.0".into(), method: "item/completed".into(), params: Some(whole) }).unwrap();
        assert_eq!(shown.shown["i"], "甲乙丙 and more".chars().count());
    }

    #[test]
    fn what_did_not_come_by_events_is_made_up_for_at_the_end() {
        let shell = Shell::new(Global { quiet: true, ..Global::default() });
        let turn = |text: &str| -> Turn {
            let usage = json!({"inputTokens": 0, "outputTokens": 0, "modelCalls": 1, "toolCalls": 0});
            let at = "2026-03-05T12:00:00.000Z";
            serde_json::from_value(json!({"turnId": "t", "sessionId": "s", "status": "completed", "text": text, "usage": usage, "steps": 1, "createdAt": at})).unwrap()
        };
        let mut shown = Shown::new(&shell, "t".into());
        shown.take(delta(0, "half ")).unwrap();
        shown.finish(&turn("half of it")).unwrap();
        assert_eq!((shown.last.as_str(), shown.last_text.as_str()), ("i", "half of it"));
        shown.finish(&turn("another item")).unwrap();
        assert_eq!((shown.last.as_str(), shown.last_text.as_str()), ("", "another item"));
    }

    #[test]
    fn other_turns_show_nothing() {
        let shell = quiet();
        let mut shown = Shown::new(&shell, "another".into());
        shown.take(delta(0, "x")).unwrap();
        assert!(shown.shown.is_empty());
    }
}
