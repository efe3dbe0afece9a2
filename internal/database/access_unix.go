//go:build unix

package database

import "syscall"

// checkAccess returns an error if this process may not write the file or folder name. It opens
// nothing: closing a file would release the locks that SQLite holds on it in this process.
func checkAccess(name string) error {
	const write = 2 // W_OK
	return syscall.Access(name, write)
}
