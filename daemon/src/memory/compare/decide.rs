//! From two readings and their alignment to what the second is to the first. In doubt it is something else: two memories are better
//! than one lost.
//!
//! Must not know: stores, candidates, clocks.

use super::align::{Alignment, align, likeness};
use super::lexicon::{LEXICON, does};
use super::proof::proven;
use super::tokens::{Class, Reading, Token};
use std::sync::LazyLock;
use tiro_index::embed::Embedder;
use tiro_schema::wire::memory::ConflictReason;

/// What the later text is to the earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Relation {
    /// Nothing, or nothing that rules can tell.
    Unrelated,
    /// About the same thing.
    Near,
    /// The same fact with more to it.
    Updated,
    /// They cannot both hold, and neither is plainly the later.
    Conflict,
    /// A later value of the same thing.
    Superseded,
    /// The same fact in other words.
    Duplicate,
}

/// What a comparison found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finding {
    pub relation: Relation,
    /// Why both cannot hold, where they cannot.
    pub reason: ConflictReason,
}

impl Finding {
    /// A relation that says nothing of a conflict.
    pub const fn plain(relation: Relation) -> Finding {
        Finding { relation, reason: ConflictReason::Denied }
    }
}

/// Words of a value at most: what is longer is another sentence.
const VALUE_WORDS_MAX: usize = 4;
/// Words at most that are left on either side where somebody alone is common, and what changed is told by a verb: lives in, moved to.
const MOVED_WORDS_MAX: usize = 5;
/// Words that may be added to a fact of a few words.
const ADDED_WORDS_MIN: usize = 6;
/// Words that may be missing from a fact told again.
const MISSING_WORDS_MAX: usize = 3;
/// Likeness of two values from which they are of one kind.
const SAME_KIND: f32 = 0.18;
/// The same where nothing but the speaker ties the texts together.
const SAME_KIND_ALONE: f32 = 0.3;
/// Words up to which rules are believed.
const READ_WORDS_MAX: usize = 40;

/// Groups the rules name.
pub(super) struct Groups {
    pub speaker: u16,
    modal: [u16; 3],
    attribute_like: [u16; 2],
    prefer: u16,
    uses: u16,
    lives: u16,
}

pub(super) static GROUPS: LazyLock<Groups> = LazyLock::new(|| {
    let of = |word: &str| LEXICON.find(word).map_or(0, |entry| entry.group);
    Groups {
        speaker: of("我"),
        modal: [of("允许"), of("需要"), of("启用")],
        attribute_like: [of("最喜欢"), of("默认")],
        prefer: of("偏好"),
        uses: of("使用"),
        lives: of("居住"),
    }
});

/// Two readings side by side.
pub(super) struct Pair<'a> {
    pub a: &'a Reading,
    pub b: &'a Reading,
    pub alignment: Alignment,
    /// What is left of the first, without what says nothing.
    pub ra: Vec<usize>,
    pub rb: Vec<usize>,
    embedder: &'a dyn Embedder,
}

fn any(tokens: &[Token], indexes: &[usize], test: impl Fn(&Token) -> bool) -> bool {
    indexes.iter().any(|i| test(&tokens[*i]))
}

