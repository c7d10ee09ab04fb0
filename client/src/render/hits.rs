//! What a recall found, and why it thinks so.
//!
//! Must not know: how the recall was asked for.

use super::table::Align::{Left, Right};
use super::{Style, escape, id, table, time, wrap};
use tiro_schema::wire::Open;
use tiro_schema::wire::memory::{Explain, Hit, OccurredAtSource, Source, Strength};

/// Hits, best first. On a terminal: a numbered list; in a pipe a tab-separated line a hit:
/// score, strength, id, category, date, text.
pub fn hits(hits: &[Hit], style: &Style) -> String {
    if !style.terminal {
        return hits.iter().map(plain).collect();
    }
    let mut text = String::new();
    for (i, hit) in hits.iter().enumerate() {
        let score = format!("{:.2}", hit.score);
        let lead = format!("{:>2}. {} ", i + 1, strength(&hit.strength, &score, style));
        let body = escape::terminal(hit.passage.as_deref().unwrap_or(&hit.text));
        for (n, line) in wrap::lines(&body, style.width.saturating_sub(9)).iter().enumerate() {
            text.push_str(if n == 0 { &lead } else { "         " });
            text.push_str(line);
            text.push('\n');
        }
        for line in wrap::lines(&details(hit, style), style.width.saturating_sub(9)) {
            text.push_str(&format!("         {}\n", style.dim(&line)));
        }
    }
    text
}

fn plain(hit: &Hit) -> String {
    let day = when(hit, &Style::PLAIN);
    format!("{:.3}\t{}\t{}\t{}\t{day}\t{}\n", hit.score, hit.strength, hit.id, hit.category, escape::field(&hit.text))
}

/// The score in the colour of its strength.
fn strength(strength: &Open<Strength>, score: &str, style: &Style) -> String {
    match strength {
        Open::Known(Strength::Strong) => style.bold(&style.green(score)),
        Open::Known(Strength::Good) => style.green(score),
        Open::Known(Strength::Weak) => style.yellow(score),
        _ => style.dim(score),
    }
}

fn when(hit: &Hit, style: &Style) -> String {
    time::day(hit.occurred_at.as_ref().unwrap_or(&hit.created_at), style)
}

fn details(hit: &Hit, style: &Style) -> String {
    let recorded = matches!(hit.occurred_at_source, None | Some(Open::Known(OccurredAtSource::Recorded)));
    let mut parts = vec![id(&hit.id, style).to_owned(), hit.category.to_string()];
    parts.push(if recorded { format!("noted {}", time::day(&hit.created_at, style)) } else { when(hit, style) });
    let told = hit.told.as_ref().and_then(|told| told.occurred_from.as_ref().zip(told.occurred_to.as_ref()));
    parts.extend(told.map(|(from, to)| format!("tells of {}", time::days_of(from, to, style))));
    if hit.space != tiro_schema::DEFAULT_SPACE {
        parts.push(format!("in {}", escape::terminal_line(&hit.space)));
    }
    parts.extend(hit.tags.iter().map(|tag| format!("#{}", escape::terminal_line(tag))));
    parts.extend(hit.sources.first().and_then(source));
    if hit.pinned {
        parts.push("pinned".to_owned());
    }
    if hit.conflict == Some(true) {
        parts.push("conflicts with another".to_owned());
    }
    parts.join(" · ")
}

/// A source on one line: who said it, where.
pub fn source(source: &Source) -> Option<String> {
    let place = match (&source.session, source.position) {
        (Some(session), Some(position)) => Some(format!("{session}:{position}")),
        (Some(session), None) => Some(session.clone()),
        _ => source.uri.clone().or_else(|| source.program.clone()),
    };
    match (&source.speaker, place) {
        (Some(speaker), Some(place)) => Some(format!("{speaker} in {place}")),
        (Some(speaker), None) => Some(speaker.clone()),
        (None, place) => place,
    }
    .map(|text| escape::terminal_line(&text))
}

