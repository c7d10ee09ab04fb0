//! Whether a text is worth keeping, and as what: sentence by sentence, from cues, form and content.
//!
//! A text is kept when one of its sentences is. A statement that says something passes, also where no rule knows it: a false
//! refusal loses memory. Pure. Must not know: who asks, what is stored.

use super::cues::{Cues, cues, stronger};
use super::noise::is_noise;
use super::plain::{Sentence, clauses, sentences};
use super::words::{Content, content, is_shell, is_small_talk, orders};
use tiro_schema::wire::memory::Category;

/// Why a text is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Refusal {
    /// Nothing to read.
    Empty,
    /// Too little to say anything.
    Fragment,
    /// Greetings, thanks, praise.
    SmallTalk,
    /// Output of programs, or keys struck at random.
    Noise,
    /// A program that says it is alive.
    Heartbeat,
    /// How somebody is, or what goes on, at this moment.
    Transient,
    /// A request for work now.
    Command,
    /// A question.
    Question,
    /// What a recall had just given out.
    Recalled,
    /// Nothing that lasts, as far as a rule knows, in a space whose gate is strict.
    Strict,
}

impl Refusal {
    /// The reason on the wire.
    pub fn reason(self) -> &'static str {
        match self {
            Refusal::Empty => "gate:empty",
            Refusal::Fragment => "gate:fragment",
            Refusal::SmallTalk => "gate:smallTalk",
            Refusal::Noise => "gate:noise",
            Refusal::Heartbeat => "gate:heartbeat",
            Refusal::Transient => "gate:transient",
            Refusal::Command => "gate:command",
            Refusal::Question => "gate:question",
            Refusal::Recalled => "gate:recalled",
            Refusal::Strict => "gate:strict",
        }
    }
}

/// What the gate says of a text.
pub(super) type Verdict = Result<Category, Refusal>;

/// A text, looked at sentence by sentence.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub lines: usize,
    /// Lines that a program wrote.
    pub noise: usize,
    pub sentences: Vec<SeenSentence>,
}

/// What is seen of a sentence.
#[derive(Debug)]
pub(super) struct SeenSentence {
    pub asked: bool,
    pub signs: Cues,
    pub made: Content,
    pub small: bool,
    pub orders: bool,
    /// Says that it holds for ever.
    pub always: bool,
    pub verdict: Verdict,
}

/// Words that say that something holds for ever.
const ALWAYS: [&str; 12] =
    ["always", "never", "from now on", "every time", "going forward", "以后", "每次", "一律", "永远", "今后", "总是", "从现在起"];

/// Looks at a text.
pub(super) fn see(text: &str) -> Seen {
    let mut seen = Seen::default();
    each_line(text, |line| {
        seen.lines += 1;
        match line {
            None => seen.noise += 1,
            Some(line) => seen.sentences.extend(sentences(line).iter().map(see_sentence)),
        }
    });
    seen
}

fn see_sentence(sentence: &Sentence<'_>) -> SeenSentence {
    let plain = sentence.plain.as_str();
    let mut seen = SeenSentence {
        asked: sentence.asked,
        signs: cues(plain),
        made: content(plain),
        small: is_small_talk(plain),
        orders: orders(plain),
        always: ALWAYS.iter().any(|word| plain.contains(word)),
        verdict: Err(Refusal::Empty),
    };
    seen.verdict = verdict_of(sentence, &seen);
    seen
}

impl Seen {
    /// What the rules make of it.
    pub fn verdict(&self) -> Verdict {
        let mut kept: Option<Category> = None;
        let mut refused = if self.noise > 0 { Refusal::Noise } else { Refusal::Empty };
        for sentence in &self.sentences {
            match sentence.verdict {
                Ok(category) => kept = stronger(kept, category),
                Err(refusal) => refused = refused.max(refusal),
            }
        }
        match kept {
            // Figures beside a sign of life are part of it.
            Some(Category::Fact | Category::Event) if refused == Refusal::Heartbeat => Err(refused),
            Some(category) => Ok(category),
            None => Err(refused),
        }
    }

    /// Whether somebody asks to keep what it says, or gives an instruction for ever.
    pub fn asks_to_keep(&self) -> bool {
        let asks = |seen: &SeenSentence| seen.signs.explicit || seen.signs.standing.is_some() && seen.always;
        self.sentences.iter().any(|sentence| asks(sentence) && sentence.verdict.is_ok())
    }
}

/// Gives every line that somebody wrote, and none for one of a program or of fenced code.
pub(super) fn each_line<'a>(text: &'a str, mut each: impl FnMut(Option<&'a str>)) {
    let mut fenced = false;
    for line in text.lines().filter(|l| !l.trim().is_empty()) {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            continue;
        }
        each((!fenced && !is_noise(line)).then_some(line));
    }
}

pub(super) fn judge_sentence(sentence: &Sentence<'_>) -> Verdict {
    see_sentence(sentence).verdict
}

