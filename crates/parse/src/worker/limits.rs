//! What the system lets a worker do. A worker limits itself before it reads its first request, and
//! none of this can be undone by it.
use std::io;

use crate::worker::FileRules;

/// The limits of one worker process and of the programs that it starts.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Bytes of address space.
    pub memory: u64,
    /// Seconds of CPU time over the worker's whole life.
    pub cpu_seconds: u64,
    /// Bytes of a file that it writes.
    pub file_bytes: u64,
    pub open_files: u64,
    /// Whether it may start other programs, as OCR does.
    pub may_start_programs: bool,
    /// The files that it may use; no others.
    pub files: FileRules,
}

impl Limits {
    /// Applies the limits to this thread and those that it starts: to the process, if it has no other
    /// yet. A system without rules for files or filters of system calls still has the other limits.
    #[cfg(unix)]
    pub(crate) fn apply(&self) -> io::Result<()> {
        use rlimit::Resource;
        let set = |resource: Resource, max: u64| {
            let (_, hard) = resource.get()?;
            resource.set(max.min(hard), max.min(hard))
        };
        // A process that runs out of memory leaves no gigabytes on the disk.
        set(Resource::CORE, 0)?;
        set(Resource::CPU, self.cpu_seconds)?;
        set(Resource::FSIZE, self.file_bytes)?;
        set(Resource::NOFILE, self.open_files)?;
        // macOS knows the limit and does not let it be set below what is mapped.
        #[cfg(target_os = "linux")]
        {
            set(Resource::AS, self.memory)?;
            self.files.apply();
            let _ = deny(self.may_start_programs);
        }
        Ok(())
    }

    #[cfg(not(unix))]
    pub(crate) fn apply(&self) -> io::Result<()> {
        Ok(())
    }
}

/// Refuses the system calls that reach the network, other processes or, if asked, other programs.
#[cfg(target_os = "linux")]
fn deny(may_start_programs: bool) -> Result<(), seccompiler::Error> {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

    let mut denied = vec![
        libc::SYS_socket,
        // Reaches sockets as well.
        libc::SYS_io_uring_setup,
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
    ];
    if !may_start_programs {
        denied.extend([libc::SYS_execve, libc::SYS_execveat]);
    }
    let rules = denied.into_iter().map(|call| (call, vec![])).collect();
    let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let target = std::env::consts::ARCH.try_into()?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, target)?;
    let program: BpfProgram = filter.try_into()?;
    seccompiler::apply_filter_all_threads(&program)
}
