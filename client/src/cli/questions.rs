//! `tiro questions`: what turns ask a person, and answering it.
//!
//! Must not know: how a turn runs.

use super::shell::fresh_key;
use super::{Exit, Outcome, Shell, input};
use crate::render::{Style, escape, id, time};
use clap::{Args, Subcommand};
use tiro_schema::wire::question::{
    Question, QuestionListParams, QuestionListResult, QuestionRespondParams, QuestionRespondResult,
};

/// Questions of turns that wait for an answer
///
/// A question stays until it is answered, whether its turn still runs or not.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tiro questions\n  tiro questions answer 8c0e1a52-… \"the second order\"")]
pub struct QuestionsArgs {
    #[command(subcommand)]
    command: Option<QuestionsCommand>,
}

#[derive(Debug, Subcommand)]
enum QuestionsCommand {
    Answer(AnswerArgs),
}

/// Answer a question; its turn goes on, or a new one begins with the answer
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tiro questions answer 8c0e1a52-… \"the second order\"\n  cat plan.md | tiro questions answer 8c0e1a52-… -"
)]
struct AnswerArgs {
    /// The question, by its whole id
    #[arg(value_name = "ID")]
    id: String,
    /// The answer; - reads standard input
    #[arg(required = true, value_name = "TEXT")]
    text: Vec<String>,
}

/// Runs the command.
pub async fn run(shell: &Shell, args: QuestionsArgs) -> Outcome {
    match args.command {
        Some(QuestionsCommand::Answer(args)) => answer(shell, args).await,
        None => list(shell).await,
    }
}

async fn list(shell: &Shell) -> Outcome {
    let mut daemon = shell.daemon().await?;
    let params = QuestionListParams { session_id: None, space: shell.space()? };
    let found: QuestionListResult = daemon.call("question/list", &params).await?;
    shell.answer(&found, |found, style| found.items.iter().map(|question| line(question, style)).collect())?;
    if found.items.is_empty() {
        shell.note("nothing found");
        return Ok(Exit::NothingFound);
    }
    Ok(Exit::Done)
}

fn line(question: &Question, style: &Style) -> String {
    let at = time::minute(&question.created_at, style);
    let prompt = escape::terminal_line(&question.prompt);
    let options = if question.options.is_empty() { String::new() } else { format!(" ({})", question.options.join(" | ")) };
    let options = escape::terminal_line(&options);
    let session = id(&question.session_id, style);
    format!("{}  {at}  {}  {prompt}{options}\n", question.question_id, style.dim(session))
}

async fn answer(shell: &Shell, args: AnswerArgs) -> Outcome {
    let answer = input::text(&args.text)?;
    let mut daemon = shell.daemon().await?;
    let params = QuestionRespondParams { question_id: args.id, answer, key: fresh_key() };
    let result: QuestionRespondResult = daemon.call("question/respond", &params).await?;
    shell.answer(&result, |result, style| format!("answered; turn {} goes on\n", id(&result.turn_id, style)))?;
    Ok(Exit::Done)
}
