//! The cache must survive what machines do to files.
use std::fs;

use tempfile::tempdir;

use super::*;

fn reply(text: &str) -> ChatReply {
    ChatReply { text: text.into(), ..ChatReply::default() }
}

fn key(n: u32) -> Key {
    *blake3::hash(&n.to_le_bytes()).as_bytes()
}

fn text(cache: &Cache, n: u32) -> Option<String> {
    cache.get(&key(n)).map(|reply| reply.text)
}

/// A cache of this many replies in a folder, closed again.
fn filled(dir: &Path, replies: u32) {
    let cache = Cache::open(dir).unwrap();
    for n in 0..replies {
        cache.put(key(n), &reply(&format!("reply {n} {}", "x".repeat(500))), &[]);
    }
}

#[test]
fn a_reply_is_there_at_once_and_after_reopening() {
    let folder = tempdir().unwrap();
    let dir = folder.path().join("cache");
    let whole = ChatReply {
        usage: halma_core::Usage { prompt_tokens: 3, completion_tokens: 4, ..Default::default() },
        logprobs: Some(vec![("a".into(), -0.5)]),
        ..reply("one")
    };
    let cache = Cache::open(&dir).unwrap();
    cache.put(key(1), &whole, &names(&["a"]));
    assert_eq!(cache.get(&key(1)), Some(ChatReply { cached: true, ..whole.clone() }));
    cache.flush();
    assert!(cache.pending.lock().is_empty());
    assert_eq!(cache.get(&key(1)), Some(ChatReply { cached: true, ..whole.clone() }));
    cache.put(key(2), &reply("two"), &names(&["a"]));
    drop(cache);
    let cache = Cache::open(&dir).unwrap();
    assert_eq!(cache.get(&key(1)), Some(ChatReply { cached: true, ..whole }));
    assert_eq!(text(&cache, 2).as_deref(), Some("two"));
    assert_eq!(cache.entries().unwrap(), 2);
    assert_eq!(cache.forget(&names(&["a"])).unwrap(), 2);
    assert_eq!((cache.entries().unwrap(), text(&cache, 1)), (0, None));
}

#[test]
fn a_cut_file_is_set_aside() {
    let folder = tempdir().unwrap();
    let dir = folder.path().join("cache");
    filled(&dir, 2_000);
    let data = dir.join("replies.db");
    let length = fs::metadata(&data).unwrap().len();
    for left in [length / 2, 4096 * 3, 4096 + 17, 100] {
        let file = fs::OpenOptions::new().write(true).open(&data).unwrap();
        file.set_len(left).unwrap();
        drop(file);
        let cache = Cache::open(&dir).unwrap();
        assert_eq!(text(&cache, 1), None, "{left} bytes left");
        drop(cache);
        filled(&dir, 2_000);
    }
    assert!(dir.join("replies.db.damaged-1").is_file());
    assert_eq!(Cache::open(&dir).unwrap().entries().unwrap(), 2_000);
}

#[test]
fn a_file_of_something_else_is_set_aside() {
    let folder = tempdir().unwrap();
    let dir = folder.path().join("cache");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("replies.db"), "this is no database. ".repeat(2_000)).unwrap();
    let cache = Cache::open(&dir).unwrap();
    cache.put(key(1), &reply("one"), &[]);
    assert_eq!(cache.entries().unwrap(), 1);
    assert!(dir.join("replies.db.damaged-1").exists());
}

#[test]
fn a_damaged_reply_is_as_if_it_were_not_there() {
    let folder = tempdir().unwrap();
    let dir = folder.path().join("cache");
    let cache = Cache::open(&dir).unwrap();
    let mut bytes = encode(&reply("one")).unwrap();
    assert_eq!(decode(&bytes), Some(reply("one")));
    for at in 0..bytes.len() {
        bytes[at] ^= 1;
        assert_eq!(decode(&bytes), None, "byte {at}");
        bytes[at] ^= 1;
    }
    *bytes.last_mut().unwrap() ^= 1;
    let entry = |bytes: Vec<u8>| Entry { body: bytes.into(), about: Arc::default() };
    cache.store.write(&[(key(1), entry(bytes)), (key(2), entry(vec![1, 2]))]).unwrap();
    assert_eq!((text(&cache, 1), text(&cache, 2)), (None, None));
}

