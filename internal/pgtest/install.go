//go:build unix

package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// binaries returns the folder of initdb and postgres. If they are missing, it installs them with
// apt-get, as root or with sudo that needs no password.
func binaries(ctx context.Context) (string, error) {
	if bin := installed(ctx); bin != "" {
		return bin, nil
	}
	missing := errors.New(
		"no PostgreSQL to test on: run \"sudo apt-get install postgresql\" or \"brew install postgresql\"" +
			" (13 or newer), or set " + Variable + " to the postgres:// URL of a role that may create databases")
	if _, err := exec.LookPath("apt-get"); err != nil {
		return "", missing
	}
	root, err := rootCommand(ctx, os.Geteuid())
	if err != nil {
		return "", fmt.Errorf("%w; it was not installed because %w", missing, err)
	}
	if err := install(ctx, root); err != nil {
		return "", fmt.Errorf("%w; trying to install it failed: %w", missing, err)
	}
	if bin := installed(ctx); bin != "" {
		return bin, nil
	}
	return "", missing
}

// rootCommand returns what to put before a command so that it runs as root: nothing for root
// itself, sudo for a user who needs no password for it.
func rootCommand(ctx context.Context, uid int) ([]string, error) {
	if uid == 0 {
		return nil, nil
	}
	if out, err := exec.CommandContext(ctx, "sudo", "-n", "true").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("sudo does not work without a password: %w %s", err, strings.TrimSpace(string(out)))
	}
	return []string{"sudo", "-n"}, nil
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

// install installs the distribution's PostgreSQL without the server it would create and start. root
// is put before commands that need root. Test processes that need it at the same time install one
// after the other.
func install(ctx context.Context, root []string) error {
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
	if err := forbidCluster(ctx, root, "/etc/postgresql-common"); err != nil {
		return err
	}
	// UCF_FORCE_CONFFOLD keeps the file of forbidCluster when the package brings its own.
	const environment = "env DEBIAN_FRONTEND=noninteractive UCF_FORCE_CONFFOLD=1 apt-get"
	for _, args := range []string{"update", "install -y --no-install-recommends -o DPkg::Lock::Timeout=300 postgresql"} {
		fmt.Fprintln(os.Stderr, "installing PostgreSQL for the tests: apt-get", args)
		if err := run(ctx, root, strings.Fields(environment+" "+args)...); err != nil {
			return err
		}
	}
	return nil
}

// forbidCluster configures postgresql-common to create no server when a version is installed,
// unless the machine has settings of its own.
func forbidCluster(ctx context.Context, root []string, folder string) error {
	const script = `mkdir -p "$1" && { [ -e "$1/createcluster.conf" ] || echo "create_main_cluster = false" > "$1/createcluster.conf"; }`
	return run(ctx, root, "sh", "-c", script, "sh", folder)
}

func run(ctx context.Context, root []string, command ...string) error {
	args := append(slices.Clone(root), command...)
	if out, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}
