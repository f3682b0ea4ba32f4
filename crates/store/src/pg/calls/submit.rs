//! Submitting calls, and what became of them.
use std::collections::HashMap;

use tokio_postgres::types::Type;

use super::{CallId, Calls, NewCall, Outcome, slices};
use crate::pg::error::PgError;

/// Calls and bytes of input in one statement.
const AT_ONCE: usize = 1_000;
const BYTES_AT_ONCE: usize = 4 << 20;
/// Outcomes that are asked for in one statement.
const OUTCOMES_AT_ONCE: usize = 500;

// One that has failed is tried again, because it was asked for again. All others are as they are.
// Numbers of what is quoted come as a text each, because an array of arrays has rows of one length.
const SUBMIT: &str = "insert into halma.call (home, id, kind, input, about)
    select $1, i, k, b, a::int4[]
    from unnest($2::bytea[], $3::int2[], $4::bytea[], $5::text[]) as u(i, k, b, a)
    on conflict (home, id) do update set state = 0, attempts = 0, due = now(), error = null
    where call.state = 3 returning 1";
const OUTCOMES: &str =
    "select id, state, output, error from halma.call where home = $1 and id = any($2)";
const FORGET: &str = "delete from halma.call where home = $1 and id = any($2)";

impl Calls {
    /// Enters calls, unless they are there, and returns how many are to be done because of it. One
    /// that is done stays done: nothing is paid for twice. One that has failed is opened again.
    pub async fn submit(&self, calls: &[NewCall]) -> Result<u64, PgError> {
        // In the order of their ids, so that two programs that submit the same never wait for each
        // other in a circle; a statement may name each id once.
        let mut calls: Vec<&NewCall> = calls.iter().collect();
        calls.sort_by_key(|call| call.id);
        calls.dedup_by_key(|call| call.id);
        let mut entered = 0;
        let mut rest = calls.as_slice();
        while !rest.is_empty() {
            let (batch, others) = rest.split_at(batch_len(rest));
            let ids: Vec<&[u8]> = batch.iter().map(|call| call.id.as_slice()).collect();
            let kinds: Vec<i16> = batch.iter().map(|call| call.kind).collect();
            let inputs: Vec<&[u8]> = batch.iter().map(|call| call.input.as_slice()).collect();
            let about: Vec<String> = batch.iter().map(|call| array(&call.about)).collect();
            let parameters = [
                (&ids as _, Type::BYTEA_ARRAY),
                (&kinds as _, Type::INT2_ARRAY),
                (&inputs as _, Type::BYTEA_ARRAY),
                (&about as _, Type::TEXT_ARRAY),
            ];
            entered += self.tables.query(SUBMIT, &parameters).await?.len() as u64;
            rest = others;
        }
        Ok(entered)
    }

    /// How the calls stand, in the order of `ids`.
    pub async fn outcomes(&self, ids: &[CallId]) -> Result<Vec<Outcome>, PgError> {
        let mut outcomes = HashMap::new();
        for ids in ids.chunks(OUTCOMES_AT_ONCE) {
            let rows = self.tables.query(OUTCOMES, &[(&slices(ids), Type::BYTEA_ARRAY)]).await?;
            for row in &rows {
                let id: Vec<u8> = self.tables.value(row, 0)?;
                let state: i16 = self.tables.value(row, 1)?;
                let outcome = match state {
                    0 => Outcome::Open,
                    1 => Outcome::Taken,
                    2 => Outcome::Done(self.tables.value(row, 2)?),
                    _ => Outcome::Failed(self.tables.value(row, 3)?),
                };
                outcomes.insert(id, outcome);
            }
        }
        Ok(ids
            .iter()
            .map(|id| outcomes.get(id.as_slice()).cloned().unwrap_or(Outcome::Unknown))
            .collect())
    }

    /// Removes calls, with their inputs and outputs.
    pub async fn forget(&self, ids: &[CallId]) -> Result<(), PgError> {
        for ids in ids.chunks(AT_ONCE) {
            self.tables.query(FORGET, &[(&slices(ids), Type::BYTEA_ARRAY)]).await?;
        }
        Ok(())
    }

    /// [`Calls::forget`] of the calls that quote any of these. Returns whether there were calls from a
    /// former version of the tables, of which it is not known what they quote; these go as well.
    pub async fn forget_about(&self, about: &[i32]) -> Result<bool, PgError> {
        const FORGET_ABOUT: &str = "with gone as (
                delete from halma.call where home = $1 and (about && $2 or about = '{}')
                returning about = '{}' as former)
            select coalesce(bool_or(former), false) from gone";
        let rows = self.tables.query(FORGET_ABOUT, &[(&about, Type::INT4_ARRAY)]).await?;
        rows.first().map_or(Ok(false), |row| self.tables.value(row, 0))
    }

    /// [`Calls::forget`] of all calls of the workspace. A worker that has one does it in vain.
    pub async fn forget_all(&self) -> Result<(), PgError> {
        const FORGET_ALL: &str = "delete from halma.call where home = $1";
        self.tables.query(FORGET_ALL, &[]).await.map(drop)
    }
}

/// Numbers as `PostgreSQL` writes them.
fn array(numbers: &[i32]) -> String {
    let numbers: Vec<String> = numbers.iter().map(i32::to_string).collect();
    format!("{{{}}}", numbers.join(","))
}

/// How many of the calls, at least one, go into a statement.
fn batch_len(calls: &[&NewCall]) -> usize {
    let mut bytes = 0;
    let fits = |call: &&&NewCall| {
        bytes += call.input.len();
        bytes <= BYTES_AT_ONCE
    };
    calls.iter().take(AT_ONCE).take_while(fits).count().max(1)
}
