package cad

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// refused are the system calls that fail with EPERM: those for a network, for other processes,
// which include the server, and for leaving the process group by which the program is killed.
var refused = []uint32{
	unix.SYS_SOCKET, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN, unix.SYS_ACCEPT, unix.SYS_ACCEPT4, unix.SYS_SENDTO,
	unix.SYS_SENDMSG, unix.SYS_IO_URING_SETUP,
	unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_TGKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO,
	unix.SYS_PIDFD_OPEN, unix.SYS_PIDFD_SEND_SIGNAL, unix.SYS_PIDFD_GETFD, unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV,
	unix.SYS_PROCESS_VM_WRITEV, unix.SYS_KCMP,
	unix.SYS_SETSID, unix.SYS_SETPGID, unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2,
	unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_OPEN_BY_HANDLE_AT,
	unix.SYS_MEMFD_CREATE, unix.SYS_SHMGET, unix.SYS_MSGGET, unix.SYS_SEMGET, unix.SYS_MQ_OPEN,
}

// namespaces are the flags of clone that create a namespace.
const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
	unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// Offsets in struct seccomp_data (seccomp(2)), on little-endian machines.
const (
	offsetNumber = 0
	offsetArch   = 4
	offsetArg0   = 16
)

// confineCalls installs a filter that refuses system calls, see refused. Calls of other
// architectures kill the process, and clone3 fails as if the kernel did not know it, because a
// filter cannot read its flags: programs then use clone.
func confineCalls() error {
	const load, equal, set, atLeast, result = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS,
		unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K,
		unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, unix.BPF_RET | unix.BPF_K
	const eperm, enosys = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM), unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	// skip is the number of instructions to skip if a condition does not hold.
	when := func(condition uint16, k uint32, skip uint8) unix.SockFilter {
		return unix.SockFilter{Code: condition, Jf: skip, K: k}
	}
	do := func(code uint16, k uint32) unix.SockFilter { return unix.SockFilter{Code: code, K: k} }
	program := []unix.SockFilter{
		do(load, offsetArch), {Code: equal, Jt: 1, K: auditArch}, do(result, unix.SECCOMP_RET_KILL_PROCESS),
		do(load, offsetNumber), when(atLeast, 0x40000000, 1), do(result, eperm), // the x32 calls of amd64
		when(equal, unix.SYS_CLONE3, 1), do(result, enosys),
	}
	for _, call := range refused {
		program = append(program, when(equal, call, 1), do(result, eperm))
	}
	program = append(program,
		when(equal, unix.SYS_CLONE, 3), do(load, offsetArg0), when(set, namespaces, 1), do(result, eperm),
		// prlimit64 of another process; clone does not come here with its own number
		do(load, offsetNumber), when(equal, unix.SYS_PRLIMIT64, 3), do(load, offsetArg0), unix.SockFilter{Code: equal, Jt: 1,
			K: 0}, do(result, eperm),
		do(result, unix.SECCOMP_RET_ALLOW))
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&filter)), 0, 0)
}
