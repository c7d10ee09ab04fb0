//! A model in memory: its tokenizer, its graph, and texts through both. Everything here blocks.
//!
//! Must not know: which side a text is, queues, the folder a model came from once it is read.

use super::folder::ModelFolder;
use super::pool::{Pooling, normalised, pooled};
use crate::limits::{ONNX_CALL_TEXTS_MAX, ONNX_CALL_TOKENS_MAX};
use ort::session::builder::GraphOptimizationLevel;
use ort::session::{Session, SessionInputValue};
use ort::value::{TensorRef, ValueType};
use parking_lot::Mutex;
use std::ops::Range;
use tokenizers::{Tokenizer, TruncationParams};

/// A text as the graph reads it.
#[derive(Debug, Clone, Default)]
pub struct Tokens {
    ids: Vec<i64>,
    types: Vec<i64>,
}

impl Tokens {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }
}

impl AsRef<Tokens> for Tokens {
    fn as_ref(&self) -> &Tokens {
        self
    }
}

/// What an input of a graph is fed with.
#[derive(Debug, Clone, Copy)]
enum Feed {
    Ids,
    Mask,
    Types,
}

/// A model in memory.
pub struct Loaded {
    tokenizer: Tokenizer,
    session: Mutex<Session>,
    feeds: Vec<Feed>,
    pooling: Pooling,
}

impl Loaded {
    /// Reads a folder whose files are what they were; the library is open already.
    ///
    /// # Errors
    /// Files that changed, or that are no model of this sort.
    pub fn read(folder: &ModelFolder, threads: usize) -> Result<Self, String> {
        let [(graph, graph_max), (words, words_max)] = folder.files();
        let mut tokenizer = Tokenizer::from_bytes(folder.read(&words, words_max)?)
            .map_err(|error| format!("{words} is no tokenizer that can be read: {error}"))?;
        tokenizer.with_padding(None);
        let max_length = usize::try_from(folder.manifest.max_tokens).unwrap_or(usize::MAX);
        tokenizer
            .with_truncation(Some(TruncationParams { max_length, ..TruncationParams::default() }))
            .map_err(|error| format!("{words}: {error}"))?;
        // The bytes that were checked are the ones that are used.
        let session =
            session(&folder.read(&graph, graph_max)?, threads).map_err(|error| format!("{graph} cannot be used: {error}"))?;
        let feeds = session.inputs.iter().map(|input| match input.name.as_str() {
            "input_ids" => Ok(Feed::Ids),
            "attention_mask" => Ok(Feed::Mask),
            "token_type_ids" => Ok(Feed::Types),
            other => Err(format!("{graph} wants an input {other:?}; known: input_ids, attention_mask, token_type_ids")),
        });
        let feeds = feeds.collect::<Result<Vec<_>, _>>()?;
        Ok(Loaded { tokenizer, session: Mutex::new(session), feeds, pooling: folder.manifest.pooling })
    }

    /// Texts as tokens, cut at the model's length.
    ///
    /// # Errors
    /// What the tokenizer refuses.
    pub fn tokens(&self, texts: &[String]) -> Result<Vec<Tokens>, String> {
        let one = |text: &String| {
            let encoding = self.tokenizer.encode(text.as_str(), true).map_err(|error| format!("no tokens: {error}"))?;
            let wide = |numbers: &[u32]| numbers.iter().map(|number| i64::from(*number)).collect::<Vec<i64>>();
            let tokens = Tokens { ids: wide(encoding.get_ids()), types: wide(encoding.get_type_ids()) };
            if tokens.ids.is_empty() { Err("no tokens: the tokenizer gives none for a text".to_owned()) } else { Ok(tokens) }
        };
        texts.iter().map(one).collect()
    }

