package main_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/meshyard/meshyard/test/servertest"
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
		{"the folder", map[string]os.FileMode{c.data: 0o500}, "serve", "SQLite cannot write " + c.data +
			": permission denied for the user"},
		{"the folder, for a command that reads", map[string]os.FileMode{c.data: 0o500}, "user list", "SQLite cannot write " +
			c.data + ": permission denied for the user"},
		{"the file", map[string]os.FileMode{database: 0o400}, "serve", "SQLite cannot write " + database +
			": permission denied for the user"},
		{"no access to the folder", map[string]os.FileMode{c.data: 0}, "user list", "run meshyard as the user of the server"},
		{"the folder above", map[string]os.FileMode{filepath.Dir(c.data): 0o500}, "serve --database-url sqlite:" +
			filepath.Dir(c.data) + "/new/m.db", "create the folder of the database"},
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
			out, err := asOrdinaryUser(t, c.command(strings.Fields(test.args)...))
			if exitStatus(err) != 1 || !strings.Contains(string(out), test.says) {
				t.Errorf("meshyard %s: %v, %s; want exit status 1 and %q", test.args, err, out, test.says)
			}
		})
	}
}

// asOrdinaryUser runs a command and returns its output. Root may read and write everything, so the
// command runs in a user namespace then, where the same user is an ordinary one.
func asOrdinaryUser(t *testing.T, cmd *exec.Cmd) ([]byte, error) {
	t.Helper()
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 1000, HostID: 0, Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 1000, HostID: 0, Size: 1}},
		}
	}
	out, err := cmd.CombinedOutput()
	if cmd.Process == nil {
		servertest.Refused(t, servertest.UserNamespaces, err)
	}
	return out, err
}

// TestUnreadableObject checks that backup, export and fsck report an object that cannot be read,
// and that the backup and the archive contain the others.
func TestUnreadableObject(t *testing.T) {
	t.Parallel()
	c := newCatalogue(t, buildBinary(t), "")
	c.run("user", "create", "ada")
	folder := t.TempDir()
	for name, text := range map[string]string{"one.stl": "solid one\nendsolid one\n",
		"two.stl": "solid two\nendsolid two\n", "README.md": "Two parts."} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c.run("import", "folder", folder, "--owner", "ada", "--publish", "--license", "cc")
	objects, err := filepath.Glob(filepath.Join(c.data, "bucket", "files", "*"))
	if err != nil || len(objects) != 2 {
		t.Fatalf("the objects are %q, %v", objects, err)
	}
	if err := os.Chmod(objects[0], 0); err != nil {
		t.Fatal(err)
	}
	dir, key := filepath.Join(t.TempDir(), "backup"), "files/"+filepath.Base(objects[0])
	for _, test := range []struct {
		args []string
		says []string
	}{
		{[]string{"backup", dir}, []string{": 1 object (", "\nobject " + key + ": the object cannot be read: ",
			"1 object of the database are missing from the bucket, damaged or unreadable"}},
		{[]string{"export", filepath.Join(t.TempDir(), "archive")}, []string{"exported ", "1 file content (",
			"the content with the SHA-256 " + filepath.Base(objects[0]) + " is missing from the bucket, damaged or unreadable\n",
			"1 content missing; the archive"}},
		{[]string{"fsck", "--rehash"}, []string{"object " + key + " cannot be read: ",
			"database and bucket disagree in 1 place"}},
	} {
		out, err := asOrdinaryUser(t, c.command(test.args...))
		for _, says := range test.says {
			if exitStatus(err) != 1 || !strings.Contains(string(out), says) {
				t.Errorf("meshyard %s: %v, %s; want exit status 1 and %q", test.args[0], err, out, says)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "objects", "files", filepath.Base(objects[1]))); err != nil {
		t.Errorf("the other object: %v", err)
	}
}

// TestImportFolderStopsAtOutage checks that an import stops if the bucket cannot be written, and
// skips only the thing if a file of the thing cannot be read.
func TestImportFolderStopsAtOutage(t *testing.T) {
	t.Parallel()
	binary, folder := buildBinary(t), t.TempDir()
	for _, name := range []string{"one", "two"} {
		dir := filepath.Join(folder, name)
		if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "part.stl"), []byte("solid "+name),
			0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			c := newCatalogue(t, binary, databaseOn(t, engine))
			c.run("user", "create", "ada")
			for _, test := range []struct {
				path       string
				says, not  string
				mode, back os.FileMode
			}{
				{filepath.Join(c.data, "bucket", "files"), ": one: ", ": two: ", 0o500, 0o750},
				{filepath.Join(folder, "one", "part.stl"), "imported 1 thing with 1 file", "run it again to continue", 0, 0o600},
			} {
				if err := os.Chmod(test.path, test.mode); err != nil {
					t.Fatal(err)
				}
				out, err := asOrdinaryUser(t, c.command("import", "folder", folder, "--owner", "ada", "--publish",
					"--license", "cc"))
				if err := os.Chmod(test.path, test.back); err != nil {
					t.Fatal(err)
				}
				if exitStatus(err) != 1 || !strings.Contains(string(out), test.says) || strings.Contains(string(out), test.not) {
					t.Errorf("%s has the mode %o: got %v, %s; want exit status 1 and %q, without %q", test.path, test.mode, err, out,
						test.says, test.not)
				}
			}
		})
	}
}

// TestBackupsArePrivate checks that other users of the system can read neither a backup in a folder
// that existed before nor a restored database.
func TestBackupsArePrivate(t *testing.T) {
	t.Parallel()
	built := buildBinary(t)
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			c, dir := newCatalogue(t, built, databaseOn(t, engine)), filepath.Join(t.TempDir(), "backup")
			c.run("user", "create", "ada")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			c.run("backup", dir)
			restored := newCatalogue(t, built, databaseOn(t, engine))
			restored.run("restore", dir)
			files, err := filepath.Glob(filepath.Join(dir, "*"))
			if err != nil || len(files) != 3 {
				t.Fatalf("the backup is %q, %v; want three files", files, err)
			}
			if engine == "sqlite" {
				files = append(files, filepath.Join(restored.data, "meshyard.db"))
			}
			for _, path := range files {
				if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
					t.Errorf("%s: got %v, %v; want it for the owner only", path, info, err)
				}
			}
		})
	}
}