#[test]
fn a_place_that_cannot_be_used_is_named() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "not a folder").unwrap();
    let error = Cache::open(&file.join("cache")).err().unwrap().to_string();
    assert!(error.contains("file/cache"), "{error}");
}

#[test]
fn many_threads_put_and_get_without_loss() {
    let folder = tempdir().unwrap();
    let cache = Cache::open(&folder.path().join("cache")).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4_u32 {
            let cache = &cache;
            scope.spawn(move || {
                for n in 0..500 {
                    let n = thread * 1_000 + n;
                    cache.put(key(n), &reply(&n.to_string()), &[]);
                    assert_eq!(text(cache, n), Some(n.to_string()));
                }
            });
        }
    });
    assert_eq!(cache.entries().unwrap(), 2_000);
}

/// How often a text is in the files below a folder.
fn count(dir: &Path, wanted: &str) -> usize {
    let mut count = 0;
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        count += if path.is_dir() {
            self::count(&path, wanted)
        } else {
            let bytes = fs::read(path).unwrap();
            bytes.windows(wanted.len()).filter(|window| *window == wanted.as_bytes()).count()
        };
    }
    count
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn what_is_about_a_document_is_forgotten_and_cannot_be_read_again() {
    let folder = tempdir().unwrap();
    let dir = folder.path().join("cache");
    let cache = Cache::open(&dir).unwrap();
    cache.put(key(1), &reply("marker of a"), &names(&["a"]));
    cache.put(key(2), &reply("marker of a and b"), &names(&["a", "b"]));
    cache.put(key(3), &reply("marker of b"), &names(&["b"]));
    cache.put(key(4), &reply("marker of nothing"), &[]);
    cache.flush();
    assert!(count(&dir, "marker") >= 4, "they are searched for where they are stored");
    assert_eq!(cache.forget(&names(&["a", "c"])).unwrap(), 2);
    assert_eq!((text(&cache, 1), text(&cache, 2)), (None, None));
    assert_eq!((count(&dir, "marker of a"), count(&dir, "marker of b")), (0, 1));
    drop(cache);
    let cache = Cache::open(&dir).unwrap();
    assert_eq!(text(&cache, 3).as_deref(), Some("marker of b"));
    assert_eq!((cache.entries().unwrap(), cache.forget(&names(&["a"])).unwrap()), (2, 0));
    assert_eq!(cache.forget(&names(&["b"])).unwrap(), 1);
    assert_eq!((count(&dir, "marker"), count(&dir, "marker of nothing")), (1, 1));
}

#[test]
fn a_question_under_way_keeps_no_reply_about_a_deleted_document() {
    let folder = tempdir().unwrap();
    let cache = Cache::open(folder.path()).unwrap();
    cache.put(key(1), &reply("before"), &names(&["a"]));
    cache.refuse(&names(&["a"]));
    assert_eq!(cache.forget(&names(&["a"])).unwrap(), 1);
    cache.put(key(2), &reply("after"), &names(&["a", "b"]));
    cache.put(key(3), &reply("other"), &names(&["b"]));
    assert_eq!((text(&cache, 1), text(&cache, 2)), (None, None));
    assert_eq!(text(&cache, 3).as_deref(), Some("other"));
}

#[test]
fn a_reply_put_again_is_about_both() {
    let folder = tempdir().unwrap();
    let cache = Cache::open(folder.path()).unwrap();
    cache.put(key(1), &reply("one"), &names(&["a"]));
    cache.flush();
    cache.put(key(1), &reply("two"), &names(&["b"]));
    cache.flush();
    assert_eq!(cache.entries().unwrap(), 1);
    assert_eq!(cache.forget(&names(&["a"])).unwrap(), 1);
    assert_eq!((text(&cache, 1), cache.forget(&names(&["b"])).unwrap()), (None, 0));
}

