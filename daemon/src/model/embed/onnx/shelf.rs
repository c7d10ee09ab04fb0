//! The folder of models that were added: each tried out before it is taken in, and whole or not there at all. Everything here blocks.
//!
//! Must not know: which of them serves.

use super::folder::{MANIFEST_FILE, ModelFolder, name_of};
use super::library::{Library, LibraryPlaces, open_library};
use super::loaded::Loaded;
use super::threads;
use crate::limits::{EMBEDDER_CHECK_MS, EMBEDDER_CHECK_TEXTS, EMBEDDERS_MAX};
use parking_lot::Mutex;
use std::fs::{self, DirBuilder, File};
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What a model is tried out with: everyday sentences of both languages.
const SENTENCES: [&str; 8] = [
    "The meeting was moved to Thursday afternoon because two people are away.",
    "会议改到星期四下午，因为有两个人不在。",
    "She keeps the spare key in the drawer below the printer.",
    "备用钥匙放在打印机下面的抽屉里。",
    "Deploys run after the smoke tests are green, never on Fridays.",
    "部署在冒烟测试通过之后进行，星期五从不部署。",
    "My sister is allergic to peanuts.",
    "我妹妹对花生过敏。",
];

/// Likeness of a text's vector alone to its vector beside longer texts, at least: quantised models round a little differently.
const ALONE_AND_BESIDE_COSINE_MIN: f32 = 0.95;
/// Likeness of the vectors of different texts, at most.
const DIFFERENT_TEXTS_COSINE_MAX: f32 = 0.9999;

/// Why a model could not be added, found, checked or removed.
#[derive(Debug, thiserror::Error)]
pub enum ShelfError {
    /// None of this name.
    #[error("there is no model {name:?}{}", known(names))]
    NotFound {
        /// What was asked for.
        name: String,
        /// Those there are.
        names: Vec<String>,
    },
    /// The folder, or what is asked for, will not do: why, and what to do.
    #[error("{0}")]
    Refused(String),
    /// The disk.
    #[error("{what}: {source}")]
    Disk {
        /// What was being done.
        what: String,
        /// What the system says.
        source: std::io::Error,
    },
}

fn known(names: &[String]) -> String {
    if names.is_empty() {
        ": none was added (tiro model add FOLDER)".to_owned()
    } else {
        format!("; there are {}", names.join(", "))
    }
}

/// How a model did.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// Length of its vectors.
    pub dimension: u32,
    /// Short sentences a second, many at a time.
    pub sentences_per_s: f64,
    /// One short query, milliseconds: the median of some.
    pub query_ms: f64,
    /// The library it ran by.
    pub library: Library,
}

/// The folder of models.
pub struct Shelf {
    folder: PathBuf,
    library: LibraryPlaces,
    /// Held while the folder changes.
    changing: Mutex<()>,
}

impl Shelf {
    /// In this folder, which is made when the first model is added.
    pub fn new(folder: PathBuf, library: LibraryPlaces) -> Self {
        Shelf { folder, library, changing: Mutex::default() }
    }

    /// Where the library is looked for.
    pub fn library(&self) -> &LibraryPlaces {
        &self.library
    }

