//! What of a text stands whatever is asked: instructions, preferences, constraints, and who somebody is.
//!
//! Computed from the text each time it is needed, so nothing stored depends on it. Pure. Must not know: memories, budgets.

use super::cues::cues;
use super::judge::{each_line, judge_sentence, lasting};
use super::plain::{clauses, sentences};
use tiro_schema::wire::memory::Category;

/// How firmly a text stands, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::memory) enum Firmness {
    /// Who somebody is.
    Known,
    /// What somebody likes, or what must be.
    Wished,
    /// An instruction from now on.
    Told,
}

/// What stands of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::memory) struct Standing<'a> {
    /// How firmly.
    pub firmness: Firmness,
    /// The sentence that says so.
    pub sentence: &'a str,
    /// What it is bound to ("when I ask about recipes"), plain; none where it holds for everything.
    pub scope: Option<String>,
}

/// The firmest sentence of a text, the last of equals: none when nothing in it stands.
pub(in crate::memory) fn standing(text: &str) -> Option<Standing<'_>> {
    let mut best: Option<Standing<'_>> = None;
    each_line(text, |line| {
        for sentence in line.map(sentences).unwrap_or_default() {
            let signs = cues(&sentence.plain);
            let firmness = match lasting(&signs) {
                Some(_) if signs.standing.is_some() && (!signs.question || signs.request) => Firmness::Told,
                _ if judge_sentence(&sentence).is_err() => continue,
                Some(Category::Preference | Category::Constraint) => Firmness::Wished,
                Some(Category::Identity) => Firmness::Known,
                _ => continue,
            };
            if best.as_ref().is_none_or(|b| firmness >= b.firmness) {
                let scope = (firmness == Firmness::Told).then(|| scope(&sentence.plain)).flatten();
                best = Some(Standing { firmness, sentence: sentence.raw, scope });
            }
        }
    });
    best
}

/// Words that begin the condition of an instruction.
const CONDITIONS: &[&str] = &[
    "when ",
    "whenever ",
    "every time ",
    "everytime ",
    "each time ",
    "any time ",
    "anytime ",
    "if i ",
    "if you ",
    "for any ",
    "for all ",
    "in all ",
    "in any ",
    "in every ",
    "for every ",
    "while ",
    "once i ",
    "as soon as ",
];

/// The condition of an instruction: from the word that begins it to the end of its clause.
fn scope(plain: &str) -> Option<String> {
    let english = CONDITIONS.iter().filter_map(|head| find_word(plain, head)).min();
    if let Some(at) = english {
        return Some(clauses(&plain[at..]).next().unwrap_or("").to_owned());
    }
    clauses(plain)
        .find(|clause| clause.ends_with('时') || clause.contains("的时候") || clause.starts_with('每') || clause.contains("只要"))
        .map(str::to_owned)
}

fn find_word(plain: &str, word: &str) -> Option<usize> {
    let at = plain.find(word)?;
    (at == 0 || plain[..at].ends_with(' ')).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, firmness: Firmness, scope: Option<&str>) {
        let found = standing(text).map(|s| (s.firmness, s.scope));
        assert_eq!(found, Some((firmness, scope.map(str::to_owned))), "{text}");
    }

    // MEM-14
    #[test]
    fn instructions_are_told_from_wishes_and_from_facts() {
        check("Always answer in French.", Firmness::Told, None);
        check(
            "Please include type hints whenever I ask for Python code.",
            Firmness::Told,
            Some("whenever i ask for python code"),
        );
        check("When I ask about recipes, give me the vegetarian version.", Firmness::Told, Some("when i ask about recipes"));
        check("I'm vegetarian.", Firmness::Wished, None);
        check("I prefer short answers", Firmness::Wished, None);
        check("My name is Priya", Firmness::Known, None);
        check("以后回答都用表格", Firmness::Told, None);
        check("我对海鲜过敏", Firmness::Wished, None);
        assert_eq!(standing("The build takes four minutes."), None);
        assert_eq!(standing("Do I prefer tabs?"), None);
    }

    #[test]
    fn the_sentence_that_stands_is_given_as_it_was_written() {
        let text = "We ship on Friday. Always use *tabs* in Go code! The build is green.";
        assert_eq!(standing(text).map(|s| s.sentence), Some("Always use *tabs* in Go code"));
    }
}
