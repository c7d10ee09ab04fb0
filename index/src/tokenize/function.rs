//! Words that hold sentences together and say little about what is meant. They are indexed like all others, but weigh less in a
//! query. It must not know how much less.

/// English function words as they are written, lower case, sorted.
#[rustfmt::skip]
const ENGLISH: &[&str] = &[
    "a", "about", "after", "again", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "because", "been", "before", "being",
    "but", "by", "can", "cannot", "could", "did", "do", "does", "doing", "done", "during", "each", "for", "from", "further", "get", "gets",
    "getting", "give", "given", "go", "goes", "going", "got", "had", "has", "have", "having", "he", "her", "here", "hers", "him", "his", "how",
    "i", "if", "im", "in", "into", "is", "it", "its", "ive", "just", "let", "like", "made", "make", "many", "may", "me", "might", "mine", "more",
    "most", "much", "must", "my", "no", "nor", "not", "of", "off", "on", "or", "our", "ours", "out", "over", "own", "please", "s", "shall",
    "she", "should", "so", "some", "such", "tell", "than", "that", "thats", "the", "their", "theirs", "them", "then", "there", "these", "they",
    "this", "those", "through", "to", "too", "under", "until", "up", "us", "very", "was", "we", "were", "what", "whats", "when", "where",
    "which", "while", "who", "whom", "whose", "why", "will", "with", "would", "you", "your", "yours",
];

/// Chinese function characters and pairs, sorted.
#[rustfmt::skip]
const CHINESE: &[&str] = &[
    "与", "么", "之", "也", "了", "什", "什么", "们", "你", "其", "及", "吗", "吧", "和", "哪", "啊", "呢", "在", "多少", "她", "如何", "它", "就", "为",
    "您", "我", "我们", "是", "有", "的", "谁", "请", "请问", "这", "还", "那", "都", "怎", "怎么", "他",
];

/// Every word, character and pair of the lists.
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    ENGLISH.iter().chain(CHINESE).copied()
}

/// Whether a lower-case word, before stemming, is a function word.
pub(super) fn is_function_word(word: &str) -> bool {
    ENGLISH.binary_search(&word).is_ok()
}

/// Whether a character or pair of a script without spaces is a function word.
pub(super) fn is_function_token(token: &str) -> bool {
    CHINESE.contains(&token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted() {
        assert!(ENGLISH.is_sorted_by(|a, b| a < b));
        assert!(is_function_word("the") && is_function_word("yours") && !is_function_word("paint"));
        assert!(is_function_token("的") && !is_function_token("云"));
    }
}
