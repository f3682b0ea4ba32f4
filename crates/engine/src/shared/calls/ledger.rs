//! The ledger of calls of a shared base, sealed with a key that is in the shared folder of keys and
//! not in the database.
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use halma_core::LlmError;
use halma_pg::{CallId, Calls, NewCall, call_id};
use halma_seal::{Key, KeyStore, SealError, seal, unseal};

use super::message::{CallKind, Failed, Output};
use crate::error::EngineError;
use crate::shared::SharedSpace;

/// What a worker says of a call that it cannot open. It was submitted before the key was renewed.
pub(super) const OTHER_KEY: &str = "sealed with another key";

/// The calls of a workspace, and their key.
#[derive(Clone)]
pub(crate) struct Ledger {
    space: SharedSpace,
    keys: KeyStore,
    key: Arc<Mutex<Key>>,
}

impl Ledger {
    pub(crate) fn open(space: &SharedSpace, keys: &Path) -> Result<Self, EngineError> {
        let keys = KeyStore::new(keys, space.home().id());
        let key = Arc::new(Mutex::new(keys.calls_key().map_err(EngineError::CallsKey)?));
        Ok(Self { space: space.clone(), keys, key })
    }

    pub(crate) fn space(&self) -> &SharedSpace {
        &self.space
    }

    pub(super) fn calls(&self) -> Calls {
        self.space.home().calls()
    }

    fn held(&self) -> MutexGuard<'_, Key> {
        self.key.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn key(&self) -> Key {
        *self.held()
    }

    /// Reads the key again. `false` if it is the one that is known.
    pub(super) fn read_key(&self) -> Result<bool, SealError> {
        let key = self.keys.calls_key()?;
        Ok(std::mem::replace(&mut *self.held(), key) != key)
    }

    /// Removes all calls and destroys what the database may still hold of them. Builds that wait
    /// for one submit it again.
    pub(crate) async fn clear(&self) -> Result<(), EngineError> {
        self.calls().forget_all().await?;
        *self.held() = self.keys.renew_calls_key().map_err(EngineError::CallsKey)?;
        Ok(())
    }

    /// A call as it is submitted. Equal calls have equal ids, and an id says nothing to those who
    /// do not have the key.
    pub(super) fn seal_call(&self, kind: CallKind, call: &[u8]) -> NewCall {
        let key = self.key();
        let mut input = vec![];
        seal(&key, call, &mut input);
        let id: CallId = call_id(kind.0, &[&key, call].concat());
        NewCall { id, kind: kind.0, input }
    }

    /// Opens what is sealed, if necessary after reading the key again.
    pub(super) fn open_sealed(&self, sealed: &[u8]) -> Result<Option<Vec<u8>>, SealError> {
        if let Ok(value) = unseal(&self.key(), sealed) {
            return Ok(Some(value));
        }
        Ok(if self.read_key()? { unseal(&self.key(), sealed).ok() } else { None })
    }

    pub(super) fn seal_output(&self, output: &Output) -> Vec<u8> {
        let mut sealed = vec![];
        seal(&self.key(), &output.write(), &mut sealed);
        sealed
    }

    /// An error as a text that can stand in the ledger: what a server says may quote a document.
    pub(super) fn seal_error(&self, error: LlmError) -> String {
        let error = Failed::from(error);
        let json = serde_json::to_vec(&error).expect("texts and numbers can be written");
        let mut sealed = vec![];
        seal(&self.key(), &json, &mut sealed);
        sealed.iter().fold(String::new(), |mut text, byte| {
            // A string takes everything.
            let _ = write!(text, "{byte:02x}");
            text
        })
    }

    /// What [`Ledger::seal_error`] wrote. Other texts are of the ledger itself.
    pub(super) fn open_error(&self, text: &str) -> LlmError {
        let Some(sealed) = from_hex(text) else { return LlmError::transient(text) };
        let read = || serde_json::from_slice::<Failed>(&unseal(&self.key(), &sealed).ok()?).ok();
        let unknown = || LlmError::transient("the call failed, and the reason cannot be read");
        read().map_or_else(unknown, LlmError::from)
    }
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let (pairs, odd) = text.as_bytes().as_chunks::<2>();
    let byte = |pair: &[u8; 2]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
    odd.is_empty().then(|| pairs.iter().map(byte).collect())?
}
