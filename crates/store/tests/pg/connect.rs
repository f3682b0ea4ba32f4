//! Connecting: the tables, and what is said when it does not work.
use std::io::{Read, Write};

use halma_store::pg::{Address, Database, PgError};

use crate::support::{Test, open, server};

/// The address of a server that says no to TLS.
fn without_tls() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            connection.read_exact(&mut [0; 8]).unwrap();
            connection.write_all(b"N").unwrap();
        }
    });
    format!("postgres://tester@127.0.0.1:{port}/halma?sslmode=require")
}

async fn complaint(address: &str) -> PgError {
    let error = open(address).await.err().unwrap();
    assert!(!error.to_string().contains("secret"), "{error}");
    error
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_that_start_together_make_the_tables_once() {
    let Some(server) = server() else { return };
    let address = server.database();
    let mut tasks = vec![];
    for _ in 0..12 {
        let address = address.clone();
        tasks.push(tokio::spawn(async move { open(&address).await.map(drop) }));
    }
    for task in tasks {
        task.await.unwrap().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_of_a_later_version_are_left_alone() {
    let Some(test) = Test::new().await else { return };
    let server = server().unwrap();
    server.psql(test.database(), "update halma.schema_version set version = 99");
    let error = complaint(&test.address).await;
    assert!(matches!(error, PgError::NewerSchema { version: 99, .. }), "{error}");
    assert!(error.to_string().contains("upgrade Halma"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_of_the_former_version_are_converted_with_what_is_in_them() {
    let Some(test) = Test::new().await else { return };
    let server = server().unwrap();
    let newest = || server.psql(test.database(), "select version from halma.schema_version");
    let newest_version = newest();
    let lease = crate::support::lease(&test.home).await;
    lease.push(&crate::support::push(1, 0, &[b"one"])).await.unwrap();
    lease.release().await;
    // As the version before left it, with a call in the ledger.
    let row = "(home, id, kind, input) select home, '\\x01', 1, '\\x02' from halma.home";
    for sql in [
        "alter table halma.call drop column about",
        "update halma.schema_version set version = 1",
        &format!("insert into halma.call {row}"),
    ] {
        server.psql(test.database(), sql);
    }
    // Several programs of this version find it at once.
    let (one, other) = tokio::join!(open(&test.address), open(&test.address));
    assert_eq!(newest(), newest_version);
    for home in [one.unwrap(), other.unwrap()] {
        assert_eq!(crate::support::texts(&home, 0).await, [(1, 0, "one".into())]);
    }
    // Of a call from before it is not known what it quotes: it goes with the first document.
    let calls = test.another().await.calls();
    assert!(calls.forget_about(&[7]).await.unwrap());
    assert!(!calls.forget_about(&[7]).await.unwrap());
    let later = newest_version.trim().parse::<i32>().unwrap() + 1;
    let set = format!("update halma.schema_version set version = {later}");
    server.psql(test.database(), &set);
    let error = complaint(&test.address).await;
    assert!(matches!(error, PgError::NewerSchema { version, .. } if version == later), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_runs_while_a_newer_one_converts_the_tables_reads_and_writes_no_more() {
    let Some(test) = Test::new().await else { return };
    let server = server().unwrap();
    let lease = crate::support::lease(&test.home).await;
    lease.push(&crate::support::push(1, 0, &[b"one"])).await.unwrap();
    lease.release().await;
    server.psql(test.database(), "update halma.schema_version set version = 99");
    let refused = test.home.lease("older", false).await.err().unwrap();
    assert!(matches!(refused, PgError::NewerSchema { version: 99, .. }), "{refused}");
    assert!(!refused.is_transient());
    assert_eq!(crate::support::texts(&test.home, 0).await, [(1, 0, "one".into())]);
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_that_were_made_halfway_are_finished() {
    let Some(server) = server() else { return };
    let address = server.database();
    let database = address.split('?').next().unwrap().rsplit('/').next().unwrap();
    server.psql(database, "create schema halma authorization tester");
    open(&address).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_connection_is_said() {
    let Some(test) = Test::new().await else { return };
    let server = server().unwrap();
    if !server.is_own() {
        return;
    }
    let address = |role: &str, database: &str| server.address(role, database);
    server.psql("postgres", "create role locked login password 'open'");

    let error = complaint(&address("locked:secret", test.database())).await;
    assert!(matches!(error, PgError::Refused { .. }), "{error}");
    let missing = complaint(&address("locked", test.database())).await;
    assert!(matches!(missing, PgError::Refused { .. }), "{missing}");
    let error = complaint(&address("tester", "nowhere")).await;
    assert!(matches!(error, PgError::NoDatabase { .. }), "{error}");
    let error = complaint("postgres://tester:secret@127.0.0.1:1/halma").await;
    assert!(matches!(error, PgError::Unreachable { .. }), "{error}");
    let error = complaint("postgres://tester:secret@nowhere.invalid/halma").await;
    assert!(matches!(error, PgError::Unreachable { .. }), "{error}");
    let error = complaint(&without_tls()).await;
    assert!(error.to_string().contains("sslmode=disable"), "{error}");
    let error = complaint(&address("locked:open", test.database())).await;
    assert!(matches!(error, PgError::NoRight { .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_stays_in_a_connection() {
    let Some(test) = Test::new().await else { return };
    // One connection does everything, as a pooler in transaction mode might have it.
    let address = Address::parse(&format!("{}&pool=2", test.address)).unwrap();
    let home = Database::connect(&address).await.unwrap().home().await.unwrap();
    home.head().await.unwrap();
    home.states().put("key", "a", 0, b"x").await.unwrap();
    let state = "select count(*) from pg_stat_activity where datname = current_database()
        and state like 'idle in transaction%'";
    assert_eq!(server().unwrap().psql(test.database(), state).trim(), "0");
}
