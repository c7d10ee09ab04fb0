//! One model call of a turn: its stream becomes items as it comes, its reply a stored message.
//!
//! Must not know: what the reply leads to.

use super::clean::{clean_reply, clean_text, hide_forgotten};
use super::prompt;
use super::turn::{Run, model_failure};
use crate::agent::{Event, Note};
use crate::limits;
use crate::model::{ChatMessage, ChatRequest, ErrorClass, ModelError, ModelEvent, ModelReply, Phase, ToolDefinition};
use crate::session::context::assemble;
use crate::session::{NewEvent, NewMessage, SessionError, assistant_blocks, call_block};
use crate::store::Reads;
use crate::tokens;
use std::time::Duration;
use tiro_schema::wire::event::ItemKind;
use tiro_schema::wire::memory::RecallParams;
use tiro_schema::wire::session::{ContentBlock, Role};
use uuid::Uuid;

/// Items of a reply while it comes in.
#[derive(Default)]
struct OpenItems {
    text: Option<(String, String)>,
    thinking: Option<(String, String)>,
    calls: Vec<String>,
}

/// What became of a call.
enum Heard {
    Reply(Box<ModelReply>),
    Failure(Box<ModelError>),
    Cancelled,
    OutOfTime,
}

impl Run {
    /// Memory for the question, marked as data; empty when there is none or it cannot be had in time.
    pub async fn recall(&mut self, question: &str) -> String {
        let mut end = question.len().min(limits::QUERY_BYTES_MAX);
        while !question.is_char_boundary(end) {
            end -= 1;
        }
        let params = RecallParams {
            query: question[..end].to_owned(),
            spaces: Some(self.tools.reads.clone()),
            limit: Some(limits::CONTEXT_HITS_DEFAULT),
            token_budget: Some(self.budget.memory()),
            use_: Some(true),
            ..RecallParams::default()
        };
        let recall = self.inner.memories.context(self.tools.caller.clone(), params);
        match tokio::time::timeout(Duration::from_millis(limits::TURN_RECALL_MS_MAX), recall).await {
            Ok(Ok(found)) if !found.ids.is_empty() => {
                self.turn.recalled = self.keys_of(&found.ids);
                found.text
            }
            Ok(Ok(_)) => String::new(),
            Ok(Err(error)) => {
                tracing::warn!(turn = self.turn_id, error = %error.message, "no memory for this turn");
                String::new()
            }
            Err(_) => {
                tracing::warn!(turn = self.turn_id, "no memory for this turn in time");
                String::new()
            }
        }
    }

    fn keys_of(&self, ids: &[String]) -> Vec<u64> {
        let ids: Vec<[u8; 16]> = ids.iter().filter_map(|id| Uuid::parse_str(id).ok()).map(Uuid::into_bytes).collect();
        let found = self.inner.sessions.store().read(|tx| -> Result<Vec<u64>, crate::store::StoreError> {
            let keys = ids.iter().map(|id| tx.key_of_id(id)).collect::<Result<Vec<_>, _>>()?;
            Ok(keys.into_iter().flatten().collect())
        });
        found.unwrap_or_default()
    }

    /// Calls the model and stores what it said.
    ///
    /// # Errors
    /// The store's.
    pub async fn call_model(&mut self, with_tools: bool, note: Option<Note>) -> Result<Event, SessionError> {
        let used = self.turn.input_tokens + self.turn.output_tokens;
        if self.turn.tokens_max > 0 && used >= self.turn.tokens_max {
            return Ok(Event::OutOfBudget);
        }
        self.parts.note = note.map(prompt::note).unwrap_or_default().to_owned();
        let mut shortened = 0;
        loop {
            self.turn.model_calls += 1;
            hide_forgotten(&*self.inner.memories, &mut self.parts);
            let request = self.request(with_tools);
            self.warn_once().await?;
            let mut open = OpenItems::default();
            let heard = self.listen(request, &mut open).await?;
            return match heard {
                Heard::Reply(reply) => self.keep_reply(*reply, open).await,
                Heard::Failure(error) if self.can_shorten(&error, &open, shortened) => {
                    shortened += 1;
                    self.shorten_history();
                    continue;
                }
                Heard::Failure(error) => {
                    self.keep_partial(open).await?;
                    self.failure = Some(model_failure(&error));
                    tracing::warn!(turn = self.turn_id, class = error.class.as_str(), status = error.status, "model call failed");
                    Ok(Event::ModelFailed(error.class))
                }
                Heard::Cancelled => self.keep_partial(open).await.map(|()| Event::Cancelled),
                Heard::OutOfTime => self.keep_partial(open).await.map(|()| Event::OutOfBudget),
            };
        }
    }

