package child

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/preview/cad"
)

// triangle writes a mesh of one triangle to the output of a converter.
const triangle = `printf 'solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 10 0 0\nvertex 0 10 0\nendloop\nendfacet\nendsolid a\n' > "$2"` + "\n"

// converter returns a converter that is a shell script with the input as $1 and the output as $2.
func converter(t *testing.T, shell, script string) *cad.Converter {
	t.Helper()
	name := filepath.Join(t.TempDir(), "convert")
	if err := os.WriteFile(name, []byte("#!"+shell+"\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	c, err := cad.Parse(name + " {input} {output.stl}")
	if err != nil {
		t.Fatal(err)
	}
	// Some kernels and containers have no Landlock. The gate requires these tests by this name.
	if err := c.Check(); err != nil && !strings.Contains(os.Getenv("MESHYARD_TEST_REQUIRED"), "gmsh") {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestConverter checks that the mesh that a converter writes gets a preview, and that the converter
// gets the file with its extension.
func TestConverter(t *testing.T) {
	parts, result, _, err := Runner{Converter: converter(t, "/bin/sh",
		`test "$(cat "$1")" = ISO-10303 && test "${1##*.}" = step || exit 1`+"\n"+triangle)}.derive(t, []byte("ISO-10303"),
		"step")
	if err != nil {
		t.Fatal(err)
	}
	if len(parts) != 3 || result.Mesh == nil || result.Mesh.Triangles != 1 || result.Mesh.Size != [3]float64{10, 10, 0} {
		t.Errorf("got %d parts and the mesh %+v, want 3 parts of one triangle", len(parts), result.Mesh)
	}
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), "meshyard-cad-*", "input.step"))
	for _, name := range left {
		if content, _ := os.ReadFile(name); string(content) == "ISO-10303" {
			t.Errorf("%s was left behind", name)
		}
	}
}

// TestHostileConverters runs converters that a hostile file has taken over, or could have. None
// exceeds its limits, and none reaches anything outside of its folder.
func TestHostileConverters(t *testing.T) {
	skipUnderRace(t)
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret")
	if err := os.WriteFile(secret, []byte("solid secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	listener, port := listen(t)
	var bad *mesh.Error
	var interrupted *Interrupted
	for _, c := range []struct {
		name, shell, script string
		runner              Runner
		as                  any
		message             string // empty: the file gets a preview
	}{
		{"an endless loop", "/bin/sh", "while :; do :; done", Runner{CPU: 200 * time.Millisecond}, &bad, "processor time"},
		{"many short processes", "/bin/sh", "while :; do /bin/true; done", Runner{CPU: 200 * time.Millisecond}, &bad,
			"processor time"},
		{"no end", "/bin/sh", "sleep 60", Runner{Deadline: 500 * time.Millisecond}, &interrupted,
			"took longer than 0.5 seconds"},
		{"endless output", "/bin/sh", "yes", Runner{CPU: 200 * time.Millisecond}, &bad, "processor time"},
		{"an endless file", "/bin/sh", `cat /dev/zero > "$2"`, Runner{Memory: 250 << 20}, &bad, "wrote more than 250 MiB"},
		{"many files", "/bin/sh", `i=0; while [ $i -lt 5000 ]; do i=$((i+1)); : > $i; done; ` + triangle, Runner{}, &bad,
			"or 1000 files"},
		{"huge memory", "/bin/sh", "head -c 1000000000 /dev/zero | tail -n 1 >/dev/null; exit 1", Runner{Memory: 250 << 20},
			&bad, "more than 250 MiB of memory"},
		{"many processes", "/bin/sh", "for i in $(seq 100); do sleep 60 & done; wait", Runner{}, &bad,
			"more than 32 processes"},
		{"an error", "/bin/sh", `echo "Error: not a STEP file" >&2; exit 1`, Runner{}, &bad,
			`could not read this STEP file: "Error: not a STEP file"`},
		{"nothing", "/bin/sh", "true", Runner{}, &bad, "could not read this STEP file."},
		{"no mesh", "/bin/sh", `echo "<html>" > "$2"`, Runner{}, &bad, "its mesh cannot be shown"},
		{"a pipe", "/bin/sh", `mkfifo "$2"`, Runner{}, &bad, "could not read this STEP file"},
		{"a link to a secret", "/bin/sh", "ln -s " + secret + ` "$2"`, Runner{}, &bad, "could not read this STEP file"},
		{"a read elsewhere", "/bin/sh", "cat " + secret + ` > "$2"`, Runner{}, &bad, "Permission denied"},
		{"a read of the server's memory", "/bin/sh", fmt.Sprintf(`cat /proc/%d/environ > "$2"`, os.Getpid()), Runner{}, &bad,
			"Permission denied"},
		{"a write elsewhere", "/bin/sh", "echo a > " + outside + "/written; echo a >> " + secret + "; rm " + secret + "; " +
			triangle, Runner{}, nil, ""},
		{"a network", "/bin/bash", fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%d", port) + " && exit 1; " + triangle, Runner{},
			nil, ""},
		{"a signal to the server", "/bin/sh", fmt.Sprintf("kill -KILL %d $PPID && exit 1; ", os.Getpid()) + triangle,
			Runner{}, nil, ""},
		{"a process that goes on", "/bin/sh", `(setsid sleep 61.25 || sleep 61.25) & ` + triangle, Runner{}, nil, ""},
	} {
		c.runner.Converter = converter(t, c.shell, c.script)
		_, _, usage, err := c.runner.derive(t, []byte("ISO-10303"), "step")
		switch {
		case c.message == "" && err != nil:
			t.Errorf("%s: got %T %v, want a preview", c.name, err, err)
		case c.message != "" && (!errors.As(err, c.as) || !strings.Contains(err.Error(), c.message)):
			t.Errorf("%s: got %T %v, want an error with %q", c.name, err, err, c.message)
		}
		t.Logf("%s: %s, %s of processor time", c.name, usage.Elapsed.Round(time.Millisecond),
			usage.CPU.Round(time.Millisecond))
		if limit := max(c.runner.CPU, DefaultCPU/10) + 2*time.Second; usage.CPU > limit {
			t.Errorf("%s: took %s of processor time, want at most %s", c.name, usage.CPU, limit)
		}
		if left := running("sleep\x006"); left != "" {
			t.Errorf("%s: a process goes on: %q", c.name, left)
		}
	}
	if interrupted != nil && interrupted.Starved {
		t.Error("a converter that sleeps counts as starved, so it would be tried again without end")
	}
	if _, _, err := unix.Accept(listener); !errors.Is(err, unix.EAGAIN) {
		t.Errorf("a converter reached the network: %v", err)
	}
	files, _ := os.ReadDir(outside)
	if content, _ := os.ReadFile(secret); len(files) != 1 || string(content) != "solid secret" {
		t.Errorf("a converter wrote elsewhere: %v, %q", files, content)
	}
}

// listen opens a port of the loopback address. It does not use the package net, which links libc:
// the threads of libc would take memory from the children of all tests here.
func listen(t *testing.T) (listener, port int) {
	t.Helper()
	listener, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(listener) })
	err = errors.Join(unix.Bind(listener, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), unix.Listen(listener, 1))
	at, err2 := unix.Getsockname(listener)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	return listener, at.(*unix.SockaddrInet4).Port
}

// running returns the command line of a process that begins with a text, or "".
func running(begin string) string {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range lines {
		if line, _ := os.ReadFile(name); strings.HasPrefix(string(line), begin) {
			return string(line)
		}
	}
	return ""
}

// TestConverterDiesWithTheServer kills a process while its child converts a file, and checks that
// the child and the converter end long before the converter would end by itself.
func TestConverterDiesWithTheServer(t *testing.T) {
	skipUnderRace(t)
	c := converter(t, "/bin/sh", "sleep 600.5 & sleep 600.5")
	parent := exec.Command("/proc/self/exe")
	parent.Env = append(os.Environ(), parentOf+"="+file(t, []byte("killed")).Name(),
		converterOf+"="+strings.Join(c.Words, " "))
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	for running("sleep\x00600.5") == "" {
		time.Sleep(20 * time.Millisecond)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	for running("sleep\x00600.5") != "" {
		time.Sleep(20 * time.Millisecond)
	}
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), "meshyard-cad-*", "input.step"))
	for _, name := range left { // a later conversion would remove it after an hour
		if content, _ := os.ReadFile(name); string(content) == "killed" {
			_ = os.RemoveAll(filepath.Dir(name))
		}
	}
}
