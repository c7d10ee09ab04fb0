//! Names that look like another name. Pure.

use crate::limits;

/// The names nearest to `name`, best first: at most [`limits::AGENT_NEAR_NAMES_MAX`], none that is far off.
pub fn near_names<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = fold(name);
    let mut near: Vec<(usize, &str)> = known
        .into_iter()
        .filter_map(|known| {
            let folded = fold(known);
            let is_part = !wanted.is_empty() && (folded.contains(&wanted) || wanted.contains(&folded));
            let distance = if is_part { 0 } else { distance(&wanted, &folded) };
            (distance * 2 <= wanted.chars().count().max(folded.chars().count())).then_some((distance, known))
        })
        .collect();
    near.sort();
    near.truncate(limits::AGENT_NEAR_NAMES_MAX);
    near.into_iter().map(|(_, name)| name).collect()
}

/// Lower case without separators; long names are cut, for the distance is quadratic.
fn fold(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).take(64).collect()
}

/// Edits between two words (Levenshtein 1966).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    // A12
    #[test]
    fn near_names_are_found() {
        let known = ["memory_recall", "memory_remember", "file_read"];
        assert_eq!(near_names("memory_recal", known)[0], "memory_recall");
        assert_eq!(near_names("MemoryRecall", known)[0], "memory_recall");
        assert_eq!(near_names("file_raed", known), ["file_read"]);
        assert_eq!(near_names("recall", known), ["memory_recall"]);
        assert_eq!(near_names("memory_search", known), ["memory_recall", "memory_remember"]);
        assert!(near_names("launch_rocket", known).is_empty());
        assert!(near_names("", known).is_empty());
    }
}
