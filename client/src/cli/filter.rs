//! The flags that say which memories are meant, shared by recall, context, list, forget and export.
//!
//! Must not know: who filters.

use super::input::{self, CATEGORIES, KINDS, STATUSES};
use clap::Args;
use tiro_schema::wire::Timestamp;
use tiro_schema::wire::memory::{Category, Filter, Kind, Status};

/// Which memories are meant; flags of different names narrow, one flag repeated widens.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Filter")]
pub struct FilterArgs {
    /// Only this kind; may be repeated
    #[arg(long, value_name = "KIND", value_parser = input::one_of::<Kind>(&KINDS))]
    pub kind: Vec<Kind>,
    /// Only this category; may be repeated
    #[arg(long, short, value_name = "CATEGORY", value_parser = input::one_of::<Category>(&CATEGORIES))]
    pub category: Vec<Category>,
    /// Only with this tag; may be repeated (any of them fits)
    #[arg(long, short, value_name = "TAG")]
    pub tag: Vec<String>,
    /// Only about this entity; may be repeated
    #[arg(long, value_name = "NAME")]
    pub entity: Vec<String>,
    /// Only said by this speaker; may be repeated
    #[arg(long, value_name = "NAME")]
    pub speaker: Vec<String>,
    /// Only from this conversation or document
    #[arg(long = "from-session", value_name = "NAME")]
    pub from_session: Option<String>,
    /// Only what occurred at or after this time (2026-03-05, "3 days ago", …)
    #[arg(long, value_name = "TIME", value_parser = input::instant)]
    pub after: Option<Timestamp>,
    /// Only what occurred before this time
    #[arg(long, value_name = "TIME", value_parser = input::instant)]
    pub before: Option<Timestamp>,
    /// Also or only this status; may be repeated. Active ones only when absent
    #[arg(long, value_name = "STATUS", value_parser = input::one_of::<Status>(&STATUSES))]
    pub status: Vec<Status>,
}

impl FilterArgs {
    /// The filter of the wire; none when no flag was given.
    pub fn to_filter(&self) -> Option<Filter> {
        let filter = Filter {
            kinds: input::given(&self.kind),
            categories: input::given(&self.category),
            tags: input::given(&self.tag),
            entities: input::given(&self.entity),
            speakers: input::given(&self.speaker),
            session: self.from_session.clone(),
            after: self.after.clone(),
            before: self.before.clone(),
            statuses: input::given(&self.status),
        };
        (filter != Filter::default()).then_some(filter)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        filter: FilterArgs,
    }

    #[test]
    fn flags_become_the_filter_of_the_wire() {
        assert_eq!(Only::try_parse_from(["x"]).unwrap().filter.to_filter(), None);
        let args = ["x", "-c", "fact", "--category", "goal", "-t", "a", "--from-session", "s", "--after", "2026-03-05T00:00:00Z"];
        let filter = Only::try_parse_from(args).unwrap().filter.to_filter().unwrap();
        assert_eq!(filter.categories.unwrap(), [Category::Fact, Category::Goal]);
        assert_eq!((filter.tags.unwrap(), filter.session.unwrap()), (vec!["a".to_owned()], "s".to_owned()));
        assert!(Only::try_parse_from(["x", "--category", "secret"]).is_err());
    }
}
