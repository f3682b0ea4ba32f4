//! The ledger of calls of a shared base, sealed with keys that are in the shared folder of keys and
//! not in the database: each call with those of the documents that it quotes.
use std::path::Path;
use std::sync::Arc;

use halma_core::LlmError;
use halma_store::pg::{CallId, Calls, NewCall, call_id};
use halma_store::seal::{CallKeys, Key, KeyStore, SealError, seal, unseal};
use parking_lot::Mutex;

use super::message::{CallKind, Failed, Output};
use crate::error::EngineError;
use crate::shared::SharedSpace;

/// What a worker says of a call that it cannot open. It was submitted before the key was renewed.
pub(super) const OTHER_KEY: &str = "sealed with another key";

/// The calls of a workspace, and their keys.
#[derive(Clone)]
pub(crate) struct Ledger {
    space: SharedSpace,
    keys: KeyStore,
    call_keys: Arc<Mutex<Arc<CallKeys>>>,
}

impl Ledger {
    pub(crate) fn open(space: &SharedSpace, keys: &Path) -> Result<Self, EngineError> {
        let keys = KeyStore::new(keys, space.home().id());
        let call_keys = Arc::new(keys.call_keys().map_err(EngineError::CallsKey)?);
        Ok(Self { space: space.clone(), keys, call_keys: Arc::new(Mutex::new(call_keys)) })
    }

    pub(crate) fn space(&self) -> &SharedSpace {
        &self.space
    }

    pub(super) fn calls(&self) -> Calls {
        self.space.home().calls()
    }

    pub(super) fn call_keys(&self) -> Arc<CallKeys> {
        Arc::clone(&self.call_keys.lock())
    }

    /// Reads the keys again. `false` if a call that quotes this has the key that is known.
    pub(super) fn read_keys(&self, about: &[i32]) -> Result<bool, SealError> {
        let read = Arc::new(self.keys.call_keys()?);
        let before = std::mem::replace(&mut *self.call_keys.lock(), Arc::clone(&read));
        Ok(before.key(about) != read.key(about))
    }

    /// Removes all calls and destroys what the database may still hold of them. Builds that wait
    /// for one submit it again.
    pub(crate) async fn clear(&self) -> Result<(), EngineError> {
        self.calls().forget_all().await?;
        self.keys.renew_calls_key().map_err(EngineError::CallsKey)?;
        self.read_keys(&[]).map(drop).map_err(EngineError::CallsKey)
    }

    /// Removes the calls that quote any of these documents, and those of which it is not known what
    /// they quote, and destroys what the database may still hold of them. All others stay.
    pub(crate) async fn forget(&self, documents: &[String]) -> Result<(), EngineError> {
        let numbers = self.call_keys().numbers_to_renew(documents);
        // First, so that no worker or build can read or write one any more.
        self.keys.renew_document_keys(&numbers).map_err(EngineError::CallsKey)?;
        self.read_keys(&numbers).map_err(EngineError::CallsKey)?;
        if self.calls().forget_about(&numbers).await? { self.clear().await } else { Ok(()) }
    }

    /// What is sealed with the calls that quote these documents.
    pub(super) fn numbers(&self, about: &[String]) -> Vec<i32> {
        self.call_keys().numbers(about)
    }

    /// What changes when a document that a call quotes is deleted; `None` for a call of which it is
    /// not known what it quotes.
    pub(super) fn documents_key(&self, about: &[i32]) -> Option<Key> {
        CallKeys::is_known(about).then(|| self.call_keys().documents_key(about)).flatten()
    }

    /// Numbers that there are not are of a row that no version of Halma has written: nothing can be
    /// read with this key.
    fn key(&self, about: &[i32]) -> Key {
        self.call_keys().key(about).unwrap_or_default()
    }

    /// A call as it is submitted. Equal calls have equal ids, and an id says nothing to those who
    /// do not have the key.
    pub(super) fn seal_call(&self, kind: CallKind, call: &[u8], about: &[i32]) -> NewCall {
        let key = self.key(about);
        let mut input = vec![];
        seal(&key, call, &mut input);
        let id: CallId = call_id(kind.0, &[&key, call].concat());
        NewCall { id, kind: kind.0, input, about: about.to_vec() }
    }

