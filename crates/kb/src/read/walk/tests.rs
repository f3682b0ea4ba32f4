//! Walking folders that are not as they should be.
use std::fs;

use super::*;
use crate::settings::IndexOptions;

fn all() -> Selection {
    Selection::default()
}

fn names(walked: &Walked) -> Vec<&str> {
    walked.files.iter().map(|file| file.name.as_str()).collect()
}

#[test]
fn folders_are_walked_in_order_without_hidden_files_and_loops() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir_all(at("sub/.git")).unwrap();
    fs::create_dir_all(at("base/store")).unwrap();
    for name in ["b.txt", "a.txt", ".hidden", "sub/c.md", "sub/.git/x", "base/y.txt"] {
        fs::write(at(name), "text").unwrap();
    }
    #[cfg(unix)]
    for (to, from) in [(dir.path().to_owned(), "sub/loop"), (at("self"), "self")] {
        std::os::unix::fs::symlink(to, at(from)).unwrap();
    }
    let walked = walk(&[dir.path().to_owned()], &at("base"), &all()).unwrap();
    let expected: &[&str] = if cfg!(unix) {
        &["a.txt", "b.txt", "self", "sub/c.md"]
    } else {
        &["a.txt", "b.txt", "sub/c.md"]
    };
    assert_eq!(names(&walked), expected);
    assert_eq!(walked.refused, []);
    assert!(walked.roots[0].exists);
    assert!(walked.files[0].origin.ends_with("/a.txt") && walked.files[0].origin.starts_with('/'));
    if cfg!(unix) {
        let refused = walked.files[2].load().unwrap_err();
        assert!(refused.reason.contains("cannot be read"), "a link to itself: {}", refused.reason);
    }
}

#[test]
fn what_a_folder_leaves_out_is_named_with_its_reason() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write(".gitignore", "*.log\nout/\n!keep.log\n/only-here.md\n");
    write("sub/.halmaignore", "!wanted.log\nsecret*\n");
    for name in [
        "a.md",
        "b.log",
        "keep.log",
        "out/c.md",
        "only-here.md",
        "sub/only-here.md",
        "sub/wanted.log",
        "sub/secret plan.md",
        "sub/node_modules/x/README.md",
        "later/b.log",
    ] {
        write(name, "text");
    }
    let walked = walk(&[dir.path().to_owned()], Path::new("."), &all()).unwrap();
    assert_eq!(names(&walked), ["a.md", "keep.log", "sub/only-here.md", "sub/wanted.log"]);
    let refused: Vec<_> = walked
        .refused
        .iter()
        .map(|refused| (refused.file.strip_prefix(dir.path()).unwrap(), refused.reason.as_str()))
        .map(|(file, reason)| (file.to_str().unwrap(), reason))
        .collect();
    let (git, halma) = ("`.gitignore` leaves it out", "`.halmaignore` leaves it out");
    let others = "folders `node_modules` hold files of other programs";
    assert_eq!(
        refused,
        [
            ("b.log", git),
            ("later/b.log", git),
            ("only-here.md", git),
            ("out", git),
            ("sub/node_modules", others),
            ("sub/secret plan.md", halma),
        ]
    );
    // Rules that cannot be used let nothing in.
    for rules in ["[z-a]\n".to_owned(), "a*\n".repeat(50_000)] {
        fs::write(dir.path().join("sub/.gitignore"), rules).unwrap();
        let walked = walk(&[dir.path().to_owned()], Path::new("."), &all()).unwrap();
        assert_eq!(names(&walked), ["a.md", "keep.log"]);
        assert!(walked.closed[0].ends_with("/sub/"), "what was read of it before stays");
        assert!(walked.refused.iter().any(|one| one.reason.contains("`.gitignore`")));
    }
    // Named itself, it is read.
    let input = [dir.path().join("sub/node_modules")];
    assert_eq!(names(&walk(&input, Path::new("."), &all()).unwrap()), ["x/README.md"]);
}

#[test]
fn patterns_choose_the_files() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("x/drafts")).unwrap();
    for name in ["a.md", "a.txt", "x/b.md", "x/drafts/c.md"] {
        fs::write(dir.path().join(name), "text").unwrap();
    }
    let options = IndexOptions {
        include: vec!["*.md".into()],
        exclude: vec!["drafts".into()],
        ..IndexOptions::default()
    };
    let selection = Selection::new(&options).unwrap();
    let input = [dir.path().to_owned()];
    assert_eq!(names(&walk(&input, Path::new("."), &selection).unwrap()), ["a.md", "x/b.md"]);
    let single = [dir.path().join("a.txt")];
    assert_eq!(names(&walk(&single, Path::new("."), &selection).unwrap()), ["a.txt"]);
    let none = IndexOptions { include: vec!["*.pdf".into()], ..IndexOptions::default() };
    let walked = walk(&input, Path::new("."), &Selection::new(&none).unwrap()).unwrap();
    assert!(
        walked.files.is_empty() && walked.roots[0].exists,
        "there are files, just no such ones"
    );
}

