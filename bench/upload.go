package main

import (
	"bufio"
	"context"
	"crypto/md5"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// uploads has the results of the uploads to one process.
type uploads struct {
	process             *process
	path, token, folder string // folder is where it stores uploads
	idle                usage  // before the first upload

	rate, cpu, growth, written series
}

// compareUploads sends the same body in alternating turns to the server and to a bare handler. The
// server uses SQLite and a bucket in a folder. The handler hashes the body with SHA-256 and MD5 and
// copies it to a file.
func compareUploads(ctx context.Context, o options) (err error) {
	o.pairs = min(o.pairs, 5)
	token, err := o.newUser(ctx, "sqlite:"+filepath.Join(o.dir, "meshyard.db"), "bench")
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

	a := &uploads{process: server, path: "/files/0/uploadFile", token: token, folder: filepath.Join(o.dir, "bucket",
		"pending")}
	b := &uploads{process: bare, path: "/", folder: folder}
	block := make([]byte, 1<<20)
	_, _ = rand.Read(block) // returns no error
	for i := -1; i < o.pairs; i++ {
		size := o.size
		if i < 0 {
			size = 1 << 20 // a small warm-up upload, to load code and open connections
		}
		for _, u := range []*uploads{a, b} {
			if err := u.measure(ctx, block, size); err != nil {
				return err
			}
			if i < 0 {
				u.rate, u.cpu, u.growth, u.written = nil, nil, nil, nil
			}
		}
	}
	fmt.Printf("\nupload of %d MiB by POST /files/0/uploadFile, SQLite and a folder as bucket; %d turns\n\n", o.size>>20,
		o.pairs)
	printMarkdown([][]string{
		{"", "meshyard serve", "copy through SHA-256 and MD5 into a file, fsync", "wanted"},
		{"rate, MB/s", a.rate.spread(), b.rate.spread(), ""},
		{"ratio", a.rate.over(b.rate).spread(), "", "≥ 0.8"},
		{"processor time, s/GiB", a.cpu.spread(), b.cpu.spread(), ""},
		{"growth of resident memory, MiB", a.growth.spread(), b.growth.spread(), "< 32"},
		{"written to disk, times the size", a.written.spread(), b.written.spread(), "< 1.005"},
	})
	return nil
}

func (u *uploads) measure(ctx context.Context, block []byte, size int64) (err error) {
	if u.idle.rss == 0 {
		if u.idle, err = u.process.usage(); err != nil {
			return err
		}
	}
	u.process.resetPeak()
	before, err := u.process.usage()
	if err != nil {
		return err
	}
	took, err := send(ctx, u.process.address, u.path, u.token, block, size)
	if err != nil {
		return err
	}
	after, err := u.process.usage()
	if err != nil {
		return err
	}
	u.rate = append(u.rate, float64(size)/1e6/took.Seconds())
	u.cpu = append(u.cpu, (after.cpu-before.cpu).Seconds()*(1<<30)/float64(size))
	u.growth = append(u.growth, float64(after.peak-u.idle.rss)/(1<<20))
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
	time.Sleep(200 * time.Millisecond) // freeing the blocks should not count for either side
	return os.Remove(names[0])
}

// send posts a multipart form with one file of the given size, with little overhead: it writes the
// same block repeatedly, directly to the connection. It returns the time until the response was
// read.
func send(ctx context.Context, address, path, token string, block []byte, size int64) (time.Duration, error) {
	head, tail, _ := strings.Cut(postForm("", nil, "file", "part.stl", []byte("\x00")).body, "\x00")
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()

	began := time.Now()
	_, err = fmt.Fprintf(conn,
		"POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: multipart/form-data; boundary=%s\r\n"+
			"Content-Length: %d\r\n\r\n%s", path, address, token, boundary, int64(len(head)+len(tail))+size, head)
	for left := size; err == nil && left > 0; {
		var n int
		n, err = conn.Write(block[:min(left, int64(len(block)))])
		left -= int64(n)
	}
	if err == nil {
		_, err = io.WriteString(conn, tail)
	}
	// A server that rejects the upload sends a response and may already have closed the connection.
	response, readErr := http.ReadResponse(bufio.NewReader(conn), nil)
	if readErr != nil {
		return 0, fmt.Errorf("upload to %s: %w", path, errors.Join(err, readErr))
	}
	text, _ := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK || err != nil {
		return 0, fmt.Errorf("upload to %s: %s: %.300s (%v)", path, response.Status, text, err)
	}
	return time.Since(began), nil
}

// bareUpload returns a minimal upload handler. It does not parse the form: it hashes and stores the
// whole body.
func bareUpload(folder string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := keep(folder, r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_, _ = io.WriteString(w, `{"ok":"ok"}`)
	})
}

func keep(folder string, body io.Reader) (err error) {
	f, err := os.CreateTemp(folder, "upload-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	sha, sum := sha256.New(), md5.New()
	if _, err := io.CopyBuffer(io.MultiWriter(f, sha, sum), body, make([]byte, 256<<10)); err != nil {
		return err
	}
	sha.Sum(nil)
	sum.Sum(nil)
	return f.Sync()
}
