package child

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/preview"
	"github.com/meshyard/meshyard/internal/preview/cad"
)

// beat is the interval of the progress frames of a child. When the server has died, writing the
// next one fails, because the pipe has no reader, and the child exits.
const beat = 250 * time.Millisecond

// init makes one preview and exits if this process was started by [Runner] as a child. It runs in
// init, because the initialization of the packages of the server takes longer than a small preview.
// Go initializes packages in the order of their import paths once their imports are initialized,
// and this package has few imports, so it is initialized early.
func init() {
	if len(os.Args) > 2 && os.Args[1] == cad.LaunchCommand {
		fmt.Fprintln(os.Stderr, cad.LaunchCommand+":", cad.Launch(os.Args[2:]))
		os.Exit(2)
	}
	if len(os.Args) < 6 || len(os.Args) > 7 || os.Args[1] != command {
		return
	}
	memory, err1 := strconv.ParseInt(os.Args[3], 10, 64)
	cpu, err2 := time.ParseDuration(os.Args[4])
	if err := errors.Join(err1, err2); err != nil {
		fmt.Fprintln(os.Stderr, command+":", err)
		os.Exit(2)
	}
	// A terminal or a service manager signals all processes, but the server terminates its children
	// itself.
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	if err := confine(memory, cpu); err != nil {
		fmt.Fprintln(os.Stderr, command+":", err)
		os.Exit(2)
	}
	if os.Args[5] == idle {
		lowerPriority()
	}
	var job *cad.Job // if the file must be converted first
	if len(os.Args) == 7 {
		if err := json.Unmarshal([]byte(os.Args[6]), &job); err != nil {
			fmt.Fprintln(os.Stderr, command+":", err)
			os.Exit(2)
		}
		// Otherwise the runtime ends this process, without the converter, when the server has died.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	}
	os.Exit(run(preview.Subject(os.Args[2]), memory, cpu, job, os.Stdin, os.Stdout))
}

// run makes a preview of source and writes it to out as frames. It returns the exit status.
func run(subject preview.Subject, memory int64, cpu time.Duration, job *cad.Job, source *os.File, out io.Writer) int {
	frames := &frameWriter{w: out}
	var mu sync.Mutex
	var at progress
	var converter cad.Usage
	go func() {
		for range time.Tick(beat) {
			mu.Lock()
			now, also := at, converter
			mu.Unlock()
			now.Memory = residentPeak() + also.Memory
			if used := cpuTime() + also.CPU; used > cpu {
				code := end(frames, preview.Result{}, tooLong(cpu))
				endGroup(job)
				os.Exit(code)
			}
			if frames.writeJSON(frameProgress, now) != nil {
				endGroup(job)
				os.Exit(1)
			}
		}
	}()
	put := func(part preview.Part, write func(io.Writer) error) error {
		if err := frames.writeJSON(framePart, part); err != nil {
			return err
		}
		w := bufio.NewWriterSize(partWriter{frames}, maxFrame)
		if err := errors.Join(write(w), w.Flush()); err != nil {
			return err
		}
		return frames.write(framePartEnd, nil)
	}
	report := func(stage string, done float64) {
		mu.Lock()
		at = progress{Stage: stage, Done: done}
		mu.Unlock()
	}
	if job != nil {
		report("convert", 0)
		mesh, err := job.Convert(source, func(used cad.Usage) {
			mu.Lock()
			converter = used
			mu.Unlock()
		})
		if err != nil {
			code := end(frames, preview.Result{}, err)
			endGroup(job)
			return code
		}
		mu.Lock()
		converter.Memory = 0 // it has ended
		mu.Unlock()
		source, subject = mesh, preview.Subject(job.Output)
	}
	info, err := source.Stat()
	if err != nil {
		return end(frames, preview.Result{}, err)
	}
	result, err := preview.Derive(context.Background(), preview.Source{ReaderAt: source, Size: info.Size()}, subject,
		preview.LimitsFor(memory), put, report)
	if job != nil {
		err = job.Refused(err)
	}
	return end(frames, result, err)
}

// endGroup kills the converter and what it has started, and this process with them.
func endGroup(job *cad.Job) {
	if job != nil {
		cad.KillGroup()
	}
}

// end writes the last frame and returns the exit status.
func end(frames *frameWriter, result preview.Result, err error) int {
	if err := frames.writeJSON(frameProgress, progress{Done: 1, Memory: residentPeak()}); err != nil {
		return 1
	}
	var bad *mesh.Error
	switch {
	case err == nil:
		err = frames.writeJSON(frameResult, result)
	case errors.As(err, &bad):
		err = frames.writeJSON(frameRefused, bad)
	default:
		message := []byte(err.Error())
		err = frames.write(frameFailed, message[:min(len(message), maxFrame)])
	}
	if err != nil {
		return 1
	}
	return 0
}

func tooLong(cpu time.Duration) error {
	return mesh.Errorf(mesh.TooSlow, "The preview needed more than %s of processor time.", inWords(cpu))
}

// inWords formats a duration for a message, such as "2 minutes".
func inWords(d time.Duration) string {
	if d%time.Minute == 0 && d > time.Minute {
		return fmt.Sprintf("%d minutes", d/time.Minute)
	}
	if d == time.Minute {
		return "a minute"
	}
	return fmt.Sprintf("%g seconds", d.Seconds())
}
