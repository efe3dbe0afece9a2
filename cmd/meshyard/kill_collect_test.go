package main_test

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/meshyard/meshyard/internal/bucket"
)

// fsck runs fsck, which must find no problems or, unless collected is true, only objects that gc
// can remove.
func (k *killing) fsck(collected bool) {
	k.t.Helper()
	out, stderr, err := k.try("fsck", "--rehash", "--grace", "0s")
	if err == nil {
		return
	}
	if collected || strings.TrimSpace(out) == "" {
		k.book.problem("fsck: got %v, want exit status 0: %s%s", err, out, stderr)
	}
	for line := range strings.Lines(out) {
		if !strings.Contains(line, "no file refers to it") {
			k.book.problem("fsck before gc: got %q, want nothing that gc cannot remove", strings.TrimSpace(line))
		}
	}
}

var collected = regexp.MustCompile(`(?m)^removed \d+ expired uploads? and (\d+) objects?`)

// collect runs gc, without a grace period, while no server is running.
func (k *killing) collect() {
	k.t.Helper()
	k.settle(time.Now())
	k.count(k.run("gc", "--grace", "0s"))
}

func (k *killing) count(out string) {
	m := collected.FindStringSubmatch(out)
	if m == nil {
		k.book.problem("gc: got %q, want how much it removed", out)
		return
	}
	n, _ := strconv.Atoi(m[1])
	k.book.do(func() { k.book.figures.collected += n })
}

// collectBeside runs gc while the server is working. It removes only old garbage.
func (k *killing) collectBeside() {
	k.book.do(func() { k.book.figures.gcsBeside++ })
	out, stderr, err := k.try("gc")
	if err != nil {
		k.book.problem("gc beside the server: got %v, want exit status 0: %s%s", err, out, stderr)
		return
	}
	k.count(out)
}

// killCollector starts gc and kills it. A later gc must complete its work.
func (k *killing) killCollector() {
	k.t.Helper()
	k.plantUploads()
	k.plantContents(pool(k.rng))
	k.settle(time.Now())
	p, err := k.start("gc", "--grace", "0s")
	if err != nil {
		k.t.Fatal(err)
	}
	time.Sleep(time.Duration(15+k.rng.IntN(60)) * time.Millisecond)
	p.kill()
	if p.err != nil { // otherwise gc ended before it was killed
		k.book.figures.gcKills++
	}
	k.fsck(false)
}

// plantUploads makes all uploads two hours old, and adds what kills leave behind: incomplete
// writes, and uploads without a row. It is called while no server is running.
func (k *killing) plantUploads() {
	k.t.Helper()
	for i := range 60 {
		name := make([]byte, 20)
		_, _ = rand.Read(name) // never fails
		k.plant(bucket.PendingPrefix+hex.EncodeToString(name)+[]string{"", ".tmp"}[i%2], name)
	}
	uploads, err := filepath.Glob(k.object(bucket.PendingPrefix + "*"))
	if err != nil {
		k.book.problem("%v", err)
	}
	old := time.Now().Add(-2 * time.Hour)
	for _, path := range uploads {
		if err := os.Chtimes(path, old, old); err != nil {
			k.book.problem("%v", err)
		}
	}
}

// plantContents adds old contents of finalizations that were killed after the promotion and before
// the commit. gc then removes them while clients finalize the same contents.
func (k *killing) plantContents(contents [][]byte) {
	for _, b := range contents {
		k.plant(bucket.ContentKey(contentOf(b).sha256), b)
	}
}

// plant atomically stores an object in the bucket that is two hours old, as a promotion would.
func (k *killing) plant(key string, b []byte) {
	temp, old := filepath.Join(k.data, "planted"), time.Now().Add(-2*time.Hour)
	err := os.WriteFile(temp, b, 0o640)
	if err == nil {
		err = os.Chtimes(temp, old, old)
	}
	if err == nil {
		err = os.Rename(temp, k.object(key))
	}
	if err != nil {
		k.book.problem("plant %s: %v", key, err)
	}
	k.book.do(func() { k.book.figures.planted++ })
}

func (k *killing) object(key string) string {
	return filepath.Join(k.data, "bucket", filepath.FromSlash(key))
}

// settle waits until PostgreSQL has noticed the end of a killed process, which began all its
// sessions before a time. Until then, it may still execute a commit that was in flight.
func (k *killing) settle(before time.Time) {
	k.t.Helper()
	if k.database == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, k.database)
	if err != nil {
		k.t.Fatal(err)
	}
	defer conn.Close(ctx)
	for others := 1; others > 0; time.Sleep(time.Millisecond) {
		err := conn.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
			AND backend_type = 'client backend' AND backend_start < $1`, before).Scan(&others)
		if err != nil {
			k.t.Fatalf("wait for the sessions of a killed process to end: %v", err)
		}
	}
}
