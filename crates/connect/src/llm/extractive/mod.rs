//! The offline model: answers by task from the structured variables.
