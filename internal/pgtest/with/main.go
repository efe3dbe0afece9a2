// Command with runs a command with a PostgreSQL server for its tests:
//
//	go run ./internal/pgtest/with -- go test ./...
//
// All packages that the command tests share the server; otherwise each package would start its own.
// The exit status is that of the command, or 128 plus the number of the signal that ended it. (go
// run itself turns every failure into 1.)
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/meshyard/meshyard/internal/pgtest"
)

func main() {
	args := os.Args[1:]
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "usage: with [--] command [argument ...]")
		os.Exit(2)
	}
	status, err := run(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "with:", err)
	}
	os.Exit(status)
}

// run returns the exit status, or an error if the command did not run.
func run(args []string) (int, error) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM)

	// A signal during the start of the server cancels the start. Later signals are passed to the
	// command.
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	started := make(chan struct{})
	go func() {
		select {
		case <-signals:
			cancel()
		case <-started:
		}
	}()
	address, stop, err := pgtest.Start(ctx)
	close(started)
	if err != nil {
		return 1, err
	}
	defer stop()
	if ctx.Err() != nil {
		return 1, ctx.Err()
	}

	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), pgtest.Variable+"="+address)
	if err := cmd.Start(); err != nil {
		return 127, err
	}
	go func() {
		for s := range signals {
			_ = cmd.Process.Signal(s) // fails only if the command has ended
		}
	}()
	err = cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if status := exit.Sys().(syscall.WaitStatus); status.Signaled() {
			return 128 + int(status.Signal()), nil
		}
		return exit.ExitCode(), nil
	}
	if err != nil {
		return 1, err
	}
	return 0, nil
}
