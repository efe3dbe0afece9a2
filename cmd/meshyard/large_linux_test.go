package main_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// maxGrowth is the maximum growth of the server's memory in bytes during an upload of any size: the
// buffers of one upload, and garbage that is not collected yet.
const maxGrowth = 32 << 20

// TestLargeUpload checks that a GraphQL upload of any size needs as little memory as a REST upload,
// whether or not its length is known.
//
// MESHYARD_TEST_UPLOAD_MIB is the size in MiB.
func TestLargeUpload(t *testing.T) {
	size := numberFrom(t, "MESHYARD_TEST_UPLOAD_MIB", 64) << 20
	c := newCatalogue(t, buildBinary(t), "")
	c.settings = []string{"--upload-limit", fmt.Sprintf("%dB", size)}
	c.run("user", "create", "ada")
	token := strings.TrimSpace(c.run("token", "create", "ada"))
	s := c.serve()
	rest := [2]string{"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.bin\"\r\n\r\n",
		"/files/0/uploadFile"}
	graphQL := [2]string{`--b` + "\r\nContent-Disposition: form-data; name=\"operations\"\r\n\r\n" +
		`{"query":"mutation($file:Upload!){uploadFile(input:{file:$file}){file{id size}}}","variables":{"file":null}}` +
		"\r\n--b\r\nContent-Disposition: form-data; name=\"map\"\r\n\r\n" + `{"0":["variables.file"]}` +
		"\r\n--b\r\nContent-Disposition: form-data; name=\"0\"; filename=\"a.bin\"\r\n\r\n", "/graphql"}
	const tail = "\r\n--b--\r\n"
	upload := func(by [2]string, size int64, chunked bool) {
		t.Helper()
		r, err := http.NewRequest(http.MethodPost, s.url+by[1], io.MultiReader(strings.NewReader(by[0]),
			io.LimitReader(zeros{}, size), strings.NewReader(tail)))
		if err != nil {
			t.Fatal(err)
		}
		if !chunked {
			r.ContentLength = int64(len(by[0])) + size + int64(len(tail))
		}
		r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
		r.Header.Set("Authorization", "Bearer "+token)
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != http.StatusOK || strings.Contains(string(body), "errors") ||
			by[1] == "/graphql" && !strings.Contains(string(body), fmt.Sprint(size)) {
			t.Fatalf("%s: %d %s %v", by[1], response.StatusCode, body, err)
		}
	}
	for _, by := range [][2]string{rest, graphQL} { // so that one-time initialization happens now
		upload(by, 1<<20, false)
	}
	for _, by := range [][2]string{rest, graphQL} {
		for _, chunked := range []bool{false, true} {
			// If the peak cannot be reset, it covers the whole life of the process, which can only
			// make the growth look larger.
			_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", s.Process.Pid), []byte("5"), 0)
			before, began := s.memory(t, "VmRSS"), time.Now()
			upload(by, size, chunked)
			grown := s.memory(t, "VmHWM") - before
			t.Logf("%s, chunked %v: %d MiB in %s, memory grew from %d KiB by %d KiB", by[1], chunked, size>>20,
				time.Since(began).Round(time.Millisecond), before>>10, grown>>10)
			if grown > maxGrowth {
				t.Errorf("%s, chunked %v: memory grew by %d bytes for a file of %d", by[1], chunked, grown, size)
			}
		}
	}
}

// memory returns a value of /proc/PID/status in bytes.
func (p *process) memory(t *testing.T, name string) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		var n int64
		if _, err := fmt.Sscanf(line, name+": %d kB", &n); err == nil {
			return n << 10
		}
	}
	t.Fatalf("no %s in %s", name, status)
	return 0
}

// zeros is a reader of endless zero bytes.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
