//go:build unix

package pgtest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestSweepFolders(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	long := time.Now().Add(-time.Hour)
	folder := func(age time.Time) (string, *os.File) {
		path, lock, err := newFolder(place(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, "log"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, age, age); err != nil {
			t.Fatal(err)
		}
		return path, lock
	}
	live, lock := folder(long)
	defer lock.Close()
	young, lock := folder(time.Now())
	_ = lock.Close()
	dead, lock := folder(long)
	_ = lock.Close()

	sweepFolders(place())
	for _, test := range []struct {
		name, path string
		want       error
	}{
		{"of a live process", live, nil},
		{"too recent to be removed", young, nil},
		{"of a dead process", dead, fs.ErrNotExist},
	} {
		if _, err := os.Stat(test.path); !errors.Is(err, test.want) {
			t.Errorf("stat of the folder %s after the sweep: got %v, want %v", test.name, err, test.want)
		}
	}
}

func TestSweepDatabases(t *testing.T) {
	t.Parallel()
	s, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	other, err := openSession(t.Context(), s.address.String())
	if err != nil {
		t.Fatal(err)
	}
	left := other.newName()
	if err := other.exec("CREATE DATABASE " + left + " TEMPLATE template0"); err != nil {
		t.Fatal(err)
	}
	count := func() (n int) {
		third, err := openSession(t.Context(), s.address.String()) // sweeps
		if err != nil {
			t.Fatal(err)
		}
		defer third.conn.Close(t.Context())
		if err := third.conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_database WHERE datname = $1", left).
			Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := count(); n != 1 {
		t.Errorf("%d databases of a live session after the sweep, want 1", n)
	}
	_ = other.conn.Close(t.Context())
	// The server notices the end of the session a moment later.
	for start := time.Now(); count() != 0; time.Sleep(20 * time.Millisecond) {
		if time.Since(start) > 2*time.Minute {
			t.Fatal("a closed session's database outlives the sweep")
		}
	}
}

func TestIsOpen(t *testing.T) {
	for mode, want := range map[os.FileMode]bool{0o777: true, os.ModeSticky | 0o777: true, 0o755: false, 0o700: false,
		0o776: false} {
		folder := t.TempDir()
		if err := os.Chmod(folder, mode); err != nil {
			t.Fatal(err)
		}
		if got := isOpen(folder); got != want {
			t.Errorf("a folder of mode %v: any account may delete in it: %v, want %v", mode, got, want)
		}
	}
}

// TestRootCommand checks that a user other than root installs through sudo, or gets an error with
// the reason.
func TestRootCommand(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if got, err := rootCommand(t.Context(), 0); err != nil || got != nil {
		t.Errorf("root: %q, %v; want nothing before a command", got, err)
	}
	if _, err := rootCommand(t.Context(), 1000); err == nil {
		t.Error("without sudo: no error")
	}
	for script, works := range map[string]bool{"#!/bin/sh\n[ \"$*\" = '-n true' ]\n": true,
		"#!/bin/sh\necho a password is required; exit 1\n": false} {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, "sudo"), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", folder)
		got, err := rootCommand(t.Context(), 1000)
		if works && (err != nil || strings.Join(got, " ") != "sudo -n") || !works &&
			(err == nil || !strings.Contains(err.Error(), "a password is required")) {
			t.Errorf("sudo works: %v; got %q, %v", works, got, err)
		}
	}
}

func TestForbidClusterKeepsSettings(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "postgresql-common")
	file := filepath.Join(folder, "createcluster.conf")
	if err := forbidCluster(t.Context(), nil, folder); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "create_main_cluster = false\n" {
		t.Errorf("new file holds %q (error %v)", got, err)
	}
	const own = "create_main_cluster = true\n"
	if err := os.WriteFile(file, []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := forbidCluster(t.Context(), nil, folder); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != own {
		t.Errorf("file the machine had holds %q (error %v), want %q", got, err, own)
	}
}
