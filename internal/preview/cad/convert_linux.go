package cad

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/meshyard/meshyard/internal/mesh"
)

// LaunchCommand is the first argument of a process that confines itself and then becomes the
// converter. The others are its limits and [Launch]'s arguments.
const LaunchCommand = "preview-converter"

// watchInterval is how often the use of a converter is checked.
const watchInterval = 100 * time.Millisecond

// Launch confines this process and executes a program in it. The arguments are the writable folder,
// the program, and the program's arguments. Launch returns only if that fails.
func Launch(args []string) error {
	if len(args) < 2 {
		return errors.New("no program")
	}
	folder, words := args[0], args[1:]
	runtime.LockOSThread() // the limits hold for this thread, which becomes the program
	for _, limit := range []struct {
		of   int
		most uint64
	}{{unix.RLIMIT_NOFILE, 256}, {unix.RLIMIT_MSGQUEUE, 0}, {unix.RLIMIT_MEMLOCK, 0}} {
		if err := unix.Setrlimit(limit.of, &unix.Rlimit{Cur: limit.most, Max: limit.most}); err != nil {
			return err
		}
	}
	if err := confine(words[0], folder); err != nil {
		return err
	}
	return fmt.Errorf("execute %s: %w", words[0], unix.Exec(words[0], words, os.Environ()))
}

// Convert converts the source, and returns the mesh, which is open for reading. Errors that the
// file causes are of type *mesh.Error. Convert calls used with what the converter has used so far.
// When it returns without an error, the converter and all processes that it started have ended.
// When it returns an error, they may run: the caller calls [KillGroup].
func (j Job) Convert(source *os.File, used func(Usage)) (*os.File, error) {
	in := filepath.Join(j.Folder, "input."+string(j.Format))
	out := filepath.Join(j.Folder, "output."+string(j.Output))
	if err := j.copyInput(source, in); err != nil {
		return nil, err
	}
	// Processes that the converter leaves behind become children of this one.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, err
	}
	// The limit is inherited. This process writes no more files.
	fileSize := unix.Rlimit{Cur: uint64(j.Memory), Max: uint64(j.Memory)}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &fileSize); err != nil {
		return nil, err
	}
	converter := &Converter{Words: j.Words, Output: j.Output}
	cmd := exec.Command("/proc/self/exe", append([]string{LaunchCommand, j.Folder}, converter.command(in, out)...)...)
	cmd.Args[0], cmd.Dir = "meshyard", j.Folder
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + j.Folder, "TMPDIR=" + j.Folder, "LANG=C.UTF-8",
		"OMP_NUM_THREADS=1"}
	printed := &tail{}
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = printed, printed, time.Second
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	failed := j.watch(ended, used)
	var limit *mesh.Error
	if errors.As(failed, &limit) {
		return nil, failed
	}
	killChildren()
	// ErrWaitDelay: a process that the converter left behind kept the output open.
	if failed != nil && !errors.Is(failed, exec.ErrWaitDelay) {
		if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			switch status.Signal() {
			case unix.SIGXCPU, unix.SIGKILL:
				return nil, j.tooLong()
			case unix.SIGXFSZ:
				return nil, j.tooMuchDisk()
			}
		}
		// A child of the converter may have got the signal, and the converter only an error.
		if size, _ := diskUse(j.Folder); size >= j.Memory {
			return nil, j.tooMuchDisk()
		}
		return nil, j.failed(printed.String())
	}
	if size, files := diskUse(j.Folder); size > j.Memory || files > maxFiles {
		return nil, j.tooMuchDisk()
	}
	mesh, err := openResult(out)
	if err != nil {
		return nil, j.failed(printed.String())
	}
	return mesh, nil
}

// copyInput copies the source to a file, from which the converter reads it by its extension.
func (j Job) copyInput(source *os.File, to string) error {
	info, err := source.Stat()
	if err != nil {
		return err
	}
	if info.Size() > j.Memory/2 {
		return mesh.Errorf(mesh.TooLarge, "The %s file has %d bytes, and files are converted up to %d.", j.Format.Title(),
			info.Size(), j.Memory/2)
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, io.NewSectionReader(source, 0, info.Size()))
	return errors.Join(err, f.Close())
}

// watch waits until the converter has ended, or has used more than its limits.
func (j Job) watch(ended <-chan error, used func(Usage)) error {
	for tick := time.NewTicker(watchInterval); ; {
		select {
		case err := <-ended:
			tick.Stop()
			return err
		case <-tick.C:
		}
		now, processes := descendants()
		used(now)
		size, files := diskUse(j.Folder)
		switch {
		case now.Memory > j.Memory:
			return j.tooMuchMemory()
		case now.CPU > j.CPU:
			return j.tooLong()
		case size > j.Memory || files > maxFiles:
			return j.tooMuchDisk()
		case processes > maxProcesses:
			return j.tooManyProcesses()
		}
	}
}

// diskUse returns the size of a folder on the disk, and the number of its files.
func diskUse(folder string) (size int64, files int) {
	_ = filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // it was removed in the meantime
		}
		if files++; files > maxFiles {
			return filepath.SkipAll
		}
		if info, err := entry.Info(); err == nil {
			if stat, ok := info.Sys().(*syscall.Stat_t); ok {
				size += stat.Blocks * 512
			}
		}
		return nil
	})
	return size, files
}

// openResult opens a file that the converter has written, which may be hostile: a link to a file
// that it cannot read itself, or a pipe that blocks.
func openResult(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no file", name)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// tail keeps the end of what is written to it.
type tail struct{ kept []byte }

func (t *tail) Write(b []byte) (int, error) {
	const most = 4 << 10
	t.kept = append(t.kept, b[max(0, len(b)-most):]...)
	t.kept = append(t.kept[:0], t.kept[max(0, len(t.kept)-most):]...)
	return len(b), nil
}

func (t *tail) String() string { return string(t.kept) }