impl<'a> Pair<'a> {
    /// Puts two readings side by side; none when they have no word in common.
    pub fn of(a: &'a Reading, b: &'a Reading, embedder: &'a dyn Embedder) -> Option<Pair<'a>> {
        if a.tokens.is_empty() || b.tokens.is_empty() {
            return None;
        }
        let alignment = align(a, b, embedder);
        if alignment.pairs.is_empty() {
            return None;
        }
        let mut pair = Pair { a, b, ra: Vec::new(), rb: Vec::new(), alignment, embedder };
        pair.ra = pair.left(&pair.alignment.only_a, a, b, &pair.alignment.only_b);
        pair.rb = pair.left(&pair.alignment.only_b, b, a, &pair.alignment.only_a);
        Some(pair)
    }

    /// What the second is to the first, as far as it can be shown of what it seems.
    pub fn shown(&self, seems: Finding) -> Finding {
        let antonyms = self.readable() && self.antonyms();
        proven(seems, self.a, self.b, antonyms)
    }

    /// What the second seems to be to the first.
    pub fn seems(&self) -> Finding {
        if !self.readable() {
            return Finding::plain(self.exactly());
        }
        Finding { relation: self.relation(), reason: self.reason() }
    }

    /// Whether the rules can be believed: no question, and not too long.
    pub fn readable(&self) -> bool {
        !self.a.question && !self.b.question && self.a.tokens.len().max(self.b.tokens.len()) <= READ_WORDS_MAX
    }
}

impl Pair<'_> {
    /// Words of one side alone that say something.
    fn left(&self, only: &[usize], own: &Reading, other: &Reading, other_only: &[usize]) -> Vec<usize> {
        let named = any(&other.tokens, other_only, |t| t.class == Class::Name && t.role.is_empty());
        let speaker = |t: &Token| t.entry.group == GROUPS.speaker && (!named || t.at > 3);
        let silent =
            |t: &Token| t.class == Class::Word && (t.does(does::LIGHT) || speaker(t) || (GROUPS.modal.contains(&t.entry.group)));
        only.iter().copied().filter(|i| !silent(&own.tokens[*i])).collect()
    }

    /// Questions and long texts: the same words in the same order, or near.
    fn exactly(&self) -> Relation {
        let same = self.alignment.only_a.is_empty() && self.alignment.only_b.is_empty() && self.in_order();
        let equal = self.alignment.pairs.iter().all(|(i, j)| {
            let (a, b) = (&self.a.tokens[*i], &self.b.tokens[*j]);
            a.key == b.key && a.opposite == b.opposite && a.negated == b.negated
        });
        let alike = same && equal && self.a.negations == self.b.negations && self.a.question == self.b.question;
        if alike && !self.differ_in_mode() { Relation::Duplicate } else { self.near() }
    }

    fn near(&self) -> Relation {
        let own = |reading: &Reading| reading.tokens.iter().filter(|t| t.entry.group != GROUPS.speaker).count();
        let least = own(self.a).min(own(self.b));
        let said = self.alignment.pairs.iter().filter(|(i, _)| self.a.tokens[*i].entry.group != GROUPS.speaker).count();
        if said * 2 >= least.max(2) || said >= 3 { Relation::Near } else { Relation::Unrelated }
    }

    pub fn in_order(&self) -> bool {
        self.alignment.pairs.windows(2).all(|w| w[0].1 < w[1].1)
    }

    fn reason(&self) -> ConflictReason {
        let left =
            |class| any(&self.a.tokens, &self.ra, |t| t.class == class) || any(&self.b.tokens, &self.rb, |t| t.class == class);
        match () {
            () if self.opposed() || self.crossed() => ConflictReason::Denied,
            () if self.ra.is_empty() && self.rb.is_empty() => ConflictReason::Roles,
            () if left(Class::Number) => ConflictReason::Number,
            () if left(Class::Time) => ConflictReason::Time,
            () => ConflictReason::Value,
        }
    }

    fn relation(&self) -> Relation {
        if self.mixed_subjects() {
            return self.near();
        }
        let opposed = self.opposed();
        match (self.ra.is_empty(), self.rb.is_empty()) {
            (true, true) => self.same_words(opposed),
            (true, false) | (false, true) if opposed => self.opposed_with_more(),
            (true, false) => self.with_more(),
            (false, true) => self.with_less(),
            (false, false) => self.otherwise(opposed),
        }
    }

