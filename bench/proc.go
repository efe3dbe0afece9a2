package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// usage is the resource usage of a process from proc(5).
type usage struct {
	rss, peak, anonymous int64 // bytes; peak is the maximum of rss since resetPeak
	written              int64 // bytes that the process wrote to files on disks
	cpu                  time.Duration
}

// clockTick is the unit of times in /proc/PID/stat, the same on every architecture that Go
// supports.
const clockTick = 10 * time.Millisecond

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
		rss: status["VmRSS"] << 10, peak: status["VmHWM"] << 10, anonymous: status["RssAnon"] << 10,
		written: io["write_bytes"], cpu: cpu,
	}, nil
}

// processorTimeOf is what a process has spent.
func processorTimeOf(pid int) (time.Duration, error) {
	name := fmt.Sprintf("/proc/%d/stat", pid)
	stat, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	// The program name before the last bracket may contain anything.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) < 13 {
		return 0, fmt.Errorf("%s: %q", name, stat)
	}
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * clockTick, nil
}

// resetPeak resets the peak to the current resident size. If that is not permitted, the peak covers
// the whole life of the process, which can only make a growth look larger.
func (p *process) resetPeak() { _ = os.WriteFile(p.file("clear_refs"), []byte("5"), 0) }

// watchAnonymous polls the anonymous memory of the process every few milliseconds. The returned
// function stops polling and returns the maximum.
func (p *process) watchAnonymous() (most func() int64) {
	end, answer := make(chan struct{}), make(chan int64)
	go func() {
		var seen int64
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			if status, err := p.numbers("status"); err == nil {
				seen = max(seen, status["RssAnon"]<<10)
			}
			select {
			case <-end:
				answer <- seen
				return
			case <-tick.C:
			}
		}
	}()
	return func() int64 {
		close(end)
		return <-answer
	}
}

func (p *process) file(name string) string {
	return fmt.Sprintf("/proc/%d/%s", p.cmd.Process.Pid, name)
}

// numbers reads a file of lines "name: number unit".
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
