//go:build unix

package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// errExited reports a server that exited before it accepted a connection.
var errExited = errors.New("postgres exited")

// startForgetful starts a private server whose data need not survive a crash. The last of two
// values of a setting applies.
func startForgetful(ctx context.Context, overrides []string) (address string, stop func(), err error) {
	return start(ctx, place(), slices.Concat(settings, forgetful, overrides))
}

// StartDurable starts a private server in a new folder within dir, which should be on a disk: its
// commits wait until they are flushed, as in production. Benchmarks of commits need it.
func StartDurable(ctx context.Context, dir string) (address string, stop func(), err error) {
	return start(ctx, dir, settings)
}

func start(ctx context.Context, dir string, settings []string) (address string, stop func(), err error) {
	bin, err := binaries(ctx)
	if err != nil {
		return "", nil, err
	}
	sweepFolders(dir)
	// The port is free when it is chosen, but another process may take it before the server does.
	for range 3 {
		address, stop, err = startPrivate(ctx, bin, dir, settings)
		if !errors.Is(err, errExited) {
			break
		}
	}
	if err != nil {
		return "", nil, fmt.Errorf("start private PostgreSQL of %s: %w", bin, err)
	}
	return address, stop, nil
}

// supervise runs the server, which is its remaining arguments, and removes the folder, which is its
// first argument, when the server has ended. It ends the server at the end of its standard input,
// that is, when the process at the other end of the pipe stops it or dies, even by kill -9. A
// parent-death signal would require a thread that lives as long as the server, exists on Linux
// only, and leaves the folder.
//
// SIGQUIT is the immediate shutdown of PostgreSQL. It is repeated because sh starts the server with
// the signal ignored, and the server may not handle it yet.
const supervise = `
folder=$1; shift
exec 3<&0 </dev/null
"$@" 3<&- & server=$!
{ read -r _ <&3; while kill -QUIT $server; do sleep 1; done; } 2>/dev/null & watcher=$!
wait $server
kill $watcher
rm -rf -- "$folder"
`

func startPrivate(ctx context.Context, bin, dir string, settings []string) (address string, stop func(), err error) {
	return startWith(dir, func(folder string, who *syscall.Credential) (string, func(), error) {
		return runServer(ctx, bin, folder, settings, who)
	})
}

// startWith runs a server in a new folder within dir.
func startWith(dir string, run func(folder string, who *syscall.Credential) (string, func(), error)) (
	address string, stop func(), err error) {
	who, err := unprivileged()
	if err != nil {
		return "", nil, err
	}
	folder, lock, err := newFolder(dir, who)
	if err != nil {
		return "", nil, err
	}
	address, end, err := run(folder, who)
	if err != nil {
		removeFolder(folder, lock)
		return "", nil, err
	}
	return address, sync.OnceFunc(func() {
		end()
		removeFolder(folder, lock)
	}), nil
}

// runServer creates a cluster in the folder and runs a server on it. end stops the server.
func runServer(ctx context.Context, bin, folder string, settings []string,
	who *syscall.Credential) (address string, end func(), err error) {
	out, err := command(ctx, who, filepath.Join(bin, "initdb"), "--pgdata="+filepath.Join(folder, "data"),
		"--username=postgres",
		"--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync").CombinedOutput()
	if err != nil {
		return "", nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return serve(ctx, bin, folder, settings, who)
}

// serve runs a server on the cluster in the folder. end stops the server.
func serve(ctx context.Context, bin, folder string, settings []string,
	who *syscall.Credential) (address string, end func(), err error) {
	port, err := freePort()
	if err != nil {
		return "", nil, err
	}
	// The log is read through this handle if the start fails, because the folder is already removed
	// then.
	log, err := os.OpenFile(filepath.Join(folder, "log"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return "", nil, err
	}
	defer log.Close()

	name := filepath.Base(folder)
	args := []string{"-c", supervise, "sh", folder, filepath.Join(bin, "postgres"), "-D", filepath.Join(folder, "data"),
		"-p", port,
		"-c", "cluster_name=" + name}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	server := command(context.WithoutCancel(ctx), who, "/bin/sh", args...)
	// Ctrl-C in the terminal is for the tests; the server ends after them.
	server.SysProcAttr.Setpgid = true
	server.Stdout, server.Stderr = log, log
	leash, err := server.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	if err := server.Start(); err != nil {
		return "", nil, err
	}
	exited := make(chan struct{})
	go func() {
		_ = server.Wait() // the status of the shell means nothing; the log is relevant
		close(exited)
	}()
	end = func() {
		_ = leash.Close()
		<-exited
	}

	address = "postgres://postgres@127.0.0.1:" + port + "/postgres?sslmode=disable"
	if err := await(ctx, address, name, exited); err != nil {
		end()
		text, _ := io.ReadAll(io.NewSectionReader(log, 0, 1<<20))
		return "", nil, fmt.Errorf("%w\n%s", err, text)
	}
	return address, end, nil
}

var settings = []string{
	"listen_addresses=127.0.0.1",
	"unix_socket_directories=", // the default may be missing or belong to another account
	"max_connections=200",
	"shared_buffers=64MB",
	"wal_level=minimal",
	"max_wal_senders=0",    // required by wal_level=minimal
	"autovacuum=off",       // plans and timings depend only on what the test does
	"log_min_messages=log", // only problems of the server, not errors that tests provoke
}

// forgetful are the settings of a server whose data need not survive a crash.
var forgetful = []string{
	"fsync=off",
	"synchronous_commit=off",
	"full_page_writes=off",
	"max_wal_size=128MB", // the folder may be in memory
}

// await returns when the server at the address accepts connections and has the cluster name. After
// a race for the port it might be another server.
func await(ctx context.Context, address, name string, exited <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		got, err := clusterName(ctx, address)
		if err == nil && got == name {
			return nil
		}
		select {
		case <-exited:
			return errExited
		case <-ctx.Done():
			return fmt.Errorf("wait for a connection: %w", errors.Join(ctx.Err(), err))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func clusterName(ctx context.Context, address string) (string, error) {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	var name string
	err = conn.QueryRow(ctx, "SHOW cluster_name").Scan(&name)
	return name, err
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port), nil
}

// command returns a command that runs a program of PostgreSQL as the account, or as the current
// user if nil. It does not pass on the environment, because variables such as PGDATA and PGOPTIONS
// would change the behavior. Every account can read its working directory.
func command(ctx context.Context, who *syscall.Credential, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "TZ=UTC"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who}
	return cmd
}
