//go:build !linux

package cad

import (
	"errors"
	"os"
)

// LaunchCommand is the first argument of a process that becomes a converter, on Linux.
const LaunchCommand = "preview-converter"

var errSystem = errors.New("converters run on Linux only, where they can be confined")

func sandboxed() error { return errSystem }

// Launch returns an error, because there is no sandbox.
func Launch([]string) error { return errSystem }

// Convert returns an error, because there is no sandbox.
func (j Job) Convert(*os.File, func(Usage)) (*os.File, error) { return nil, errSystem }

// KillGroup does nothing.
func KillGroup() {}
