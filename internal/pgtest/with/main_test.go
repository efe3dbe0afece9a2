//go:build unix

package main

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/meshyard/meshyard/internal/pgtest"
)

// asCommand is the variable that makes the test binary run as the command: a test of kill -9 needs
// a process to kill.
const asCommand = "WITH_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

// with runs the command with a shell script and a private server, whatever the environment
// contains.
func with(t *testing.T, script string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "--", "sh", "-c", script)
	cmd.Env = append(os.Environ(), asCommand+"=1", pgtest.Variable+"=")
	cmd.Stderr = os.Stderr
	return cmd
}

func TestStatus(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, script string
		want         int
	}{
		{"success", "exit 0", 0},
		{"failure", "exit 7", 7},
		{"signal", "kill -TERM $$", 128 + 15},
		{"signal passed on", `trap 'exit 9' TERM; kill -TERM $PPID; while :; do sleep 0.1; done`, 9},
		{"variable", `case $` + pgtest.Variable + ` in postgres://*) exit 3; esac`, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			cmd := with(t, test.script)
			err := cmd.Run()
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			if got := cmd.ProcessState.ExitCode(); got != test.want {
				t.Errorf("status of %q is %d, want %d", test.script, got, test.want)
			}
		})
	}
}

func TestServerEndsWithKilledProcess(t *testing.T) {
	t.Parallel()
	cmd := with(t, `echo "$`+pgtest.Variable+`"; exec sleep 60`)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// The sleep process outlives its parent.
	t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	address, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address = strings.TrimSpace(address)
	folder := filepath.Dir(dataFolder(t, address))
	if _, err := os.Stat(folder); err != nil {
		t.Fatal(err)
	}

	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	start := time.Now()
	for {
		conn, refused := pgx.Connect(t.Context(), address)
		if refused == nil {
			_ = conn.Close(t.Context())
		}
		_, gone := os.Stat(folder)
		if refused != nil && errors.Is(gone, os.ErrNotExist) {
			t.Logf("server and data were gone after %v", time.Since(start))
			return
		}
		if time.Since(start) > 2*time.Minute {
			t.Fatalf("two minutes after kill -9: connection error %v, stat of data %v; want both to fail", refused, gone)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func dataFolder(t *testing.T, address string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	// This connection stays open: a client must not keep the server alive.
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	var folder string
	if err := conn.QueryRow(t.Context(), "SHOW data_directory").Scan(&folder); err != nil {
		t.Fatal(err)
	}
	return folder
}
