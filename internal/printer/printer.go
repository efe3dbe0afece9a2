// Package printer describes what the programs that control 3D printers can do: OctoPrint, Moonraker
// and PrusaLink. Package client connects to them.
package printer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"
)

// Kind is the program that controls a printer.
type Kind string

// The kinds of printers.
const (
	OctoPrint Kind = "octoprint"
	Moonraker Kind = "moonraker"
	PrusaLink Kind = "prusalink"
)

// Printer is a printer that is controlled by one of the programs. Its methods return an [*Error] if
// the printer is at fault.
type Printer interface {
	// Test checks the URL and the key, and returns the name and the version of the program.
	Test(ctx context.Context) (version string, err error)
	// Send uploads a file and starts to print it. The caller must not repeat it after an error that is
	// uncertain, or the printer may print twice.
	Send(ctx context.Context, f File) error
	// Has reports whether the printer has the whole file.
	Has(ctx context.Context, name string, size int64) (bool, error)
	// Status returns what the printer does, and how far the print of a file is.
	Status(ctx context.Context, name string) (Status, error)
	// Cancel cancels the print of a file. It does nothing if the printer prints another file or none.
	Cancel(ctx context.Context, name string) error
	// Picture returns a picture of the camera, or ErrNoCamera.
	Picture(ctx context.Context) ([]byte, error)
}

// File is a file to print.
type File struct {
	Name    string // see RemoteName
	Size    int64
	SHA256  string // in hexadecimal
	Content io.Reader
}

// Phase is what a printer does, in relation to one file.
type Phase string

// The phases.
const (
	Idle      Phase = "idle"      // it could print; nothing is known about the file
	Busy      Phase = "busy"      // it prints another file or is not ready
	Offline   Phase = "offline"   // the program runs, but the printer is off or has an error
	Printing  Phase = "printing"  // the file
	Paused    Phase = "paused"    // the print of the file
	Done      Phase = "done"      // the file was printed
	Cancelled Phase = "cancelled" // the print of the file was canceled
	Failed    Phase = "failed"    // the print of the file ended with an error
)

// Status is the state of a printer.
type Status struct {
	Phase     Phase
	Progress  float64       // of the file, from 0 to 1
	Remaining time.Duration // of the print; 0: not known
}

// ErrNoCamera means that a printer offers no picture.
var ErrNoCamera = &Error{Text: "the printer offers no camera picture"}

// Error is a failure of a printer. Its text may be shown to the owner of the printer.
type Error struct {
	Text string
	// Uncertain means that the printer may have done what it was asked to.
	Uncertain bool
	// Unreachable means that there was no connection or no response in time.
	Unreachable bool
}

func (e *Error) Error() string { return e.Text }

// IsUncertain reports whether a printer may have done what it was asked to, in spite of an error.
// It is true for errors that are not the printer's.
func IsUncertain(err error) bool {
	var e *Error
	return err != nil && (!errors.As(err, &e) || e.Uncertain)
}

// IsUnreachable reports whether a printer could not be reached.
func IsUnreachable(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Unreachable
}

// extensions are the file names that each program accepts, in lower case.
var extensions = map[Kind][]string{
	OctoPrint: {".gcode", ".gco", ".g"},
	Moonraker: {".gcode", ".gco", ".g"},
	PrusaLink: {".gcode", ".gco", ".g", ".bgcode", ".bgc"},
}

// Takes returns an error if printers of a kind do not accept files with a name.
func (k Kind) Takes(name string) error {
	if slices.Contains(extensions[k], strings.ToLower(path.Ext(name))) {
		return nil
	}
	return fmt.Errorf("must be a file that the printer accepts (%s)", strings.Join(extensions[k], ", "))
}

// maxRemoteName is the maximum length of a file name without the token and the extension.
const maxRemoteName = 60

// RemoteName returns the name under which a printer stores a file: ASCII letters and digits of its
// name, and a token that makes it unique.
func RemoteName(name, token string) string {
	extension := strings.ToLower(path.Ext(name))
	base := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_':
			return r
		}
		return '-'
	}, strings.TrimSuffix(name, path.Ext(name)))
	base = strings.Trim(base[:min(len(base), maxRemoteName)], "-")
	if base == "" {
		base = "print"
	}
	return base + "-" + token + extension
}
