//! Workers that are killed, and servers that ask for fewer calls.
use std::hash::{BuildHasher as _, RandomState};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use halma_engine::CallWorker;
use halma_testkit::double::Failure;

use crate::support::{Test, lines, until};

const ADDRESS: &str = "HALMA_TEST_WORKER_ADDRESS";
const MODEL: &str = "HALMA_TEST_WORKER_MODEL";

/// A process of this test program that is a worker until it is killed.
struct Process(Child);

impl Process {
    fn start(test: &Test) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "faults::a_worker_for_the_other_tests"]);
        command.env(ADDRESS, test.address()).env(MODEL, test.model.url());
        Self(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }

    /// Kills it, and has it count as silent for so long that its calls are given to others.
    fn kill(mut self, test: &Test) {
        let id = self.0.id();
        self.0.kill().unwrap();
        self.0.wait().unwrap();
        test.psql(&format!(
            "update halma.call set lease_until = now() - interval '1 second'
             where state = 1 and worker like 'process {id} on %'"
        ));
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_for_the_other_tests() {
    let Ok(address) = std::env::var(ADDRESS) else { return };
    let config = Test::config_of(&std::env::var(MODEL).unwrap());
    CallWorker::start(&config, Path::new(&address), None).unwrap().ended().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_workers_lose_nothing() {
    // At another moment each time: in the first calls, and in the middle of some.
    kill_workers((8, 60), |kill| (1 + kill % 4, Duration::from_millis(13 * kill as u64))).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "minutes; `make soak` runs it"]
#[expect(clippy::print_stdout, reason = "with it the moments can be had again")]
async fn workers_that_are_killed_at_fifty_random_moments_lose_nothing() {
    let given = std::env::var("HALMA_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed: u64 = given.unwrap_or_else(|| RandomState::new().hash_one(0));
    println!("HALMA_SEED={seed}");
    let random = |kill: usize, limit: u64| {
        let hash = blake3::hash(format!("{seed} {kill} {limit}").as_bytes());
        u64::from_le_bytes(hash.as_bytes()[..8].try_into().unwrap()) % limit
    };
    // From before its first call until some fifty calls later.
    let moment = |kill| (usize::try_from(random(kill, 3)).unwrap(), random(kill, 800));
    kill_workers((50, 1_500), |kill| {
        let (calls, millis) = moment(kill);
        (calls, Duration::from_millis(millis))
    })
    .await;
}

/// Kills so many workers while so many documents are indexed, each after a number of calls and then
/// a time.
async fn kill_workers(
    (kills, documents): (usize, usize),
    moment: impl Fn(usize) -> (usize, Duration),
) {
    let Some(test) = Test::new(documents, Duration::from_millis(60)) else { return };
    let (expected, _, calls) = test.alone().await;
    let engine = test.engine(test.config());
    let killing = async {
        for kill in 0..kills {
            let (first, time) = moment(kill);
            let before = test.model.chat_calls();
            let process = Process::start(&test);
            until(|| test.model.chat_calls() >= before + first || before >= calls).await;
            tokio::time::sleep(time).await;
            process.kill(&test);
        }
        test.workers(2)
    };
    let (report, _workers) = tokio::join!(test.index(&engine, false), killing);
    let report = report.unwrap();
    assert_eq!((report.failed_units, report.pending_units), (0, 0), "{:?}", report.failure);
    assert_eq!(lines(&engine), expected);
    // Only what was in progress when a worker was killed is done again.
    let limit = calls + kills * 4;
    assert!((calls..=limit).contains(&test.model.chat_calls()), "{}", test.model.chat_calls());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_wants_a_pause_gets_it_from_all_workers() {
    let Some(test) = Test::new(40, Duration::from_millis(100)) else { return };
    let _workers = test.workers(3);
    let engine = test.engine(test.config());
    let watching = async {
        until(|| test.model.chat_calls() > 3).await;
        test.model.fail([Failure::throttled(60)]);
        until(|| test.psql("select count(*) from halma.pause") == "1").await;
        // Long enough for the others to look, which they do twice a second.
        tokio::time::sleep(Duration::from_secs(3)).await;
        let calls = test.model.chat_calls();
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert_eq!(test.model.chat_calls(), calls, "a worker does not know of the pause");
        assert!(calls < 40, "there was nothing left to wait for");
    };
    tokio::select! {
        report = test.index(&engine, false) => panic!("the pause was not kept: {report:?}"),
        () = watching => {}
    }
}