    /// Opens what is sealed, if necessary after reading the keys again.
    pub(super) fn open_sealed(
        &self,
        about: &[i32],
        sealed: &[u8],
    ) -> Result<Option<Vec<u8>>, SealError> {
        if let Ok(value) = unseal(&self.key(about), sealed) {
            return Ok(Some(value));
        }
        Ok(if self.read_keys(about)? { unseal(&self.key(about), sealed).ok() } else { None })
    }

    pub(super) fn seal_output(&self, about: &[i32], output: &Output) -> Vec<u8> {
        let mut sealed = vec![];
        seal(&self.key(about), &output.write(), &mut sealed);
        sealed
    }

    /// An error as a text that can stand in the ledger: what a server says may quote a document.
    pub(super) fn seal_error(&self, about: &[i32], error: LlmError) -> String {
        let error = Failed::from(error);
        let json = serde_json::to_vec(&error).expect("texts and numbers can be written");
        let mut sealed = vec![];
        seal(&self.key(about), &json, &mut sealed);
        hex::encode(sealed)
    }

    /// What [`Ledger::seal_error`] wrote. Other texts are of the ledger itself.
    pub(super) fn open_error(&self, about: &[i32], text: &str) -> LlmError {
        let Ok(sealed) = hex::decode(text) else { return LlmError::transient(text) };
        let read =
            || serde_json::from_slice::<Failed>(&unseal(&self.key(about), &sealed).ok()?).ok();
        let unknown = || LlmError::transient("the call failed, and the reason cannot be read");
        read().map_or_else(unknown, LlmError::from)
    }
}

#[cfg(test)]
mod tests {
    use halma_store::pg::{Address, Outcome};
    use halma_testkit::Postgres;

    use super::*;

    #[test]
    fn of_a_deleted_document_no_call_can_be_read_and_those_of_others_stay() {
        let Some(server) = Postgres::find() else { return };
        let keys = tempfile::tempdir().unwrap();
        let space = SharedSpace::connect(&Address::parse(&server.database()).unwrap()).unwrap();
        let ledger = Ledger::open(&space, keys.path()).unwrap();
        let kind = CallKind::of_chat("writer");
        let quoting = [&["a.md"][..], &["b.md"], &["a.md", "b.md"], &[]];
        let calls: Vec<NewCall> = quoting
            .iter()
            .map(|names| {
                let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
                ledger.seal_call(kind, format!("of {names:?}").as_bytes(), &ledger.numbers(&names))
            })
            .collect();
        let ids: Vec<CallId> = calls.iter().map(|call| call.id).collect();
        let other = Ledger::open(&space, keys.path()).unwrap();
        let (calls_of_build, new) = (ledger.clone(), calls.clone());
        space
            .wait(async move {
                calls_of_build.calls().submit(&new).await?;
                calls_of_build.forget(&["a.md".to_owned()]).await
            })
            .unwrap();
        let calls_of_build = ledger.calls();
        let outcomes = space.wait(async move { calls_of_build.outcomes(&ids).await }).unwrap();
        let is_there: Vec<bool> =
            outcomes.iter().map(|outcome| *outcome == Outcome::Open).collect();
        assert_eq!(is_there, [false, true, false, false]);
        // What a copy of the database holds of the others, no machine can read.
        let later = Ledger::open(&space, keys.path()).unwrap();
        for ledger in [&ledger, &later] {
            let read = |call: &NewCall| ledger.open_sealed(&call.about, &call.input).unwrap();
            let read: Vec<bool> = calls.iter().map(|call| read(call).is_some()).collect();
            assert_eq!(read, [false, true, false, false]);
        }
        // A build on another machine that waits for one of them hears that it is gone.
        let about = &calls[0].about;
        let before = other.documents_key(about);
        assert!(before.is_some() && other.read_keys(about).unwrap());
        assert_ne!(other.documents_key(about), before);
    }
}