    /// Whether one says what the other denies: negations and opposites do not come out even.
    pub fn opposed(&self) -> bool {
        let says = |t: &Token| t.opposite ^ t.negated;
        let modal = |t: &Token| t.negated ^ (t.opposite && GROUPS.modal.contains(&t.entry.group));
        let pairs = self.alignment.pairs.iter().filter(|(i, j)| says(&self.a.tokens[*i]) != says(&self.b.tokens[*j])).count();
        let alone = |tokens: &[Token], only: &[usize]| only.iter().filter(|i| modal(&tokens[**i])).count();
        (pairs + alone(&self.a.tokens, &self.alignment.only_a) + alone(&self.b.tokens, &self.alignment.only_b)) % 2 == 1
    }

    /// Some words are denied here and others there: `tabs, not spaces` and `spaces, not tabs`.
    pub fn crossed(&self) -> bool {
        let values = |t: &Token| !t.does(does::VERB) && !GROUPS.modal.contains(&t.entry.group);
        let (mut here, mut there) = (0, 0);
        for (i, j) in &self.alignment.pairs {
            let (a, b) = (&self.a.tokens[*i], &self.b.tokens[*j]);
            let (a_denied, b_denied) = (a.scoped ^ a.opposite, b.scoped ^ b.opposite);
            if values(a) && a_denied != b_denied {
                *(if a_denied { &mut here } else { &mut there }) += 1;
            }
        }
        here > 0 && there > 0
    }

    pub fn differ_in_mode(&self) -> bool {
        let tense = self.a.past != self.b.past;
        let obliged = self.a.must && self.b.may && !self.b.must || self.b.must && self.a.may && !self.a.must;
        self.a.hedge != self.b.hedge || obliged || tense || (self.b.again && !self.a.again)
    }

    fn same_words(&self, opposed: bool) -> Relation {
        if opposed {
            let state = self.a.copula && self.a.negations == self.b.negations && Slot::of(self).attribute;
            return if self.b.change || state { Relation::Superseded } else { Relation::Conflict };
        }
        if self.crossed() || self.swapped() {
            return Relation::Conflict;
        }
        if self.a.stopper != self.b.stopper {
            return Relation::Superseded;
        }
        match (self.a.exception, self.b.exception) {
            (false, true) => return Relation::Updated,
            (true, false) => return Relation::Near,
            _ => {}
        }
        if self.differ_in_mode() { Relation::Near } else { Relation::Duplicate }
    }

    /// Two words changed places, and the places mean something.
    pub fn swapped(&self) -> bool {
        let (a, b) = (&self.a.tokens, &self.b.tokens);
        if self.a.symmetric && self.b.symmetric {
            return false;
        }
        let things: Vec<(usize, usize)> = self
            .alignment
            .pairs
            .iter()
            .copied()
            .filter(|(i, _)| !a[*i].does(does::VERB | does::ATTRIBUTE) && a[*i].entry.group != GROUPS.speaker || a[*i].exact())
            .collect();
        for (n, (i, j)) in things.iter().enumerate() {
            for (k, l) in &things[n + 1..] {
                let (x, y) = ((&a[*i], &b[*j]), (&a[*k], &b[*l]));
                let flipped = j > l;
                let kept = |(p, q): (&Token, &Token)| p.role == q.role && p.owner == q.owner;
                let exchanged = x.0.role == y.1.role && y.0.role == x.1.role && x.0.role != y.0.role
                    || x.0.owner == y.1.owner && y.0.owner == x.1.owner && x.0.owner != y.0.owner;
                let bare = [x.0, y.0, x.1, y.1].iter().all(|t| t.role.is_empty() && !t.owner);
                let listed = self.listed(*i, *k) || self.listed_b(*j, *l);
                if listed {
                    continue;
                }
                if exchanged && !(kept(x) && kept(y)) && !self.passive_turn() {
                    return true;
                }
                let divided = self.divided((*i, *k), (*j, *l));
                if flipped && bare && divided && !self.passive_turn() && !self.turned_copula() {
                    return true;
                }
            }
        }
        false
    }

