//! `tiro ask`: one turn of a conversation, shown as it arrives.
//!
//! Must not know: how a turn runs.

mod stream;
mod thread;

use super::shell::{Daemon, fresh_key};
use super::{Exit, Failure, Outcome, Shell, input};
use crate::connection::CallError;
use crate::limits::LAST_EVENTS_MAX;
use clap::Args;
use stream::Shown;
pub use thread::begin;
use tiro_schema::ErrorKind;
use tiro_schema::wire::question::{Question, QuestionEvent, QuestionRespondParams, QuestionRespondResult};
use tiro_schema::wire::session::{SessionAttachParams, SessionAttachResult, SessionDeleteParams, SessionDeleteResult};
use tiro_schema::wire::turn::{
    Budget, IfBusy, TaskKind, TerminationReason, Turn, TurnIdParams, TurnInput, TurnStartParams, TurnStartResult, TurnStatus,
    TurnWaitParams,
};
use tiro_schema::wire::{Notification, Open};
use tokio::sync::mpsc;

const EXAMPLES: &str = "\
Examples:
  tiro ask \"what did we decide about the store?\"
  tiro ask --new \"plan the week\" --space work
  git diff | tiro ask - --session 5d0c91aa --json | jq -r .text";

/// Ask, and see the answer as it arrives
///
/// One turn: what fits from memory goes to the model with the question. Without --session or --new it continues the last
/// conversation asked from here in this space. Ctrl-C ends the turn. Calls of tools are told on standard error.
///
/// Needs a model: tiro doctor says which was found, or how to set one up.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct AskArgs {
    /// The prompt; - reads standard input
    #[arg(required = true, value_name = "PROMPT")]
    prompt: Vec<String>,
    /// Continue this conversation, by id or its first 8 characters
    #[arg(long, value_name = "ID", conflicts_with = "new")]
    session: Option<String>,
    /// Begin a new conversation
    #[arg(long)]
    new: bool,
    /// Say it to the turn that runs in the conversation, if one does
    #[arg(long)]
    steer: bool,
    /// Model calls with tools at most; by the kind of the task when absent
    #[arg(long, value_name = "N")]
    steps: Option<u32>,
    /// What kind of task it is: question (3 steps), multiHop (8), orchestration (15); judged by its words when absent
    #[arg(long, value_name = "KIND", value_parser = task_kind)]
    task: Option<TaskKind>,
}

/// What bounds a turn.
#[derive(Default)]
pub struct Bounds {
    /// Steps, tokens, time.
    pub budget: Option<Budget>,
    /// What kind of task it is.
    pub task_kind: Option<TaskKind>,
    /// What to do when a turn runs.
    pub if_busy: Option<IfBusy>,
}

fn task_kind(text: &str) -> Result<TaskKind, String> {
    let known = "question, multiHop or orchestration";
    serde_json::from_value(serde_json::Value::String(text.to_owned())).map_err(|_| format!("must be {known}"))
}

/// Runs the command.
pub async fn run(shell: &Shell, args: AskArgs) -> Outcome {
    let prompt = input::text(&args.prompt)?;
    let mut daemon = shell.daemon_that_asks().await?;
    let thread = thread::find(shell, &mut daemon, args.session.as_deref(), args.new, &prompt).await?;
    let budget = args.steps.map(|steps| Budget { steps: Some(steps), ..Budget::default() });
    let turn = match ask(
        shell,
        &mut daemon,
        &thread.session_id,
        prompt,
        Bounds { budget, task_kind: args.task, if_busy: args.steer.then_some(IfBusy::Steer) },
    )
    .await
    {
        Ok(turn) => turn,
        Err(failure) => {
            if thread.is_new && failure.error.as_ref().and_then(|error| error.kind()) == Some(ErrorKind::ModelNotConfigured) {
                take_back(shell, &mut daemon, thread.session_id).await;
            }
            return Err(failure);
        }
    };
    if shell.global.json {
        shell.print_json(&turn)?;
    }
    ended(shell, turn)
}

/// Deletes a conversation that was begun for a question nobody could be asked: its title is the question.
async fn take_back(shell: &Shell, daemon: &mut Daemon, session_id: String) {
    let params = SessionDeleteParams { session_id, key: fresh_key() };
    if let Err(failure) = daemon.call::<_, SessionDeleteResult>("session/delete", &params).await {
        shell.note(&format!("the conversation {} begun for this question stays: {}", params.session_id, failure.what));
    }
}