    /// Says once in a turn that what was said newest alone is over the budget.
    async fn warn_once(&mut self) -> Result<(), SessionError> {
        let Some(report) = self.report.as_ref().filter(|report| report.is_over && !self.has_warned) else { return Ok(()) };
        let text = format!(
            "This turn takes {} tokens of the model's {}: nothing more can be left out of it. The model may refuse it.",
            report.tokens, report.window
        );
        self.has_warned = true;
        tracing::warn!(turn = self.turn_id, tokens = report.tokens, window = report.window, "a turn alone is over the budget");
        let item_id = self.start_item(ItemKind::Notice).await?;
        self.journal(Vec::new(), vec![completed(item_id, ItemKind::Notice, ContentBlock::Text { text })]).await
    }

    fn request(&mut self, with_tools: bool) -> ChatRequest {
        let definition = |spec: &crate::tool::ToolSpec| ToolDefinition {
            name: spec.name.to_string(),
            description: spec.description.to_string(),
            parameters: spec.parameters.clone(),
        };
        let tools: Vec<ToolDefinition> = if with_tools { self.specs.iter().map(definition).collect() } else { Vec::new() };
        let weight = |tool: &ToolDefinition| {
            tokens::estimate(&tool.name) + tokens::estimate(&tool.description) + tokens::estimate(&tool.parameters.to_string())
        };
        let made = assemble(&self.parts, self.budget, tools.iter().map(weight).sum());
        if self.report.as_ref().is_none_or(|report| report.tokens <= made.report.tokens) {
            self.report = Some(made.report);
        }
        ChatRequest {
            model: self.model.clone(),
            messages: made.messages,
            tools,
            temperature: Some(limits::AGENT_TEMPERATURE_CHOOSING),
            max_output_tokens: self.inner.model.output_tokens_max(),
            phase: if with_tools { Phase::Choosing } else { Phase::Concluding },
        }
    }

    async fn listen(&mut self, request: ChatRequest, open: &mut OpenItems) -> Result<Heard, SessionError> {
        let mut stream = self.provider.chat(request);
        loop {
            let event = tokio::select! {
                biased;
                () = self.cancel.cancelled() => return Ok(Heard::Cancelled),
                () = tokio::time::sleep_until(self.deadline) => return Ok(Heard::OutOfTime),
                event = stream.next() => event,
            };
            match event {
                Some(ModelEvent::TextDelta(text)) => self.delta(&mut open.text, ItemKind::Text, &text).await?,
                Some(ModelEvent::ThinkingDelta(text)) => self.delta(&mut open.thinking, ItemKind::Thinking, &text).await?,
                Some(ModelEvent::ToolCallStarted { .. }) => {
                    let item_id = self.start_item(ItemKind::ToolCall).await?;
                    open.calls.push(item_id);
                }
                Some(ModelEvent::Done(reply)) => return Ok(Heard::Reply(reply)),
                Some(ModelEvent::Failed(error)) => return Ok(Heard::Failure(error)),
                Some(ModelEvent::Opaque(_) | ModelEvent::Usage(_) | ModelEvent::Retrying { .. }) => {}
                None => return Ok(Heard::Failure(Box::new(ModelError::new(ErrorClass::CutShort, "the model's stream ended")))),
            }
        }
    }

    async fn start_item(&mut self, kind: ItemKind) -> Result<String, SessionError> {
        let item_id = self.next_item();
        self.journal(Vec::new(), vec![NewEvent::ItemStarted { item_id: item_id.clone(), kind }]).await?;
        Ok(item_id)
    }

    async fn delta(&mut self, item: &mut Option<(String, String)>, kind: ItemKind, text: &str) -> Result<(), SessionError> {
        if item.is_none() {
            *item = Some((self.start_item(kind).await?, String::new()));
        }
        if let Some((item_id, whole)) = item {
            whole.push_str(text);
            self.inner.sessions.feeds().delta(self.turn.session, &self.session_id, &self.turn_id, item_id, text);
        }
        Ok(())
    }

