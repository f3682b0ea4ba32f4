//! The program in a folder of its own, as a user has it.
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A fresh folder to run `halma` in.
pub(crate) struct Program {
    dir: TempDir,
}

/// What a run left.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Standard output as one JSON value; success is required.
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.code, 0, "{}", self.err);
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {}", self.out))
    }

    /// Asserts that the run went well.
    pub(crate) fn succeeds(&self) {
        assert_eq!(self.code, 0, "out: {}\nerr: {}", self.out, self.err);
    }

    /// Asserts the exit code and that standard error says each of the words.
    pub(crate) fn fails(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, code, "out: {}\nerr: {}", self.out, self.err);
        assert_eq!(self.out, "", "nothing but a result goes to standard output");
        for word in words {
            assert!(self.err.contains(word), "`{word}` is not in: {}", self.err);
        }
    }
}

impl Program {
    /// With no embedder, so that the tests do not depend on weights.
    pub(crate) fn new() -> Self {
        Self::configured("[embedder]\nkind = \"none\"\n")
    }

    pub(crate) fn configured(config: &str) -> Self {
        let program = Self { dir: tempfile::tempdir().unwrap() };
        program.write("halma.toml", config);
        program
    }

    /// With a model server for everything, vectors included.
    pub(crate) fn with_model(url: &str) -> Self {
        Self::configured(&format!(
            "[embedder]\nkind = \"endpoint\"\nurl = \"{url}\"\nmodel = \"vectors\"\n\
             chunk_threshold = -1.0\natom_threshold = -1.0\n\
             [models.main]\nkind = \"openai\"\nurl = \"{url}\"\nmodel = \"double\"\n\
             price = {{ prompt = 1.0, completion = 2.0 }}\n"
        ))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_halma"));
        command.current_dir(self.dir.path()).args(args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.command(args).output().unwrap())
    }

    pub(crate) fn run_with_stdin(&self, args: &[&str], stdin: &[u8]) -> Ran {
        use std::io::Write as _;
        let mut child = self.command(args).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(stdin).unwrap();
        Ran::of(child.wait_with_output().unwrap())
    }

    /// Runs commands in a shell that has `halma` on its path. The first that fails ends it.
    #[cfg(unix)]
    pub(crate) fn run_shell(&self, commands: &str) -> Ran {
        let halma = Path::new(env!("CARGO_BIN_EXE_halma")).parent().unwrap();
        let path = format!("{}:{}", halma.display(), std::env::var("PATH").unwrap());
        let mut shell = Command::new("sh");
        shell.args(["-ec", commands]).current_dir(self.dir.path()).env("PATH", path);
        Ran::of(shell.output().unwrap())
    }

    pub(crate) fn start(&self, args: &[&str]) -> Child {
        self.command(args).spawn().unwrap()
    }

    pub(crate) fn stats(&self) -> Value {
        self.run(&["kb", "stats", "--json"]).json()
    }
}

/// A small library about made-up lighthouses, two hops long.
pub(crate) fn write_library(program: &Program) {
    program.write(
        "library/orrin.md",
        "# Orrin Light\n\nOrrin Light is a lighthouse designed by Maud Tarrant. It was first lit \
         in 1871 on the island of Sken.\n",
    );
    program.write(
        "library/tarrant.md",
        "# Maud Tarrant\n\nMaud Tarrant was an engineer who was born in Velby in 1832. She built \
         nine lighthouses.\n",
    );
    program.write(
        "library/records.jsonl",
        "{\"id\": \"velby\", \"title\": \"Velby\", \"text\": \"Velby is a harbour town with 4,200 \
         inhabitants.\"}\n{\"id\": \"sken\", \"title\": \"Sken\", \"text\": \"Sken is an island \
         in the northern sea.\"}\n",
    );
}

pub(crate) fn is_file(path: &Path) -> bool {
    path.is_file()
}
