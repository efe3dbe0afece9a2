package cad

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/meshyard/meshyard/internal/mesh"
)

// Job is one conversion. A preview process runs it.
type Job struct {
	Words  []string // of the converter, with the absolute path of its program
	Output mesh.Format
	Format Format // of the input
	Folder string // of its own; the only one that the converter can write to
	Memory int64  // the maximum memory of the converter and its children, and of all that it writes
	CPU    time.Duration
}

// Usage is what a running converter and its children have used so far.
type Usage struct {
	Memory int64
	CPU    time.Duration
}

const (
	maxProcesses = 32
	maxFiles     = 1000
	// abandoned is the age at which a folder belongs to no conversion: a server that was killed has
	// left it.
	abandoned = time.Hour
	prefix    = "meshyard-cad-"
)

// NewFolder creates the folder of a conversion, and removes those that were left behind.
func NewFolder() (string, error) {
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
	for _, folder := range left {
		if info, err := os.Lstat(folder); err == nil && info.IsDir() && time.Since(info.ModTime()) > abandoned {
			_ = os.RemoveAll(folder) // of another user: it stays
		}
	}
	return os.MkdirTemp("", prefix)
}

func (j *Job) tooLong() error {
	return mesh.Errorf(mesh.TooSlow, "Converting this %s file needed more than %g seconds of processor time.",
		j.Format.Title(), j.CPU.Seconds())
}

func (j *Job) tooMuchMemory() error {
	return mesh.Errorf(mesh.OutOfMemory, "Converting this %s file needed more than %d MiB of memory.", j.Format.Title(),
		j.Memory>>20)
}

func (j *Job) tooMuchDisk() error {
	return mesh.Errorf(mesh.TooLarge, "Converting this %s file wrote more than %d MiB or %d files.", j.Format.Title(),
		j.Memory>>20, maxFiles)
}

func (j *Job) tooManyProcesses() error {
	return mesh.Errorf(mesh.TooLarge, "Converting this %s file started more than %d processes.", j.Format.Title(),
		maxProcesses)
}

// failed returns the error for a converter that ended without a mesh. output is what it printed.
func (j *Job) failed(output string) error {
	for _, sign := range []string{"bad_alloc", "out of memory", "Out of memory", "Cannot allocate memory",
		"memory exhausted", "MemoryError"} {
		if strings.Contains(output, sign) {
			return j.tooMuchMemory()
		}
	}
	if last := lastLine(output); last != "" {
		return mesh.Errorf(mesh.Malformed, "The converter could not read this %s file: %q.", j.Format.Title(), last)
	}
	return mesh.Errorf(mesh.Malformed, "The converter could not read this %s file.", j.Format.Title())
}

// Refused returns the error for a mesh that could not be read. The reason is about the output of
// the converter, so it names the file that was converted.
func (j *Job) Refused(err error) error {
	bad, ok := errors.AsType[*mesh.Error](err)
	if !ok {
		return err
	}
	return mesh.Errorf(bad.Reason, "The converter read this %s file, but its mesh cannot be shown: %s", j.Format.Title(),
		bad.Message)
}

// lastLine returns the last line of text that a program printed, without control characters.
func lastLine(text string) string {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	for i := len(lines) - 1; i >= 0; i-- {
		line := strings.TrimSpace(strings.Map(func(r rune) rune {
			if !unicode.IsPrint(r) {
				return -1
			}
			return r
		}, lines[i]))
		if line != "" {
			runes := []rune(line)
			return string(runes[:min(len(runes), 160)])
		}
	}
	return ""
}