/// The parts of the scores, a row a hit; empty when no hit carries them. On a terminal a table; in a
/// pipe a head line and one tab-separated line of bare values a hit.
pub fn explained(hits: &[Hit], style: &Style) -> String {
    let parts = hits.iter().enumerate().filter_map(|(i, hit)| Some((i + 1, hit, hit.explain.as_ref()?)));
    let Some((_, _, first)) = parts.clone().next() else { return String::new() };
    if !style.terminal {
        let rows: Vec<Vec<String>> = parts.map(|(_, hit, why)| values(hit, why)).collect();
        return table::table(&VALUES.map(|name| (name, Left)), &rows, style);
    }
    let words = format!("words x{:.1}", first.weight_lexical);
    let meaning = format!("meaning x{:.1}", first.weight_dense);
    let head: [(&str, table::Align); 8] = [
        ("#", Right),
        ("score", Right),
        ("relevance", Right),
        ("decay", Right),
        (&words, Left),
        (&meaning, Left),
        ("ranks", Left),
        ("age", Left),
    ];
    let rows: Vec<Vec<String>> = parts.clone().map(|(place, hit, why)| cells(place, hit, why)).collect();
    let sums = parts.flat_map(|(place, _, why)| wrap::lines(&format!("{place}: {}", evidence(why, style)), style.width));
    sums.fold(table::table(&head, &rows, style), |shown, line| shown + &style.dim(&line) + "\n")
}

/// What the columns of the table mean; nothing in a pipe, where they carry the wire's names.
pub fn legend(style: &Style) -> String {
    if !style.terminal {
        return String::new();
    }
    wrap::lines(LEGEND, style.width).iter().map(|line| style.dim(line) + "\n").collect()
}

/// What the columns of the table mean.
const LEGEND: &str = "score = relevance x decay (x feedback) · words: bm25 over its ideal · meaning: z (cosine) · ranks: by words, by meaning, without decay · age / half-life · below: the evidence that ranks, by feature";

/// Names of the values in a pipe, as the wire names them.
const VALUES: [&str; 19] = [
    "id",
    "score",
    "relevance",
    "decay",
    "bm25",
    "bm25Ideal",
    "lexical",
    "weightLexical",
    "cosine",
    "z",
    "weightDense",
    "lexicalRank",
    "vectorRank",
    "rankWithoutDecay",
    "ageDays",
    "halfLifeDays",
    "evidence",
    "features",
    "gaveWay",
];

fn values(hit: &Hit, why: &Explain) -> Vec<String> {
    let number = |value: f32| format!("{value:.4}");
    let some = |value: Option<f32>| value.map(number).unwrap_or_default();
    let rank = |value: Option<u32>| value.map(|rank| rank.to_string()).unwrap_or_default();
    vec![
        hit.id.clone(),
        number(hit.score),
        number(why.relevance),
        number(why.decay),
        number(why.bm25),
        number(why.bm25_ideal),
        number(why.lexical),
        number(why.weight_lexical),
        some(why.cosine),
        some(why.z),
        number(why.weight_dense),
        rank(why.lexical_rank),
        rank(why.vector_rank),
        why.rank_without_decay.to_string(),
        number(why.age_days),
        some(why.half_life_days),
        number(why.evidence),
        why.features.iter().map(|f| format!("{}={:.4}*{}", f.name, f.value, f.weight)).collect::<Vec<_>>().join(" "),
        why.gave_way.as_ref().map(|to| format!("{}*{:.4}", to.to, to.factor)).unwrap_or_default(),
    ]
}

/// Shares of the evidence below which a feature is not shown.
const SHARE_SHOWN: f32 = 0.005;

/// The evidence and what it is made of.
fn evidence(why: &Explain, style: &Style) -> String {
    let shares = why.features.iter().map(|f| (f.name.as_str(), f.value * f.weight));
    let told: Vec<String> =
        shares.filter(|(_, share)| share.abs() >= SHARE_SHOWN).map(|(name, share)| format!("{name} {share:.2}")).collect();
    let sum = format!("{:.2} = {}", why.evidence, told.join(" + "));
    let mut sum = sum.replace("+ reply -", "- reply ").replace("+ later -", "- later ");
    if let Some(feedback) = &why.feedback {
        let counts: Vec<String> =
            feedback.features.iter().filter(|f| f.value > 0.0).map(|f| format!("{} {}", f.name, f.value)).collect();
        sum = format!("{sum}; feedback x{:.2} ({})", feedback.factor, counts.join(", "));
    }
    match &why.gave_way {
        Some(gave_way) => format!("{sum}; gave way to {} (x {:.2})", id(&gave_way.to, style), gave_way.factor),
        None => sum,
    }
}