    /// What is kept, told and read again is free of secrets; the calls run as the model made them, and are refused where they hold one.
    async fn keep_reply(&mut self, reply: ModelReply, open: OpenItems) -> Result<Event, SessionError> {
        let (has_text, is_cut, calls) = (!reply.text.trim().is_empty(), reply.is_cut(), reply.tool_calls.clone());
        let reply = clean_reply(reply);
        self.turn.input_tokens = self.turn.input_tokens.saturating_add(reply.usage.input_tokens);
        self.turn.output_tokens = self.turn.output_tokens.saturating_add(reply.usage.output_tokens);
        if !reply.text.trim().is_empty() {
            self.turn.text.clone_from(&reply.text);
        }
        let mut events = Vec::new();
        if let Some((item_id, text)) = open.thinking {
            events.push(completed(item_id, ItemKind::Thinking, ContentBlock::Thinking { text: clean_text(text), opaque: None }));
        }
        if let Some((item_id, text)) = open.text {
            events.push(completed(item_id, ItemKind::Text, ContentBlock::Text { text: clean_text(text) }));
        }
        for (at, call) in reply.tool_calls.iter().enumerate() {
            let item_id = match open.calls.get(at) {
                Some(item_id) => item_id.clone(),
                None => {
                    let item_id = self.next_item();
                    events.push(NewEvent::ItemStarted { item_id: item_id.clone(), kind: ItemKind::ToolCall });
                    item_id
                }
            };
            events.push(completed(item_id, ItemKind::ToolCall, call_block(call)));
            self.names.insert(call.id.clone(), call.name.clone());
        }
        let content = assistant_blocks(&reply);
        let partial = is_cut && reply.tool_calls.is_empty();
        let messages = if content.is_empty() { Vec::new() } else { vec![NewMessage { role: Role::Assistant, content, partial }] };
        self.journal(messages, events).await?;
        if !reply.is_empty() {
            let said = ChatMessage::Assistant { text: reply.text, tool_calls: reply.tool_calls, opaque: reply.opaque };
            self.parts.turn.push(said);
        }
        Ok(Event::ModelReplied { has_text, is_cut, calls, has_more_input: false })
    }

    /// Stores what was shown of a reply that did not come to its end.
    async fn keep_partial(&mut self, open: OpenItems) -> Result<(), SessionError> {
        let mut events = Vec::new();
        let mut content = Vec::new();
        if let Some((item_id, text)) = open.thinking {
            let block = ContentBlock::Thinking { text: clean_text(text), opaque: None };
            events.push(completed(item_id, ItemKind::Thinking, block.clone()));
            content.push(block);
        }
        if let Some((item_id, text)) = open.text {
            let text = clean_text(text);
            self.turn.text.clone_from(&text);
            let block = ContentBlock::Text { text };
            events.push(completed(item_id, ItemKind::Text, block.clone()));
            content.push(block);
        }
        for item_id in open.calls {
            let text = "the call was cut off and did not run".to_owned();
            events.push(completed(item_id, ItemKind::ToolCall, ContentBlock::Text { text }));
        }
        if events.is_empty() {
            return Ok(());
        }
        let messages =
            if content.is_empty() { Vec::new() } else { vec![NewMessage { role: Role::Assistant, content, partial: true }] };
        self.journal(messages, events).await
    }

    fn can_shorten(&self, error: &ModelError, open: &OpenItems, shortened: u32) -> bool {
        let was_shown = open.text.is_some() || open.thinking.is_some() || !open.calls.is_empty();
        error.class == ErrorClass::ContextOverflow
            && !was_shown
            && shortened < limits::CONTEXT_SHORTENED_MAX
            && !(self.parts.history.is_empty() && self.parts.memory.is_empty())
    }

    /// The window is smaller than was thought: half of the earlier turns goes into the summary, then all of them, and the memory.
    fn shorten_history(&mut self) {
        let kept = match self.parts.history.len() {
            0 | 1 => 0,
            turns => turns / 2,
        };
        let until = self.parts.history.len() - kept;
        for turn in self.parts.history.drain(..until) {
            self.parts.state.fold(&turn);
        }
        if kept == 0 {
            self.parts.memory.clear();
        }
        tracing::warn!(
            turn = self.turn_id,
            kept,
            "the context did not fit the model; earlier turns were folded into the summary"
        );
    }
}

fn completed(item_id: String, kind: ItemKind, content: ContentBlock) -> NewEvent {
    NewEvent::ItemCompleted { item_id, kind, content }
}
