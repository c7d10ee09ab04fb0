//! What the demo says.
//!
//! Pure. Must not know: where it comes from.

use crate::render::{Style, escape, hits, size, wrap};
use std::path::Path;
use std::time::Duration;
use tiro_schema::wire::memory::{ImportResult, RecallResult};

/// Columns of the demo's tables where no terminal tells its own.
const WIDTH_IN_A_PIPE: usize = 100;

/// The first lines.
pub fn begin(home: &Path, style: &Style) -> String {
    format!("{}\n{}\n\n", style.bold("Tiro, in a throw-away home"), style.dim(&home.display().to_string()))
}

/// What was imported.
pub fn imported(result: &ImportResult, took: Duration, style: &Style) -> String {
    let count = size::count(result.created, "memory", "memories");
    let took = format!("daemon started and all of it stored in {:.1} s", took.as_secs_f32());
    format!("Imported {count} in English and Chinese, one conversation among them. {}\n", style.dim(&took))
}

/// A question, what was found, and the parts of the scores.
pub fn recalled(what: &str, query: &str, result: &RecallResult, took: Duration, style: &Style) -> String {
    let mut text = format!("\n{}\n", style.bold(what));
    let took = format!("({:.1} ms)", took.as_secs_f32() * 1000.0);
    text.push_str(&format!("$ tiro recall {} --explain   {}\n", style.cyan(&format!("{query:?}")), style.dim(&took)));
    if result.hits.is_empty() {
        let weak = size::count(u64::from(result.below_threshold), "memory was", "memories were");
        text.push_str(&format!("nothing found: {weak} not near enough\n"));
        return text;
    }
    let shown = for_reading(style);
    text.push_str(&hits::hits(&result.hits, &shown));
    text.push_str(&hits::explained(&result.hits, &shown));
    text
}

/// What the columns of the tables mean.
pub fn legend(style: &Style) -> String {
    hits::legend(&for_reading(style))
}

/// The demo is for reading, so it keeps its layout in a pipe too, without colours.
fn for_reading(style: &Style) -> Style {
    let width = if style.terminal { style.width } else { WIDTH_IN_A_PIPE };
    Style { terminal: true, width, ..*style }
}

/// A prompt on its way to the model.
pub fn asking(prompt: &str, model: &str, style: &Style) -> String {
    format!("\n{}\n$ tiro ask {}\n", style.bold(&format!("A prompt, answered by {model}")), style.cyan(&format!("{prompt:?}")))
}

/// The model did not answer.
pub fn unanswered(why: &str, style: &Style) -> String {
    format!("{} {}\n", style.yellow("the model did not answer:"), escape::terminal(why))
}

/// There is no model.
pub fn no_model(reason: &str, style: &Style) -> String {
    let mut text = format!("\n{}\nNo model was found on this machine.\n", style.bold("A prompt"));
    for line in wrap::lines(&escape::terminal(reason), for_reading(style).width) {
        text.push_str(&format!("{}\n", style.dim(&line)));
    }
    text + "`tiro ask` works once there is one:\n  - start Ollama or llama.cpp's server on this machine, or\n  - set TIRO_MODEL_BASE_URL and TIRO_MODEL_NAME to an OpenAI-compatible server, or\n  - write [model] into the file that `tiro config init` makes.\n"
}

/// The last lines.
pub fn end(style: &Style) -> String {
    format!(
        "\nThe daemon of the demo is stopped and its folder removed.\n{}\n",
        style.dim("Now your own: tiro remember \"…\", then tiro recall \"…\"")
    )
}
