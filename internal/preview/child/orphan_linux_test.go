package child

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/mesh/meshtest"
	"github.com/meshyard/meshyard/internal/preview"
	"github.com/meshyard/meshyard/internal/preview/cad"
)

// parentOf is the environment variable with the path of a file. If it is set, the test binary
// starts a child that makes a preview of that file.
const parentOf = "MESHYARD_TEST_PARENT_OF"

// converterOf is the environment variable with the command that converts that file.
const converterOf = "MESHYARD_TEST_CONVERTER_OF"

func init() {
	if path := os.Getenv(parentOf); path != "" && (len(os.Args) < 2 || os.Args[1] != command) {
		f, err := os.Open(path)
		runner, subject := Runner{}, preview.Subject("stl")
		if command := os.Getenv(converterOf); command != "" && err == nil {
			subject = "step"
			runner.Converter, err = cad.Parse(command)
		}
		if err == nil {
			_, _, err = runner.Derive(context.Background(), f, subject, keep(map[string][]byte{}),
				func(stage string, _ float64) { fmt.Println(stage) })
		}
		fmt.Println(err)
		os.Exit(1)
	}
}

// children returns the process IDs of the children of a process.
func children(t *testing.T, pid int) []string {
	t.Helper()
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	var all []string
	for _, list := range lists {
		b, _ := os.ReadFile(list)
		all = append(all, strings.Fields(string(b))...)
	}
	return all
}

// TestDiesWithItsParent kills a process while its child makes a preview, and checks that the child
// exits.
func TestDiesWithItsParent(t *testing.T) {
	skipUnderRace(t)
	path := file(t, meshtest.SphereSTL(1_500_000)).Name()
	parent := exec.Command("/proc/self/exe")
	parent.Env = append(os.Environ(), parentOf+"="+path)
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil { // the child has started to work
		t.Fatal(err)
	}
	pids := children(t, parent.Process.Pid)
	if len(pids) != 1 {
		t.Fatalf("the parent has the children %v, want one", pids)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	for {
		cmdline, err := os.ReadFile("/proc/" + pids[0] + "/cmdline")
		if err != nil || !strings.Contains(string(cmdline), command) {
			return // it exited, perhaps as a zombie process
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// TestSignals checks that a child ignores the signals that a terminal or a service manager also
// sends to its parent. The test does not run in parallel, so the process has no other children.
func TestSignals(t *testing.T) {
	skipUnderRace(t)
	sent := false
	_, _, err := Runner{}.Derive(t.Context(), file(t, meshtest.SphereSTL(20_000)), "stl", keep(map[string][]byte{}),
		func(string, float64) {
			if sent {
				return
			}
			sent = true
			for _, pid := range children(t, os.Getpid()) {
				for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
					id, err := strconv.Atoi(pid)
					if err := errors.Join(err, syscall.Kill(id, signal)); err != nil {
						t.Error(err)
					}
				}
			}
		})
	if err != nil || !sent {
		t.Errorf("got %v, signals sent: %v; want a preview despite the signals", err, sent)
	}
}
