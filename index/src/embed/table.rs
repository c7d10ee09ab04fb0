//! `static-en-zh-192`: one row of 192 int8 a token, English WordPiece and Chinese words in one space, compiled in. A text is the sum of its rows.
//! The format and its sources are told in `index/data/README.md`. It must not know of indexes.

use std::borrow::Cow;
use std::sync::OnceLock;

use safetensors::{Dtype, SafeTensors};

use super::background::Background;
use super::segment::{Segmenter, is_han};
use super::wordpiece::WordPiece;
use super::words::{Place, WordTable};
use super::{Embedder, PassageKind, Role};
use crate::limits::EMBED_CHARS_MAX;
use crate::vector::add_codes;

static TENSORS: &[u8] = include_bytes!("../../data/static-en-zh-192.safetensors");
static ENGLISH: &str = include_str!("../../data/static-en-zh-192.en.txt");
static CHINESE: &str = include_str!("../../data/static-en-zh-192.zh.txt");

const MODEL_ID: &str = "static-en-zh-192";
const DIMENSION: usize = 192;

/// Why the compiled-in table cannot be used. Only a wrong file in `index/data` can cause it; a test reads the table.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The file is no tensor file.
    #[error("reading the embedding table")]
    Tensors(#[from] safetensors::SafeTensorError),
    /// A tensor is not of the shape or type that the word lists ask for.
    #[error("tensor {name} of the embedding table has another shape or type than expected")]
    Shape {
        /// The tensor.
        name: &'static str,
    },
    /// The file does not state the smoothing constant.
    #[error("the embedding table does not state its smoothing constant")]
    Smooth,
}

/// Rows of one language: int8 codes and a half-precision scale for each.
#[derive(Debug)]
struct Rows {
    codes: &'static [u8],
    scales: &'static [u8],
}

/// The compiled-in table. About 2 MB of word maps beside the rows, which stay in the binary's pages.
#[derive(Debug)]
pub struct StaticTable {
    english: WordTable,
    chinese: Segmenter,
    english_rows: Rows,
    chinese_rows: Rows,
    smooth: f32,
    background: OnceLock<Background>,
}

/// The rows of a text.
#[derive(Debug, Default)]
struct Tokens {
    english: Vec<u32>,
    chinese: Vec<u32>,
}

impl StaticTable {
    /// Reads the compiled-in table and builds the word maps: a few milliseconds.
    ///
    /// # Errors
    /// Only when the compiled-in files do not fit each other.
    pub fn new() -> Result<Self, TableError> {
        let (_, header) = SafeTensors::read_metadata(TENSORS)?;
        let smooth = header.metadata().as_ref().and_then(|notes| notes.get("smooth")?.parse().ok()).ok_or(TableError::Smooth)?;
        let tensors = SafeTensors::deserialize(TENSORS)?;
        let (english, chinese) = (WordTable::new(ENGLISH), WordTable::new(CHINESE));
        let english_rows = rows(&tensors, ["en", "en_scale"], english.len())?;
        let chinese_rows = rows(&tensors, ["zh", "zh_scale"], chinese.len())?;
        let logp = tensor(&tensors, "zh_logp", Dtype::F32, &[chinese.len()])?;
        let chinese = Segmenter::new(chinese, logp);
        Ok(Self { english, chinese, english_rows, chinese_rows, smooth, background: OnceLock::new() })
    }

    fn tokens(&self, text: &str) -> Tokens {
        let mut tokens = Tokens::default();
        let mut pieces = WordPiece::new(&self.english);
        let text = text.char_indices().nth(EMBED_CHARS_MAX).map_or(text, |(end, _)| &text[..end]);
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            if is_han(c) {
                pieces.finish(&mut tokens.english);
                let run = rest.find(|c| !is_han(c)).map_or(rest, |end| &rest[..end]);
                self.chinese.cut(run, |_, row| tokens.chinese.extend(row));
                rest = &rest[run.len()..];
            } else {
                pieces.push(c, &mut tokens.english);
                rest = &rest[c.len_utf8()..];
            }
        }
        pieces.finish(&mut tokens.english);
        tokens
    }

    /// The sum of the text's rows; `None` when it has none or they cancel out.
    fn sum(&self, text: &str) -> Option<[f32; DIMENSION]> {
        let tokens = self.tokens(text);
        if tokens.english.is_empty() && tokens.chinese.is_empty() {
            return None;
        }
        let mut sum = [0.0; DIMENSION];
        tokens.english.iter().for_each(|&row| self.english_rows.add(row, &mut sum));
        tokens.chinese.iter().for_each(|&row| self.chinese_rows.add(row, &mut sum));
        sum.iter().any(|&x| x != 0.0).then_some(sum)
    }
}