#[test]
fn many_caches_forget_what_others_put() {
    let folder = tempdir().unwrap();
    let dir = folder.path();
    let test = std::env::current_exe().unwrap();
    let mut other = std::process::Command::new(test);
    other.args(["--exact", "llm::cache::tests::fill_from_another_process"]);
    let cache = Cache::open(dir).unwrap();
    cache.put(key(1), &reply("mine"), &names(&["a"]));
    cache.flush();
    assert!(other.env("HALMA_TEST_FOLDER", dir).status().unwrap().success());
    assert_eq!(text(&cache, 2).as_deref(), Some("theirs"));
    cache.put(key(3), &reply("mine too"), &names(&["b"]));
    assert_eq!(cache.forget(&names(&["a"])).unwrap(), 2);
    assert_eq!(text(&cache, 3).as_deref(), Some("mine too"));
}

#[test]
fn fill_from_another_process() {
    let Some(dir) = std::env::var_os("HALMA_TEST_FOLDER") else { return };
    let cache = Cache::open(Path::new(&dir)).unwrap();
    assert_eq!(text(&cache, 1).as_deref(), Some("mine"));
    cache.put(key(2), &reply("theirs"), &names(&["a"]));
}

/// Replies of 700 bytes and of 7,000, whose ages are their numbers.
fn put_sized(cache: &Cache, numbers: std::ops::Range<u32>) {
    for n in numbers {
        let text = format!("reply {n} {}", "x".repeat(if n % 8 == 0 { 7_000 } else { 700 }));
        cache.put(key(n), &reply(&text), &names(&["a"]));
        if n % 500 == 499 {
            cache.flush();
        }
    }
    cache.flush();
}

#[test]
fn a_full_cache_destroys_the_oldest_replies_and_no_others() {
    const LIMIT: u64 = 8_000_000;
    let folder = tempdir().unwrap();
    let dir = folder.path().join("cache");
    let cache = Cache::open_limited(&dir, LIMIT).unwrap();
    put_sized(&cache, 0..2_000);
    assert_eq!(cache.entries().unwrap(), 2_000, "nothing goes before the limit is reached");
    put_sized(&cache, 2_000..12_000);
    let entries = u32::try_from(cache.entries().unwrap()).unwrap();
    assert!((2_000..6_000).contains(&entries), "{entries}");
    // The newest are there, whether or not the cache was opened again since, and only those.
    let cached = |cache: &Cache| (0..12_000).filter(|n| cache.get(&key(*n)).is_some()).collect();
    let newest: Vec<u32> = (12_000 - entries..12_000).collect();
    let remaining: Vec<u32> = cached(&cache);
    assert_eq!(remaining, newest);
    let file = fs::metadata(dir.join("replies.db")).unwrap().len();
    // Pages that were freed are used by the next replies.
    assert!(file < LIMIT / 2 * 3, "{file} bytes");
    assert_eq!(count(&dir, "reply 7 xxx"), 0, "what was removed cannot be read in the file");
    drop(cache);
    let cache = Cache::open_limited(&dir, LIMIT).unwrap();
    let remaining: Vec<u32> = cached(&cache);
    assert_eq!(remaining, newest);
    assert_eq!(cache.forget(&names(&["a"])).unwrap(), u64::from(entries));
    put_sized(&cache, 0..2_000);
    assert_eq!(cache.entries().unwrap(), 2_000, "what was forgotten counts no more");
}

#[test]
fn a_reply_put_again_is_counted_once() {
    let folder = tempdir().unwrap();
    let cache = Cache::open_limited(folder.path(), 1_000_000).unwrap();
    for n in 0..3_000 {
        cache.put(key(n % 100), &reply(&"x".repeat(700)), &[]);
        if n % 100 == 99 {
            cache.flush();
        }
    }
    assert_eq!(cache.entries().unwrap(), 100);
}
