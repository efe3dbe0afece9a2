//go:build browser

package gallery_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/test/servertest"
)

// proxyLimit is the size of the largest body that the proxy of these tests accepts.
const proxyLimit = 3 << 20

// smallProxy is a proxy in front of the server that rejects large bodies, as nginx does with
// client_max_body_size, and notes what passes.
type smallProxy struct {
	rejected  atomic.Int64
	bytes     atomic.Int64 // of the bodies of parts that were passed on
	slow      atomic.Bool  // whether bodies of parts arrive slowly
	mu        sync.Mutex
	addresses map[string]bool // of uploads
}

func (p *smallProxy) handler(pass http.Handler) http.Handler {
	p.addresses = make(map[string]bool)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > proxyLimit {
			p.rejected.Add(1)
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			_, _ = io.WriteString(w, "<html><head><title>413 Request Entity Too Large</title></head></html>")
			_, _ = io.Copy(io.Discard, r.Body) // otherwise the browser may see a broken connection
			return
		}
		if r.Method == http.MethodPatch {
			p.mu.Lock()
			p.addresses[r.URL.Path] = true
			p.mu.Unlock()
			p.bytes.Add(r.ContentLength)
			if p.slow.Load() {
				r.Body = io.NopCloser(&slowReader{r.Body})
			}
		}
		pass.ServeHTTP(w, r)
	})
}

// slowReader reads 64 KiB in 50 milliseconds.
type slowReader struct{ io.Reader }

func (r *slowReader) Read(p []byte) (int, error) {
	time.Sleep(50 * time.Millisecond)
	return r.Reader.Read(p[:min(len(p), 64<<10)])
}

// randomFile returns the path of a new file with random bytes, and their SHA-256.
func randomFile(t *testing.T, name string, size int) (path, sum string) {
	t.Helper()
	data := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{byte(size)}).Read(data)
	path = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	hash := sha256.Sum256(data)
	return path, hex.EncodeToString(hash[:])
}

// TestBrowserGalleryParts uploads large files through a proxy that accepts small bodies only. The
// browser learns what it accepts, and goes on after a pause and after the page was loaded again.
func TestBrowserGalleryParts(t *testing.T) {
	t.Parallel()
	proxy := new(smallProxy)
	s := servertest.StartBehind(t, "sqlite", proxy.handler, func(c *config.Settings) { c.UploadLimit = 1 << 30 })
	ada := s.User("ada")
	s.Password("ada", servertest.Password)
	thing := ada.Thing("Large")
	edit := fmt.Sprintf("/thing:%d/edit", thing)
	v := visitGallery(t, s)
	v.signInAs("ada")
	v.open(edit)

	// 5 MB are sent in one request at first, and 40 MB in parts at once.
	names := map[string]string{}
	var paths []string
	for name, size := range map[string]int{"medium.bin": 5_000_000, "large.bin": 40_000_000} {
		path, sum := randomFile(t, name, size)
		paths, names[name] = append(paths, path), sum
	}
	v.choose("main .drop input", paths...)
	v.patiently("both files",
		`document.querySelectorAll('.files:not(.uploads) > li').length === 2 && !document.querySelector('.uploads')`)
	if n := proxy.rejected.Load(); n == 0 || n > 8 {
		t.Errorf("the proxy rejected %d requests, want a few", n)
	}
	if sent := proxy.bytes.Load(); sent != 45_000_000 {
		t.Errorf("parts of %d bytes were sent, want 45000000", sent)
	}
	v.is("the browser remembers the limit",
		fmt.Sprintf(`localStorage.getItem('upload-part') <= %d && localStorage.getItem('upload-part') >= %d`, proxyLimit,
			proxyLimit/4))

	// Pause, continue, and load the page again in the middle.
	path, sum := randomFile(t, "paused.bin", 12_000_000)
	names["paused.bin"] = sum
	rejected, before := proxy.rejected.Load(), proxy.bytes.Load()
	proxy.slow.Store(true)
	v.choose("main .drop input", path)
	v.await("speed and remaining time",
		`/of 12 MB · .+\/s, \d+ (sec|min) left/.test(document.querySelector('.uploads')?.innerText)`)
	v.run("focus the button", `document.querySelector('.uploads [aria-label^="Pause"]').focus()`)
	v.Do(t, "press it", chromedp.KeyEvent(kb.Enter))
	v.await("that it is paused", `document.querySelector('.uploads').innerText.includes('paused')`)
	v.is("the focus stays on the button", `document.activeElement.ariaLabel === 'Continue: paused.bin'`)
	v.Do(t, "press it again", chromedp.KeyEvent(kb.Enter))
	v.await("that it goes on", `document.querySelector('.uploads [aria-label^="Pause"]')`)
	v.await("half of it", `document.querySelector('.uploads progress').value > 0.5`)
	v.run("leave without a question", `Event.prototype.preventDefault = () => {}`)
	v.open("/")
	proxy.slow.Store(false)
	v.open(edit)
	v.choose("main .drop input", path)
	v.await("the file", `document.querySelectorAll('.files:not(.uploads) > li').length === 3 && !document.querySelector('.uploads')`)
	if n := proxy.rejected.Load() - rejected; n != 0 {
		t.Errorf("%d more requests were rejected, want none", n)
	}
	// What was on its way at the pause and when the page was left is sent again.
	if sent := proxy.bytes.Load() - before; sent > 12_000_000+2*proxyLimit {
		t.Errorf("%d bytes were sent for 12 MB", sent)
	}
	if len(proxy.addresses) != 3 {
		t.Errorf("%d uploads were created, want 3", len(proxy.addresses))
	}
	v.is("nothing remains in the browser", `!Object.keys(localStorage).some(key => key.startsWith('tus::'))`)

	// Cancel.
	path, _ = randomFile(t, "canceled.bin", 12_000_001)
	proxy.slow.Store(true)
	v.choose("main .drop input", path)
	v.await("that some of it has arrived", `document.querySelector('.uploads progress')?.value > 0.2`)
	v.click(".uploads", "Remove: canceled.bin")
	v.await("that it is gone", `!document.querySelector('.uploads')`)

	var found struct {
		Thing struct {
			Files []struct{ Name, Sha256 string }
		}
		Me struct {
			Usage struct{ PendingUploads int }
		}
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(200 * time.Millisecond) {
		ada.Query(`query($id: ID!) { thing(id: $id) { files { name sha256 } } me { usage { pendingUploads } } }`,
			servertest.Object{"id": fmt.Sprint(thing)}, &found)
		if found.Me.Usage.PendingUploads == 0 || time.Now().After(deadline) {
			break
		}
	}
	if found.Me.Usage.PendingUploads != 0 {
		t.Errorf("%d pending uploads remain, want none", found.Me.Usage.PendingUploads)
	}
	for _, f := range found.Thing.Files {
		if names[f.Name] != f.Sha256 {
			t.Errorf("%s has the SHA-256 %s, want %s", f.Name, f.Sha256, names[f.Name])
		}
	}
	servertest.SoundCatalogue(t, s)
	for _, problem := range v.Problems() {
		if !strings.Contains(problem, "413") {
			t.Error(problem)
		}
	}
}
