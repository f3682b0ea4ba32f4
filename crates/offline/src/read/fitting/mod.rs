//! The fits of the reader's weights, which users can repeat (docs/concepts/offline-model.md).
mod joint;
mod rules;
mod singles;
