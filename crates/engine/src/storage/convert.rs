//! Converts a base of a former format, with its cached replies.
use std::path::Path;

use halma_kb::{Base, Converted};
use halma_models::Cache;
use serde::Serialize;

use crate::error::EngineError;

/// What converting a base did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ConvertedBase {
    #[serde(flatten)]
    pub base: Converted,
    /// Cached replies of models that the base has; none is paid for again.
    pub replies: u64,
}

/// Converts the base in `dir` to the present format, in place; `progress` is called with the number
/// of values so far. The base must not be open in this program. With `keep_f32` vectors keep their
/// four bytes a dimension.
pub fn convert_base(
    dir: &Path,
    keep_f32: bool,
    progress: &dyn Fn(u64),
) -> Result<ConvertedBase, EngineError> {
    let base = Base::convert(dir, keep_f32, progress)?;
    let failed = |e| EngineError::Cache(Box::new(e));
    let cache = dir.join("cache");
    // Opening the replies converts them.
    let replies = if cache.join("replies").exists() {
        Cache::open(&cache).and_then(|cache| cache.entries()).map_err(failed)?
    } else {
        0
    };
    Ok(ConvertedBase { base, replies })
}
