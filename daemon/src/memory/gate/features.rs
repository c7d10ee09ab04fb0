//! What the learned half of the gate looks at: the words of a text, its form, what the rules found in it, and its vector.
//!
//! Numbers alone; what they weigh is in `learned`. A change here needs new weights (`scripts/gate_weights.py`). Must not know: weights.

use super::judge::{Seen, SeenSentence};
use super::words::is_han;
use tiro_index::embed::{Embedder, PassageKind, Role};
use tiro_index::tokenize::query_tokens;
use tiro_schema::wire::memory::Category;

/// Length of the vector.
pub(super) const DENSE: usize = 192;
/// Places for form and rules.
const FLAGS: usize = 96;
/// Places for words, and for two in a row.
const WORDS: usize = 2_048;
const PAIRS: usize = 2_048;
/// Places for the first and the last word.
const ENDS: usize = 256;
const FLAGS_AT: usize = DENSE;
const WORDS_AT: usize = FLAGS_AT + FLAGS;
const PAIRS_AT: usize = WORDS_AT + WORDS;
const FIRST_AT: usize = PAIRS_AT + PAIRS;
const LAST_AT: usize = FIRST_AT + ENDS;
/// Number of features.
pub(super) const FEATURES: usize = LAST_AT + ENDS;

/// Categories in the order of the places.
pub(super) const CATEGORIES: [Category; 7] = [
    Category::Identity,
    Category::Preference,
    Category::Constraint,
    Category::Goal,
    Category::Fact,
    Category::Conclusion,
    Category::Event,
];

/// The features of a text that are not nothing, with their values.
pub(super) fn features(text: &str, seen: &Seen, embedder: &dyn Embedder) -> Vec<(usize, f32)> {
    let mut found = Vec::with_capacity(DENSE + 128);
    if let Some(vector) = embedder.embed(Role::Passage(PassageKind::Fact), text) {
        found.extend(vector.into_iter().take(DENSE).enumerate());
    }
    flags(text, seen, &mut found);
    let tokens = query_tokens(text);
    let share = 1.0 / (tokens.len().max(1) as f32).sqrt();
    found.extend(tokens.iter().map(|token| (WORDS_AT + token.id as usize % WORDS, share)));
    let pair = |a: u32, b: u32| (a.wrapping_mul(0x9E37_79B1) ^ b.rotate_left(7)) as usize % PAIRS;
    found.extend(tokens.windows(2).map(|two| (PAIRS_AT + pair(two[0].id, two[1].id), share)));
    found.extend(tokens.first().map(|token| (FIRST_AT + token.id as usize % ENDS, 1.0)));
    found.extend(tokens.last().map(|token| (LAST_AT + token.id as usize % ENDS, 1.0)));
    found
}

/// Form, and what the rules say, sentence by sentence and in the end.
fn flags(text: &str, seen: &Seen, found: &mut Vec<(usize, f32)>) {
    let mut flags = [0.0f32; FLAGS];
    let mut set = |at: usize, value: f32| flags[at] = value.max(flags[at]);
    let trimmed = text.trim();
    let (words, han) = (trimmed.split_whitespace().count(), trimmed.chars().filter(|c| is_han(*c)).count());
    let size = words + han / 2;
    set(0, 1.0);
    set(1 + [2, 5, 12, 25, 60].iter().filter(|bound| size > **bound).count(), 1.0);
    set(7, (han as f32 / trimmed.chars().count().max(1) as f32).min(1.0));
    let forms = [
        trimmed.ends_with(['?', '？']),
        trimmed.contains(['?', '？']),
        trimmed.ends_with(['!', '！']),
        trimmed.contains(|c: char| c.is_ascii_digit()),
        trimmed.contains([':', '：']),
        trimmed.contains('\n'),
        trimmed.contains(['"', '“', '「', '`']),
        trimmed.contains(['{', '<', '[', '|', '$', '=']),
        trimmed.starts_with(char::is_uppercase),
        trimmed.ends_with(['.', '。']),
        trimmed.contains("..."),
        trimmed.contains(['(', '（']),
    ];
    forms.iter().enumerate().filter(|(_, form)| **form).for_each(|(n, _)| set(8 + n, 1.0));
    let lower = trimmed.to_lowercase();
    let has = |word: &str| lower.split(|c: char| !c.is_alphanumeric() && c != '\'').any(|w| w == word);
    let first = ["i", "i'm", "i've", "i'd", "my", "me", "we", "our"].into_iter().any(has)
        || trimmed.contains('我')
        || trimmed.contains('咱');
    let second = ["you", "your"].into_iter().any(has) || trimmed.contains(['你', '您']);
    set(20, f32::from(u8::from(first)));
    set(21, f32::from(u8::from(second)));
    seen.sentences.iter().for_each(|sentence| of_sentence(sentence, &mut set));
    set(22, seen.noise as f32 / seen.lines.max(1) as f32);
    set(23, ((seen.noise + seen.sentences.len()) as f32 / 4.0).min(1.0));
    match seen.verdict() {
        Ok(category) => set(72 + place(category), 1.0),
        Err(refusal) => set(80 + refusal as usize, 1.0),
    }
    found.extend(flags.iter().enumerate().filter(|(_, value)| **value != 0.0).map(|(n, value)| (FLAGS_AT + n, *value)));
}

fn of_sentence(sentence: &SeenSentence, set: &mut impl FnMut(usize, f32)) {
    let (signs, made) = (&sentence.signs, &sentence.made);
    let told = [
        signs.explicit,
        signs.question,
        signs.maybe_question,
        signs.request,
        signs.small_talk,
        signs.transient,
        signs.heartbeat,
        signs.dated,
        sentence.asked,
        sentence.small,
        sentence.orders,
        made.finite,
    ];
    told.iter().enumerate().filter(|(_, told)| **told).for_each(|(n, _)| set(24 + n, 1.0));
    if let Some(category) = signs.standing {
        set(40 + place(category), 1.0);
    }
    if let Some(category) = signs.lasting {
        set(48 + place(category), 1.0);
    }
    let telling = made.telling + made.han_telling / 2;
    set(56, (telling as f32 / 8.0).min(1.0));
    set(57, (made.precise as f32 / 3.0).min(1.0));
    set(58 + telling.min(5), 1.0);
}

fn place(category: Category) -> usize {
    CATEGORIES.iter().position(|c| *c == category).unwrap_or(CATEGORIES.len())
}
