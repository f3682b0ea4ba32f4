//! A PostgreSQL server for tests. It listens on a socket in a temporary folder, and ends with the
//! process that started it, however that ends.
mod disk;
mod programs;

use std::io::Write;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

pub use disk::SmallDisk;
use programs::{NOBODY, Programs, run};

/// The variable without whose value tests that find no server are skipped.
const REQUIRED: &str = "HALMA_REQUIRE_POSTGRES";
/// The variable with the address of a server to be used, or with a folder of programs.
const GIVEN: &str = "HALMA_TEST_POSTGRES";
/// The role of the tests, which is not the superuser: restrictions of rows hold for it.
const ROLE: &str = "tester";
const STARTS_WITHIN: Duration = Duration::from_mins(1);
/// A process that has not written its number by then has ended.
const APPEARS_WITHIN: Duration = Duration::from_secs(2);

// The server runs until the pipe from the tests closes, which it does when their process ends. After
// a line in the pipe its folder stays, so that it can be started again.
const WATCH: &str = r#"dir=$1; shift; "$@" >>"$dir/log" 2>&1 & server=$!
read -r line; kill -QUIT $server 2>/dev/null; wait $server; [ "$line" = keep ] || rm -rf "$dir""#;

/// A server.
pub struct Postgres {
    programs: Programs,
    place: Place,
    databases: AtomicU32,
}

enum Place {
    /// In this folder, run by us.
    Owned { folder: PathBuf, watch: Mutex<Option<Child>> },
    /// At this address of someone else's.
    Given(String),
}

impl Postgres {
    /// A server, or `None` with the reason on standard error where there are no programs.
    ///
    /// # Panics
    ///
    /// If there are none although `HALMA_REQUIRE_POSTGRES` is set.
    #[expect(clippy::print_stderr, reason = "a skipped test says so")]
    pub fn find() -> Option<Self> {
        match Self::start() {
            Ok(server) => Some(server),
            Err(reason) => {
                assert!(std::env::var_os(REQUIRED).is_none(), "PostgreSQL is needed: {reason}");
                eprintln!("warning: skipped, because there is no PostgreSQL: {reason}");
                None
            }
        }
    }

    /// A server of our own, which can be killed; `None` where only the address of one is given.
    pub fn find_own() -> Option<Self> {
        Self::find().filter(Self::is_own)
    }

    /// Whether it was started by the tests, with their roles and rules.
    pub fn is_own(&self) -> bool {
        matches!(self.place, Place::Owned { .. })
    }

