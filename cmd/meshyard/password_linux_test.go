package main_test

import (
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// TestPasswordOnTerminal checks that user password prompts on a terminal and does not echo the
// password.
func TestPasswordOnTerminal(t *testing.T) {
	t.Parallel()
	c := newCatalogue(t, buildBinary(t), "")
	c.run("migrate")
	c.run("user", "create", "ada")
	terminal := exec.Command("script", "-qec", fmt.Sprintf("'%s' user password ada --data '%s'", c.binary, c.data),
		"/dev/null")
	in, err := terminal.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := terminal.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := terminal.Start(); err != nil {
		t.Fatal(err)
	}
	var shown strings.Builder
	for letter := make([]byte, 1); !strings.HasSuffix(shown.String(), "New password of ada: "); {
		if _, err := out.Read(letter); err != nil {
			t.Fatalf("it asked for no password: %q, %v", shown.String(), err)
		}
		shown.Write(letter)
	}
	if _, err := io.WriteString(in, "correct horse battery\n"); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	if err := terminal.Wait(); err != nil || !strings.Contains(string(rest), "user ada has a new password") ||
		strings.Contains(string(rest), "horse") {
		t.Errorf("after the password: %q, %v", rest, err)
	}
}
