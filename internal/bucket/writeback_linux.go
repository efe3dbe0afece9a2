//go:build !arm

package bucket

import (
	"os"
	"syscall"
)

// startWriteback asks the kernel to start writing a range of the file to disk, without waiting.
// sync_file_range(2) is only a hint here, so errors are ignored.
func startWriteback(f *os.File, offset, n int64) {
	const syncFileRangeWrite = 2
	c, err := f.SyscallConn()
	if err != nil {
		return
	}
	c.Control(func(fd uintptr) {
		syscall.SyncFileRange(int(fd), offset, n, syncFileRangeWrite)
	})
}
