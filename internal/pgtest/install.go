package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// binaries returns the folder of initdb and postgres, and installs them if possible.
func binaries(ctx context.Context) (string, error) {
	if bin := installed(ctx); bin != "" {
		return bin, nil
	}
	missing := errors.New("no PostgreSQL to test on: set " + Variable + " to the postgres:// URL of a role that may" +
		" create databases, or install PostgreSQL 13 or newer (apt-get install postgresql, brew install postgresql)")
	if _, err := exec.LookPath("apt-get"); err != nil || os.Geteuid() != 0 {
		return "", missing
	}
	if err := install(ctx); err != nil {
		return "", fmt.Errorf("%w; trying to install it failed: %w", missing, err)
	}
	if bin := installed(ctx); bin != "" {
		return bin, nil
	}
	return "", missing
}

// installed returns the first folder in which initdb and postgres both run, or "". It is not enough
// that the files exist: one may be a stub of a version manager, or in another package.
func installed(ctx context.Context) string {
	var folders []string
	if initdb, err := exec.LookPath("initdb"); err == nil {
		folders = append(folders, filepath.Dir(initdb))
	}
	if out, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output(); err == nil {
		folders = append(folders, strings.TrimSpace(string(out)))
	}
	// Debian and its derivatives install each major version in a folder outside PATH.
	debian, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	slices.SortFunc(debian, func(a, b string) int { return major(b) - major(a) })
	for _, folder := range append(folders, debian...) {
		if runs(ctx, folder, "initdb") && runs(ctx, folder, "postgres") {
			return folder
		}
	}
	return ""
}

func major(bin string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(bin)))
	return n
}

func runs(ctx context.Context, folder, program string) bool {
	out, err := exec.CommandContext(ctx, filepath.Join(folder, program), "--version").Output()
	return err == nil && strings.Contains(string(out), "(PostgreSQL)")
}

// install installs the distribution's PostgreSQL without the server it would create and start. Test processes that
// need it at the same time install one after the other.
func install(ctx context.Context) error {
	const packages = "/var/lib/apt" // locked as a whole here; apt's own locks are other files
	lock, err := os.Open(packages)
	if err != nil {
		return err
	}
	defer lock.Close()
	for syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for another process to install it: %w", ctx.Err())
		case <-time.After(time.Second):
		}
	}
	if installed(ctx) != "" {
		return nil
	}
	if err := forbidCluster("/etc/postgresql-common"); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"update"},
		{"install", "-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300", "postgresql"},
	} {
		cmd := exec.CommandContext(ctx, "apt-get", args...)
		// The last one keeps the file of forbidCluster when the package brings its own.
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive", "UCF_FORCE_CONFFOLD=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("apt-get %s: %w\n%s", args[0], err, out)
		}
	}
	return nil
}

// forbidCluster tells postgresql-common to create no server when a version is installed, unless the machine has
// settings of its own.
func forbidCluster(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(folder, "createcluster.conf"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString("create_main_cluster = false\n")
	return errors.Join(err, f.Close())
}