    /// One of the two is told from the other side: `is managed by`.
    pub fn passive_turn(&self) -> bool {
        self.a.passive != self.b.passive
    }

    /// `the port is 22`, `22 is the port`.
    fn turned_copula(&self) -> bool {
        self.a.copula && self.b.copula
    }

    /// The same word stands between the two in both texts.
    fn divided(&self, (i, k): (usize, usize), (j, l): (usize, usize)) -> bool {
        let within = |x: usize, from: usize, to: usize| x > from.min(to) && x < from.max(to);
        self.alignment.pairs.iter().any(|(x, y)| within(*x, i, k) && within(*y, j, l))
    }

    /// The two stand side by side in a list.
    fn listed(&self, i: usize, k: usize) -> bool {
        beside(&self.a.tokens, i, k)
    }

    fn listed_b(&self, i: usize, k: usize) -> bool {
        beside(&self.b.tokens, i, k)
    }

    fn opposed_with_more(&self) -> Relation {
        let more = self.ra.len() + self.rb.len();
        let tied = self.alignment.pairs.len() >= 2 || self.a.tokens.len().min(self.b.tokens.len()) == 1;
        if !tied || self.subject_left() {
            return self.near();
        }
        if self.b.change && self.ra.is_empty() || self.b.stopper && self.rb.is_empty() {
            return Relation::Superseded;
        }
        let when = any(&self.b.tokens, &self.rb, |t| t.class == Class::Time);
        if self.ra.is_empty() && when && self.rb.len() <= 2 && self.a.negations == self.b.negations {
            return Relation::Superseded;
        }
        let scope = any(&self.b.tokens, &self.rb, |t| t.exact()) || any(&self.a.tokens, &self.ra, |t| t.exact());
        if more <= 2 && !scope { Relation::Conflict } else { self.near() }
    }

    /// The later text has all of the earlier and more.
    fn with_more(&self) -> Relation {
        let said = self.alignment.pairs.len();
        if said < 2 || self.swapped() || self.crossed() || self.differ_in_mode() {
            return self.near();
        }
        if self.b.stopper && !self.a.stopper || self.b.change && !self.b.hedge && self.names_old() {
            return Relation::Superseded;
        }
        let most = ADDED_WORDS_MIN.max(self.a.tokens.len() * 2);
        if self.rb.len() > most || self.subject_left() || self.head_moved() {
            return self.near();
        }
        if self.a.exception && !self.b.exception {
            return self.near();
        }
        Relation::Updated
    }

    /// The later text has less: the same told again, unless what is missing tells facts apart.
    fn with_less(&self) -> Relation {
        let marks = any(&self.a.tokens, &self.ra, |t| t.exact() || t.negated || t.opposite || t.excepted || t.entry.apart != 0);
        let said = self.alignment.pairs.len();
        if marks || said < 2 || self.ra.len() > MISSING_WORDS_MAX || self.swapped() || self.crossed() || self.differ_in_mode() {
            return self.near();
        }
        if self.subject_left() || self.head_moved() || self.a.exception != self.b.exception || self.a.stopper != self.b.stopper {
            return self.near();
        }
        if any(&self.a.tokens, &self.ra, |t| t.does(does::VERB | does::MANY)) {
            return self.near();
        }
        Relation::Duplicate
    }

    /// What is left stands in the subject, where it names another thing.
    pub fn subject_left(&self) -> bool {
        let one_sided = self.ra.is_empty() || self.rb.is_empty();
        let left = |reading: &Reading, only: &[usize]| {
            let verb = reading.verb_at.unwrap_or(0);
            only.iter().any(|i| {
                let t = &reading.tokens[*i];
                // In Chinese when, where and how stand between the subject and its verb.
                if one_sided && (t.han() || !reading.has_verb) && *i > 0 && !only.contains(&0) && !reading.tokens[*i - 1].owner {
                    return false;
                }
                let aside = t.class == Class::Time || matches!(t.role, "in" | "at" | "on" | "for" | "from" | "with" | "under");
                *i < verb && !aside
            })
        };
        left(self.a, &self.ra) || left(self.b, &self.rb)
    }

