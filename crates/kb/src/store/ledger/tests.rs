use super::unit::TASKS;
use super::*;
use crate::store::Store;

fn counts(store: &Store, task: Task) -> (u64, u64, u64) {
    let UnitCounts { done, pending, failed } =
        store.read(|reader| reader.unit_counts(task)).unwrap();
    (done, pending, failed)
}

#[test]
fn a_unit_is_done_only_with_the_input_it_was_done_with() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let key = UnitKey::of(Task::Tag, (Layer::Tag, 3));
    store.write(|writer| writer.put_failed(key, 7, "down")).unwrap();
    store.write(|writer| writer.put_failed(key, 7, "down again")).unwrap();
    let failed = store.read(|reader| reader.failure(&reader.entry(key)?.unwrap())).unwrap();
    assert_eq!(failed, Some(Failure { reason: "down again".into(), attempts: 2 }));
    assert_eq!(counts(&store, Task::Tag), (0, 0, 1));
    store.write(|writer| writer.put_done(key, 7, &vec!["tag"])).unwrap();
    let done = |input| store.read(|reader| reader.done::<Vec<String>>(key, input)).unwrap();
    assert_eq!(done(7), Some(vec!["tag".to_owned()]));
    assert_eq!(done(8), None);
    assert_eq!(counts(&store, Task::Tag), (1, 0, 0));
}

#[test]
fn units_move_with_their_node_and_with_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let at = |row| (Layer::Tag, row);
    store
        .write(|writer| {
            writer.put_done(UnitKey::of(Task::Tag, at(1)), 5, &1_u8)?;
            writer.put_done(UnitKey::part(Task::Summarise, at(1), 9), 5, &2_u8)?;
            writer.put_pending(UnitKey::of(Task::Embed, at(1)))?;
            writer.put_done(UnitKey::of(Task::Tag, at(256)), 5, &3_u8)?;
            writer.move_units(at(1), at(70_000))?;
            writer.move_units(at(70_000), at(70_000))
        })
        .unwrap();
    let rows = |row| {
        let of = |reader: &StoreReader<'_>| {
            Ok(reader.entries_of(at(row))?.iter().map(|entry| entry.key.row()).collect())
        };
        store.read::<Vec<Row>>(of).unwrap()
    };
    assert_eq!((rows(1).len(), rows(256).len()), (0, 1));
    assert_eq!(rows(70_000), [70_000; 3]);
    let open = store.read(|reader| reader.open_rows(Task::Embed, Layer::Tag)).unwrap();
    assert_eq!(open, [70_000]);
    assert_eq!(counts(&store, Task::Tag), (2, 0, 0));
    assert_eq!(counts(&store, Task::Embed), (0, 0, 0), "waiting for a vector is not reported");
}

#[test]
fn every_task_has_its_own_letter_and_is_where_its_number_says() {
    for (at, (task, letter, _)) in TASKS.into_iter().enumerate() {
        assert_eq!(task as usize, at);
        assert_eq!(TASKS.iter().filter(|(_, other, _)| *other == letter).count(), 1);
        let key = UnitKey::with_id(task, Layer::Entity, 7);
        assert_eq!(UnitKey::parse(&key.bytes()), Some(key));
    }
}
