//! Cues: what a phrase says about the sentence it stands in. The tables are in `cues_en` and `cues_zh`; here they are matched.
//!
//! Must not know: what is decided from the cues.

use super::super::patterns::Patterns;
use super::cues_en::ENGLISH;
use super::cues_zh::CHINESE;
use super::words::is_han;
use std::sync::LazyLock;
use tiro_schema::wire::memory::Category;

/// What a phrase says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sense {
    /// Somebody asks to keep it: "note that", 记一下.
    Explicit,
    /// Something that lasts, of this category.
    Lasting(Category),
    /// An instruction that holds from now on, of this category, even where it is put as a request.
    Standing(Category),
    /// Something that happened or will, with its time.
    Dated,
    /// A question without its mark.
    Question,
    /// A word of questions, which makes one of a short sentence.
    MaybeQuestion,
    /// A request for work now.
    Request,
    /// Greetings, thanks, praise, the weather.
    SmallTalk,
    /// How somebody is or what goes on at this moment.
    Transient,
    /// A program that says it is alive.
    Heartbeat,
}

/// One row of a table: phrases of one sense.
pub(super) struct Cue {
    pub sense: Sense,
    /// A pattern over the plain form of a sentence (see `plain`); `\b` is an ASCII word boundary.
    pub pattern: &'static str,
    /// The row says nothing where this stands too; empty for never.
    pub unless: &'static str,
}

/// A row.
pub(super) const fn cue(sense: Sense, pattern: &'static str, unless: &'static str) -> Cue {
    Cue { sense, pattern, unless }
}

/// The cues of one sentence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Cues {
    pub explicit: bool,
    pub question: bool,
    pub maybe_question: bool,
    pub request: bool,
    pub small_talk: bool,
    pub transient: bool,
    pub heartbeat: bool,
    pub dated: bool,
    /// Category of the instruction that holds from now on.
    pub standing: Option<Category>,
    /// Strongest category of what lasts.
    pub lasting: Option<Category>,
}

/// Bytes of a sentence that a word of questions makes a question of.
const MAYBE_QUESTION_BYTES_MAX: usize = 84;

struct Table {
    patterns: Patterns,
    /// Sense and number of the pattern that voids it, by row.
    rows: Vec<(Sense, Option<usize>)>,
}

static ENGLISH_TABLE: LazyLock<Table> = LazyLock::new(|| table(ENGLISH));
static CHINESE_TABLE: LazyLock<Table> = LazyLock::new(|| table(CHINESE));

fn table(cues: &[Cue]) -> Table {
    let mut patterns: Vec<String> = cues.iter().map(|c| ascii_boundaries(c.pattern)).collect();
    let mut rows = Vec::with_capacity(cues.len());
    for cue in cues {
        let void = (!cue.unless.is_empty()).then_some(patterns.len());
        if void.is_some() {
            patterns.push(ascii_boundaries(cue.unless));
        }
        rows.push((cue.sense, void));
    }
    let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
    Table { patterns: Patterns::new(&patterns), rows }
}

fn ascii_boundaries(pattern: &str) -> String {
    pattern.replace(r"\b", r"(?-u:\b)")
}

/// The cues of a plain sentence.
pub(super) fn cues(plain: &str) -> Cues {
    let mut cues = Cues::default();
    // A sentence of one language is read by its table alone.
    if plain.bytes().any(|b| b.is_ascii_alphabetic()) {
        cues.read(&ENGLISH_TABLE, plain);
    }
    if plain.chars().any(is_han) {
        cues.read(&CHINESE_TABLE, plain);
    }
    cues.question |= cues.maybe_question && plain.len() <= MAYBE_QUESTION_BYTES_MAX;
    cues
}

impl Cues {
    fn read(&mut self, table: &Table, plain: &str) {
        let found = table.patterns.matches(plain);
        for (n, (sense, void)) in table.rows.iter().enumerate() {
            if found[n] && !void.is_some_and(|v| found[v]) {
                self.add(*sense);
            }
        }
    }
}

impl Cues {
    fn add(&mut self, sense: Sense) {
        match sense {
            Sense::Explicit => self.explicit = true,
            Sense::Lasting(category) => self.lasting = stronger(self.lasting, category),
            Sense::Standing(category) => self.standing = stronger(self.standing, category),
            Sense::Dated => self.dated = true,
            Sense::Question => self.question = true,
            Sense::MaybeQuestion => self.maybe_question = true,
            Sense::Request => self.request = true,
            Sense::SmallTalk => self.small_talk = true,
            Sense::Transient => self.transient = true,
            Sense::Heartbeat => self.heartbeat = true,
        }
    }
}

/// The stronger of two categories: what does harm when it is forgotten comes first.
pub(super) fn stronger(a: Option<Category>, b: Category) -> Option<Category> {
    Some(match a {
        Some(a) if strength(a) >= strength(b) => a,
        _ => b,
    })
}

fn strength(category: Category) -> u8 {
    match category {
        Category::Constraint => 7,
        Category::Identity => 6,
        Category::Preference => 5,
        Category::Goal => 4,
        Category::Conclusion => 3,
        Category::Event => 2,
        Category::Fact => 1,
        Category::Other => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearly_every_row_is_read_only_where_one_of_its_words_stands() {
        let nothing = ENGLISH_TABLE.patterns.candidates("zebra").len();
        assert!(nothing <= 4, "{nothing} rows are run over every sentence");
        assert!(CHINESE_TABLE.patterns.candidates("斑马").len() <= 4);
    }
}