    /// What is added stands right behind the last common word and makes it another thing: a dog, a dog trainer.
    pub fn head_moved(&self) -> bool {
        let moved = |reading: &Reading, only: &[usize], pairs: &[usize]| {
            only.iter().any(|i| {
                let token = &reading.tokens[*i];
                let Some(before) = i.checked_sub(1).filter(|before| pairs.contains(before)) else { return false };
                let before = &reading.tokens[before];
                let compound =
                    token.joined && !token.han() && token.class == Class::Word && !before.does(does::VERB) && !before.exact();
                let noun = before.class == Class::Word || before.class == Class::Name;
                let adverb = token.text.ends_with("ly") || token.does(does::ADVERB);
                (before.owner || compound && !adverb) && noun && !token.does(does::VERB)
            })
        };
        let a: Vec<usize> = self.alignment.pairs.iter().map(|p| p.0).collect();
        let b: Vec<usize> = self.alignment.pairs.iter().map(|p| p.1).collect();
        moved(self.a, &self.ra, &a) || moved(self.b, &self.rb, &b)
    }

    /// Each is about somebody or something of another name: `Jonas's extension`, `the extension of Leon`.
    pub fn other_owner(&self) -> bool {
        let named = |reading: &Reading, only: &[usize]| {
            only.iter().any(|i| {
                let token = &reading.tokens[*i];
                let about = *i < reading.verb_at.unwrap_or(0) || token.owner || token.role == "of";
                about && matches!(token.class, Class::Name | Class::Ident)
            })
        };
        named(self.a, &self.ra) && named(self.b, &self.rb)
    }

    /// A name here, the speaker there.
    pub fn mixed_subjects(&self) -> bool {
        let head = |reading: &Reading, only: &[usize]| {
            only.iter().any(|i| {
                *i < reading.verb_at.unwrap_or(1).max(1)
                    && reading.tokens[*i].class == Class::Name
                    && reading.tokens[*i].role.is_empty()
            })
        };
        let speaks = |reading: &Reading, only: &[usize]| {
            only.iter().any(|i| reading.tokens[*i].entry.group == GROUPS.speaker && *i < reading.verb_at.unwrap_or(1).max(1))
        };
        head(self.a, &self.alignment.only_a) && speaks(self.b, &self.alignment.only_b)
            || head(self.b, &self.alignment.only_b) && speaks(self.a, &self.alignment.only_a)
    }

    /// Something is left on both sides.
    fn otherwise(&self, opposed: bool) -> Relation {
        if self.b.change && !self.b.hedge {
            let relation = self.changed();
            if relation != Relation::Near {
                return relation;
            }
        }
        if opposed || self.differ_in_mode() || self.crossed() {
            return self.near();
        }
        let values_first = self.values_first();
        if !values_first && (self.subject_left() || self.verb_left()) {
            return self.near();
        }
        if self.a.exception != self.b.exception || self.alignment.pairs.is_empty() {
            return self.near();
        }
        self.other_value(values_first)
    }

    /// `Ann is our lead`, `Bob is our lead`: the value stands first.
    pub fn values_first(&self) -> bool {
        let first = |reading: &Reading, only: &[usize]| {
            let verb = reading.verb_at.unwrap_or(0);
            verb > 0 && only.len() == verb && only.iter().all(|i| *i < verb)
        };
        self.a.copula
            && self.b.copula
            && self.a.definite_end
            && self.b.definite_end
            && first(self.a, &self.ra)
            && first(self.b, &self.rb)
            && any(&self.a.tokens, &self.alignment.pairs.iter().map(|p| p.0).collect::<Vec<_>>(), |t| {
                t.does(does::ATTRIBUTE | does::FIXED)
            })
    }

