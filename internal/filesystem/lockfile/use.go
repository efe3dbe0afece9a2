package lockfile

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// InUseError is the error of a lock that another process holds in a way that excludes this one.
type InUseError struct {
	By string // what the other process does, and its ID; empty if it is unknown
}

// Error implements error.
func (e *InUseError) Error() string {
	if e.By == "" {
		return "in use by another process"
	}
	return "in use by " + e.By
}

// Use creates the file at path if it is missing, and locks it: exclusively, or shared with other
// processes that do not use it exclusively. by describes what this process does, for the error of
// others. It returns an [InUseError] if another process excludes this one.
func Use(path string, exclusive bool, by string) (*Lock, error) {
	f, err := openUse(path, exclusive)
	if errors.Is(err, errHeld) {
		return nil, &InUseError{user(path)}
	}
	if err != nil {
		return nil, err
	}
	// Of several processes that share the lock, the file names the first one that still runs:
	// rather a server than the commands beside it. It cannot be written if another user owns it.
	// Both matter only for the message.
	if !exclusive && user(path) != "" {
		return &Lock{f}, nil
	}
	text := fmt.Sprintf("%d %s\n", os.Getpid(), by)
	if _, err := f.WriteAt([]byte(text), 0); err == nil {
		_ = f.Truncate(int64(len(text)))
	}
	return &Lock{f}, nil
}

// user returns a description of the process that a lock file names, or "" if that has ended.
func user(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	first, by, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	pid, err := strconv.Atoi(first)
	if err != nil || !isRunning(pid) {
		return ""
	}
	return fmt.Sprintf("%s (process %d)", by, pid)
}
