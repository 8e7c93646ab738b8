/* Names of system calls, from asm/unistd.h of Linux 6.1 and, by number, of what came until 6.17. */
#include <sys/syscall.h>

#include <stddef.h>

#include "call_name.h"

#define ROW(name) [SYS_##name] = #name

static const char *const names[] = {
	ROW(accept), ROW(accept4), ROW(acct), ROW(add_key), ROW(adjtimex), ROW(bind), ROW(bpf),
	ROW(brk), ROW(capget), ROW(capset), ROW(chdir), ROW(chroot), ROW(clock_adjtime),
	ROW(clock_getres), ROW(clock_gettime), ROW(clock_nanosleep), ROW(clock_settime),
	ROW(clone), ROW(close), ROW(connect), ROW(copy_file_range), ROW(delete_module),
	ROW(dup), ROW(dup3), ROW(epoll_create1), ROW(epoll_ctl), ROW(epoll_pwait),
	ROW(eventfd2), ROW(execve), ROW(execveat), ROW(exit), ROW(exit_group), ROW(faccessat),
	ROW(fadvise64), ROW(fallocate), ROW(fanotify_init), ROW(fanotify_mark), ROW(fchdir),
	ROW(fchmod), ROW(fchmodat), ROW(fchown), ROW(fchownat), ROW(fcntl), ROW(fdatasync),
	ROW(fgetxattr), ROW(finit_module), ROW(flistxattr), ROW(flock), ROW(fremovexattr),
	ROW(fsetxattr), ROW(fstat), ROW(fstatfs), ROW(fsync), ROW(ftruncate), ROW(futex),
	ROW(get_mempolicy), ROW(get_robust_list), ROW(getcpu), ROW(getcwd), ROW(getdents64),
	ROW(getegid), ROW(geteuid), ROW(getgid), ROW(getgroups), ROW(getitimer),
	ROW(getpeername), ROW(getpgid), ROW(getpid), ROW(getppid), ROW(getpriority),
	ROW(getrandom), ROW(getresgid), ROW(getresuid), ROW(getrlimit), ROW(getrusage),
	ROW(getsid), ROW(getsockname), ROW(getsockopt), ROW(gettid), ROW(gettimeofday),
	ROW(getuid), ROW(getxattr), ROW(init_module), ROW(inotify_add_watch),
	ROW(inotify_init1), ROW(inotify_rm_watch), ROW(io_cancel), ROW(io_destroy),
	ROW(io_getevents), ROW(io_pgetevents), ROW(io_setup), ROW(io_submit), ROW(ioctl),
	ROW(ioprio_get), ROW(ioprio_set), ROW(kcmp), ROW(kexec_file_load), ROW(kexec_load),
	ROW(keyctl), ROW(kill), ROW(lgetxattr), ROW(linkat), ROW(listen), ROW(listxattr),
	ROW(llistxattr), ROW(lookup_dcookie), ROW(lremovexattr), ROW(lseek), ROW(lsetxattr),
	ROW(lstat), ROW(madvise), ROW(mbind), ROW(membarrier), ROW(memfd_create),
	ROW(migrate_pages), ROW(mincore), ROW(mkdirat), ROW(mknodat), ROW(mlock), ROW(mlock2),
	ROW(mlockall), ROW(mmap), ROW(mount), ROW(move_pages), ROW(mprotect),
	ROW(mq_getsetattr), ROW(mq_notify), ROW(mq_open), ROW(mq_timedreceive),
	ROW(mq_timedsend), ROW(mq_unlink), ROW(mremap), ROW(msgctl), ROW(msgget), ROW(msgrcv),
	ROW(msgsnd), ROW(msync), ROW(munlock), ROW(munlockall), ROW(munmap),
	ROW(name_to_handle_at), ROW(nanosleep), ROW(newfstatat), ROW(nfsservctl),
	ROW(open_by_handle_at), ROW(openat), ROW(perf_event_open), ROW(personality), ROW(pipe2),
	ROW(pivot_root), ROW(pkey_alloc), ROW(pkey_free), ROW(pkey_mprotect), ROW(ppoll),
	ROW(prctl), ROW(pread64), ROW(preadv), ROW(preadv2), ROW(prlimit64),
	ROW(process_vm_readv), ROW(process_vm_writev), ROW(pselect6), ROW(ptrace),
	ROW(pwrite64), ROW(pwritev), ROW(pwritev2), ROW(quotactl), ROW(read), ROW(readahead),
	ROW(readlinkat), ROW(readv), ROW(reboot), ROW(recvfrom), ROW(recvmmsg), ROW(recvmsg),
	ROW(remap_file_pages), ROW(removexattr), ROW(renameat), ROW(renameat2),
	ROW(request_key), ROW(restart_syscall), ROW(rseq), ROW(rt_sigaction),
	ROW(rt_sigpending), ROW(rt_sigprocmask), ROW(rt_sigqueueinfo), ROW(rt_sigreturn),
	ROW(rt_sigsuspend), ROW(rt_sigtimedwait), ROW(rt_tgsigqueueinfo),
	ROW(sched_get_priority_max), ROW(sched_get_priority_min), ROW(sched_getaffinity),
	ROW(sched_getattr), ROW(sched_getparam), ROW(sched_getscheduler),
	ROW(sched_rr_get_interval), ROW(sched_setaffinity), ROW(sched_setattr),
	ROW(sched_setparam), ROW(sched_setscheduler), ROW(sched_yield), ROW(seccomp),
	ROW(semctl), ROW(semget), ROW(semop), ROW(semtimedop), ROW(sendfile), ROW(sendmmsg),
	ROW(sendmsg), ROW(sendto), ROW(set_mempolicy), ROW(set_robust_list),
	ROW(set_tid_address), ROW(setdomainname), ROW(setfsgid), ROW(setfsuid), ROW(setgid),
	ROW(setgroups), ROW(sethostname), ROW(setitimer), ROW(setns), ROW(setpgid),
	ROW(setpriority), ROW(setregid), ROW(setresgid), ROW(setresuid), ROW(setreuid),
	ROW(setrlimit), ROW(setsid), ROW(setsockopt), ROW(settimeofday), ROW(setuid),
	ROW(setxattr), ROW(shmat), ROW(shmctl), ROW(shmdt), ROW(shmget), ROW(shutdown),
	ROW(sigaltstack), ROW(signalfd4), ROW(socket), ROW(socketpair), ROW(splice), ROW(stat),
	ROW(statfs), ROW(statx), ROW(swapoff), ROW(swapon), ROW(symlinkat), ROW(sync),
	ROW(sync_file_range), ROW(syncfs), ROW(sysinfo), ROW(syslog), ROW(tee), ROW(tgkill),
	ROW(timer_create), ROW(timer_delete), ROW(timer_getoverrun), ROW(timer_gettime),
	ROW(timer_settime), ROW(timerfd_create), ROW(timerfd_gettime), ROW(timerfd_settime),
	ROW(times), ROW(tkill), ROW(truncate), ROW(umask), ROW(umount2), ROW(uname),
	ROW(unlinkat), ROW(unshare), ROW(userfaultfd), ROW(utimensat), ROW(vhangup),
	ROW(vmsplice), ROW(wait4), ROW(waitid), ROW(write), ROW(writev),
#ifdef __x86_64__ /* arm64 has none of the old forms */
	ROW(_sysctl), ROW(access), ROW(afs_syscall), ROW(alarm), ROW(arch_prctl), ROW(chmod),
	ROW(chown), ROW(creat), ROW(create_module), ROW(dup2), ROW(epoll_create),
	ROW(epoll_ctl_old), ROW(epoll_wait), ROW(epoll_wait_old), ROW(eventfd), ROW(fork),
	ROW(futimesat), ROW(get_kernel_syms), ROW(get_thread_area), ROW(getdents), ROW(getpgrp),
	ROW(getpmsg), ROW(inotify_init), ROW(ioperm), ROW(iopl), ROW(lchown), ROW(link),
	ROW(mkdir), ROW(mknod), ROW(modify_ldt), ROW(open), ROW(pause), ROW(pipe), ROW(poll),
	ROW(putpmsg), ROW(query_module), ROW(readlink), ROW(rename), ROW(rmdir), ROW(security),
	ROW(select), ROW(set_thread_area), ROW(signalfd), ROW(symlink), ROW(sysfs), ROW(time),
	ROW(tuxcall), ROW(unlink), ROW(uselib), ROW(ustat), ROW(utime), ROW(utimes), ROW(vfork),
	ROW(vserver),
#endif
	/* from here on numbers are the same everywhere */
	[424] = "pidfd_send_signal", [425] = "io_uring_setup", [426] = "io_uring_enter",
	[427] = "io_uring_register", [428] = "open_tree", [429] = "move_mount",
	[430] = "fsopen", [431] = "fsconfig", [432] = "fsmount", [433] = "fspick",
	[434] = "pidfd_open", [435] = "clone3", [436] = "close_range", [437] = "openat2",
	[438] = "pidfd_getfd", [439] = "faccessat2", [440] = "process_madvise",
	[441] = "epoll_pwait2", [442] = "mount_setattr", [443] = "quotactl_fd",
	[444] = "landlock_create_ruleset", [445] = "landlock_add_rule",
	[446] = "landlock_restrict_self", [447] = "memfd_secret", [448] = "process_mrelease",
	[449] = "futex_waitv", [450] = "set_mempolicy_home_node", [451] = "cachestat",
	[452] = "fchmodat2", [453] = "map_shadow_stack", [454] = "futex_wake",
	[455] = "futex_wait", [456] = "futex_requeue", [457] = "statmount", [458] = "listmount",
	[459] = "lsm_get_self_attr", [460] = "lsm_set_self_attr", [461] = "lsm_list_modules",
	[462] = "mseal", [463] = "setxattrat", [464] = "getxattrat", [465] = "listxattrat",
	[466] = "removexattrat", [467] = "open_tree_attr", [468] = "file_getattr",
	[469] = "file_setattr",
};

const char *
call_name(uint32_t number)
{
	return number < sizeof(names) / sizeof(names[0]) ? names[number] : NULL;
}