    /// Every model by its name: its folder, or what is wrong with it.
    pub fn all(&self) -> Vec<(String, Result<ModelFolder, String>)> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).filter(|name| name_of(name).is_ok()).collect();
        names.sort();
        names.into_iter().map(|name| (name.clone(), ModelFolder::added(&self.folder.join(name)))).collect()
    }

    /// The model of this name.
    ///
    /// # Errors
    /// There is none, or its folder is not whole.
    pub fn find(&self, name: &str) -> Result<ModelFolder, ShelfError> {
        let path = self.folder.join(name_of(name).map_err(ShelfError::Refused)?);
        if !path.is_dir() {
            let names = self.all().into_iter().map(|(name, _)| name).collect();
            return Err(ShelfError::NotFound { name: name.to_owned(), names });
        }
        ModelFolder::added(&path).map_err(ShelfError::Refused)
    }

    /// Tries a folder's model out and copies it in.
    ///
    /// # Errors
    /// What is wrong with the folder, the library or the disk; nothing is then left behind.
    pub fn add(&self, from: &Path, name: Option<&str>, kind: Option<&str>) -> Result<(ModelFolder, Checked), ShelfError> {
        let _changing = self.changing.lock();
        let mut given = ModelFolder::given(from, name, kind).map_err(ShelfError::Refused)?;
        let name = given.manifest.name.clone();
        let place = self.folder.join(&name);
        if place.exists() {
            return Err(ShelfError::Refused(format!(
                "there is a model {name} already: give this one another --name, or remove that one"
            )));
        }
        if self.all().len() >= EMBEDDERS_MAX {
            return Err(ShelfError::Refused(format!("there are {EMBEDDERS_MAX} models already: remove one")));
        }
        let checked = self.try_out(&given)?;
        given.manifest.dimension = checked.dimension;
        let disk = |what: &str| {
            let what = format!("{what} {}", place.display());
            move |source| ShelfError::Disk { what, source }
        };
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder).map_err(disk("cannot make the folder above"))?;
        let unfinished = self.folder.join(format!(".adding-{name}"));
        let _ = fs::remove_dir_all(&unfinished);
        let done = copy(&mut given, &unfinished).map_err(disk("cannot copy the model to")).and_then(|()| {
            let copied = ModelFolder::added(&unfinished).map_err(ShelfError::Refused)?;
            for (file, bytes_max) in copied.files() {
                copied.read(&file, bytes_max).map_err(ShelfError::Refused)?;
            }
            fs::rename(&unfinished, &place)
                .and_then(|()| File::open(&self.folder)?.sync_all())
                .map_err(disk("cannot put the model at"))
        });
        if done.is_err() {
            let _ = fs::remove_dir_all(&unfinished);
        }
        done?;
        Ok((self.find(&name)?, checked))
    }

    /// Holds a model's files against their checksums and runs some sentences through it.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self, name: &str) -> Result<(ModelFolder, Checked), ShelfError> {
        let folder = self.find(name)?;
        let checked = self.try_out(&folder)?;
        Ok((folder, checked))
    }

    /// Removes a model's folder.
    ///
    /// # Errors
    /// There is none, or the disk refuses.
    pub fn remove(&self, name: &str) -> Result<(), ShelfError> {
        let _changing = self.changing.lock();
        let place = match self.find(name) {
            Ok(folder) => folder.path,
            Err(ShelfError::Refused(_)) if name_of(name).is_ok() => self.folder.join(name),
            Err(other) => return Err(other),
        };
        let going = self.folder.join(format!(".removing-{name}"));
        let disk = |source| ShelfError::Disk { what: format!("cannot remove {}", place.display()), source };
        let _ = fs::remove_dir_all(&going);
        fs::rename(&place, &going).and_then(|()| fs::remove_dir_all(&going)).map_err(disk)
    }

    fn try_out(&self, folder: &ModelFolder) -> Result<Checked, ShelfError> {
        let library = open_library(&self.library).map_err(ShelfError::Refused)?;
        let loaded = Loaded::read(folder, threads()).map_err(ShelfError::Refused)?;
        let tried = tried(&loaded, folder);
        drop(loaded);
        crate::heap::give_back();
        let (dimension, sentences_per_s, query_ms) =
            tried.map_err(|why| ShelfError::Refused(format!("the model {} cannot be used: {why}", folder.manifest.name)))?;
        Ok(Checked { dimension, sentences_per_s, query_ms, library })
    }
}

