//! Dates as people, files and tables write them. English month names, and numbers with
//! characters after them.
mod calendar;
mod cjk;
mod day;
mod period;
mod stamp;

pub use calendar::{MONTHS, century, days_in_month, month_number};
pub use cjk::marked_dates;
pub use day::{DateOrder, parse_day, spell_day};
pub use period::{Day, Period};
pub use stamp::normalise_stamp;
