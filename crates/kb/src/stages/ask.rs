//! Stages that ask a model once for each unit and keep what they accept of the reply in the ledger:
//! all that extract knowledge.
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use halma_core::{Cx, Prompt};
use minijinja::Value;
use serde::Serialize;

use super::forecast::Texts;
use super::{BuildContext, Corpus, SourceDocument, Stage, StageError};
use crate::Phase;
use crate::store::{Cost, Id, StoreReader, StoreWriter, Task, UnitKey};

/// A unit whose result is kept in the ledger as it is.
pub(crate) struct LedgerUnit<T> {
    pub(crate) key: UnitKey,
    /// Hash of the prompt and of everything it is given.
    pub(crate) input: Id,
    pub(crate) request: T,
}

impl<T> LedgerUnit<T> {
    /// Whether it is done already.
    pub(crate) fn is_done(&self, reader: &StoreReader<'_>) -> heed::Result<bool> {
        reader.is_done(self.key, self.input)
    }
}

/// What differs between stages that ask a model; everything else of [`Stage`] follows from it.
pub(crate) trait AskStage: Send + Sync + Sized + 'static {
    type Request: Send + Sync + 'static;
    /// What the model replies, and what is kept of it.
    type Reply: Send + Sync + 'static;
    type Stored: Serialize + Send + 'static;

    const PHASE: Phase;
    /// As in the prompt's file.
    const TASK: &'static str;
    const PROMPT: Prompt<Self::Reply>;
    /// Tokens of a reply, as expected.
    const REPLY_TOKENS: u64;

    fn build(&self) -> &Arc<BuildContext>;

    /// See [`Stage::units`].
    fn open(
        &self,
        _txn: &StoreReader<'_>,
        _document: &SourceDocument,
    ) -> heed::Result<Vec<LedgerUnit<Self::Request>>> {
        Ok(vec![])
    }

    /// See [`Stage::scanned_by`].
    fn asked_with(&self) -> Option<(Task, Id)> {
        None
    }

    /// See [`Stage::expect`].
    fn expectation(
        &self,
        _txn: &StoreReader<'_>,
        _corpus: &Corpus,
    ) -> heed::Result<Option<(u64, LedgerUnit<Self::Request>)>> {
        Ok(None)
    }

    /// The variables of the prompt.
    fn variables(&self, request: &Self::Request) -> Value;

    /// Tokens of the reply to this request.
    fn reply_tokens(&self, _request: &Self::Request) -> u64 {
        Self::REPLY_TOKENS
    }

    /// What of its result is embedded, as expected.
    fn expected_texts(&self, _request: &Self::Request) -> Texts {
        Texts::default()
    }

    /// How many texts of a result are embedded.
    fn count_texts(&self, _stored: &Self::Stored) -> u64 {
        0
    }

    /// Names of the documents whose words the model is shown.
    fn documents<'a>(&self, request: &'a Self::Request) -> Vec<&'a str>;

    /// What the model has to correct, if anything. What is wrong for the first time only is left
    /// out when it is wrong again.
    fn complaint(&self, _: &Self::Request, _: &Self::Reply, _first: bool) -> Option<String> {
        None
    }

    /// What is kept of a reply.
    fn accept(
        &self,
        request: &Self::Request,
        reply: Self::Reply,
    ) -> Result<Self::Stored, StageError>;
}

impl<S: AskStage> Stage for S {
    type Unit = LedgerUnit<S::Request>;
    type Output = S::Stored;

    const PHASE: Phase = <S as AskStage>::PHASE;

    fn name(&self) -> &'static str {
        S::TASK
    }

    fn prompt(&self) -> Option<&'static str> {
        Some(S::PROMPT.name)
    }

    fn context(&self) -> &Arc<BuildContext> {
        self.build()
    }

    fn units(
        &self,
        reader: &StoreReader<'_>,
        document: &SourceDocument,
    ) -> heed::Result<Vec<Self::Unit>> {
        self.open(reader, document)
    }

    fn scanned_by(&self) -> Option<(Task, Id)> {
        self.asked_with()
    }

    fn expect(
        &self,
        reader: &StoreReader<'_>,
        corpus: &Corpus,
    ) -> heed::Result<Option<(u64, Self::Unit)>> {
        self.expectation(reader, corpus)
    }

    fn forecast(&self, unit: &Self::Unit) -> Cost {
        let (variables, reply) = (self.variables(&unit.request), self.reply_tokens(&unit.request));
        let Texts { texts, characters } = self.expected_texts(&unit.request);
        let call = Cost::of_call(&self.build().setup, S::PROMPT.name, &variables, reply);
        Cost { texts, characters, ..call }
    }

    fn texts(&self, output: &S::Stored) -> u64 {
        self.count_texts(output)
    }

    async fn run(&self, cx: &Cx, unit: &Self::Unit) -> Result<Option<S::Stored>, StageError> {
        let request = &unit.request;
        for document in self.documents(request) {
            cx.quote(document);
        }
        let tries = AtomicUsize::new(0);
        let check = |reply: &S::Reply| {
            let first = tries.fetch_add(1, Ordering::Relaxed) == 0;
            self.complaint(request, reply, first).map_or(Ok(()), Err)
        };
        let reply = cx.ask_checked(&S::PROMPT, self.variables(request), check).await?;
        self.accept(request, reply).map(Some)
    }

    fn store(
        &self,
        writer: &mut StoreWriter<'_>,
        unit: &Self::Unit,
        result: Result<S::Stored, String>,
    ) -> heed::Result<()> {
        match result {
            Ok(kept) => writer.put_done(unit.key, unit.input, &kept),
            Err(reason) => writer.put_failed(unit.key, unit.input, &reason),
        }
    }
}
