//! The content of a message as programs write it, a text or a list of blocks: what was said in it, and what else it holds.
//!
//! Blocks that are no text are passed over while they are read, so an image of megabytes is never held. Must not know: formats.

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// What a content holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Said {
    /// Its texts, with blank lines between them.
    pub text: String,
    /// Calls of tools, and what came of them.
    pub tools: u32,
    /// What a model thought to itself.
    pub thinking: u32,
    /// Images, files and whatever else there is.
    pub other: u32,
}

impl Said {
    fn add(&mut self, text: &str) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        if !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(text);
    }

    fn block(&mut self, block: Block) {
        match block.kind.as_str() {
            "text" | "input_text" | "output_text" | "audio_transcription" | "" => {
                self.add(&block.text.unwrap_or_default());
            }
            "thinking" | "redacted_thinking" | "reasoning" | "summary_text" => self.thinking += 1,
            kind if kind.starts_with("tool") || kind.ends_with("tool_use") || kind.ends_with("tool_result") => self.tools += 1,
            _ => self.other += 1,
        }
    }
}

impl<'de> Deserialize<'de> for Said {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Content)
    }
}

struct Content;

impl<'de> Visitor<'de> for Content {
    type Value = Said;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a list of blocks")
    }

    fn visit_str<E>(self, text: &str) -> Result<Said, E> {
        let mut said = Said::default();
        said.add(text);
        Ok(said)
    }

    fn visit_unit<E>(self) -> Result<Said, E> {
        Ok(Said::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<Said, E> {
        Ok(Said::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Said, E> {
        Ok(Said::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Said, E> {
        Ok(Said::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Said, E> {
        Ok(Said::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut blocks: A) -> Result<Said, A::Error> {
        let mut said = Said::default();
        while let Some(block) = blocks.next_element::<Block>()? {
            said.block(block);
        }
        Ok(said)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Said, A::Error> {
        let mut said = Said::default();
        said.block(Block::of(map)?);
        Ok(said)
    }
}

/// One block: its kind, and its text where that is a text.
#[derive(Default)]
struct Block {
    kind: String,
    text: Option<String>,
}

impl Block {
    fn of<'de, A: MapAccess<'de>>(mut map: A) -> Result<Block, A::Error> {
        let mut block = Block::default();
        while let Some(name) = map.next_key::<String>()? {
            match name.as_str() {
                "type" | "content_type" => block.kind = map.next_value::<Text>()?.0.unwrap_or_default(),
                "text" => block.text = map.next_value::<Text>()?.0,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(block)
    }
}

impl<'de> Deserialize<'de> for Block {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct One;
        impl<'de> Visitor<'de> for One {
            type Value = Block;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a block")
            }
            fn visit_str<E>(self, text: &str) -> Result<Block, E> {
                Ok(Block { kind: "text".to_owned(), text: Some(text.to_owned()) })
            }
            fn visit_unit<E>(self) -> Result<Block, E> {
                Ok(Block { kind: "text".to_owned(), text: None })
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Block, A::Error> {
                Block::of(map)
            }
        }
        deserializer.deserialize_any(One)
    }
}

/// A text, or nothing where something else stands.
#[derive(Debug, Clone, Default)]
pub struct Text(pub Option<String>);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Text;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }
            fn visit_str<E>(self, text: &str) -> Result<Text, E> {
                Ok(Text(Some(text.to_owned())))
            }
            fn visit_unit<E>(self) -> Result<Text, E> {
                Ok(Text(None))
            }
            fn visit_bool<E>(self, _: bool) -> Result<Text, E> {
                Ok(Text(None))
            }
            fn visit_i64<E>(self, _: i64) -> Result<Text, E> {
                Ok(Text(None))
            }
            fn visit_u64<E>(self, _: u64) -> Result<Text, E> {
                Ok(Text(None))
            }
            fn visit_f64<E>(self, _: f64) -> Result<Text, E> {
                Ok(Text(None))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Text, A::Error> {
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Text(None))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Text, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Text(None))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn said(json: &str) -> Said {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn texts_are_put_together_and_the_rest_is_counted() {
        assert_eq!(said("\" plain \"").text, "plain");
        let mixed = said(
            r#"[{"type":"thinking","thinking":"hm"},{"type":"text","text":"one"},{"text":"two ","type":"text"},
                {"type":"tool_use","name":"Read","input":{"a":[1]}},{"type":"server_tool_use"},{"type":"image","source":{"data":"AAAA"}},
                "three",null,{"type":"text","text":{"x":1}}]"#,
        );
        assert_eq!(mixed.text, "one\n\ntwo\n\nthree");
        assert_eq!((mixed.tools, mixed.thinking, mixed.other), (2, 1, 1));
        for empty in ["null", "3", "[]", "{}", "true"] {
            assert_eq!(said(empty), Said::default(), "{empty}");
        }
    }
}
