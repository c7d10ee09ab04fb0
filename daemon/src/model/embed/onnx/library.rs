//! ONNX Runtime's shared library, found and opened at run time: nothing is linked, and a daemon without it starts and says what to do.
//!
//! `unsafe`: opening a shared library runs its code, and its table of functions is read through pointers it gives; both are as the
//! library's C interface says, and its version is asked before the table is taken. A library stays open for life. Must not know: models.
#![allow(unsafe_code)]

use ort::sys::{ORT_API_VERSION, OrtApiBase};
use parking_lot::Mutex;
use std::ffi::{CStr, OsString};
use std::path::{Path, PathBuf};

/// The variable that names the library, as other programs read it.
pub const LIBRARY_VARIABLE: &str = "ORT_DYLIB_PATH";

/// Name of the library, without a version.
const LIBRARY_NAME: &str = if cfg!(target_os = "macos") { "libonnxruntime.dylib" } else { "libonnxruntime.so" };

/// Folders that hold libraries, besides those the system's loader searches.
const USUAL_FOLDERS: &[&str] = &[
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/lib",
    "/opt/onnxruntime/lib",
    "/opt/homebrew/lib",
];

/// The library that is open: where it was found and its version.
static OPEN: Mutex<Option<Library>> = Mutex::new(None);

/// An open library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Library {
    /// Where it was found.
    pub path: PathBuf,
    /// Its version, as it says.
    pub version: String,
}

/// Where the library is looked for.
#[derive(Debug, Clone, Default)]
pub struct LibraryPlaces {
    /// The configuration's, which is then the only one.
    pub configured: Option<PathBuf>,
    /// The environment's, which is then the only one.
    pub variable: Option<OsString>,
    /// A folder of Tiro's own, looked into before the usual ones.
    pub own: Option<PathBuf>,
}

impl LibraryPlaces {
    /// What is tried, in order.
    fn candidates(&self) -> Vec<PathBuf> {
        let named = self.configured.clone().or_else(|| self.variable.clone().filter(|name| !name.is_empty()).map(PathBuf::from));
        if let Some(named) = named {
            return vec![named];
        }
        let folders = self.own.iter().cloned().chain(USUAL_FOLDERS.iter().map(PathBuf::from));
        let mut found: Vec<PathBuf> = folders.flat_map(|folder| libraries_in(&folder)).collect();
        // A bare name is searched for by the system's loader.
        found.extend([PathBuf::from(LIBRARY_NAME), PathBuf::from(format!("{LIBRARY_NAME}.1"))]);
        found
    }
}

/// Files of a folder that are the library by their names, the plain name first, then the highest version.
fn libraries_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let is_library = |name: &OsString| name.to_str().is_some_and(|name| name.starts_with(LIBRARY_NAME));
    let mut names: Vec<OsString> = entries.filter(is_library).collect();
    names.sort_by(|a, b| a.len().cmp(&LIBRARY_NAME.len()).cmp(&b.len().cmp(&LIBRARY_NAME.len())).then(b.cmp(a)));
    names.into_iter().map(|name| folder.join(name)).collect()
}

/// Opens the library, once for the life of the process. Blocks.
///
/// # Errors
/// What was tried, why it is none, and what to do.
pub fn open_library(places: &LibraryPlaces) -> Result<Library, String> {
    let mut open = OPEN.lock();
    if let Some(library) = &*open {
        return Ok(library.clone());
    }
    let candidates = places.candidates();
    let mut why = Vec::new();
    for path in &candidates {
        match open_at(path) {
            Ok(version) => {
                let library = Library { path: path.clone(), version };
                tracing::info!(path = %library.path.display(), version = library.version, "ONNX Runtime is open");
                return Ok(open.insert(library).clone());
            }
            Err(error) => why.push(format!("{}: {error}", path.display())),
        }
    }
    // The system's own words for a file that is not there are long and say no more.
    why.retain(|line| candidates.len() == 1 || !line.contains("No such file"));
    let why = if why.is_empty() { "it is in none of the usual places".to_owned() } else { why.join("; ") };
    Err(format!(
        "ONNX Runtime 1.{ORT_API_VERSION} or newer is needed and cannot be opened ({why}): install it (the system's package onnxruntime, \
         or the file {LIBRARY_NAME} of the Python package onnxruntime) and name the file by `library` in [embedding] or by {LIBRARY_VARIABLE}"
    ))
}

