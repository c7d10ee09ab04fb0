//! A set in its folder: `docs.jsonl`, `queries.jsonl` and, where there is one, `absent.jsonl`.
//!
//! Must not know: how it is asked.

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

/// What is to be remembered.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Document {
    /// Its name in this set; the gold of questions points to it.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Space it goes to.
    pub space: String,
    /// Its words.
    pub text: String,
    /// When it happened, RFC 3339.
    pub occurred_at: Option<String>,
    /// Session, position and speaker, as `memory/remember` takes them.
    pub source: Option<Value>,
}

/// A question whose answer is there.
#[derive(Debug, Clone, Deserialize)]
pub struct Question {
    /// Space it is asked in.
    pub space: String,
    /// Its words.
    pub query: String,
    /// What sort of question.
    pub category: String,
    /// References of the documents that answer it.
    pub gold: Vec<String>,
}

/// A question whose answer is not there.
#[derive(Debug, Clone, Deserialize)]
pub struct Absent {
    /// Space it is asked in.
    pub space: String,
    /// Its words.
    pub query: String,
    /// In which way it has no answer.
    #[serde(default = "unnamed_kind")]
    pub kind: String,
}

fn unnamed_kind() -> String {
    "absent".to_owned()
}

/// Languages of a question and of its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Language {
    /// Both English.
    English,
    /// Both Chinese.
    Chinese,
    /// One of each.
    Across,
}

impl Language {
    /// As it is printed.
    pub fn name(self) -> &'static str {
        match self {
            Language::English => "[en]",
            Language::Chinese => "[zh]",
            Language::Across => "[across]",
        }
    }
}

/// Whether a text has Chinese characters.
fn is_chinese(text: &str) -> bool {
    text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c))
}

/// Documents and the questions about them.
#[derive(Debug, Clone)]
pub struct Set {
    /// Name of its folder.
    pub name: String,
    /// What is to be remembered.
    pub documents: Vec<Document>,
    /// What has an answer there.
    pub questions: Vec<Question>,
    /// What has none.
    pub absent: Vec<Absent>,
}

impl Set {
    /// Reads a folder.
    ///
    /// # Errors
    /// When a file cannot be read, a line is not of its form, a reference stands twice, or gold names none.
    pub fn load(folder: &Path) -> Result<Set> {
        let name = folder.canonicalize().with_context(|| format!("the set {}", folder.display()))?;
        let absent = folder.join("absent.jsonl");
        let set = Set {
            name: name.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            documents: lines(&folder.join("docs.jsonl"))?,
            questions: lines(&folder.join("queries.jsonl"))?,
            absent: if absent.exists() { lines(&absent)? } else { Vec::new() },
        };
        let mut known = BTreeSet::new();
        for document in &set.documents {
            if !known.insert(document.reference.as_str()) {
                bail!("{}: the reference {} stands twice", set.name, document.reference);
            }
        }
        for question in &set.questions {
            if question.gold.is_empty() {
                bail!("{}: no gold for {:?}", set.name, question.query);
            }
            if let Some(missing) = question.gold.iter().find(|gold| !known.contains(gold.as_str())) {
                bail!("{}: {:?} has the gold {missing}, which is no document", set.name, question.query);
            }
        }
        Ok(set)
    }

    /// Languages of each question, in their order.
    pub fn languages(&self) -> Vec<Language> {
        let chinese: HashMap<&str, bool> = self.documents.iter().map(|d| (d.reference.as_str(), is_chinese(&d.text))).collect();
        let of = |question: &Question| {
            let asked = is_chinese(&question.query);
            let all_alike = question.gold.iter().all(|gold| chinese.get(gold.as_str()) == Some(&asked));
            match (all_alike, asked) {
                (false, _) => Language::Across,
                (true, true) => Language::Chinese,
                (true, false) => Language::English,
            }
        };
        self.questions.iter().map(of).collect()
    }

    /// One set a space, in the order of their names.
    pub fn by_space(&self) -> Vec<Set> {
        let mut parts: BTreeMap<&str, Set> = BTreeMap::new();
        for document in &self.documents {
            let empty = || Set { name: self.name.clone(), documents: vec![], questions: vec![], absent: vec![] };
            parts.entry(&document.space).or_insert_with(empty).documents.push(document.clone());
        }
        for question in &self.questions {
            if let Some(part) = parts.get_mut(question.space.as_str()) {
                part.questions.push(question.clone());
            }
        }
        for absent in &self.absent {
            if let Some(part) = parts.get_mut(absent.space.as_str()) {
                part.absent.push(absent.clone());
            }
        }
        parts.into_values().collect()
    }

    /// When the last of its dated documents happened, RFC 3339.
    pub fn last_occurred_at(&self) -> Option<&str> {
        self.documents.iter().filter_map(|d| d.occurred_at.as_deref()).max()
    }
}

fn lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    let of = |(number, line): (usize, &str)| {
        serde_json::from_str(line).with_context(|| format!("{}, line {}", path.display(), number + 1))
    };
    text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(of).collect()
}
