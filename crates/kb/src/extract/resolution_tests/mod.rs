//! Resolving what a change touches comes to what resolving everything comes to, and looks at no more
//! than that.
#[cfg(test)]
mod checked;
#[cfg(test)]
mod cost;
#[cfg(test)]
mod equal;
#[cfg(test)]
mod library;
#[cfg(test)]
mod measure;
#[cfg(test)]
mod shared;
