// Package peak reads the peak memory of a process, for programs that are measured.
package peak

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Self returns the peak resident memory of this process in bytes. A program must report it itself:
// the value that the kernel reports for an ended child includes the memory that its parent used
// when it started the child.
func Self() (int64, error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) == 3 && words[0] == "VmHWM:" {
			kib, err := strconv.ParseInt(words[1], 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("/proc/self/status has no VmHWM")
}
