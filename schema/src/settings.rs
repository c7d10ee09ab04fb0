//! The names `config.toml` may hold, so that daemon and client say the same about one that does not belong there.
//!
//! Must not know: what a setting does, or what its values may be.

/// Every section with the names of its settings.
pub const KNOWN: &[(&str, &[&str])] = &[
    ("model", &["provider", "baseUrl", "name", "apiKeyEnv", "apiKey", "script", "contextTokens", "maxOutputTokens"]),
    (
        "embedding",
        &["provider", "baseUrl", "model", "apiKeyEnv", "queryPrefix", "passagePrefix", "dimension", "inputType", "library"],
    ),
    ("reranker", &["provider", "script"]),
    ("memory", &["lexicalWeight", "hnswFrom"]),
    ("agent", &["steps", "toolScript"]),
    ("audit", &["rows", "days"]),
    ("limits", &["storeCacheMib"]),
];

/// What is said of a section nobody knows; none when it is known.
pub fn unknown_section(section: &str) -> Option<String> {
    let known: Vec<&str> = KNOWN.iter().map(|(name, _)| *name).collect();
    (!known.contains(&section)).then(|| format!("{section} is not a section Tiro knows: ignored (known: {})", known.join(", ")))
}

/// What is said of a setting nobody knows; none when it is known, or its section is not.
pub fn unknown_setting(section: &str, name: &str) -> Option<String> {
    let (_, known) = KNOWN.iter().find(|(known, _)| *known == section)?;
    let is_unknown = !known.contains(&name);
    is_unknown.then(|| format!("{section}.{name} is not a setting Tiro knows: ignored (known: {})", known.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_name_is_told_with_the_right_ones() {
        assert!(unknown_section("model").is_none() && unknown_setting("model", "name").is_none());
        assert!(unknown_section("models").is_some_and(|said| said.contains("model, embedding")));
        assert!(
            unknown_setting("model", "baseurl")
                .is_some_and(|said| said.starts_with("model.baseurl ") && said.contains("baseUrl"))
        );
        assert_eq!(unknown_setting("models", "name"), None);
    }
}