/// Dimension, sentences a second, milliseconds a query.
fn tried(loaded: &Loaded, folder: &ModelFolder) -> Result<(u32, f64, f64), String> {
    let manifest = &folder.manifest;
    let passages: Vec<String> = SENTENCES.iter().map(|text| format!("{}{text}", manifest.passage_prefix)).collect();
    let queries: Vec<String> = SENTENCES.iter().map(|text| format!("{}{text}", manifest.query_prefix)).collect();
    let together = loaded.embed(&passages)?;
    let dimension = together.first().map_or(0, Vec::len);
    let is_sound = |vector: &Vec<f32>| vector.len() == dimension && (cosine(vector, vector) - 1.0).abs() < 1e-3;
    if dimension == 0 || !together.iter().all(is_sound) {
        return Err("its vectors are of different lengths, zero or not finite".to_owned());
    }
    if manifest.dimension != 0 && manifest.dimension as usize != dimension {
        return Err(format!("its vectors have {dimension} dimensions, not {} as {MANIFEST_FILE} says", manifest.dimension));
    }
    for (n, text) in passages.iter().enumerate() {
        let alone = loaded.embed(std::slice::from_ref(text))?.remove(0);
        let likeness = cosine(&alone, &together[n]);
        if likeness.is_nan() || likeness < ALONE_AND_BESIDE_COSINE_MIN {
            return Err(format!("a text's vector depends on the texts beside it (cosine {likeness:.3})"));
        }
        if together[..n].iter().any(|other| cosine(other, &alone) > DIFFERENT_TEXTS_COSINE_MAX) {
            return Err("different texts have the same vector".to_owned());
        }
    }
    let mut query_ms: Vec<f64> = Vec::new();
    for query in &queries {
        let began = Instant::now();
        loaded.embed(std::slice::from_ref(query))?;
        query_ms.push(began.elapsed().as_secs_f64() * 1_000.0);
    }
    query_ms.sort_by(f64::total_cmp);
    let batch: Vec<String> = passages.iter().cycle().take(EMBEDDER_CHECK_TEXTS).cloned().collect();
    let (began, mut embedded) = (Instant::now(), 0);
    while embedded == 0 || began.elapsed() < Duration::from_millis(EMBEDDER_CHECK_MS / 2) {
        embedded += loaded.embed(&batch)?.len();
    }
    let per_s = embedded as f64 / began.elapsed().as_secs_f64();
    Ok((u32::try_from(dimension).unwrap_or(u32::MAX), per_s, query_ms[query_ms.len() / 2]))
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Copies the two files under their usual names and writes what the folder holds, synced.
fn copy(given: &mut ModelFolder, to: &Path) -> std::io::Result<()> {
    DirBuilder::new().mode(0o700).create(to)?;
    let names = ["model.onnx", "tokenizer.json"];
    for ((file, _), name) in given.files().into_iter().zip(names) {
        let path = to.join(name);
        fs::copy(given.path.join(&file), &path)?;
        File::open(&path)?.sync_all()?;
        if let Some(sum) = given.manifest.sha256.remove(&file) {
            given.manifest.sha256.insert(name.to_owned(), sum);
        }
    }
    [given.manifest.model, given.manifest.tokenizer] = names.map(str::to_owned);
    let text = toml::to_string(&given.manifest).map_err(std::io::Error::other)?;
    let mut file = File::create(to.join(MANIFEST_FILE))?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn shelf(above: &Path) -> Shelf {
        let library = LibraryPlaces { configured: Some(above.join("none.so")), ..LibraryPlaces::default() };
        Shelf::new(above.join("models"), library)
    }

    fn put(above: &Path, name: &str) -> PathBuf {
        let path = above.join(name);
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("model.onnx"), "no graph").unwrap();
        fs::write(path.join("tokenizer.json"), "{}").unwrap();
        path
    }

    /// As `add` leaves it.
    fn placed(above: &Path, name: &str) {
        let mut given = ModelFolder::given(&put(above, "e5"), Some(name), None).unwrap();
        given.manifest.dimension = 2;
        fs::create_dir_all(above.join("models")).unwrap();
        copy(&mut given, &above.join("models").join(name)).unwrap();
    }

    // M28
    #[test]
    fn without_the_library_nothing_is_added_and_the_message_says_what_to_do() {
        let above = tempfile::tempdir().unwrap();
        let said = shelf(above.path()).add(&put(above.path(), "e5"), None, None).unwrap_err().to_string();
        assert!(said.contains("ORT_DYLIB_PATH") && said.contains("none.so"), "{said}");
        assert!(!above.path().join("models/e5").exists() && shelf(above.path()).all().is_empty());
    }

    #[test]
    fn models_are_listed_found_and_removed_by_their_names() {
        let above = tempfile::tempdir().unwrap();
        let shelf = shelf(above.path());
        let said = shelf.find("e5").unwrap_err().to_string();
        assert!(said.contains("tiro model add"), "{said}");
        placed(above.path(), "e5-a");
        placed(above.path(), "e5-b");
        fs::create_dir_all(above.path().join("models/.adding-x")).unwrap();
        fs::create_dir_all(above.path().join("models/broken")).unwrap();
        let all = shelf.all();
        assert_eq!(
            all.iter().map(|(name, folder)| (name.as_str(), folder.is_ok())).collect::<Vec<_>>(),
            [("broken", false), ("e5-a", true), ("e5-b", true)]
        );
        let said = shelf.find("e6").unwrap_err().to_string();
        assert!(said.contains("e5-a, e5-b"), "{said}");
        assert!(matches!(shelf.find("../e5-a"), Err(ShelfError::Refused(_))));
        assert!(shelf.add(&above.path().join("e5"), Some("e5-a"), None).unwrap_err().to_string().contains("already"));
        shelf.remove("e5-a").unwrap();
        shelf.remove("broken").unwrap();
        assert!(shelf.remove("e5-a").is_err());
        assert_eq!(shelf.all().len(), 1);
    }

    #[test]
    fn what_is_copied_says_what_it_is_and_is_what_was_checked() {
        let above = tempfile::tempdir().unwrap();
        placed(above.path(), "e5-a");
        let shelf = shelf(above.path());
        let folder = shelf.find("e5-a").unwrap();
        assert_eq!(folder.read("model.onnx", 100).unwrap(), b"no graph");
        fs::write(folder.path.join("model.onnx"), "another").unwrap();
        assert!(folder.read("model.onnx", 100).unwrap_err().contains("changed"));
    }
}
