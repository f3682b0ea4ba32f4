//! What the system knows of this process, under the names that all Prometheus clients use.

/// Figures of a process.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Process {
    pub(crate) resident_bytes: Option<u64>,
    pub(crate) cpu_seconds: Option<f64>,
    pub(crate) open_files: Option<u64>,
}

/// Ticks of the processor time in `/proc`; on Linux always 100 for user space.
const TICKS_PER_SECOND: f64 = 100.0;

impl Process {
    /// Of this process; what the system does not tell is `None`.
    pub(crate) fn read() -> Self {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
        let files = std::fs::read_dir("/proc/self/fd").ok();
        Self {
            resident_bytes: resident_bytes(&status),
            cpu_seconds: cpu_seconds(&stat),
            open_files: files.map(|files| files.count() as u64),
        }
    }
}

fn resident_bytes(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

fn cpu_seconds(stat: &str) -> Option<f64> {
    // The name of the program, in parentheses, may hold spaces; user and system time are the 12th
    // and the 13th field after it.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / TICKS_PER_SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_are_found_where_the_system_puts_them() {
        assert_eq!(resident_bytes("VmPeak:\t 9 kB\nVmRSS:\t    1024 kB\n"), Some(1_048_576));
        assert_eq!(resident_bytes(""), None);
        let stat = "7 (a )b) S 1 7 7 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 3 0 12";
        assert_eq!(cpu_seconds(stat), Some(3.0));
        assert_eq!(cpu_seconds("garbage"), None);
    }
}
