//! Re-ranking models, which read a question and a text together: one trait, and a scripted double.
//!
//! No such model comes with this build. Must not know: memories, how candidates were found.

use super::error::{ErrorClass, ModelError};
use crate::limits::MODEL_SCRIPT_BYTES_MAX;
use std::collections::BTreeMap;
use std::path::Path;
use std::pin::Pin;
use std::time::Duration;

/// What comes of a call: one score a text, in order, the higher the better; comparable within a call alone.
pub type Scores<'a> = Pin<Box<dyn Future<Output = Result<Vec<f32>, ModelError>> + Send + 'a>>;

/// A local model that says how well texts answer a question.
pub trait Reranker: Send + Sync {
    /// Its name, for messages.
    fn id(&self) -> &str;

    /// Scores texts.
    fn scores<'a>(&'a self, question: &'a str, texts: &'a [String]) -> Scores<'a>;
}

/// A double that scores texts by the words they hold, from a JSON file: `{"word": score, ...}`. The word `delayMs` holds a wait instead.
#[derive(Debug)]
pub struct ScriptedReranker {
    scores: BTreeMap<String, f32>,
    delay: Duration,
}

impl ScriptedReranker {
    /// Reads the script.
    ///
    /// # Errors
    /// It cannot be read, is too long, or is not what it should be.
    pub fn from_file(path: &Path) -> Result<Self, ModelError> {
        let refused = |what: String| ModelError::new(ErrorClass::BadRequest, what).into_final();
        let shown = path.display();
        let bytes = std::fs::metadata(path).map_err(|error| refused(format!("cannot read {shown}: {error}")))?.len();
        if bytes > MODEL_SCRIPT_BYTES_MAX {
            return Err(refused(format!("{shown} has more than {MODEL_SCRIPT_BYTES_MAX} bytes")));
        }
        let text = std::fs::read_to_string(path).map_err(|error| refused(format!("cannot read {shown}: {error}")))?;
        let mut scores: BTreeMap<String, f32> =
            serde_json::from_str(&text).map_err(|error| refused(format!("{shown} is no map of words to scores: {error}")))?;
        let delay = scores.remove("delayMs").filter(|ms| (0.0..=1e6).contains(ms)).unwrap_or(0.0);
        Ok(Self { scores, delay: Duration::from_secs_f32(delay / 1_000.0) })
    }
}

impl Reranker for ScriptedReranker {
    fn id(&self) -> &str {
        "scripted"
    }

    fn scores<'a>(&'a self, _question: &'a str, texts: &'a [String]) -> Scores<'a> {
        let score =
            |text: &String| self.scores.iter().filter(|(word, _)| text.contains(word.as_str())).map(|(_, score)| score).sum();
        Box::pin(async move {
            tokio::time::sleep(self.delay).await;
            Ok(texts.iter().map(score).collect())
        })
    }
}