impl Embedder for StaticTable {
    fn model_id(&self) -> &str {
        MODEL_ID
    }

    fn dimension(&self) -> usize {
        DIMENSION
    }

    /// Query and fact: the sum over its norm. Turn: the sum over sqrt(norm^2 + s^2), as one constant extra dimension on passages would make it.
    fn embed(&self, role: Role, text: &str) -> Option<Vec<f32>> {
        let sum = self.sum(text)?;
        let smooth = match role {
            Role::Query | Role::Passage(PassageKind::Fact) => 0.0,
            Role::Passage(PassageKind::Turn) => self.smooth,
        };
        let norm = (sum.iter().map(|x| x * x).sum::<f32>() + smooth * smooth).sqrt();
        Some(sum.iter().map(|x| x / norm).collect())
    }

    fn known<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let is_known = |word: &str| !word.bytes().all(|b| b.is_ascii_alphanumeric()) || starts_known(&self.english, word);
        let words = || text.split_inclusive(|c: char| !c.is_alphanumeric());
        let bare = |word: &'t str| word.trim_end_matches(|c: char| !c.is_alphanumeric());
        if words().all(|word| is_known(bare(word))) {
            return Cow::Borrowed(text);
        }
        Cow::Owned(words().map(|word| if is_known(bare(word)) { word } else { &word[bare(word).len()..] }).collect())
    }

    fn cut<'a>(&self, run: &'a str) -> Vec<&'a str> {
        let (mut words, mut at) = (Vec::new(), 0);
        while let Some(first) = run[at..].chars().next() {
            let end = run[at..].find(|c| is_han(c) != is_han(first)).map_or(run.len(), |length| at + length);
            if is_han(first) {
                self.chinese.cut(&run[at..end], |word, _| {
                    words.push(&run[at..at + word.len()]);
                    at += word.len();
                });
            } else {
                words.push(&run[at..end]);
            }
            at = end;
        }
        words
    }

    fn background(&self) -> &Background {
        self.background.get_or_init(|| Background::of(self))
    }
}

/// Letters that the first piece of a word of several pieces has at least.
const STEM_CHARS_MIN: usize = 3;

/// Whether the table has a word, or a stem of at least half of it (`swim` of `swims`).
fn starts_known(table: &WordTable, word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let known = (1..=lower.len()).rev().find(|&end| table.find(Place::Start, &lower[..end]).is_some()).unwrap_or(0);
    let number = lower.bytes().any(|b| b.is_ascii_digit());
    known == lower.len() || (!number && known >= STEM_CHARS_MIN && known * 2 >= lower.len())
}

impl Rows {
    fn add(&self, row: u32, sum: &mut [f32; DIMENSION]) {
        let row = row as usize;
        let scale = half_to_f32(u16::from_le_bytes([self.scales[row * 2], self.scales[row * 2 + 1]]));
        add_codes(&self.codes[row * DIMENSION..(row + 1) * DIMENSION], scale, sum);
    }
}

fn rows(tensors: &SafeTensors<'static>, [codes, scales]: [&'static str; 2], count: usize) -> Result<Rows, TableError> {
    Ok(Rows {
        codes: tensor(tensors, codes, Dtype::I8, &[count, DIMENSION])?,
        scales: tensor(tensors, scales, Dtype::F16, &[count])?,
    })
}

fn tensor(
    tensors: &SafeTensors<'static>,
    name: &'static str,
    dtype: Dtype,
    shape: &[usize],
) -> Result<&'static [u8], TableError> {
    let view = tensors.tensor(name)?;
    if view.dtype() != dtype || view.shape() != shape {
        return Err(TableError::Shape { name });
    }
    Ok(view.data())
}

