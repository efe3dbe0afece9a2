//go:build unix

package pgtest

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

const folderPrefix = "meshyard-pgtest-"

// place returns the directory in which folders are created. TMPDIR has precedence. Otherwise it is
// /dev/shm, where creating the some 300 files of a database is several times faster, on two
// conditions. /dev/shm has the room that the tests need (containers often have 64 MiB there). And
// any account may delete what it created there, because the server's account removes its folder.
func place() string {
	const memory = "/dev/shm"
	if os.Getenv("TMPDIR") == "" && hasRoom(memory) && isOpen(memory) {
		return memory
	}
	return os.TempDir()
}

func hasRoom(folder string) bool {
	const room = 2 << 30
	var fs syscall.Statfs_t
	return syscall.Statfs(folder, &fs) == nil && fs.Bavail*uint64(fs.Bsize) >= room
}

// isOpen reports whether any account may create and delete in a folder.
func isOpen(folder string) bool {
	info, err := os.Stat(folder)
	return err == nil && info.Mode().Perm()&0o003 == 0o003
}

// newFolder creates a folder within dir that the account owns, or the current user if who is nil.
// The returned file holds a lock that shows other processes that this one is alive. A process ID
// would not work in containers that share the place.
func newFolder(dir string, who *syscall.Credential) (string, *os.File, error) {
	folder, err := os.MkdirTemp(dir, folderPrefix)
	if err != nil {
		return "", nil, err
	}
	lock, err := lockFolder(folder)
	if err != nil {
		return "", nil, errors.Join(err, os.Remove(folder))
	}
	if who != nil {
		if err := os.Chown(folder, int(who.Uid), int(who.Gid)); err != nil {
			removeFolder(folder, lock)
			return "", nil, err
		}
	}
	return folder, lock, nil
}

// removeFolder removes the folder. If it cannot remove everything, the sweep of a later start
// removes the rest.
func removeFolder(folder string, lock *os.File) {
	_ = os.RemoveAll(folder)
	_ = lock.Close()
}

// lockFolder fails at once if another process holds the lock.
func lockFolder(folder string) (*os.File, error) {
	f, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", folder, err), f.Close())
	}
	return f, nil
}

// sweepFolders removes folders within dir of dead processes: those of servers whose machine stopped
// or whose supervising shell was killed. Such a server, if it still runs, exits when its lock file
// is missing.
func sweepFolders(dir string) {
	folders, _ := filepath.Glob(filepath.Join(dir, folderPrefix+"*"))
	for _, folder := range folders {
		// A younger one may belong to a process that is about to lock it.
		info, err := os.Lstat(folder)
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < time.Minute {
			continue
		}
		if lock, err := lockFolder(folder); err == nil {
			removeFolder(folder, lock)
		}
	}
}

// unprivileged returns the account that runs the server, nil for our own: PostgreSQL refuses to run
// as root.
func unprivileged() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	account, err := user.Lookup("postgres")
	if err != nil {
		account, err = user.Lookup("nobody")
	}
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL does not run as root, and there is no account postgres or nobody: %w", err)
	}
	uid, err := strconv.ParseUint(account.Uid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("account %s: %w", account.Username, err)
	}
	gid, err := strconv.ParseUint(account.Gid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("account %s: %w", account.Username, err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}
