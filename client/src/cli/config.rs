//! `tiro config`: where the configuration is, what it says, and a commented file to begin with.
//!
//! Must not know: what the daemon makes of a setting.

use super::{Exit, Failure, Outcome, Shell};
use crate::place;
use clap::{Args, Subcommand};
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use tiro_schema::settings::{unknown_section, unknown_setting};

/// The file `tiro config init` writes: every line a comment, so that it changes nothing.
pub const TEMPLATE: &str = include_str!("../../data/config.toml");

/// Show and begin the configuration
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    Path(PathArgs),
    Show(ShowArgs),
    Init(InitArgs),
}

/// Print where the configuration file is
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  $EDITOR \"$(tiro config path)\"")]
pub struct PathArgs {}

/// Print what the configuration says
///
/// Keys written into the file are not shown; names the daemon does not know are warned about. The daemon reads it when it
/// starts.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tiro config show\n  tiro config show --json | jq .model")]
pub struct ShowArgs {}

/// Write a commented configuration file that changes nothing
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tiro config init")]
pub struct InitArgs {
    /// Replace the file there is
    #[arg(long)]
    force: bool,
}

/// Runs the command.
pub fn run(shell: &Shell, command: ConfigCommand) -> Outcome {
    match command {
        ConfigCommand::Path(_) => path(shell),
        ConfigCommand::Show(_) => show(shell),
        ConfigCommand::Init(args) => init(shell, &args),
    }
}

fn path(shell: &Shell) -> Outcome {
    let file = shell.places()?.config_file();
    shell.answer(&serde_json::json!({"path": file, "exists": file.exists()}), |_, _| format!("{}\n", file.display()))?;
    Ok(Exit::Done)
}

fn show(shell: &Shell) -> Outcome {
    let file = shell.places()?.config_file();
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            shell.answer(&serde_json::json!({}), |_, _| String::new())?;
            shell.note(&format!("there is no {}: everything is at its default (tiro config init writes one)", file.display()));
            return Ok(Exit::Done);
        }
        Err(error) => return Err(Failure::failed(format!("cannot read {}", file.display())).because(error.to_string())),
    };
    let mut value: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        Failure::failed(format!("{} is not valid", file.display())).because(error.to_string().trim_end().to_owned())
    })?;
    for name in plain_keys(&value) {
        shell.note(&format!("warning: {name} holds a key in plain text; name the variable that holds it instead: apiKeyEnv"));
    }
    unknown(&value).iter().for_each(|said| shell.note(&format!("warning: {said}")));
    hide(&mut value);
    shell.answer(&value, |value, _| toml::to_string_pretty(value).unwrap_or_default())?;
    Ok(Exit::Done)
}

/// What is said of the names the daemon does not know and so takes no notice of.
pub fn unknown(table: &toml::Table) -> Vec<String> {
    let settings = |section: &str, value: &toml::Value| -> Vec<String> {
        let names = value.as_table().into_iter().flat_map(toml::Table::keys);
        names.filter_map(|name| unknown_setting(section, name)).collect()
    };
    table.iter().flat_map(|(section, value)| unknown_section(section).into_iter().chain(settings(section, value))).collect()
}

/// Whether a setting of this name holds a secret itself.
fn is_secret(name: &str) -> bool {
    let name = name.to_lowercase().replace(['_', '-'], "");
    ["apikey", "token", "password", "secret"].iter().any(|end| name.ends_with(end))
}

/// Dotted names of settings that hold a key in plain text.
pub fn plain_keys(table: &toml::Table) -> Vec<String> {
    let mut found = Vec::new();
    for (name, value) in table {
        match value {
            toml::Value::Table(inner) => found.extend(plain_keys(inner).into_iter().map(|below| format!("{name}.{below}"))),
            toml::Value::String(text) if is_secret(name) || text.starts_with("sk-") => found.push(name.clone()),
            _ => {}
        }
    }
    found
}

fn hide(table: &mut toml::Table) {
    for (name, value) in table.iter_mut() {
        match value {
            toml::Value::Table(inner) => hide(inner),
            toml::Value::String(text) if is_secret(name) || text.starts_with("sk-") => *text = "(hidden)".to_owned(),
            _ => {}
        }
    }
}

fn init(shell: &Shell, args: &InitArgs) -> Outcome {
    let places = shell.places()?;
    let file = places.config_file();
    let failed = |error: std::io::Error| Failure::failed(format!("cannot write {}", file.display())).because(error.to_string());
    place::make_private(&places.config_dir).map_err(failed)?;
    let opened = OpenOptions::new().write(true).create(true).create_new(!args.force).truncate(args.force).mode(0o600).open(&file);
    let mut out = match opened {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            return Err(Failure::failed(format!("{} is there already", file.display())).hint("--force replaces it"));
        }
        opened => opened.map_err(failed)?,
    };
    out.write_all(TEMPLATE.as_bytes()).map_err(failed)?;
    shell.answer(&serde_json::json!({"path": file}), |_, _| format!("wrote {}\n", file.display()))?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_template_changes_nothing_and_is_valid_with_its_comments_taken_away() {
        assert!(TEMPLATE.parse::<toml::Table>().unwrap().is_empty());
        let live: String = TEMPLATE
            .lines()
            .map(|line| {
                line.strip_prefix("# ").filter(|l| l.starts_with('[') || l.contains(" = ")).unwrap_or("").to_owned() + "\n"
            })
            .collect();
        let table = live.parse::<toml::Table>().unwrap();
        assert!(table.contains_key("model"), "{live}");
    }

    #[test]
    fn the_template_names_every_setting_a_person_would_set() {
        // Keys in plain text are warned about; scripts and the re-ranker are for tests.
        let left_out = |section: &str, name: &str| ["apiKey", "script", "toolScript"].contains(&name) || section == "reranker";
        let live =
            TEMPLATE.lines().filter_map(|line| line.strip_prefix("# ")).filter(|l| l.starts_with('[') || l.contains(" = "));
        let table = live.collect::<Vec<_>>().join("\n").parse::<toml::Table>().unwrap();
        for (section, names) in tiro_schema::settings::KNOWN {
            let told = table.get(*section).and_then(toml::Value::as_table);
            for name in names.iter().filter(|name| !left_out(section, name)) {
                assert!(told.is_some_and(|told| told.contains_key(*name)), "{section}.{name}");
            }
        }
        assert!(unknown(&table).is_empty());
    }

    #[test]
    fn keys_in_plain_text_are_found_and_hidden() {
        // MEM-10
        let mut table: toml::Table = "[model]\napiKey = \"abc\"\napiKeyEnv = \"X\"\nname = \"sk-live\"\n".parse().unwrap();
        let mut found = plain_keys(&table);
        found.sort();
        assert_eq!(found, ["model.apiKey", "model.name"]);
        hide(&mut table);
        assert!(!table.to_string().contains("abc") && table.to_string().contains("apiKeyEnv = \"X\""));
    }
}