/// IEEE 754 binary16 to binary32, for finite values.
fn half_to_f32(bits: u16) -> f32 {
    let sign = u32::from(bits & 0x8000) << 16;
    let (exponent, fraction) = (u32::from(bits >> 10 & 0x1F), u32::from(bits & 0x3FF));
    if exponent == 0 {
        let magnitude = fraction as f32 / (1 << 24) as f32;
        return f32::from_bits(sign | magnitude.to_bits());
    }
    f32::from_bits(sign | (exponent + 112) << 23 | fraction << 13)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[derive(serde::Deserialize)]
    struct Case {
        text: String,
        en_ids: Vec<u32>,
        zh_words: Vec<String>,
        query: Vec<f32>,
        passage_c2: Vec<f32>,
    }

    fn check_vector(got: Option<Vec<f32>>, expected: &[f32], text: &str) {
        let got = got.unwrap_or_else(|| vec![0.0; DIMENSION]);
        assert_eq!(got.len(), expected.len());
        for (at, (got, expected)) in got.iter().zip(expected).enumerate() {
            assert!((got - expected).abs() < 5e-5, "{text:?} [{at}]: {got} for {expected}");
        }
    }

    // MEM-3
    #[test]
    fn the_parity_cases_hold() {
        let table = StaticTable::new().unwrap();
        let cases: Vec<Case> = serde_json::from_str(include_str!("../../data/static-en-zh-192.cases.json")).unwrap();
        assert_eq!(cases.len(), 11);
        for case in cases {
            let tokens = table.tokens(&case.text);
            assert_eq!(tokens.english, case.en_ids, "{:?}", case.text);
            let mut words = Vec::new();
            for run in case.text.split(|c| !is_han(c)).filter(|run| !run.is_empty()) {
                table.chinese.cut(run, |word, _| words.push(word.to_owned()));
            }
            assert_eq!(words, case.zh_words, "{:?}", case.text);
            check_vector(table.embed(Role::Query, &case.text), &case.query, &case.text);
            check_vector(table.embed(Role::Passage(PassageKind::Turn), &case.text), &case.passage_c2, &case.text);
            check_vector(table.embed(Role::Passage(PassageKind::Fact), &case.text), &case.query, &case.text);
        }
    }

    // M23
    #[test]
    fn words_of_no_meaning_are_left_out_of_a_question() {
        let table = StaticTable::new().unwrap();
        for text in ["", "When did she go swimming?", "用户对什么过敏？", "redb's snapshots", "Who wrote 'Café'?", "👍 2010 ok"]
        {
            assert_eq!(table.known(text), text);
        }
        assert_eq!(table.known("QQQQ zxcv"), " ");
        assert_eq!(table.known("qzxvw map"), " map");
        assert_eq!(table.known("用户 qzxv 过敏"), "用户  过敏");
        assert_eq!(table.embed(Role::Query, &table.known("QQQQ zxcv 1234567890987")), None);
    }

    #[test]
    fn a_text_of_no_known_token_has_no_vector() {
        let table = StaticTable::new().unwrap();
        for text in ["", " \t\n", "\u{200B}", "\u{9FEF}"] {
            assert_eq!(table.embed(Role::Query, text), None, "{text:?}");
            assert_eq!(table.embed(Role::Passage(PassageKind::Turn), text), None, "{text:?}");
        }
    }

    // M19, M21
    #[test]
    fn long_and_odd_texts_are_bounded_and_finite() {
        let table = StaticTable::new().unwrap();
        let read = "花生 ".repeat(EMBED_CHARS_MAX / 3 + 1);
        let longer = format!("{read}{}", "peanuts ".repeat(50_000));
        let cut: String = read.chars().take(EMBED_CHARS_MAX).collect();
        assert_eq!(table.embed(Role::Query, &longer), table.embed(Role::Query, &cut));
        let odd = "用户\u{200D}👩‍👩‍👧 e\u{301}\u{FEFF}ﬁ Ǆ 한글 ＡＢＣ ı İ ß \u{F900}\u{20000}";
        for end in 0..=odd.chars().count() {
            let text: String = odd.chars().take(end).collect();
            if let Some(vector) = table.embed(Role::Query, &text) {
                assert!(vector.iter().all(|x| x.is_finite()), "{text:?}");
            }
        }
    }

    #[test]
    fn half_precision_is_read_exactly() {
        for (bits, expected) in
            [(0x3C00, 1.0), (0xC000, -2.0), (0x0000, 0.0), (0x0001, 5.960_464_5e-8), (0x7BFF, 65_504.0), (0x2E66, 0.099_975_586)]
        {
            assert_eq!(half_to_f32(bits), expected, "{bits:x}");
        }
    }

    #[test]
    #[ignore = "prints figures; run in release"]
    fn speed() {
        let began = Instant::now();
        let table = StaticTable::new().unwrap();
        println!("table built in {:?}", began.elapsed());
        let began = Instant::now();
        table.background();
        println!("background built in {:?}", began.elapsed());
        let english = "the quarterly report is due on the second friday of march and anna from accounting wants the draft two days before so that the numbers can be checked by her team";
        let chinese = "我下周三要去上海出差，顺便见一下老同学，酒店订在人民广场附近，记得带上公司的合同和身份证。";
        for text in [english, chinese] {
            let began = Instant::now();
            for _ in 0..2_000 {
                std::hint::black_box(table.embed(Role::Query, std::hint::black_box(text)));
            }
            println!("{:?} a text of {} chars", began.elapsed() / 2_000, text.chars().count());
        }
    }
}
