//go:build unix

package pgtest

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// Replicated starts a private primary and a streaming standby of it, and returns their URLs. Both
// end with the test.
func Replicated(t testing.TB) (primary, standby string) {
	t.Helper()
	ctx := t.Context()
	bin, err := binaries(ctx)
	if err != nil {
		t.Fatal(err)
	}
	options := slices.Concat(settings, forgetful, []string{"wal_level=replica", "max_wal_senders=4", "hot_standby=on",
		"wal_receiver_status_interval=1"})
	sweepFolders(place())
	primary, stop, err := startPrivate(ctx, bin, place(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	standby, stop, err = startWith(place(), func(folder string, who *syscall.Credential) (string, func(), error) {
		if err := copyCluster(ctx, bin, folder, primary, who); err != nil {
			return "", nil, err
		}
		return serve(ctx, bin, folder, options, who)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return primary, standby
}

// copyCluster copies the cluster of a primary to the folder, for a standby that follows it.
func copyCluster(ctx context.Context, bin, folder, primary string, who *syscall.Credential) error {
	u, err := url.Parse(primary)
	if err != nil {
		return err
	}
	// The folder of binaries may have links to some programs only.
	postgres, err := filepath.EvalSymlinks(filepath.Join(bin, "postgres"))
	if err != nil {
		return err
	}
	out, err := command(ctx, who, filepath.Join(filepath.Dir(postgres), "pg_basebackup"),
		"--pgdata="+filepath.Join(folder, "data"), "--host="+u.Hostname(),
		"--port="+u.Port(), "--username=postgres", "--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast",
		"--no-sync").CombinedOutput()
	if err != nil {
		return fmt.Errorf("pg_basebackup: %w\n%s", err, out)
	}
	return nil
}