/// Starts a turn, shows it as it comes and gives it when it has ended.
///
/// # Errors
/// When it cannot be started or followed; a turn that failed is no error here.
pub async fn ask(shell: &Shell, daemon: &mut Daemon, session_id: &str, prompt: String, bounds: Bounds) -> Result<Turn, Failure> {
    let notes = daemon.connection().notifications();
    let _: SessionAttachResult =
        daemon.call("session/attach", &SessionAttachParams { session_id: session_id.to_owned(), from_event: None }).await?;
    let params = TurnStartParams {
        session_id: session_id.to_owned(),
        input: TurnInput::Text(prompt),
        if_busy: bounds.if_busy,
        budget: bounds.budget,
        task_kind: bounds.task_kind,
        key: fresh_key(),
    };
    let started: TurnStartResult = daemon.call("turn/start", &params).await?;
    let mut shown = Shown::new(shell, started.turn_id.clone());
    let turn = follow(daemon, &mut shown, notes, &started.turn_id).await?;
    shown.finish(&turn)?;
    Ok(turn)
}

/// Shows what arrives until the turn has ended. The first Ctrl-C interrupts it.
async fn follow(
    daemon: &Daemon,
    shown: &mut Shown<'_>,
    mut notes: Option<mpsc::Receiver<Notification>>,
    turn_id: &str,
) -> Result<Turn, Failure> {
    let waited = ended_turn(daemon, turn_id);
    tokio::pin!(waited);
    let mut interrupted = false;
    let turn = loop {
        tokio::select! {
            biased;
            Some(note) = next(&mut notes) => {
                if let Some(question) = asked(&note, turn_id) {
                    answer(shown, daemon, question).await?;
                } else if let Some(turn) = shown.take(note)? {
                    return Ok(turn);
                }
            }
            turn = &mut waited => break turn?,
            pressed = tokio::signal::ctrl_c(), if !interrupted => {
                pressed?;
                interrupted = true;
                let turn = TurnIdParams { turn_id: turn_id.to_owned() };
                let _: Turn = daemon.connection().call("turn/interrupt", &turn).await?;
            }
        }
    };
    // Events come by a way of their own: the last ones may still be on it.
    let rest = async {
        while let Some(note) = next(&mut notes).await {
            if shown.take(note)?.is_some() {
                break;
            }
        }
        Ok::<(), Failure>(())
    };
    match tokio::time::timeout(LAST_EVENTS_MAX, rest).await {
        Ok(shown) => shown?,
        Err(_late) => {}
    }
    Ok(turn)
}

/// The question of this turn that a notification tells of.
fn asked(note: &Notification, turn_id: &str) -> Option<Question> {
    let params = note.params.clone().filter(|_| note.method == "question/pending")?;
    let event: QuestionEvent = serde_json::from_value(params).ok()?;
    Some(event.question).filter(|question| question.turn_id == turn_id)
}

/// Puts a question to the person at the terminal; where there is none, says how to answer it.
async fn answer(shown: &mut Shown<'_>, daemon: &Daemon, question: Question) -> Result<(), Failure> {
    let Some(answer) = shown.question(&question).await? else { return Ok(()) };
    let params = QuestionRespondParams { question_id: question.question_id, answer, key: fresh_key() };
    match daemon.connection().call::<_, QuestionRespondResult>("question/respond", &params).await {
        Ok(_) => Ok(()),
        Err(CallError::Refused(error)) if error.kind() == Some(ErrorKind::QuestionGone) => {
            shown.told("the question was answered elsewhere");
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

/// Waits until the turn is no longer queued or running, however long that takes.
async fn ended_turn(daemon: &Daemon, turn_id: &str) -> Result<Turn, Failure> {
    let wait = TurnWaitParams { turn_id: turn_id.to_owned(), timeout_ms: None };
    loop {
        let turn: Turn = daemon.connection().call("turn/wait", &wait).await?;
        if !matches!(turn.status, Open::Known(TurnStatus::Queued | TurnStatus::Running)) {
            return Ok(turn);
        }
    }
}

async fn next(notes: &mut Option<mpsc::Receiver<Notification>>) -> Option<Notification> {
    match notes {
        Some(notes) => notes.recv().await,
        None => None,
    }
}

/// The exit code of a turn, and why it failed where it did.
fn ended(shell: &Shell, turn: Turn) -> Outcome {
    if turn.status == Open::Known(TurnStatus::Completed) {
        return Ok(Exit::Done);
    }
    let exit = match &turn.termination_reason {
        Some(Open::Known(TerminationReason::PermissionDenied)) => Exit::Refused,
        _ => Exit::Failed,
    };
    let failure = match turn.error {
        Some(error) => Failure::from(error),
        None => {
            let reason = turn.termination_reason.map_or_else(|| turn.status.to_string(), |reason| reason.to_string());
            Failure::new(exit, format!("the turn ended: {reason}"))
        }
    };
    if shell.global.json {
        // The turn itself is the one value on standard output.
        let text = crate::render::problem::problem(&failure.what, &failure.why, &failure.hint, &shell.err);
        eprint!("{text}");
        return Ok(failure.exit);
    }
    Err(failure)
}
