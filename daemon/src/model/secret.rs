//! Keys held so that they cannot be printed, and URLs shown without what is secret in them.
//! It must not know where keys come from.

use std::fmt;

/// A provider's API key. Neither `Debug` nor any error shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// Wraps a key; surrounding white space (a newline from a file) is no part of it.
    pub fn new(key: &str) -> ApiKey {
        ApiKey(key.trim().to_owned())
    }

    /// The key itself, for the one header it belongs in.
    pub(super) fn expose(&self) -> &str {
        &self.0
    }

    /// `text` with every occurrence of the key replaced.
    pub fn redact(&self, text: &str) -> String {
        if self.0.is_empty() { text.to_owned() } else { text.replace(&self.0, "[redacted]") }
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey([redacted])")
    }
}

/// A URL as it may be shown: scheme, host, port and path; neither userinfo nor query nor fragment.
pub fn display_url(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return "[not a url]".to_owned();
    };
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (authority, path) = rest.split_once('/').map_or((rest, None), |(a, p)| (a, Some(p)));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    match path {
        Some(path) => format!("{scheme}://{host}/{path}"),
        None => format!("{scheme}://{host}"),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    // MEM-10
    #[test]
    fn a_key_is_never_printed() {
        let key = ApiKey::new(" sk-very-secret\n");
        assert_eq!(format!("{key:?}"), "ApiKey([redacted])");
        assert_eq!(key.redact("bad key sk-very-secret!"), "bad key [redacted]!");
        assert_eq!(key.expose(), "sk-very-secret");
        assert_eq!(ApiKey::new("").redact("abc"), "abc");
    }

    // MEM-10
    #[test]
    fn a_url_is_shown_without_userinfo_and_query() {
        assert_eq!(display_url("http://u:p@h:80/v1?key=1#x"), "http://h:80/v1");
        assert_eq!(display_url("http://u:p@x@h"), "http://h");
        assert_eq!(display_url("nonsense"), "[not a url]");
    }
}
