//! What is evaluated, and what it is evaluated with.
use std::collections::BTreeMap;
use std::sync::Arc;

use futures::future::BoxFuture;
use halma_core::{BoxError, Cx, Hit, Meter, Strategy};

use crate::data::Item;

/// A strategy in the evaluation, with its settings.
#[derive(Clone)]
pub struct SystemUnderTest {
    pub strategy: Arc<dyn Strategy>,
    /// Its name in the report and in file names; no two share one.
    pub label: String,
    /// Of everything its answers depend on ([`crate::fingerprint`]): answers given under another
    /// fingerprint are not reused.
    pub fingerprint: String,
    /// Where it stands in a grid ([`crate::Point::settings`]); empty without one.
    pub point: BTreeMap<String, String>,
}

/// Opens a fresh run for one question, with a trace and a budget of its own inside the budget of
/// the whole evaluation ([`Meter::within`]). It is given the question's item, for sets whose
/// questions see only the passages that they bring themselves.
pub type OpenCx = Arc<dyn Fn(&Item, &Arc<Meter>) -> Cx + Send + Sync>;

/// The ten best chunks for a text, by the base's hybrid search.
pub type Retrieve =
    Arc<dyn Fn(String) -> BoxFuture<'static, Result<Vec<Hit>, BoxError>> + Send + Sync>;
