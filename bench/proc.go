package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// usage is the resource usage of a process from proc(5).
type usage struct {
	rss, peak int64 // bytes; peak is the maximum of rss since resetPeak
	written   int64 // bytes that the process wrote to files on disks
	cpu       time.Duration
}

func (p *process) usage() (u usage, err error) {
	var status, io map[string]int64
	if status, err = p.numbers("status"); err != nil {
		return u, err
	}
	if io, err = p.numbers("io"); err != nil {
		return u, err
	}
	cpu, err := processorTimeOf(p.cmd.Process.Pid)
	if err != nil {
		return u, err
	}
	return usage{
		rss: status["VmRSS"] << 10, peak: status["VmHWM"] << 10,
		written: io["write_bytes"], cpu: cpu,
	}, nil
}

// processorTimeOf returns the CPU time of a process in nanosecond resolution. It is the sum over
// the threads that exist now, which is complete because Go and PostgreSQL do not end their threads.
func processorTimeOf(pid int) (spent time.Duration, err error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(threads) == 0 {
		return 0, fmt.Errorf("process %d has no threads: %w", pid, cmp.Or(err, os.ErrNotExist))
	}
	for _, name := range threads {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // the thread ended
		}
		running, _, _ := strings.Cut(string(text), " ")
		n, err := strconv.ParseInt(running, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		spent += time.Duration(n)
	}
	return spent, nil
}

// resetPeak resets the peak to the current resident size. If that is not permitted, the peak covers
// the whole life of the process, which can only make a growth look larger.
func (p *process) resetPeak() { _ = os.WriteFile(p.file("clear_refs"), []byte("5"), 0) }

func (p *process) file(name string) string {
	return fmt.Sprintf("/proc/%d/%s", p.cmd.Process.Pid, name)
}

// numbers reads a file with lines of the form "name: number unit".
func (p *process) numbers(name string) (map[string]int64, error) {
	text, err := os.ReadFile(p.file(name))
	if err != nil {
		return nil, err
	}
	found := make(map[string]int64)
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(line, ":")
		if words := strings.Fields(value); len(words) > 0 {
			if n, err := strconv.ParseInt(words[0], 10, 64); err == nil {
				found[key] = n
			}
		}
	}
	return found, nil
}