    pub fn verb_left(&self) -> bool {
        any(&self.a.tokens, &self.ra, |t| t.does(does::VERB) && !t.exact() && !t.does(does::ATTRIBUTE))
            || any(&self.b.tokens, &self.rb, |t| t.does(does::VERB) && !t.exact() && !t.does(does::ATTRIBUTE))
    }

    /// Words of change, and another value.
    fn changed(&self) -> Relation {
        let verb = |t: &Token| t.does(does::VERB) && !t.exact();
        let ra: Vec<usize> = self.ra.iter().copied().filter(|i| !verb(&self.a.tokens[*i])).collect();
        let rb: Vec<usize> = self.rb.iter().copied().filter(|i| !verb(&self.b.tokens[*i])).collect();
        // What is left may be verbs alone: engaged, married.
        let (ra, rb) = if ra.is_empty() || rb.is_empty() { (self.ra.clone(), self.rb.clone()) } else { (ra, rb) };
        let subject = |reading: &Reading, only: &[usize]| {
            let verb_at = reading.verb_at.unwrap_or(0);
            only.iter().any(|i| {
                let token = &reading.tokens[*i];
                *i < verb_at && matches!(token.role, "" | "of") && token.class != Class::Time
            })
        };
        if rb.len() > VALUE_WORDS_MAX + 2 || ra.len() > VALUE_WORDS_MAX || rb.is_empty() && ra.is_empty() {
            return self.near_only();
        }
        if !self.values_first() && subject(self.a, &ra) && subject(self.b, &rb) {
            return self.near_only();
        }
        let tied = self.alignment.pairs.iter().filter(|(i, _)| {
            let t = &self.a.tokens[*i];
            t.entry.group != GROUPS.speaker && t.class != Class::Time
        });
        let (mut words, mut verbs) = (0, 0);
        for (i, _) in tied {
            if self.a.tokens[*i].does(does::VERB) { verbs += 1 } else { words += 1 }
        }
        // Words of change say that something changed, not what: more has to be shared than a word among many.
        let shared = words + verbs;
        let far = shared * 2 < self.ra.len() || shared * 3 < self.rb.len();
        if self.names_old() && ra.len() <= 2 && !far {
            return Relation::Superseded;
        }
        let speakers = self.alignment.pairs.iter().any(|(i, _)| self.a.tokens[*i].entry.group == GROUPS.speaker);
        // `my sister`, `I`: what is left in one subject where nothing else is common is somebody else.
        let common_subject = self.alignment.pairs.iter().any(|(i, _)| {
            let token = &self.a.tokens[*i];
            *i < self.a.verb_at.unwrap_or(0) && token.entry.group != GROUPS.speaker && token.class != Class::Time
        });
        if speakers && !common_subject && (subject(self.a, &ra) || subject(self.b, &rb)) {
            return self.near_only();
        }
        let named = self.alignment.pairs.iter().any(|(i, _)| self.a.tokens[*i].does(does::ATTRIBUTE));
        let bar = if named && words > 0 {
            -1.0
        } else if words > 0 {
            SAME_KIND
        } else {
            SAME_KIND_ALONE
        };
        let enough = words > 0 || verbs > 0 && speakers;
        let short = self.ra.len() <= MOVED_WORDS_MAX && self.rb.len() <= MOVED_WORDS_MAX;
        let moved_on = speakers && words == 0 && verbs == 0 && short;
        if ra.is_empty() {
            return if words > 0 && rb.len() <= 2 && !far { Relation::Superseded } else { self.near_only() };
        }
        let alike = self.of_a_kind(&ra, &rb, bar);
        // Who moved lives elsewhere, whatever the place is called.
        let lives = self.a.tokens.iter().any(|t| t.entry.group == GROUPS.lives);
        let named = any(&self.b.tokens, &rb, |t| t.class == Class::Name || t.han());
        if self.b.moved && lives && (speakers || words > 0) && named && short {
            return Relation::Superseded;
        }
        if (enough && alike && !far) || (moved_on && alike && self.of_a_kind(&ra, &rb, 0.4)) {
            return Relation::Superseded;
        }
        self.near_only()
    }

