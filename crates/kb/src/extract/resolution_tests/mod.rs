//! Resolving what a change touches comes to what resolving everything comes to, and looks at no more
//! than that.
#[cfg(test)]
mod checked;
#[cfg(test)]
mod cost;
#[cfg(test)]
mod equal;
#[cfg(test)]
mod library;
#[cfg(test)]
mod measure;

use std::path::Path;
use std::sync::Arc;

use self::library::{Library, mention};
use crate::store::EntityMention;
use crate::store::replica::testing::MemoryUpstream;
use crate::{Base, BaseOptions, SharedBase, Upstream};

fn open(dir: &Path, name: &str, upstream: &Arc<MemoryUpstream>) -> Library {
    let upstream: Arc<dyn Upstream> = Arc::clone(upstream) as _;
    let (keys, replica) = (dir.join("keys"), dir.join(name));
    let shared = SharedBase { upstream, keys: &keys, replica: &replica, may_begin: true };
    Library::of(Base::open_shared(&shared, BaseOptions::default()).unwrap())
}

/// Sends what one has, and lets the other take it in.
fn hand_over(from: &Library, to: &mut Library) {
    from.base.store.publish().unwrap();
    to.base.pull().unwrap();
    to.documents.clone_from(&from.documents);
}

fn person(name: &str, description: &str) -> Vec<Vec<EntityMention>> {
    vec![vec![mention(name, "person", description)]]
}

fn compare(library: &Library) {
    assert_eq!(library.picture(), library.made_again().0.picture());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_that_takes_over_resolves_what_the_other_has_left() {
    let dir = tempfile::tempdir().unwrap();
    let upstream: Arc<MemoryUpstream> = Arc::default();
    let mut one = open(dir.path(), "one", &upstream);
    let mut two = open(dir.path(), "two", &upstream);
    let president = "A president of the United States.";
    one.put("a", person("John F. Kennedy", president));
    one.put("b", person("Mara Quill", "A printer."));
    one.settle();
    hand_over(&one, &mut two);
    assert_eq!(two.picture().len(), one.picture().len());
    two.settle();
    compare(&two);
    // What the other has extracted is resolved here, with what was here before.
    one.put("c", person("John Kennedy", "President of the United States until 1963."));
    hand_over(&one, &mut two);
    two.settle();
    compare(&two);
    assert_eq!(two.base.merges().unwrap().len(), 1);
    hand_over(&two, &mut one);
    one.settle();
    compare(&one);
    let merge = one.base.merges().unwrap().remove(0);
    one.base.undo_merge(&merge.id).unwrap();
    hand_over(&one, &mut two);
    two.put("d", person("J. Kennedy", president));
    two.settle();
    compare(&two);
    two.remove("a");
    hand_over(&two, &mut one);
    one.settle();
    compare(&one);
}
