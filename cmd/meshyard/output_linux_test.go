package main_test

import (
	"bytes"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestOutputCannotBeWritten checks that commands fail if their standard output cannot be written.
func TestOutputCannotBeWritten(t *testing.T) {
	t.Parallel()
	c := newCatalogue(t, buildBinary(t), "")
	c.run("user", "create", "ada")
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	for _, command := range []string{"token create ada", "user list --json", "token list ada", "schema", "version"} {
		cmd := c.command(strings.Fields(command)...)
		var stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = full, &stderr
		if err := cmd.Run(); exitStatus(err) != 1 || !strings.Contains(stderr.String(), "no space left") {
			t.Errorf("meshyard %s > /dev/full: got %v, %s; want exit status 1 and an error", command, err, stderr.String())
		}
	}
}

// TestInterrupted checks that a command that a signal ends says so, and fails.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	c := newCatalogue(t, buildBinary(t), "")
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		p, err := c.start("healthcheck", "--listen", silent.Addr().String(), "--timeout", "1m")
		if err != nil {
			t.Fatal(err)
		}
		connection, err := silent.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
		if err := p.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		<-p.ended
		if exitStatus(p.err) != 1 || !strings.HasPrefix(p.stderr.String(), "meshyard: interrupted: ") {
			t.Errorf("%s: got %v, %s; want exit status 1 and that it was interrupted", signal, p.err, p.stderr.String())
		}
	}
}