    /// The old value is named as what is left behind.
    pub fn names_old(&self) -> bool {
        self.alignment.pairs.iter().any(|(i, j)| {
            let (x, y) = (&self.a.tokens[*i], &self.b.tokens[*j]);
            *i >= self.a.verb_at.unwrap_or(0)
                && !x.does(does::VERB)
                && x.role != "from"
                && (y.role == "from" || y.negated && !x.negated)
        })
    }

    fn near_only(&self) -> Relation {
        Relation::Near
    }

    /// Whether some value of one side is of the kind of one of the other.
    fn of_a_kind(&self, ra: &[usize], rb: &[usize], bar: f32) -> bool {
        ra.iter().any(|i| {
            rb.iter().any(|j| {
                let (a, b) = (&self.a.tokens[*i], &self.b.tokens[*j]);
                match (a.class, b.class) {
                    (Class::Number, Class::Number) | (Class::Time, Class::Time) => true,
                    (Class::Number | Class::Time, _) | (_, Class::Number | Class::Time) => false,
                    (Class::Ident | Class::Name, Class::Ident | Class::Name) => {
                        bar < 0.4 || likeness(a, b, self.embedder).is_some_and(|l| l >= SAME_KIND)
                    }
                    _ => a.entry.apart & b.entry.apart != 0 || likeness(a, b, self.embedder).is_some_and(|l| l >= bar),
                }
            })
        })
    }

    /// The same sentence with another value.
    fn other_value(&self, values_first: bool) -> Relation {
        let (ra, rb) = (&self.ra, &self.rb);
        if ra.len() > VALUE_WORDS_MAX || rb.len() > VALUE_WORDS_MAX {
            return self.near();
        }
        let class = |tokens: &[Token], only: &[usize], class: Class| only.iter().filter(|i| tokens[**i].class == class).count();
        let count = |c: Class| (class(&self.a.tokens, ra, c), class(&self.b.tokens, rb, c));
        let (numbers, times, words) = (count(Class::Number), count(Class::Time), count(Class::Word));
        let units = words.0 == words.1
            && words.0 > 0
            && numbers.0 > 0
            && ra
                .iter()
                .filter(|i| self.a.tokens[**i].class == Class::Word)
                .zip(rb.iter().filter(|i| self.b.tokens[**i].class == Class::Word))
                .all(|(i, j)| self.a.tokens[*i].entry.apart & self.b.tokens[*j].entry.apart != 0);
        let mixed = words.0 + words.1 > 0 && numbers.0 + numbers.1 > 0 && !units;
        if mixed || numbers.0.min(1) != numbers.1.min(1) || times.0.min(1) != times.1.min(1) {
            return self.near();
        }
        let slot = Slot::of(self);
        let event = slot.event;
        if slot.fixed {
            return Relation::Conflict;
        }
        let past = self.a.past && self.b.past;
        if times.0 > 0 {
            return match () {
                () if event && numbers.0 == 0 && words.0 == 0 => Relation::Conflict,
                () if past => self.near(),
                () if slot.single || self.a.copula => Relation::Superseded,
                () if slot.many => self.near(),
                () if words.0 + words.1 == 0 && slot.scheduled => Relation::Superseded,
                () => self.near(),
            };
        }
        if numbers.0 > 0 {
            // `note 1`, `note 2`: without a verb a number is as good as a name, unless it is of something that has one value.
            let unit = self.measured(self.a, ra) && self.measured(self.b, rb);
            if !slot.single && !unit && (!self.a.has_verb || !self.b.has_verb || numbers.0 > 1 || numbers.1 > 1) {
                return self.near();
            }
            return if past || event { Relation::Conflict } else { Relation::Superseded };
        }
        if values_first || slot.single {
            return if past { Relation::Conflict } else { Relation::Superseded };
        }
        if self.antonyms() {
            return Relation::Conflict;
        }
        let apart = ra.iter().any(|i| rb.iter().any(|j| self.a.tokens[*i].entry.apart & self.b.tokens[*j].entry.apart != 0));
        if apart && self.a.copula && !slot.many {
            return Relation::Superseded;
        }
        self.near()
    }

