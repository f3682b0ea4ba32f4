//! Dates as people, files and tables write them. English month names.
mod calendar;
mod day;
mod period;
mod stamp;

pub use calendar::{MONTHS, century, days_in_month, month_number};
pub use day::{DateOrder, parse_day, spell_day};
pub use period::{Day, Period};
pub use stamp::normalise_stamp;
