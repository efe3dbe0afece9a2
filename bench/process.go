package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// process is a measured server, real or bare, as a child process.
type process struct {
	address string // host:port
	cmd     *exec.Cmd
	ended   chan struct{}
	err     error // the reason if it has ended
}

// startServer starts the real server with additional settings. It logs to a file in the folder of
// the run.
func startServer(ctx context.Context, o options, args ...string) (*process, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	return start(ctx, filepath.Join(o.dir, "server.log"), address, o.server,
		append([]string{"serve", "--listen", address, "--data", o.dir, "--rate-limit", "0", "--quota-pending", "0"},
			args...)...)
}

// startBare starts this program as the bare handler with the given name.
func startBare(ctx context.Context, o options, name string, args ...string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	return start(ctx, filepath.Join(o.dir, "bare.log"), address, self, append([]string{"-bare", name, address},
		args...)...)
}

func start(ctx context.Context, log, address, program string, args ...string) (*process, error) {
	out, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	p := &process{address: address, ended: make(chan struct{})}
	p.cmd = exec.CommandContext(ctx, program, args...)
	p.cmd.Stdout, p.cmd.Stderr = io.Discard, out
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(syscall.SIGTERM) }
	p.cmd.WaitDelay = 20 * time.Second
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	if err := p.await(); err != nil {
		text, _ := os.ReadFile(log)
		return nil, errors.Join(fmt.Errorf("start %s: %w\n%s", program, err, bytes.TrimSpace(text)), p.stop())
	}
	return p, nil
}

// await waits until the process accepts connections. It returns an error if the process ends or
// after 30 seconds.
func (p *process) await() error {
	for range 3000 {
		if conn, err := net.Dial("tcp", p.address); err == nil {
			return conn.Close()
		}
		select {
		case <-p.ended:
			return fmt.Errorf("the process ended: %w", p.err)
		case <-time.After(10 * time.Millisecond):
		}
	}
	return errors.New("the process accepts no connections")
}

// stop sends SIGTERM and waits for the process to end. It kills the process after 20 seconds.
func (p *process) stop() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // fails if the process has ended
	select {
	case <-p.ended:
		return nil
	case <-time.After(20 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.ended
		return fmt.Errorf("process %d had to be killed", p.cmd.Process.Pid)
	}
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
