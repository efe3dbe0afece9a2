// Package child makes previews in child processes of the running program, so that a hostile file
// can neither slow the server nor take it down: each child makes one preview at the lowest
// priority, with limited memory and CPU time. Its environment holds only settings of the Go
// runtime, and the content is its only open file. It returns its output through a pipe. A program
// that imports this package needs nothing else to be able to run as a child.
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
)

// command is the first argument of a child.
const command = "preview-worker"

// The last argument of a child: whether it lets every other process of the machine go first.
const (
	idle   = "idle"
	normal = "normal"
)

// Idle is whether children let every other process of the machine go first. Tests, which wait for
// previews beside other work, set it to false before the first child starts.
var Idle = true

// The limits of a child whose Runner sets none.
const (
	DefaultMemory   = 600 << 20
	DefaultCPU      = time.Minute
	DefaultDeadline = 2 * time.Minute
)

// Runner starts children. The zero Runner uses the default limits.
type Runner struct {
	// Memory is the most memory that a child may hold, in bytes. On systems without such a limit
	// (other than Linux) it is only a soft limit of the garbage collector.
	Memory int64
	// CPU is how much processor time a child may take. It does not depend on what else the machine
	// does, so a file that takes more is refused.
	CPU time.Duration
	// Deadline is how long a child may take by the clock. On a busy machine that is no fault of the
	// file, so it may be tried again.
	Deadline time.Duration
}

// Usage is what a child took.
type Usage struct {
	Elapsed time.Duration
	CPU     time.Duration
	// the most that was resident at a time, in bytes, as the child last said; 0 where the system
	// does not tell
	Memory int64
}

// Interrupted says that a child ended for reasons that need not lie in the file. Trying again may
// help.
type Interrupted struct {
	Message string
	Starved bool // the machine was too busy: the child got less than half of its processor time
}

func (e *Interrupted) Error() string { return e.Message }

// CrashError reports that a child crashed, or wrote invalid output. A retry would fail again. Trace
// holds the beginning and the end of its standard error.
type CrashError struct {
	State string
	Trace string
}

func (e *CrashError) Error() string {
	return fmt.Sprintf("the preview process crashed (%s): %s", e.State, e.Trace)
}

// Derive does what [preview.Derive] does, in a child. source must be a regular file, and is read
// from its start. Errors of the file are *mesh.Error, also where the child exceeded its memory or
// its processor time; others are *Interrupted, *CrashError, those of put, or that of ctx.
func (r Runner) Derive(ctx context.Context, source *os.File, subject preview.Subject, put preview.Put, told func(stage string, done float64)) (preview.Result, Usage, error) {
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
	cmd := exec.CommandContext(running, program, command, string(subject), strconv.FormatInt(r.Memory, 10), r.CPU.String(), priority)
	cmd.Args[0] = "meshyard"
	cmd.Stdin = source
	cmd.Env = []string{"GOMAXPROCS=1", "GOGC=100", "GOTRACEBACK=single", fmt.Sprintf("GOMEMLIMIT=%d", softMemoryLimit(r.Memory))}
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
	frames := &frameReader{r: out, left: maxOutput, told: told}
	result, err := frames.result(put)
	if err != nil {
		cancel() // kills the child, if it has not ended
	}
	waited := cmd.Wait()
	state := cmd.ProcessState
	usage := Usage{Elapsed: time.Since(began), CPU: state.UserTime() + state.SystemTime(), Memory: frames.memory}
	switch {
	case ctx.Err() != nil:
		return preview.Result{}, usage, ctx.Err()
	case err == nil:
		return result, usage, waited
	case frames.err == nil: // the child said so, or put
		return preview.Result{}, usage, err
	case errors.Is(err, errProtocol):
		return preview.Result{}, usage, &CrashError{State: err.Error(), Trace: trace.String()}
	case errors.Is(running.Err(), context.DeadlineExceeded):
		return preview.Result{}, usage, &Interrupted{Message: fmt.Sprintf("The preview took longer than %s.", inWords(r.Deadline)), Starved: usage.CPU < r.CPU/2}
	}
	return preview.Result{}, usage, r.died(state, trace.String())
}

// died says why a child ended before its work did.
func (r Runner) died(state *os.ProcessState, trace string) error {
	switch {
	case outOfMemory(trace):
		return mesh.Errorf(mesh.TooLarge, "The preview needed more than %d MiB of memory.", r.Memory>>20)
	case killed(state):
		return &Interrupted{Message: fmt.Sprintf("The preview process was killed (%s).", state)}
	}
	return &CrashError{State: state.String(), Trace: trace}
}

// outOfMemory reports whether the last output of the Go runtime says that it is out of memory: no
// exit status says so.
func outOfMemory(trace string) bool {
	return strings.Contains(trace, "out of memory") || strings.Contains(trace, "cannot allocate memory") ||
		strings.Contains(trace, "failed to create new OS thread")
}

// executable is the program of this process: on Linux the very file it was started from, even after
// an upgrade replaced it.
func executable() (string, error) {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe", nil
	}
	return os.Executable()
}

// headAndTail keeps the first and the last bytes that are written to it.
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
