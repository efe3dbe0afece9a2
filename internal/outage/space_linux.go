package outage

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// available returns how many bytes the file system that holds path has left for unprivileged users.
func available(path string) (uint64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(path, &s); err != nil {
		return 0, err
	}
	return s.Bavail * uint64(s.Bsize), nil
}

// touch sets the modification time of a folder to now. Only a write shows that a file system is
// read-only: access(2) does not report it if the kernel stopped all writes because of an error.
func touch(folder string) error {
	return unix.UtimesNanoAt(unix.AT_FDCWD, folder, nil, 0)
}
