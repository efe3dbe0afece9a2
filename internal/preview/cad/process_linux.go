package cad

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// KillGroup kills the process group of this process, with this process itself. A converter and its
// children cannot leave the group.
func KillGroup() { _ = unix.Kill(0, unix.SIGKILL) }

// descendants returns what the children of this process and theirs use together, and their number.
func descendants() (total Usage, processes int) {
	for next := children("self"); len(next) > 0 && processes <= 10*maxProcesses; {
		pid := next[0]
		next = append(next[1:], children(strconv.Itoa(pid))...)
		processes++
		use := usage(pid)
		total.Memory += use.Memory
		total.CPU += use.CPU
	}
	return total, processes
}

// children returns the IDs of the children of a process.
func children(pid string) (pids []int) {
	tasks, _ := os.ReadDir("/proc/" + pid + "/task")
	for _, task := range tasks {
		list, _ := os.ReadFile("/proc/" + pid + "/task/" + task.Name() + "/children")
		for _, field := range strings.Fields(string(list)) {
			if id, err := strconv.Atoi(field); err == nil {
				pids = append(pids, id)
			}
		}
	}
	return pids
}

// usage returns the resident memory of a process, and its CPU time with that of its children that
// have ended. See proc_pid_stat(5).
func usage(pid int) (u Usage) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return u
	}
	// The name before the last parenthesis can contain anything.
	_, stat, _ = bytes.Cut(stat[max(0, bytes.LastIndexByte(stat, ')')):], []byte(" "))
	fields := strings.Fields(string(stat))
	const utime, cstime, rss = 14 - 3, 17 - 3, 24 - 3 // the first field is number 3
	if len(fields) <= rss {
		return u
	}
	const tick = time.Second / 100 // USER_HZ
	for _, field := range fields[utime : cstime+1] {
		n, _ := strconv.ParseInt(field, 10, 64)
		u.CPU += time.Duration(n) * tick
	}
	pages, _ := strconv.ParseInt(fields[rss], 10, 64)
	u.Memory = pages * int64(os.Getpagesize())
	return u
}

// killChildren kills all children of this process, and those that become its children because their
// parents are killed, and waits until none is left.
func killChildren() {
	for {
		for _, pid := range children("self") {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		if _, err := unix.Wait4(-1, nil, 0, nil); err == unix.ECHILD {
			return
		}
	}
}
