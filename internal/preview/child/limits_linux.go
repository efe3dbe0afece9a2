package child

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// programMemory is reserved for the mapped executable, which RLIMIT_DATA does not count.
	programMemory = 40 << 20
	// cpuGrace is the CPU time beyond its limit after which the kernel kills a child that has not
	// exited.
	cpuGrace = 5 * time.Second
)

// dataLimit returns how much private memory a child may map. The Go runtime maps 64 MiB at a time,
// and all mapped memory counts.
func dataLimit(memory int64) int64 { return memory - programMemory }

// softMemoryLimit returns the soft memory limit (GOMEMLIMIT) of a child.
func softMemoryLimit(memory int64) int64 { return dataLimit(memory) / 8 * 7 }

// confine limits the memory and the CPU time of this process. It also makes the kernel kill this
// process first when the machine runs out of memory.
func confine(memory int64, cpu time.Duration) error {
	for _, limit := range []struct {
		of   int
		most uint64
	}{
		{unix.RLIMIT_DATA, uint64(dataLimit(memory))},
		{unix.RLIMIT_CPU, uint64((cpu + cpuGrace + time.Second - 1) / time.Second)},
		{unix.RLIMIT_CORE, 0},
	} {
		if err := unix.Setrlimit(limit.of, &unix.Rlimit{Cur: limit.most, Max: limit.most}); err != nil {
			return err
		}
	}
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) // some systems forbid it
	return nil
}

// lowerPriority lowers the CPU and disk priority of this process as far as the system allows.
func lowerPriority() {
	for range 2 { // a thread may have been started in the meantime; later threads inherit the priority
		threads, _ := os.ReadDir("/proc/self/task")
		for _, thread := range threads {
			if id, err := strconv.Atoi(thread.Name()); err == nil {
				lowerThreadPriority(id)
			}
		}
	}
}

// lowerThreadPriority sets the CPU and disk priority of a thread to the lowest.
func lowerThreadPriority(id int) {
	const (
		ioprioWhoProcess = 1
		ioprioClassIdle  = 3 << 13
	)
	_ = unix.Setpriority(unix.PRIO_PROCESS, id, 19)
	_ = unix.SchedSetAttr(id, &unix.SchedAttr{Policy: unix.SCHED_IDLE, Nice: 19}, 0)
	_, _, _ = unix.Syscall(unix.SYS_IOPRIO_SET, ioprioWhoProcess, uintptr(id), ioprioClassIdle)
}

// cpuTime returns the CPU time that this process has used, or 0 if it is unknown.
func cpuTime() time.Duration {
	var usage unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// residentPeak returns the peak resident memory of this program. It does not use the resource usage
// that the kernel reports for an exited process, because that includes the memory of its parent at
// the time of the fork.
func residentPeak() int64 {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if size, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(size), "kB")), 10, 64)
			return kib << 10
		}
	}
	return 0
}

// ownGroup starts a child in a process group of its own, which is killed as a whole: converters and
// their children are in it.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// killed reports whether a process was terminated by a signal.
func killed(state *os.ProcessState) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled()
}
