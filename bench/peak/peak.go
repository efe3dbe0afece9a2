// Package peak reads the peak memory of a process, for programs that are measured.
package peak

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Self returns the most memory that was resident in this process at a time, in bytes. A program
// must report it itself: what the kernel reports of a child that ended includes what its parent
// held when it started it.
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
