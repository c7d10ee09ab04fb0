//! The token of the HTTP transport: from a private file, from the environment, else made anew.
//!
//! Never on a command line, which every user of the machine can read. Must not know: requests.

use crate::limits::{MCP_TOKEN_BYTES_MAX, MCP_TOKEN_BYTES_MIN};
use nix::unistd::Uid;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unread {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Others can read the file, or it is somebody else's.
    #[error("{} is no file that its owner, you, alone can read", path.display())]
    Open {
        /// The file.
        path: PathBuf,
    },
    /// It is no token.
    #[error("the token has to be {MCP_TOKEN_BYTES_MIN} to {MCP_TOKEN_BYTES_MAX} printable ASCII characters without spaces")]
    Unfit,
}

/// A token; it is never shown but by [`Token::text`].
#[derive(Clone)]
pub struct Token {
    text: String,
    made: bool,
}

impl Token {
    /// The token of this file, else of the environment, else a new one.
    ///
    /// # Errors
    /// See [`TokenError`].
    pub fn find(file: Option<&Path>, environment: Option<String>) -> Result<Self, TokenError> {
        let given = match file {
            Some(path) => Some(read(path)?),
            None => environment,
        };
        let Some(text) = given else {
            let text = format!("{}{}", uuid::Uuid::new_v4().simple(), uuid::Uuid::new_v4().simple());
            return Ok(Token { text, made: true });
        };
        let text = text.trim().to_owned();
        let fits =
            (MCP_TOKEN_BYTES_MIN..=MCP_TOKEN_BYTES_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        if fits { Ok(Token { text, made: false }) } else { Err(TokenError::Unfit) }
    }

    /// Whether it was made here, so that somebody has to be told.
    pub fn is_made(&self) -> bool {
        self.made
    }

    /// The token itself.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the value of an `Authorization` header carries it; takes the same time whatever is wrong with one of its length.
    pub fn is_in(&self, header: &[u8]) -> bool {
        let Some((scheme, given)) = header.split_at_checked("bearer ".len()) else { return false };
        if !scheme.eq_ignore_ascii_case(b"bearer ") {
            return false;
        }
        let given = given.trim_ascii();
        given.len() == self.text.len() && given.iter().zip(self.text.bytes()).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
    }
}

fn read(path: &Path) -> Result<String, TokenError> {
    let unread = |source| TokenError::Unread { path: path.to_owned(), source };
    let file = File::options().read(true).custom_flags(nix::libc::O_NONBLOCK).open(path).map_err(unread)?;
    let found = file.metadata().map_err(unread)?;
    if !found.is_file() || found.uid() != Uid::effective().as_raw() || found.mode() & 0o077 != 0 {
        return Err(TokenError::Open { path: path.to_owned() });
    }
    let mut text = String::new();
    file.take(MCP_TOKEN_BYTES_MAX as u64 + 2).read_to_string(&mut text).map_err(unread)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_token_is_found_in_a_private_file_then_in_the_environment_else_made() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        std::fs::write(&path, "from-a-file-0123456789\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let environment = || Some("from-the-environment-1".to_owned());
        assert!(matches!(Token::find(Some(&path), environment()), Err(TokenError::Open { .. })));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(Token::find(Some(&path), environment()).unwrap().text(), "from-a-file-0123456789");
        assert_eq!(Token::find(None, environment()).unwrap().text(), "from-the-environment-1");
        let (made, other) = (Token::find(None, None).unwrap(), Token::find(None, None).unwrap());
        assert!(made.is_made() && made.text().len() == 64 && made.text() != other.text());
        for unfit in ["short", "with a space 0123456789", "ümlaut-0123456789-01", &"x".repeat(600)] {
            assert!(matches!(Token::find(None, Some(unfit.to_owned())), Err(TokenError::Unfit)), "{unfit}");
        }
    }

    #[test]
    fn only_the_whole_token_after_bearer_is_taken() {
        let token = Token::find(None, Some("0123456789abcdef".to_owned())).unwrap();
        assert!(token.is_in(b"Bearer 0123456789abcdef") && token.is_in(b"bearer  0123456789abcdef "));
        for wrong in [
            "",
            "Bearer",
            "Bearer ",
            "0123456789abcdef",
            "Basic 0123456789abcdef",
            "Bearer 0123456789abcdeF",
            "Bearer 0123456789abcde",
        ] {
            assert!(!token.is_in(wrong.as_bytes()), "{wrong}");
        }
    }
}
