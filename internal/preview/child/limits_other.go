//go:build !linux

package child

import (
	"os"
	"os/exec"
	"time"
)

func softMemoryLimit(memory int64) int64 { return memory / 8 * 7 }

// confine does nothing. Only the deadline limits the time of a child, and a soft limit of the
// garbage collector limits its memory.
func confine(int64, time.Duration) error { return nil }

func lowerPriority() {}

func cpuTime() time.Duration { return 0 }

func residentPeak() int64 { return 0 }

func ownGroup(*exec.Cmd) {}

func killed(state *os.ProcessState) bool { return state.ExitCode() == -1 }
