//! Stages that take knowledge from stored documents: facts, rows of tables, tags and communities.
mod communities;
mod facts;
mod facts_reply;
mod map_tags;
mod resolve;
mod rows;
mod tags;

pub(crate) use communities::{Communities, CommunityRequest, CommunityText};
pub(crate) use facts::Facts;
#[cfg(test)]
pub(crate) use facts_reply::FactsReply;
pub(crate) use facts_reply::{MAX_ENTITIES, MAX_FACTS};
pub(crate) use map_tags::{MapTags, SampleRequest, ShownTag};
pub(crate) use resolve::{Comparison, ComparisonSide, SameEntity};
pub(crate) use rows::{Rows, StatedRow};
pub(crate) use tags::{Tag, TagClasses, TagForecast};
