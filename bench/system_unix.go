//go:build unix

package main

import (
	"os"
	"syscall"
	"time"
)

// peakMemory returns the peak memory of a process that has ended, in KiB.
func peakMemory(p *os.ProcessState) int64 {
	usage, _ := p.SysUsage().(*syscall.Rusage)
	return usage.Maxrss
}

// processorTime returns the CPU time that this process has used.
func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // cannot fail for the calling process
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// onDisk reports whether a folder is on a disk, where the kernel counts written bytes.
func onDisk(folder string) bool {
	const tmpfs, ramfs = 0x01021994, 0x858458f6 // statfs(2)
	var fs syscall.Statfs_t
	return syscall.Statfs(folder, &fs) == nil && uint32(fs.Type) != tmpfs && uint32(fs.Type) != ramfs
}