fn cells(place: usize, hit: &Hit, why: &Explain) -> Vec<String> {
    let rank = |value: Option<u32>| value.map_or_else(|| "-".to_owned(), |v| v.to_string());
    let meaning = match (why.z, why.cosine) {
        (Some(z), Some(cosine)) => format!("{z:.2} ({cosine:.2})"),
        (Some(z), None) => format!("{z:.2}"),
        _ => "-".to_owned(),
    };
    let half_life = why.half_life_days.map_or_else(|| "pinned".to_owned(), time::days);
    vec![
        place.to_string(),
        format!("{:.3}", hit.score),
        format!("{:.3}", why.relevance),
        format!("{:.3}", why.decay),
        format!("{:.1}/{:.1}", why.bm25, why.bm25_ideal),
        meaning,
        format!("{} {} {}", rank(why.lexical_rank), rank(why.vector_rank), why.rank_without_decay),
        format!("{} / {half_life}", time::days(why.age_days)),
    ]
}

#[cfg(test)]
pub(crate) mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// A hit with every part.
    pub(crate) fn hit() -> Hit {
        serde_json::from_value(serde_json::json!({
            "id": "3f2a9c1d-0000-4000-8000-000000000001", "text": "数据库选了 redb，\tREQ-2041", "kind": "episodic", "category": "fact",
            "space": "work", "tags": ["storage"], "status": "active", "createdAt": "2026-03-05T12:00:00.000Z",
            "sources": [{"session": "design", "position": 3, "speaker": "林"}], "score": 0.8213, "strength": "strong", "pinned": false,
            "explain": {"bm25": 4.0, "bm25Ideal": 8.0, "lexical": 0.5, "cosine": 0.71, "z": 2.5, "lexicalRank": 1, "weightLexical": 0.6,
                "weightDense": 0.4, "evidence": 1.1,
                "features": [{"name": "lexical", "value": 0.5, "weight": 1.0}, {"name": "dense", "value": 0.9, "weight": 0.7}],
                "relevance": 0.85, "decay": 0.966, "ageDays": 12.0, "halfLifeDays": 365.0, "rankWithoutDecay": 1}
        }))
        .unwrap()
    }

    #[test]
    fn a_pipe_gets_one_line_a_hit_with_the_whole_id() {
        let text = hits(&[hit()], &Style::PLAIN);
        assert_eq!(text.lines().count(), 1);
        let fields: Vec<&str> = text.trim_end().split('\t').collect();
        assert_eq!(fields[..4], ["0.821", "strong", "3f2a9c1d-0000-4000-8000-000000000001", "fact"]);
        assert_eq!(fields[5], "数据库选了 redb，\\tREQ-2041");
    }

    #[test]
    fn a_terminal_gets_the_short_id_the_source_and_safe_text() {
        let mut evil = hit();
        evil.text.push('\u{1b}');
        let text = hits(&[evil], &Style { terminal: true, colour: false, width: 120 });
        assert!(text.contains("3f2a9c1d ·") && text.contains("in work") && text.contains("林 in design:3"), "{text}");
        assert!(!text.contains('\u{1b}') && text.contains("\\u{1b}"));
    }

    #[test]
    fn every_part_of_a_score_is_shown() {
        let shown = explained(&[hit()], &Style { terminal: true, colour: false, width: 80 });
        for part in ["words x0.6", "meaning x0.4", "0.821", "0.850", "0.966", "4.0/8.0", "2.50 (0.71)", "1 - 1", "12 d / 365 d"] {
            assert!(shown.contains(part), "{part} in {shown}");
        }
        assert!(shown.contains("1: 1.10 = lexical 0.50 + dense 0.63"), "{shown}");
        assert_eq!(shown.lines().count(), 4, "a row and a sum a hit at 80 columns: {shown}");
        let mut judged = hit();
        let against = serde_json::json!({"factor": 0.85, "features": [
            {"name": "wrong", "value": 1.0, "weight": -0.15}, {"name": "ignored", "value": 0.0, "weight": -0.02}]});
        judged.explain.as_mut().unwrap().feedback = Some(serde_json::from_value(against).unwrap());
        let told = explained(&[judged], &Style { terminal: true, colour: false, width: 120 });
        assert!(told.contains("; feedback x0.85 (wrong 1)"), "{told}");
        let plain = explained(&[hit()], &Style::PLAIN);
        let lines: Vec<Vec<&str>> = plain.lines().map(|line| line.split('\t').collect()).collect();
        assert_eq!((lines.len(), lines[0].len(), lines[1].len()), (2, 19, 19), "{plain}");
        assert_eq!((lines[0][9], lines[1][9], lines[1][12]), ("z", "2.5000", ""));
        let mut bare = hit();
        bare.explain = None;
        assert_eq!(explained(&[bare], &Style::PLAIN), "");
    }
}
