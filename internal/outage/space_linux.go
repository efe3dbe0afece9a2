package outage

import "syscall"

// available returns how many bytes the file system that holds path has left for unprivileged users.
func available(path string) (uint64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(path, &s); err != nil {
		return 0, err
	}
	return s.Bavail * uint64(s.Bsize), nil
}
