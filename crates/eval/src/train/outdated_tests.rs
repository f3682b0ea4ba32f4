//! Collections of questions whose answers were corrected in between.
use super::round::{read, without_outdated};
use super::tests::{HOLM, RIGHT, VARN, collect};

#[tokio::test]
async fn a_question_with_corrected_answers_is_collected_again() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("runs.jsonl");
    let summary = collect(&out, &[VARN, HOLM], [RIGHT, "x;Ada Quill"]).await;
    assert_eq!((summary.rounds, summary.solved), (2, 2));
    let corrected = (VARN.0, "Sweden");
    let to_sweden = "Where was Thorn born?=Sweden;Sweden";
    let summary = collect(&out, &[corrected, HOLM], [RIGHT, to_sweden]).await;
    assert_eq!((summary.rounds, summary.solved, summary.solved_without), (3, 2, 1));
    // Corrected back: the rounds of the other answers are the latest, and do not count.
    let summary = collect(&out, &[VARN, HOLM], [RIGHT]).await;
    assert_eq!((summary.rounds, summary.solved), (2, 2));
    let (_, rounds) = read(&out).unwrap();
    let current = without_outdated(rounds);
    assert_eq!(current.iter().map(|round| round.right).collect::<Vec<_>>(), [true, true]);
    assert_eq!(current[1].answers, ["Norway"]);
}
