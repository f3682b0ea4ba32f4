//! The runtime of the connections to a database, which blocking and asynchronous callers share.
use std::future::Future;
use std::sync::mpsc;

use tokio::runtime::{Builder, Runtime as Tokio};

use crate::error::EngineError;

/// Threads that drive connections.
const THREADS: usize = 1;

pub(crate) struct Runtime(Option<Tokio>);

impl Runtime {
    pub(crate) fn new() -> Result<Self, EngineError> {
        let mut builder = Builder::new_multi_thread();
        let built = builder.worker_threads(THREADS).thread_name("database").enable_all().build();
        built.map(|runtime| Self(Some(runtime))).map_err(EngineError::Runtime)
    }

    pub(crate) fn start(&self, work: impl Future<Output = ()> + Send + 'static) {
        if let Some(runtime) = &self.0 {
            runtime.spawn(work);
        }
    }

    /// Blocks the thread until the work is done, wherever it is called from.
    pub(crate) fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> T {
        let (send, receive) = mpsc::sync_channel(1);
        self.start(async move { drop(send.send(work.await)) });
        receive.recv().expect("the work does not panic")
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        // Waiting for it is not allowed on a thread that drives other work.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
