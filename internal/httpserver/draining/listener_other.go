//go:build !linux

package draining

import (
	"errors"
	"syscall"
)

func dropAttempts(syscall.RawConn) error { return errors.ErrUnsupported }

func unaccepted(syscall.RawConn) (int, error) { return 0, errors.ErrUnsupported }