    /// One vector a text, of norm 1, by one call of the graph.
    ///
    /// # Errors
    /// What the graph says, or an output that is no vectors.
    pub fn vectors(&self, texts: &[&Tokens]) -> Result<Vec<Vec<f32>>, String> {
        let width = texts.iter().map(|tokens| tokens.len()).max().unwrap_or(0);
        let lengths: Vec<usize> = texts.iter().map(|tokens| tokens.len()).collect();
        let padded = |numbers: &dyn Fn(&Tokens) -> Vec<i64>| -> Vec<i64> {
            texts.iter().flat_map(|tokens| numbers(tokens).into_iter().chain(std::iter::repeat(0)).take(width)).collect()
        };
        let ids = padded(&|tokens| tokens.ids.clone());
        let mask = padded(&|tokens| vec![1; tokens.len()]);
        let types = padded(&|tokens| tokens.types.clone());
        let shape = [texts.len(), width];
        let input = |feed: &Feed| -> Result<SessionInputValue<'_>, ort::Error> {
            let data = match feed {
                Feed::Ids => &ids,
                Feed::Mask => &mask,
                Feed::Types => &types,
            };
            Ok(TensorRef::from_array_view((shape, data.as_slice()))?.into())
        };
        let failed = |error: ort::Error| format!("the model failed: {error}");
        let inputs = self.feeds.iter().map(input).collect::<Result<Vec<_>, _>>().map_err(failed)?;
        let mut session = self.session.lock();
        let outputs = session.run(inputs.as_slice()).map_err(failed)?;
        for value in outputs.values() {
            let Ok((shape, data)) = value.try_extract_tensor::<f32>() else { continue };
            let sizes: Vec<usize> = shape.iter().map(|size| usize::try_from(*size).unwrap_or(0)).collect();
            match sizes[..] {
                [n, tokens, dimension] if n == texts.len() && tokens == width && dimension > 0 => {
                    return Ok(pooled(self.pooling, data, (tokens, dimension), &lengths));
                }
                [n, dimension] if n == texts.len() && dimension > 0 => {
                    return Ok(data.chunks_exact(dimension).map(|vector| normalised(vector.to_vec())).collect());
                }
                _ => {}
            }
        }
        Err("the model gives no vectors of tokens or texts as 32-bit numbers".to_owned())
    }

    /// All of it for some texts, in calls of bounded size.
    ///
    /// # Errors
    /// As its parts.
    pub fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, String> {
        let tokens = self.tokens(texts)?;
        let mut vectors = vec![Vec::new(); texts.len()];
        for call in calls(&tokens) {
            let made = self.vectors(&call.iter().map(|n| &tokens[*n]).collect::<Vec<_>>())?;
            call.into_iter().zip(made).for_each(|(n, vector)| vectors[n] = vector);
        }
        Ok(vectors)
    }
}

/// Texts in calls of bounded size, by their numbers: those of like length together, so that little is padding.
pub fn calls<T: AsRef<Tokens>>(texts: &[T]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by_key(|n| texts[*n].as_ref().len());
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for (place, n) in order.iter().enumerate() {
        let fits = |range: &Range<usize>| {
            range.len() < ONNX_CALL_TEXTS_MAX && (range.len() + 1) * texts[*n].as_ref().len() <= ONNX_CALL_TOKENS_MAX
        };
        match ranges.last_mut() {
            Some(range) if fits(range) => range.end = place + 1,
            _ => ranges.push(place..place + 1),
        }
    }
    ranges.into_iter().map(|range| order[range].to_vec()).collect()
}

fn session(graph: &[u8], threads: usize) -> ort::Result<Session> {
    let session = Session::builder()?
        .with_optimization_level(GraphOptimizationLevel::Level3)?
        .with_intra_threads(threads)?
        // A daemon at rest burns no core.
        .with_intra_op_spinning(false)?
        .with_log_level(ort::logging::LogLevel::Error)?
        .commit_from_memory(graph)?;
    let is_tensor = |value: &ValueType| matches!(value, ValueType::Tensor { .. });
    if session.inputs.iter().all(|input| is_tensor(&input.input_type)) {
        Ok(session)
    } else {
        Err(ort::Error::new("an input is no tensor"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_lengths(lengths: &[usize]) -> Vec<Tokens> {
        lengths.iter().map(|n| Tokens { ids: vec![1; *n], types: vec![0; *n] }).collect()
    }

    #[test]
    fn calls_are_of_bounded_size_and_leave_nobody_out() {
        let lengths: Vec<usize> = (0..200).map(|n| 1 + (n * 37) % 300).chain([ONNX_CALL_TOKENS_MAX * 2]).collect();
        let texts = of_lengths(&lengths);
        let calls = calls(&texts);
        let mut seen: Vec<usize> = calls.iter().flatten().copied().collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..lengths.len()).collect::<Vec<_>>());
        for call in &calls {
            let width = call.iter().map(|n| lengths[*n]).max().unwrap_or(0);
            assert!(call.len() <= ONNX_CALL_TEXTS_MAX);
            assert!(call.len() == 1 || call.len() * width <= ONNX_CALL_TOKENS_MAX, "{} texts of {width}", call.len());
        }
        assert!(super::calls::<Tokens>(&[]).is_empty());
    }
}
