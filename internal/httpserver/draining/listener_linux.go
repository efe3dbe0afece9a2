package draining

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// dropAttempts attaches a packet filter to a listening socket that drops packets with the flag SYN,
// so no new connection is established. See "man 7 socket", SO_ATTACH_FILTER.
func dropAttempts(conn syscall.RawConn) error {
	const (
		flags = 13 // offset in the TCP header
		syn   = 0x02
	)
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: flags},
		{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, Jt: 0, Jf: 1, K: syn},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0}, // number of bytes to keep; 0 drops the packet
		{Code: unix.BPF_RET | unix.BPF_K, K: 0xffffffff},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	var failed error
	err := conn.Control(func(fd uintptr) {
		failed = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &program)
	})
	return errors.Join(err, failed)
}

// unaccepted returns the number of connections to a listening socket that are established but not
// accepted.
func unaccepted(conn syscall.RawConn) (int, error) {
	var info *unix.TCPInfo
	var failed error
	err := conn.Control(func(fd uintptr) {
		info, failed = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
	})
	if err := errors.Join(err, failed); err != nil {
		return 0, err
	}
	return int(info.Unacked), nil // for a listening socket, the length of the accept queue
}
