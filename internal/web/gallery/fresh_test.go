//go:build npm

package gallery

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestFresh checks that the files in dist are what web/ builds.
func TestFresh(t *testing.T) {
	web, folder := filepath.Join("..", "..", "..", "web"), t.TempDir()
	for _, command := range [][]string{
		{"npm", "ci", "--no-audit", "--no-fund"}, {"npm", "run", "check"}, {"node", "build.mjs", folder},
	} {
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Dir = web
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", command, err, out)
		}
	}
	for name, file := range files() {
		built, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(built, file.Content) {
			t.Errorf("dist/%s is not what web/ builds: run make web", name)
		}
	}
}