    /// The one number left stands at the end of a short text with its unit behind it: `ticket 12 euros`.
    fn measured(&self, reading: &Reading, only: &[usize]) -> bool {
        let [i] = only else { return false };
        let unit = reading.tokens.get(i + 1).is_some_and(|t| t.entry.apart != 0);
        unit && reading.tokens.len() <= 8 && reading.tokens[*i].class == Class::Number
    }

    /// `stable` and `unstable`, `complete` and `incomplete`.
    pub fn antonyms(&self) -> bool {
        let [i] = self.ra.as_slice() else { return false };
        let [j] = self.rb.as_slice() else { return false };
        let (a, b) = (self.a.tokens[*i].text.to_lowercase(), self.b.tokens[*j].text.to_lowercase());
        let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
        ["un", "in", "im", "dis", "non", "ir", "il", "不", "非", "没", "无", "未"]
            .iter()
            .any(|prefix| long.strip_prefix(prefix) == Some(short.as_str()))
    }
}

fn beside(tokens: &[Token], i: usize, k: usize) -> bool {
    let (from, to) = (i.min(k), i.max(k));
    to == from + 1
        && tokens[to].at - tokens[from].at <= 2
        && !tokens[from].owner
        && (tokens[from].role == tokens[to].role || tokens[to].role.is_empty() || tokens[to].role == "and")
        && tokens[to].at - tokens[from].at == 2
}

/// What sort of place a value stands in.
pub(super) struct Slot {
    pub attribute: bool,
    pub single: bool,
    pub many: bool,
    pub fixed: bool,
    pub event: bool,
    pub scheduled: bool,
}

impl Slot {
    pub fn of(pair: &Pair<'_>) -> Slot {
        let paired: Vec<usize> = pair.alignment.pairs.iter().map(|p| p.0).collect();
        let tokens = &pair.a.tokens;
        let verb_at = pair.a.verb_at.unwrap_or(0);
        let verb = paired.iter().copied().find(|i| *i >= verb_at && tokens[*i].does(does::VERB)).filter(|_| !pair.a.copula);
        let many = verb.is_some_and(|v| tokens[v].does(does::MANY));
        let attribute = any(tokens, &paired, |t| t.does(does::ATTRIBUTE) || GROUPS.attribute_like.contains(&t.entry.group));
        let single_verb = verb.is_some_and(|v| tokens[v].does(does::SINGLE))
            || ((pair.a.copula || !pair.a.has_verb) && any(tokens, &paired, |t| t.does(does::SINGLE)));
        let for_what = paired.iter().any(|i| matches!(tokens[*i].role, "for" | "as") && tokens[*i].does(does::ATTRIBUTE));
        let prefer =
            any(tokens, &paired, |t| t.entry.group == GROUPS.prefer) && paired.iter().any(|i| *i > verb.unwrap_or(verb_at));
        let uses = any(tokens, &paired, |t| t.entry.group == GROUPS.uses);
        let single = (attribute && (!many || (uses && for_what))) || single_verb || (prefer && !many);
        Slot {
            attribute,
            single,
            many,
            fixed: any(tokens, &paired, |t| t.does(does::FIXED)),
            event: any(tokens, &paired, |t| t.does(does::EVENT) && (pair.a.past || t.han())),
            scheduled: single_verb,
        }
    }
}