#[test]
fn the_configuration_in_use_is_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir(at("sub")).unwrap();
    for name in ["a.md", "halma.toml", "sub/halma.toml"] {
        fs::write(at(name), "url = \"postgres://u:secret@host/db\"").unwrap();
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink(at("halma.toml"), at("linked.txt")).unwrap();
    let configuration = Some(dir.path().join("sub/../halma.toml"));
    let options = IndexOptions { configuration, ..IndexOptions::default() };
    let selection = Selection::new(&options).unwrap();
    let walked = walk(&[dir.path().to_owned()], Path::new("."), &selection).unwrap();
    assert_eq!(names(&walked), ["a.md", "sub/halma.toml"]);
    assert_eq!(walked.refused, []);
    let named = walk(&[at("halma.toml"), at("a.md")], Path::new("."), &selection).unwrap();
    assert_eq!(names(&named), ["a.md"]);
    let reason = &named.refused[0].reason;
    assert!(reason.contains("configuration") && reason.contains("passwords"), "{reason}");
    // Of a file that is not there nothing is left out.
    let configuration = Some(at("other.toml"));
    let options = IndexOptions { configuration, ..IndexOptions::default() };
    let selection = Selection::new(&options).unwrap();
    let walked = walk(&[at("halma.toml")], Path::new("."), &selection).unwrap();
    assert_eq!(names(&walked), ["halma.toml"]);
}

#[test]
fn an_input_that_is_not_there_is_an_error() {
    let walked = walk(&[PathBuf::from("no such folder")], Path::new("."), &all());
    assert!(walked.unwrap_err().to_string().contains("no such folder"));
}

#[cfg(unix)]
#[test]
fn strange_names_are_shown_on_one_line_and_stay_different() {
    use std::os::unix::ffi::OsStrExt;
    let dir = tempfile::tempdir().unwrap();
    for name in [&b"a\xff.txt"[..], b"a\xfe.txt", b"a\nb.txt", "ä.txt".as_bytes()] {
        fs::write(dir.path().join(OsStr::from_bytes(name)), "text").unwrap();
    }
    let walked = walk(&[dir.path().to_owned()], Path::new("."), &all()).unwrap();
    assert_eq!(names(&walked), [r"a\nb.txt", r"a\xfe.txt", r"a\xff.txt", "ä.txt"]);
    assert!(walked.files.iter().all(|file| file.load().is_ok()));
}

#[test]
fn a_file_that_changes_while_it_is_read_is_read_again_and_then_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.txt");
    fs::write(&path, "one").unwrap();
    let file =
        InputFile { path: path.clone(), name: "a.txt".into(), origin: "/a.txt".into(), bytes: 3 };
    let mut times = 0;
    let once = file.load_with(|| {
        times += 1;
        if times == 1 {
            fs::write(&path, "three").unwrap();
        }
    });
    assert_eq!((once.ok(), times), (Some(b"three".to_vec()), 2));
    let mut grown = "three".to_owned();
    let always = file.load_with(|| {
        grown.push('!');
        fs::write(&path, &grown).unwrap();
    });
    let refused = always.unwrap_err();
    assert!(refused.reason.contains("changes while it is read"), "{}", refused.reason);
}

/// `café` as Linux and macOS write it.
const COMPOSED: &str = "caf\u{e9}";
const DECOMPOSED: &str = "cafe\u{301}";

#[test]
#[cfg(target_os = "linux")]
fn a_file_from_a_mac_has_the_name_that_people_type() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join(DECOMPOSED)).unwrap();
    let file = dir.path().join(DECOMPOSED).join("u\u{308}ber.txt");
    fs::write(&file, "text").unwrap();
    let walked = walk(&[dir.path().to_owned()], Path::new("."), &all()).unwrap();
    assert_eq!(names(&walked), [format!("{COMPOSED}/\u{fc}ber.txt")]);
    assert_eq!(walked.files[0].load().unwrap(), b"text");
    assert!(walked.files[0].origin.ends_with(&format!("{DECOMPOSED}/u\u{308}ber.txt")));
    let single = walk(&[file], Path::new("."), &all()).unwrap();
    assert_eq!(names(&single), ["\u{fc}ber.txt"]);
}

#[test]
#[cfg(target_os = "linux")]
fn files_whose_names_differ_in_code_points_only_are_both_read() {
    let dir = tempfile::tempdir().unwrap();
    for name in [COMPOSED, DECOMPOSED, "cafe"] {
        fs::write(dir.path().join(format!("{name}.txt")), name).unwrap();
    }
    let walked = walk(&[dir.path().to_owned()], Path::new("."), &all()).unwrap();
    let expected = ["cafe.txt".to_owned(), format!("{DECOMPOSED}.txt"), format!("{COMPOSED}.txt")];
    assert_eq!(names(&walked), expected);
}

#[test]
#[cfg(target_os = "linux")]
fn a_pattern_chooses_a_file_in_whatever_code_points_it_is_typed() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(format!("{DECOMPOSED}.txt")), "text").unwrap();
    for typed in [COMPOSED, DECOMPOSED] {
        let options =
            IndexOptions { include: vec![format!("{typed}*")], ..IndexOptions::default() };
        let selection = Selection::new(&options).unwrap();
        let walked = walk(&[dir.path().to_owned()], Path::new("."), &selection).unwrap();
        assert_eq!(names(&walked), [format!("{COMPOSED}.txt")], "{typed}");
    }
}
