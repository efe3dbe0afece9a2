package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// The targets for uploads.
const (
	uploadRatio  = 0.8
	memoryGrowth = 32    // MiB
	writtenOnce  = 1.005 // relative to the size: each byte once, plus the database rows
)

// uploads has the results of the uploads to one process.
type uploads struct {
	process *process
	path    string
	token   string
	folder  string // where it stores uploads
	idle    usage  // before the first upload

	rate, cpu, growth, anonymous, written series
}

// compareUploads sends the same body in alternating turns to the server and to a bare handler. The
// server uses SQLite and a bucket in a folder. The handler hashes the body with SHA-256 and MD5 and
// copies it to a file.
func compareUploads(ctx context.Context, o options) (err error) {
	token, err := newCatalogue(ctx, o)
	if err != nil {
		return err
	}
	server, err := startServer(ctx, o, "--upload-limit", fmt.Sprintf("%dMiB", o.size>>20+1))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	folder := filepath.Join(o.dir, "bare")
	if err := os.Mkdir(folder, 0o750); err != nil {
		return err
	}
	bare, err := startBare(ctx, o, "upload", folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bare.stop()) }()

	a := &uploads{process: server, path: "/files/0/uploadFile", token: token, folder: filepath.Join(o.dir, "bucket", "pending")}
	b := &uploads{process: bare, path: "/", folder: folder}
	for _, u := range []*uploads{a, b} {
		if u.idle, err = u.process.usage(); err != nil {
			return err
		}
	}
	source := newSource()
	for i := range o.pairs + 1 {
		size := o.size
		if i == 0 {
			size = 1 << 20 // a small warm-up upload, to load code and open connections
		}
		for _, u := range inTurns(i, a, b) {
			if err := u.measure(ctx, source, size); err != nil {
				return err
			}
		}
	}
	a.forgetFirst()
	b.forgetFirst()

	t := newTable("Upload of %d MiB by POST /files/0/uploadFile, SQLite and a folder as bucket; %d turns", o.size>>20, o.pairs)
	t.row("A  meshyard serve, MB/s", "%.0f", a.rate)
	t.row("B  copy through SHA-256 and MD5 into a file, fsync, MB/s", "%.0f", b.rate)
	t.atLeast("A/B", "%.2f", a.rate.over(b.rate), uploadRatio)
	t.below("A  growth of resident memory, MiB", "%.1f", a.growth, memoryGrowth)
	t.row("A  of it anonymous, MiB", "%.1f", a.anonymous)
	t.row("B  growth of resident memory, MiB", "%.1f", b.growth)
	if onDisk(o.dir) {
		t.below("A  written to disk, times the size", "%.4f", a.written, writtenOnce)
	}
	t.row("A  processor time, s/GiB", "%.2f", a.cpu)
	t.row("B  processor time, s/GiB", "%.2f", b.cpu)
	t.print()
	return nil
}

// inTurns returns the two sides in alternating order, so that neither is always first.
func inTurns[T any](i int, a, b T) []T {
	if i%2 == 0 {
		return []T{a, b}
	}
	return []T{b, a}
}

func (u *uploads) measure(ctx context.Context, source *source, size int64) error {
	u.process.resetPeak()
	before, err := u.process.usage()
	if err != nil {
		return err
	}
	most := u.process.watchAnonymous()
	took, err := source.upload(ctx, u.process.address, u.path, u.token, size)
	anonymous := most()
	if err != nil {
		return err
	}
	after, err := u.process.usage()
	if err != nil {
		return err
	}
	const mib = 1 << 20
	u.rate = append(u.rate, float64(size)/1e6/took.Seconds())
	u.cpu = append(u.cpu, (after.cpu-before.cpu).Seconds()*(1<<30)/float64(size))
	u.growth = append(u.growth, float64(after.peak-u.idle.rss)/mib)
	u.anonymous = append(u.anonymous, float64(anonymous-u.idle.anonymous)/mib)
	u.written = append(u.written, float64(after.written-before.written)/float64(size))
	return u.clear(size)
}

// clear checks that the stored file is complete and removes it. The row in the database remains,
// which has no effect on the measurement.
func (u *uploads) clear(size int64) error {
	names, err := filepath.Glob(filepath.Join(u.folder, "*"))
	if err != nil {
		return err
	}
	if len(names) != 1 {
		return fmt.Errorf("%s: there are %d files after an upload, want one", u.folder, len(names))
	}
	info, err := os.Stat(names[0])
	if err != nil {
		return err
	}
	if info.Size() < size {
		return fmt.Errorf("%s: %d bytes, want %d or more", names[0], info.Size(), size)
	}
	if err := os.Remove(names[0]); err != nil {
		return err
	}
	time.Sleep(200 * time.Millisecond) // freeing the blocks should not count for either side
	return nil
}

func (u *uploads) forgetFirst() {
	for _, s := range []*series{&u.rate, &u.cpu, &u.growth, &u.anonymous, &u.written} {
		*s = (*s)[1:]
	}
}
