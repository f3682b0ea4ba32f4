//! Tasks that gather sentences: `think` one at a time, `summarise` and `combine` many.
mod alike;
pub(crate) mod combine;
pub(crate) mod summarise;
pub(crate) mod think;
