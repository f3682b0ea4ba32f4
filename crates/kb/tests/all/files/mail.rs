//! Mail and what is attached to it, over several builds.
#![expect(clippy::unwrap_used, reason = "these are tests")]
use halma_core::{Layer, Mode};
use halma_kb::{Base, ListQuery};

use crate::common::{Bench, search};

/// A mail with these files attached: their names and texts.
fn mail(subject: &str, files: &[(&str, &str)]) -> String {
    let part = |(name, text): &(&str, &str)| {
        let kind = "application/octet-stream";
        format!(
            "--b{0}\nContent-Type: {kind}; name=\"{name}\"\nContent-Disposition: attachment\n\n{text}\n",
            subject.len()
        )
    };
    let parts: String = files.iter().map(part).collect();
    let (head, b) =
        (format!("Message-ID: <1>\nFrom: ann@a.example\nSubject: {subject}\n"), subject.len());
    let body = format!("--b{b}\nContent-Type: text/plain\n\nAll about {subject}.\n");
    format!("{head}Content-Type: multipart/mixed; boundary=b{b}\n\n{body}{parts}--b{b}--\n")
}

/// Names of documents with the field `who`, in order.
fn documents(base: &Base) -> Vec<String> {
    let query = ListQuery { layer: Layer::Document, document: None, after: None, limit: 100 };
    let document = |node: halma_kb::ListedNode| {
        let metadata = serde_json::to_value(node.about.unwrap().metadata).unwrap();
        let who = metadata["who"].as_str().map(|who| format!(" for {who}")).unwrap_or_default();
        node.document + &who
    };
    let mut documents: Vec<_> =
        base.inspector().list(&query).unwrap().into_iter().map(document).collect();
    documents.sort();
    documents
}

async fn finds(base: &Base, word: &str) -> Vec<String> {
    let hits = search(base, word, Layer::Chunk, Mode::Bm25).await;
    hits.into_iter().map(|hit| hit.document).collect()
}

#[tokio::test]
async fn what_is_attached_to_a_mail_is_a_document_of_its_own() {
    let mut bench = Bench::new();
    let inner = mail("voles", &[("deep.txt", "All about shrews.")]);
    let files =
        [("plan.txt", "All about beavers."), ("inner.eml", &*inner), ("x.bin", "\0\u{1}\0")];
    bench.write("in/offer.eml", mail("otters", &files));
    let base = bench.open(None);
    let report = bench.index(&base).await;
    let all = [
        "in/offer.eml",
        "in/offer.eml/inner.eml",
        "in/offer.eml/inner.eml/deep.txt",
        "in/offer.eml/plan.txt",
    ];
    assert_eq!(documents(&base), all);
    for (word, document) in
        [("otters", all[0]), ("voles", all[1]), ("shrews", all[2]), ("beavers", all[3])]
    {
        assert_eq!(finds(&base, word).await, [document], "{word}");
    }
    let [warning] = &report.warnings[..] else { panic!("{:?}", report.warnings) };
    assert!(warning.warning.contains("`x.bin` is not read: it is binary"), "{warning:?}");
    assert!(report.refused.is_empty(), "{:?}", report.refused);
    bench.options.prune = true;
    let report = bench.index(&base).await;
    assert!(report.nothing_new() && report.documents_unchanged == 4, "{report:?}");
    assert_eq!(documents(&base), all);
}

#[tokio::test]
async fn what_is_no_longer_attached_goes_and_with_the_mail_all_of_it() {
    let mut bench = Bench::new();
    let plan = ("plan.txt", "All about beavers.");
    bench.write("a.eml", mail("otters", &[plan, ("list.txt", "All about voles.")]));
    bench.write("b.eml", mail("badgers", &[plan]));
    let base = bench.open(None);
    bench.index(&base).await;
    let all = ["a.eml", "a.eml/list.txt", "a.eml/plan.txt", "b.eml"];
    assert_eq!(documents(&base), all);
    bench.index(&base).await;
    assert_eq!(documents(&base), all);
    bench.write("a.eml", mail("otters", &[("list.txt", "All about moles.")]));
    bench.index(&base).await;
    assert_eq!(documents(&base), ["a.eml", "a.eml/list.txt", "b.eml", "b.eml/plan.txt"]);
    assert!(finds(&base, "voles").await.is_empty());
    let names = base.names_to_delete(&["b.eml".into()]).unwrap();
    assert_eq!(names, ["b.eml", "b.eml/plan.txt"]);
    assert_eq!(base.delete_named("b.eml").unwrap().names, names);
    bench.remove("a.eml").remove("b.eml").write("c.txt", "All about otters.");
    bench.options.prune = true;
    let mut removed = bench.index(&base).await.documents_removed;
    removed.sort();
    assert_eq!(removed, ["a.eml", "a.eml/list.txt"]);
    assert_eq!(documents(&base), ["c.txt"]);
}

#[tokio::test]
async fn fields_of_a_mail_are_those_of_what_is_attached() {
    let bench = Bench::new();
    bench.write("a.eml", mail("otters", &[("plan.txt", "All about beavers.")]));
    let base = bench.open(None);
    for who in ["staff", "board"] {
        bench.write("a.eml.meta.json", format!("{{\"who\": \"{who}\"}}"));
        bench.index(&base).await;
        let expected = [format!("a.eml for {who}"), format!("a.eml/plan.txt for {who}")];
        assert_eq!(documents(&base), expected);
    }
}

#[tokio::test]
async fn a_mail_is_known_only_when_all_that_is_attached_is() {
    let bench = Bench::new();
    bench.write("a.eml", mail("otters", &[("plan.txt", "All about beavers.")]));
    let base = bench.open(None);
    bench.index(&base).await;
    base.delete_named("a.eml/plan.txt").unwrap();
    assert_eq!(documents(&base), ["a.eml"]);
    bench.index(&base).await;
    assert_eq!(documents(&base), ["a.eml", "a.eml/plan.txt"]);
}
