//! Room for the file handles of connections.
use std::iter::successors;
use std::os::fd::AsFd;

/// Handles that every process may have.
const MIN_HANDLES: i32 = 256;

/// Makes the system's table of the handles of this process large enough for `connections`. The table
/// grows when it is full, and until it has grown no connection is accepted, which takes up to half a
/// second while many requests are busy. It never shrinks: one handle of a high number, closed again, is
/// enough.
pub(crate) fn make_room(handle: &impl AsFd, connections: usize) {
    let limit = i32::try_from(connections).unwrap_or(i32::MAX);
    // Where fewer may be open, the table is made for as many as that.
    for number in
        successors(Some(limit), |number| Some(number / 2)).take_while(|n| *n >= MIN_HANDLES)
    {
        if rustix::io::fcntl_dupfd_cloexec(handle, number).is_ok() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table_size() -> usize {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let size = status.lines().find_map(|line| line.strip_prefix("FDSize:"));
        size.and_then(|size| size.trim().parse().ok()).unwrap_or(0)
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_table_has_room_for_all_connections_that_are_allowed() {
        let file = std::fs::File::open("/dev/null").unwrap();
        make_room(&file, 700);
        assert!(table_size() >= 700, "{}", table_size());
        // More than any process may have.
        make_room(&file, usize::MAX);
        assert!(table_size() >= 700);
    }
}
