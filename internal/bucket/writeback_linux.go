//go:build !arm

package bucket

import (
	"os"
	"syscall"
)

// startWriteback asks the kernel to write these bytes to the disk, without
// waiting and without promising anything: sync_file_range(2) is only a hint
// here, so its errors do not matter.
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
