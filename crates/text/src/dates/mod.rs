//! Dates as people, files and tables write them. English month names, and numbers with
//! characters after them; [`local_period`] reads the months of other languages.
mod calendar;
mod cjk;
mod day;
mod local;
pub(crate) mod months;
mod period;
mod stamp;

pub use calendar::{MONTHS, century, days_in_month, month_number};
pub use cjk::marked_dates;
pub use day::{DateOrder, parse_day, spell_day};
pub use local::local_period;
pub use period::{Day, Period};
pub use stamp::normalise_stamp;
