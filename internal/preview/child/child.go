// Package child makes previews in child processes of the running program, so that a hostile file
// can neither slow down nor crash the server. Each child makes one preview at the lowest priority,
// with limited memory and CPU time. Its environment contains only settings of the Go runtime, and
// the content is its only open file. It returns its output through a pipe. A program that imports
// this package can run as a child without any other code.
package child

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/preview"
	"github.com/meshyard/meshyard/internal/preview/cad"
)

// command is the first argument of a child.
const command = "preview-worker"

// The last argument of a child: whether it runs at idle priority.
const (
	idle   = "idle"
	normal = "normal"
)

// Idle makes children run at idle priority, so that all other processes of the machine have
// precedence. Tests wait for previews while other work runs, so they set it to false before the
// first child starts.
var Idle = true

// The limits of a child if its Runner sets none.
const (
	DefaultMemory   = 600 << 20
	DefaultCPU      = time.Minute
	DefaultDeadline = 2 * time.Minute
)

// Runner starts child processes. The zero Runner uses the default limits.
type Runner struct {
	// Memory is the maximum memory of a child, in bytes. On systems other than Linux it is only a soft
	// limit of the garbage collector.
	Memory int64
	// CPU is the maximum CPU time of a child. It does not depend on the load of the machine, so
	// exceeding it is an error of the file.
	CPU time.Duration
	// Deadline is the maximum elapsed time of a child. On a busy machine it can be exceeded without a
	// fault of the file, so a retry may succeed.
	Deadline time.Duration
	// Converter converts CAD files. It is nil if they have no previews.
	Converter *cad.Converter
}

// Usage is the resource usage of a child.
type Usage struct {
	Elapsed time.Duration
	CPU     time.Duration
	// the peak resident memory that the child last reported, in bytes; 0 if the system does not report
	// it
	Memory int64
}

// Interrupted is the error of a child that ended for a reason that the file may not have caused. A
// retry may succeed.
type Interrupted struct {
	Message string
	// the machine was too busy: before the deadline the child got less than half of its CPU time, and
	// it did not wait for a converter, which may sleep
	Starved bool
}

func (e *Interrupted) Error() string { return e.Message }

// CrashError reports that a child crashed, or wrote invalid output. A retry would fail again. Trace
// contains the beginning and the end of its standard error.
type CrashError struct {
	State string
	Trace string
}

func (e *CrashError) Error() string {
	return fmt.Sprintf("the preview process crashed (%s): %s", e.State, e.Trace)
}

// Derive runs [preview.Derive] in a child process. source must be a regular file; it is read from
// its start. progress is called with the current stage and the completed fraction. Errors that the
// file causes are of type *mesh.Error, including those of a child that exceeded its memory or its
// CPU time. Other errors are of type *Interrupted or *CrashError, or come from put or ctx.
func (r Runner) Derive(ctx context.Context, source *os.File, subject preview.Subject, put preview.Put,
	progress func(stage string, done float64)) (preview.Result, Usage, error) {
	r.Memory, r.CPU, r.Deadline = or(r.Memory, DefaultMemory), or(r.CPU, DefaultCPU), or(r.Deadline, DefaultDeadline)
	running, cancel := context.WithTimeout(ctx, r.Deadline)
	defer cancel()
	program, err := executable()
	if err != nil {
		return preview.Result{}, Usage{}, err
	}
	priority := normal
	if Idle {
		priority = idle
	}
	cmd := exec.CommandContext(running, program, command, string(subject), strconv.FormatInt(r.Memory, 10), r.CPU.String(),
		priority)
	if format := subject.CAD(); format != "" {
		remove, err := r.convert(cmd, format)
		if err != nil {
			return preview.Result{}, Usage{}, err
		}
		defer remove()
	}
	cmd.Args[0] = "meshyard"
	cmd.Stdin = source
	cmd.Env = []string{"GOMAXPROCS=1", "GOGC=100", "GOTRACEBACK=single",
		fmt.Sprintf("GOMEMLIMIT=%d", softMemoryLimit(r.Memory))}
	trace := &headAndTail{}
	cmd.Stderr = trace
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		return preview.Result{}, Usage{}, err
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return preview.Result{}, Usage{}, fmt.Errorf("start a preview process: %w", err)
	}
	frames := &frameReader{r: out, left: maxOutput, progress: progress}
	result, err := frames.result(put)
	if err != nil {
		cancel() // kills the child if it is still running
	}
	waited := cmd.Wait()
	state := cmd.ProcessState
	usage := Usage{Elapsed: time.Since(began), CPU: state.UserTime() + state.SystemTime(), Memory: frames.memory}
	switch {
	case ctx.Err() != nil:
		return preview.Result{}, usage, ctx.Err()
	case err == nil:
		return result, usage, waited
	case frames.err == nil: // the error was reported by the child in a frame, or by put
		return preview.Result{}, usage, err
	case errors.Is(frames.err, errProtocol):
		return preview.Result{}, usage, &CrashError{State: frames.err.Error(), Trace: trace.String()}
	case errors.Is(running.Err(), context.DeadlineExceeded):
		return preview.Result{}, usage,
			&Interrupted{Message: fmt.Sprintf("The preview took longer than %s.", inWords(r.Deadline)),
				Starved: usage.CPU < r.CPU/2 && subject.CAD() == ""}
	}
	return preview.Result{}, usage, r.exitError(state, trace.String())
}

// exitError returns the error for a child that ended before it wrote its last frame.
func (r Runner) exitError(state *os.ProcessState, trace string) error {
	switch {
	case outOfMemory(trace):
		return mesh.Errorf(mesh.OutOfMemory, "The preview needed more than %d MiB of memory.", r.Memory>>20)
	case killed(state):
		return &Interrupted{Message: fmt.Sprintf("The preview process was killed (%s).", state)}
	}
	return &CrashError{State: state.String(), Trace: trace}
}

// outOfMemory reports whether the standard error of a child contains an out-of-memory error of the
// Go runtime, which has no exit status of its own.
func outOfMemory(trace string) bool {
	return strings.Contains(trace, "out of memory") || strings.Contains(trace, "cannot allocate memory") ||
		strings.Contains(trace, "failed to create new OS thread") || strings.Contains(trace, "pthread_create failed")
}

// executable returns the path of the running program. On Linux this is the file that the process
// was started from, even if an upgrade has replaced it since.
func executable() (string, error) {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe", nil
	}
	return os.Executable()
}

// headAndTail keeps the first and the last keptBytes bytes that are written to it.
type headAndTail struct{ head, tail []byte }

const keptBytes = 4 << 10

func (t *headAndTail) Write(b []byte) (int, error) {
	n := min(len(b), keptBytes-len(t.head))
	t.head = append(t.head, b[:n]...)
	t.tail = append(t.tail, b[n:]...)
	if over := len(t.tail) - keptBytes; over > 0 {
		t.tail = append(t.tail[:0], t.tail[over:]...)
	}
	return len(b), nil
}

func (t *headAndTail) String() string { return string(t.head) + string(t.tail) }

func or[T int64 | time.Duration](v, otherwise T) T {
	if v == 0 {
		return otherwise
	}
	return v
}
