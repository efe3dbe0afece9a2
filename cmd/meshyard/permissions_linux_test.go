package main_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestDatabaseCannotBeWritten checks that the error names the file or folder if the user has no
// permission to write the SQLite database.
func TestDatabaseCannotBeWritten(t *testing.T) {
	t.Parallel()
	c := newCatalogue(t, buildBinary(t), "")
	c.run("user", "create", "ada") // creates the database and the bucket
	database := filepath.Join(c.data, "meshyard.db")
	for _, test := range []struct {
		name       string
		mode       map[string]os.FileMode
		args, says string
	}{
		{"the folder", map[string]os.FileMode{c.data: 0o500}, "serve", "SQLite cannot write " + c.data + ": permission denied for the user"},
		{"the folder, for a command that reads", map[string]os.FileMode{c.data: 0o500}, "user list", "SQLite cannot write " + c.data + ": permission denied for the user"},
		{"the file", map[string]os.FileMode{database: 0o400}, "serve", "SQLite cannot write " + database + ": permission denied for the user"},
		{"no access to the folder", map[string]os.FileMode{c.data: 0}, "user list", "run meshyard as the user of the server"},
		{"the folder above", map[string]os.FileMode{filepath.Dir(c.data): 0o500}, "serve --database-url sqlite:" + filepath.Dir(c.data) + "/new/m.db", "create the folder of the database"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for path, mode := range test.mode {
				old, err := os.Stat(path)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.Chmod(path, mode); err != nil {
					t.Fatal(err)
				}
				defer os.Chmod(path, old.Mode())
			}
			cmd := c.command(strings.Fields(test.args)...)
			if os.Getuid() == 0 {
				// Root may write everything. In a user namespace the same user is an ordinary one.
				cmd.SysProcAttr = &syscall.SysProcAttr{
					Cloneflags:  syscall.CLONE_NEWUSER,
					UidMappings: []syscall.SysProcIDMap{{ContainerID: 1000, HostID: 0, Size: 1}},
					GidMappings: []syscall.SysProcIDMap{{ContainerID: 1000, HostID: 0, Size: 1}},
				}
			}
			out, err := cmd.CombinedOutput()
			if errors.Is(err, syscall.EPERM) {
				t.Skip("this system refuses user namespaces")
			}
			if exitStatus(err) != 1 || !strings.Contains(string(out), test.says) {
				t.Errorf("meshyard %s: %v, %s; want exit status 1 and %q", test.args, err, out, test.says)
			}
		})
	}
}
