//! What a daemon is told at its start: command line, environment, `config.toml`. Read once, handed down as values.
//!
//! No room reads the environment or the file itself. Must not know: what the settings do.

pub mod file;

use crate::paths::{self, EnvMap, PathError};
use file::{FileConfig, FileError};
use std::path::Path;
use tiro_schema::place::{Overrides, Places};

/// Everything a daemon is told.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where its files and its socket stand.
    pub places: Places,
    /// What `config.toml` says, defaults filled in.
    pub file: FileConfig,
    /// Unix ms the clock starts at (`TIRO_TEST_NOW`), for tests and benches.
    pub start_clock_at_ms: Option<i64>,
    /// What a person should know about it: unknown names, keys written plainly.
    pub warnings: Vec<String>,
}

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// There is no place for something.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The file is not what it should be.
    #[error(transparent)]
    File(#[from] FileError),
    /// An environment variable is not what it should be.
    #[error("{name}: {why}")]
    Env {
        /// The variable.
        name: &'static str,
        /// What is wrong with it.
        why: String,
    },
}

impl Config {
    /// Reads the configuration in this environment.
    ///
    /// # Errors
    /// Says which file, name or variable is wrong.
    pub fn load(env: &EnvMap, home: Option<&Path>, socket: Option<&Path>) -> Result<Self, ConfigError> {
        let places = paths::find(env, Overrides { home, socket })?;
        let (file, warnings) = file::load(&places.config_file())?;
        let start_clock_at_ms = match paths::text(env, "TIRO_TEST_NOW") {
            Some(text) => Some(crate::clock::parse(text).map_err(|why| ConfigError::Env { name: "TIRO_TEST_NOW", why })?.0),
            None => None,
        };
        Ok(Config { places, file, start_clock_at_ms, warnings })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_clock_can_be_set_for_tests_and_nonsense_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let mut env = EnvMap::from([("TIRO_HOME".to_owned(), dir.path().into())]);
        assert_eq!(Config::load(&env, None, None).unwrap().start_clock_at_ms, None);
        env.insert("TIRO_TEST_NOW".into(), "2026-03-05T12:00:00Z".into());
        assert_eq!(Config::load(&env, None, None).unwrap().start_clock_at_ms, Some(1_772_712_000_000));
        env.insert("TIRO_TEST_NOW".into(), "soon".into());
        assert!(Config::load(&env, None, None).unwrap_err().to_string().starts_with("TIRO_TEST_NOW"));
    }
}
