package main_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestKillDuringTus kills the server several times during the requests of one resumable upload,
// which continues after each restart. What the server has confirmed is kept, and the file is whole.
func TestKillDuringTus(t *testing.T) {
	t.Parallel()
	const kills, perRequest = 3, 9 << 20
	built := buildBinary(t)
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			c := newCatalogue(t, built, databaseOn(t, engine))
			c.run("user", "create", "ada")
			token := strings.TrimSpace(c.run("token", "create", "ada"))
			data := make([]byte, 40<<20)
			_, _ = rand.NewChaCha8([32]byte{1}).Read(data)
			sum := sha256.Sum256(data)

			s := c.serve()
			send := func(method, path string, body io.Reader, header ...string) (*http.Response, error) {
				r, err := http.NewRequest(method, s.url+path, body)
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Authorization", "Bearer "+token)
				r.Header.Set("Tus-Resumable", "1.0.0")
				r.Header.Set("Content-Type", "application/offset+octet-stream")
				for i := 0; i < len(header); i += 2 {
					r.Header.Set(header[i], header[i+1])
				}
				response, err := http.DefaultClient.Do(r)
				if err == nil {
					response.Body.Close()
				}
				return response, err
			}
			metadata := "filename " + base64.StdEncoding.EncodeToString([]byte("a.stl")) + ",sha256 " +
				base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%x", sum))
			created, err := send(http.MethodPost, "/files/0/tus", nil, "Upload-Length", strconv.Itoa(len(data)),
				"Upload-Metadata", metadata)
			if err != nil || created.StatusCode != http.StatusCreated {
				t.Fatal(created, err)
			}
			path := "/files/0/tus/" + created.Header.Get("Upload-File-Id")
			offset := func() int {
				t.Helper()
				head, err := send(http.MethodHead, path, nil)
				if err != nil || head.StatusCode != http.StatusOK {
					t.Fatal(head, err)
				}
				n, err := strconv.Atoi(head.Header.Get("Upload-Offset"))
				if err != nil {
					t.Fatal(err)
				}
				return n
			}
			db := c.open()
			defer db.Close()
			awaitReceived := func(want int) {
				received := 0
				for deadline := time.Now().Add(time.Minute); received < want; time.Sleep(10 * time.Millisecond) {
					err := db.SQL().QueryRow("SELECT received FROM uploads").Scan(&received)
					if err != nil || time.Now().After(deadline) {
						t.Errorf("%d bytes are durable after a minute, want %d: %v", received, want, err)
						return
					}
				}
			}
			confirmed := 0
			for range kills {
				from := offset()
				if from < confirmed {
					t.Fatalf("%d bytes after a kill, and %d were confirmed", from, confirmed)
				}
				// The body stops in the middle of a part, and the server is killed while it waits, once the
				// first part is durable.
				end := min(from+perRequest+1000, len(data))
				waits := &killingReader{bytes.NewReader(data[from:end]), func() { awaitReceived(from + 8<<20); s.kill() }}
				if response, err := send(http.MethodPatch, path, waits, "Upload-Offset", strconv.Itoa(from)); err == nil {
					t.Fatalf("a request to a killed server: %d", response.StatusCode)
				}
				s = c.serve()
				if n := offset(); n < from+8<<20 || n > end {
					t.Errorf("%d bytes after the kill, want at least the first part of the bytes from %d to %d", n, from, end)
				}
				confirmed = offset()
			}
			from := offset()
			last, err := send(http.MethodPatch, path, bytes.NewReader(data[from:]), "Upload-Offset", strconv.Itoa(from))
			if err != nil || last.StatusCode != http.StatusNoContent {
				t.Fatal(last, err)
			}
			if n := offset(); n != len(data) {
				t.Errorf("%d bytes, want all", n)
			}
			c.stop(s)
			c.run("gc", "--grace", "0s")
			if out := c.run("fsck", "--grace", "0s"); out != "database and bucket agree\n" {
				t.Errorf("fsck: %s", out)
			}
		})
	}
}

// killingReader calls kill instead of ending.
type killingReader struct {
	io.Reader
	kill func()
}

func (r *killingReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err == io.EOF {
		r.kill()
		return n, io.ErrUnexpectedEOF
	}
	return n, err
}