/// Opens the library at a path, and hands its functions to the crate that calls them.
fn open_at(path: &Path) -> Result<String, String> {
    // SAFETY: code of the library runs; which library that is, the user's configuration, environment or system says.
    let library = unsafe { libloading::Library::new(path) }.map_err(|error| error.to_string())?;
    // SAFETY: the one entry point of the library's C interface, of this type in every version.
    let entry = unsafe { library.get::<unsafe extern "system" fn() -> *const OrtApiBase>(b"OrtGetApiBase\0") }
        .map_err(|_| "it is not ONNX Runtime".to_owned())?;
    // SAFETY: takes nothing and gives a table that lives as long as the library, or null.
    let base = unsafe { entry().as_ref() }.ok_or("it gives no functions")?;
    // SAFETY: gives text that ends in null and lives as long as the library.
    let version = unsafe { CStr::from_ptr((base.GetVersionString)().cast()) }.to_string_lossy().into_owned();
    let minor: u32 = version.split('.').nth(1).and_then(|minor| minor.parse().ok()).unwrap_or(0);
    if !version.starts_with("1.") || minor < ORT_API_VERSION {
        return Err(format!("its version is {version}"));
    }
    // SAFETY: the version was asked before; the table is of the version asked for, and null where there is none.
    let functions =
        unsafe { (base.GetApi)(ORT_API_VERSION).as_ref() }.ok_or_else(|| format!("version {version} gives no functions"))?;
    ort::set_api(*functions);
    // Its functions are called from now on, for as long as the process lives.
    std::mem::forget(library);
    ort::init().with_name("tiro").with_telemetry(false).commit().map_err(|error| error.to_string())?;
    Ok(version)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_named_library_is_the_only_one_and_the_configuration_comes_first() {
        let mut places = LibraryPlaces { variable: Some("/v/lib.so".into()), ..LibraryPlaces::default() };
        assert_eq!(places.candidates(), [PathBuf::from("/v/lib.so")]);
        places.configured = Some("/c/lib.so".into());
        assert_eq!(places.candidates(), [PathBuf::from("/c/lib.so")]);
        let nameless = LibraryPlaces { variable: Some("".into()), ..LibraryPlaces::default() };
        assert!(nameless.candidates().ends_with(&[LIBRARY_NAME.into(), format!("{LIBRARY_NAME}.1").into()]));
    }

    #[test]
    fn a_folder_is_searched_for_every_version() {
        let folder = tempfile::tempdir().unwrap();
        for name in [".1.22.0", ".1.32.0", "", ".other-thing"] {
            std::fs::write(folder.path().join(format!("{LIBRARY_NAME}{name}")), "no library").unwrap();
        }
        std::fs::write(folder.path().join("libother.so"), "").unwrap();
        let found = LibraryPlaces { own: Some(folder.path().to_owned()), ..LibraryPlaces::default() }.candidates();
        assert_eq!(found[0], folder.path().join(LIBRARY_NAME));
        assert!(found.iter().filter(|path| path.starts_with(folder.path())).count() == 4, "{found:?}");
    }

    // M28: what is missing or is no library is said, with what to do, and nothing ends
    #[test]
    fn what_is_no_library_is_an_error_that_says_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(LIBRARY_NAME);
        for text in [None, Some("no library at all")] {
            text.iter().for_each(|text| std::fs::write(&path, text).unwrap());
            let places = LibraryPlaces { configured: Some(path.clone()), ..LibraryPlaces::default() };
            let said = open_library(&places).unwrap_err();
            assert!(said.contains(&path.display().to_string()) && said.contains(LIBRARY_VARIABLE), "{said}");
        }
    }
}