fn verdict_of(sentence: &Sentence<'_>, seen: &SeenSentence) -> Verdict {
    let plain = sentence.plain.as_str();
    let SeenSentence { signs, made, small, orders: ordered, .. } = seen;
    let (signs, made, ordered) = (*signs, *made, *ordered);
    if signs.explicit && (signs.request || !(sentence.asked || signs.question)) {
        return if made.telling + made.han_telling >= 2 { Ok(category_of(&signs, &made)) } else { Err(Refusal::Fragment) };
    }
    if signs.heartbeat && lasting(&signs).is_none() {
        return Err(Refusal::Heartbeat);
    }
    if *small {
        return Err(if sentence.asked { Refusal::Question } else { Refusal::SmallTalk });
    }
    if sentence.asked || signs.question || signs.request || ordered {
        return judge_asking(sentence, &signs, ordered);
    }
    let strong = lasting(&signs).filter(|category| !(signs.transient && *category == Category::Fact));
    if strong.is_some() && says_anything(&made) {
        return Ok(category_of(&signs, &made));
    }
    if is_shell(plain, &made) {
        return Err(Refusal::Command);
    }
    // What began lately with a date to it is no mood.
    if signs.transient && !(signs.dated && made.telling >= 3) {
        return Err(Refusal::Transient);
    }
    if signs.small_talk && made.words + made.han <= SMALL_TALK_WORDS_MAX {
        return Err(Refusal::SmallTalk);
    }
    if states(plain, &made, signs.dated) { Ok(category_of(&signs, &made)) } else { Err(Refusal::Fragment) }
}

/// Words and Han characters of a remark that praises or greets.
const SMALL_TALK_WORDS_MAX: usize = 16;

/// A sentence that asks or orders can still say something: an instruction for ever, or a clause beside the question.
fn judge_asking(sentence: &Sentence<'_>, signs: &Cues, ordered: bool) -> Verdict {
    let plain = sentence.plain.as_str();
    let refusal = if signs.request || ordered && !signs.question { Refusal::Command } else { Refusal::Question };
    if let Some(category) = signs.standing
        && (!signs.question || signs.request)
    {
        return Ok(category);
    }
    // "Run the migrations before each deploy": how something is done, not work for now.
    let made = content(plain);
    if ordered && !sentence.asked && !signs.request && !signs.question && made.telling >= 3 && is_procedure(plain) {
        return Ok(category_of(signs, &made));
    }
    let parts: Vec<&str> = clauses(plain).collect();
    let last = parts.len().saturating_sub(1);
    let mut asking = false;
    for (n, clause) in parts.iter().enumerate() {
        let part = cues(clause);
        if part.question || part.request || orders(clause) || (sentence.asked && n == last) {
            asking = true;
            continue;
        }
        let made = content(clause);
        let conditional = ["if ", "when ", "如果", "要是", "假如", "当"].iter().any(|head| clause.starts_with(head));
        if conditional || is_small_talk(clause) {
            continue;
        }
        let strong = lasting(&part).is_some_and(|category| category != Category::Fact);
        if (strong || (!asking && lasting(&part).is_some())) && says_anything(&made) {
            return Ok(category_of(&part, &made));
        }
        let stated = (made.finite && made.telling >= 3) || made.han_telling >= 5;
        if !asking && stated && !part.transient && !part.small_talk {
            return Ok(category_of(&part, &made));
        }
    }
    Err(refusal)
}

/// Whether an order says when it holds, and speaks of nothing at hand.
fn is_procedure(plain: &str) -> bool {
    let words = || plain.split_whitespace();
    words().any(|w| matches!(w, "before" | "after" | "unless" | "except" | "whenever" | "each" | "every" | "between"))
        && !words().any(|w| {
            matches!(
                w,
                "it" | "this"
                    | "that"
                    | "these"
                    | "me"
                    | "now"
                    | "my"
                    | "today"
                    | "again"
                    | "please"
                    | "all"
                    | "below"
                    | "above"
                    | "following"
            )
        })
}

/// The category of what lasts in it.
pub(super) fn lasting(signs: &Cues) -> Option<Category> {
    match (signs.standing, signs.lasting) {
        (Some(standing), Some(other)) => stronger(Some(standing), other),
        (one, other) => one.or(other),
    }
}

fn category_of(signs: &Cues, made: &Content) -> Category {
    match lasting(signs) {
        // What happened at a time is an event, unless it names what it is about for good.
        Some(Category::Fact) | None if signs.dated && made.precise < 3 => Category::Event,
        Some(category) => category,
        None => Category::Fact,
    }
}

fn says_anything(made: &Content) -> bool {
    made.telling >= 1 || made.han_telling >= 1
}

/// Whether a sentence without a cue states something.
fn states(plain: &str, made: &Content, dated: bool) -> bool {
    let points =
        plain.starts_with("it ") || plain.starts_with("this ") || plain.starts_with("that ") || plain.starts_with("they ");
    let slot = (plain.contains(": ") || plain.contains('=') || plain.contains('：')) && made.telling + made.han_telling >= 2;
    if slot || (dated && made.telling + made.han_telling >= 2) {
        return true;
    }
    if made.han >= 2 {
        // A name or number among the characters says as much as three of them.
        return made.han_telling + 3 * made.telling.min(2) >= 4;
    }
    let enough = match (points, made.finite) {
        (true, true) => 3,
        (true, false) => 4,
        (false, true) => 2,
        (false, false) => 4,
    };
    made.telling >= enough || (made.precise >= 1 && made.telling >= 2)
}