    fn start() -> Result<Self, String> {
        let given = std::env::var(GIVEN).ok();
        let programs = Programs::find(given.as_deref())?;
        let databases = AtomicU32::new(0);
        if let Some(address) = given.filter(|given| given.contains("://")) {
            return Ok(Self { programs, place: Place::Given(address), databases });
        }
        let folder = std::env::temp_dir().join(format!("halma-pg-{}", random()));
        std::fs::create_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o700)).unwrap();
        let programs = programs.runnable(&folder)?;
        if programs.as_nobody {
            chown(&folder, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let data = folder.join("data");
        let options = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"];
        let mut command = programs.command("initdb");
        if let Err(error) = run(command.arg("-D").arg(&data).args(options)) {
            std::fs::remove_dir_all(&folder).unwrap();
            return Err(error);
        }
        let place = Place::Owned { folder, watch: Mutex::new(None) };
        let server = Self { programs, place, databases };
        server.allow("local all locked scram-sha-256");
        server.restart();
        server.psql("postgres", &format!("create role {ROLE} login createdb"));
        Ok(server)
    }

    /// Adds a line to the rules of who may connect, before all others.
    fn allow(&self, rule: &str) {
        let file = self.folder().join("data/pg_hba.conf");
        let rules = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, format!("{rule}\n{rules}")).unwrap();
    }

    fn folder(&self) -> &Path {
        match &self.place {
            Place::Owned { folder, .. } => folder,
            Place::Given(address) => panic!("`{address}` is not a server of the tests"),
        }
    }

    /// The address of a new database.
    pub fn database(&self) -> String {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        let name = format!("test_{}_{number}", random());
        match &self.place {
            Place::Owned { .. } => {
                self.psql("postgres", &format!("create database {name} owner {ROLE}"));
                self.address(ROLE, &name)
            }
            Place::Given(address) => {
                self.psql("postgres", &format!("create database {name}"));
                in_database(address, &name)
            }
        }
    }

    /// The address of a database for a role.
    pub fn address(&self, role: &str, database: &str) -> String {
        format!("postgres://{role}@/{database}?host={}", self.folder().display())
    }

    /// What a statement of the superuser answers, a line for each row.
    pub fn psql(&self, database: &str, sql: &str) -> String {
        let mut command = self.programs.command("psql");
        command.args(["-X", "-q", "-t", "-A", "-v", "ON_ERROR_STOP=1", "-c", sql]);
        match &self.place {
            Place::Owned { folder, .. } => {
                command.arg("-h").arg(folder).args(["-U", "postgres", "-d", database])
            }
            Place::Given(address) => command.arg(in_database(address, database)),
        };
        run(&mut command).unwrap()
    }

    /// Kills the server, and with it everything that is not on the disk.
    pub fn kill(&self) {
        let file = self.folder().join("data/postmaster.pid");
        let text = std::fs::read_to_string(file).unwrap();
        // Those that serve connections would finish what they do.
        let all = self.psql("postgres", "select pid from pg_stat_activity");
        let mut command = Command::new("kill");
        command.arg("-KILL").arg(text.lines().next().unwrap()).args(all.lines());
        // One of them, that of the question, has ended already.
        let _ = run(&mut command);
        let Place::Owned { watch, .. } = &self.place else { return };
        if let Some(mut child) = watch.lock().take() {
            child.stdin.take().unwrap().write_all(b"keep\n").unwrap();
            child.wait().unwrap();
        }
    }

    /// Starts the server after [`Postgres::kill`].
    pub fn restart(&self) {
        let Place::Owned { folder, watch } = &self.place else { return };
        let began = Instant::now();
        // What was left of a killed one may hold its memory for a moment: then it is tried again.
        loop {
            assert!(began.elapsed() < STARTS_WITHIN, "see {}/log", folder.display());
            let mut child = self.spawn(folder);
            if self.is_ready(began) {
                *watch.lock() = Some(child);
                return;
            }
            child.stdin.take().unwrap().write_all(b"keep\n").unwrap();
            child.wait().unwrap();
        }
    }

    fn spawn(&self, folder: &Path) -> Child {
        let mut command = self.programs.as_user("sh");
        command.args(["-c", WATCH, "sh"]).arg(folder).arg(self.programs.path("postgres"));
        command.arg("-D").arg(folder.join("data")).arg("-k").arg(folder);
        for option in ["listen_addresses=", "max_connections=200", "fsync=on", "timezone=UTC"] {
            command.args(["-c", option]);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    }

    /// Waits until connections are answered; `false` if the server has ended.
    fn is_ready(&self, began: Instant) -> bool {
        let folder = self.folder();
        let mut last_alive = Instant::now();
        while began.elapsed() < STARTS_WITHIN && last_alive.elapsed() < APPEARS_WITHIN {
            let mut ready = self.programs.command("pg_isready");
            if run(ready.arg("-q").arg("-h").arg(folder)).is_ok() {
                return true;
            }
            // The number may also be that of the one that was killed.
            let pid = std::fs::read_to_string(folder.join("data/postmaster.pid"));
            let pid = pid.ok().and_then(|text| text.lines().next().map(str::to_owned));
            if pid.is_some_and(|pid| run(Command::new("kill").arg("-0").arg(pid)).is_ok()) {
                last_alive = Instant::now();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        false
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let Place::Owned { folder, watch } = &self.place else { return };
        if let Some(mut child) = watch.lock().take() {
            drop(child.stdin.take());
            let _ = child.wait();
        }
        // It is there if the server was killed and not started again.
        let _ = std::fs::remove_dir_all(folder);
    }
}

/// The address of another database of the same server.
fn in_database(address: &str, database: &str) -> String {
    let (start, query) = address.split_once('?').unwrap_or((address, ""));
    let server = start.rsplit_once('/').map_or(start, |(server, _)| server);
    format!("{server}/{database}?{query}")
}

/// Eight digits for names, which differ between processes and moments.
fn random() -> String {
    let mut bytes = [0; 4];
    let mut file = std::fs::File::open("/dev/urandom").unwrap();
    std::io::Read::read_exact(&mut file, &mut bytes).unwrap();
    format!("{:08x}", u32::from_le_bytes(bytes))
}
