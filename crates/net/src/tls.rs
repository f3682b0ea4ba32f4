//! The cryptography behind https.

/// Makes ring the provider of all HTTP clients of this process, unless another one is installed.
/// Must be called before a client is built.
pub(crate) fn install_provider() {
    // An error says that a provider is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
