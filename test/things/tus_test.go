package things_test

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"image"
	"image/png"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/test/servertest"
)

// eachTus runs a test of resumable uploads on each engine, with the files in a folder and in S3.
func eachTus(t *testing.T, test func(t *testing.T, s *servertest.Server), change ...func(*config.Settings)) {
	t.Run("folder", func(t *testing.T) { servertest.Concurrent(t, test, change...) })
	t.Run("s3", func(t *testing.T) {
		servertest.Concurrent(t, test,
			append([]func(*config.Settings){func(c *config.Settings) { c.BucketURL = servertest.FakeS3(t) }}, change...)...)
	})
}

func tusRequest(c *servertest.Client, method, path string, body any, headers ...string) *http.Request {
	r := c.Request(method, path, body)
	r.Header.Set("Tus-Resumable", "1.0.0")
	if method == http.MethodPatch {
		r.Header.Set("Content-Type", "application/offset+octet-stream")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

func tusDo(c *servertest.Client, method, path string, body any, headers ...string) *servertest.Response {
	return c.Send(tusRequest(c, method, path, body, headers...))
}

// tusMetadata encodes pairs of names and values for the header Upload-Metadata.
func tusMetadata(pairs ...string) string {
	var list []string
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, pairs[i]+" "+base64.StdEncoding.EncodeToString([]byte(pairs[i+1])))
	}
	return strings.Join(list, ",")
}

// tusCreate creates an upload and returns its URL and the ID of its file.
func tusCreate(t *testing.T, c *servertest.Client, name string, size int) (address string, id int64) {
	t.Helper()
	r := tusDo(c, "POST", "/files/0/tus", nil, "Upload-Length", strconv.Itoa(size), "Upload-Metadata",
		tusMetadata("filename", name)).Want(t, 201)
	id, err := strconv.ParseInt(r.Header.Get("Upload-File-Id"), 10, 64)
	if err != nil {
		t.Fatalf("no ID of a file: %v", r.Header)
	}
	return r.Header.Get("Location"), id
}

func tusPatch(t *testing.T, c *servertest.Client, address string, offset int, body []byte,
	headers ...string) *servertest.Response {
	t.Helper()
	return tusDo(c, "PATCH", address, body, append([]string{"Upload-Offset", strconv.Itoa(offset)}, headers...)...)
}

// tusOffset returns how many bytes the server has.
func tusOffset(t *testing.T, c *servertest.Client, address string) int {
	t.Helper()
	n, err := strconv.Atoi(tusDo(c, "HEAD", address, nil).Want(t, 200).Header.Get("Upload-Offset"))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// wantContent checks the state and the bytes of a file of the caller, and attaches it to a new
// thing.
func wantContent(t *testing.T, s *servertest.Server, c *servertest.Client, id int64, want []byte) {
	t.Helper()
	thing := c.Thing("Attached " + strconv.FormatInt(id, 10))
	c.Finalize("thing", thing, id).Want(t, 200)
	var sum string
	if err := servertest.OpenDB(t, s).SQL().QueryRow("SELECT sha256 FROM files WHERE id = " + strconv.FormatInt(id, 10)).
		Scan(&sum); err != nil {
		t.Fatal(err)
	}
	if hash := sha256.Sum256(want); sum != hex.EncodeToString(hash[:]) {
		t.Errorf("file %d has the SHA-256 %s, want %x", id, sum, hash)
	}
	servertest.SoundCatalogue(t, s)
}

func randomModel(n int) []byte {
	data := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(n)}).Read(data)
	copy(data, "solid")
	return data
}

// TestTusProtocol checks creation, parts, deferred lengths, checksums, termination and
// concatenation.
func TestTusProtocol(t *testing.T) {
	eachTus(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		options := tusDo(ada, "OPTIONS", "/files/0/tus", nil).Want(t, 200).Header
		for _, extension := range []string{"creation", "creation-with-upload", "creation-defer-length", "termination",
			"expiration", "checksum", "concatenation"} {
			if !strings.Contains(","+options.Get("Tus-Extension")+",", ","+extension+",") {
				t.Errorf("Tus-Extension is %q, want %s", options.Get("Tus-Extension"), extension)
			}
		}
		data := randomModel(300_000)

		address, id := tusCreate(t, ada, "a.stl", len(data))
		if !strings.HasPrefix(address, s.URL+"/files/0/tus/") {
			t.Errorf("the URL is %s", address)
		}
		if n := tusOffset(t, ada, address); n != 0 {
			t.Errorf("a new upload has %d bytes", n)
		}
		tusPatch(t, ada, address, 0, data[:100_000]).Want(t, 204)
		tusPatch(t, ada, address, 5, data[5:]).Want(t, 409)
		tusPatch(t, ada, address, 100_000, append(bytes.Clone(data[100_000:]), 'x')).Want(t, 413)
		if n := tusOffset(t, ada, address); n != 100_000 {
			t.Fatalf("%d bytes, want 100000", n)
		}
		last := tusPatch(t, ada, address, 100_000, data[100_000:]).Want(t, 204)
		if got := last.Header.Get("Upload-File-Id"); got != strconv.FormatInt(id, 10) {
			t.Errorf("the file is %s, want %d", got, id)
		}
		if n := tusOffset(t, ada, address); n != len(data) {
			t.Errorf("%d bytes, want all", n)
		}
		wantContent(t, s, ada, id, data)

		// With the first bytes, and a length that is declared later.
		r := tusDo(ada, "POST", "/files/0/tus", data[:1000], "Upload-Defer-Length", "1", "Content-Type",
			"application/offset+octet-stream",
			"Upload-Metadata", tusMetadata("filename", "b.stl")).Want(t, 201)
		if r.Header.Get("Upload-Offset") != "1000" || r.Header.Get("Location") == "" {
			t.Errorf("creation with upload: %v", r.Header)
		}
		if h := tusDo(ada, "HEAD", r.Header.Get("Location"), nil).Want(t, 200).Header; h.Get("Upload-Defer-Length") != "1" ||
			h.Get("Upload-Expires") == "" {
			t.Errorf("before the length is known: %v", h)
		}
		done := tusPatch(t, ada, r.Header.Get("Location"), 1000, data[1000:], "Upload-Length", strconv.Itoa(len(data))).
			Want(t, 204)
		id, _ = strconv.ParseInt(done.Header.Get("Upload-File-Id"), 10, 64)
		wantContent(t, s, ada, id, data)

		// Checksums.
		sum := func(p []byte) string {
			hash := sha1.Sum(p)
			return "sha1 " + base64.StdEncoding.EncodeToString(hash[:])
		}
		digest := func(p []byte) string {
			hash := sha256.Sum256(p)
			return "sha-256=:" + base64.StdEncoding.EncodeToString(hash[:]) + ":"
		}
		address, id = tusCreate(t, ada, "c.stl", len(data))
		tusPatch(t, ada, address, 0, data[:1000], "Upload-Checksum", sum(data[:1000])).Want(t, 204)
		tusPatch(t, ada, address, 1000, data[1000:2000], "Upload-Checksum", sum(data[1001:2001])).Want(t, 460)
		tusPatch(t, ada, address, 1000, data[1000:2000], "Content-Digest", digest(data[1001:2001])).Want(t, 400)
		tusPatch(t, ada, address, 1000, data[1000:2000], "Upload-Checksum", "crc32 AAAA").Want(t, 400)
		if n := tusOffset(t, ada, address); n != 1000 {
			t.Errorf("%d bytes after wrong checksums, want 1000", n)
		}
		tusPatch(t, ada, address, 1000, data[1000:], "Content-Digest", digest(data[1000:])).Want(t, 204)
		wantContent(t, s, ada, id, data)

		// The SHA-256 of the whole, and an empty upload.
		hash := sha256.Sum256(data)
		tusDo(ada, "POST", "/files/0/tus", data[:2000], "Upload-Length", "2000", "Content-Type",
			"application/offset+octet-stream",
			"Upload-Metadata", tusMetadata("filename", "d.stl", "sha256", hex.EncodeToString(hash[:]))).Want(t, 400)
		tusDo(ada, "POST", "/files/0/tus", nil, "Upload-Length", "0", "Upload-Metadata", tusMetadata("filename", "e.stl")).
			Want(t, 400)
		tusDo(ada, "POST", "/files/0/tus", nil, "Upload-Length", "5").Want(t, 400)

		// Termination.
		address, _ = tusCreate(t, ada, "f.stl", 1000)
		tusPatch(t, ada, address, 0, data[:500]).Want(t, 204)
		tusDo(ada, "DELETE", address, nil).Want(t, 204)
		tusDo(ada, "HEAD", address, nil).Want(t, 404)

		// Concatenation.
		var parts []string
		for _, span := range [][2]int{{0, 120_000}, {120_000, len(data)}} {
			part := tusDo(ada, "POST", "/files/0/tus", data[span[0]:span[1]], "Upload-Length", strconv.Itoa(span[1]-span[0]),
				"Upload-Concat", "partial",
				"Content-Type", "application/offset+octet-stream").Want(t, 201)
			parts = append(parts, part.Header.Get("Location"))
			ada.Finalize("thing", ada.Thing("Never"), func() int64 {
				n, _ := strconv.ParseInt(part.Header.Get("Upload-File-Id"),
					10, 64)
				return n
			}()).Want(t, 404)
		}
		bob := s.User("bob")
		tusDo(bob, "POST", "/files/0/tus", nil, "Upload-Concat", "final;"+strings.Join(parts, " "), "Upload-Metadata",
			tusMetadata("filename", "g.stl")).Want(t, 404)
		whole := tusDo(ada, "POST", "/files/0/tus", nil, "Upload-Concat", "final;"+strings.Join(parts, " "),
			"Upload-Metadata", tusMetadata("filename", "g.stl")).Want(t, 201)
		id, _ = strconv.ParseInt(whole.Header.Get("Upload-File-Id"), 10, 64)
		if h := tusDo(ada, "HEAD", whole.Header.Get("Location"), nil).Want(t, 200).
			Header; !strings.HasPrefix(h.Get("Upload-Concat"), "final;") || h.Get("Upload-Offset") != strconv.Itoa(len(data)) {
			t.Errorf("the joined upload: %v", h)
		}
		tusPatch(t, ada, whole.Header.Get("Location"), len(data), []byte("x")).Want(t, 403)
		wantContent(t, s, ada, id, data)
		for _, part := range parts {
			tusDo(ada, "DELETE", part, nil).Want(t, 204)
		}
		nothingStaged(t, s)
	})
}

// nothingStaged checks that a garbage collection finds nothing.
func nothingStaged(t *testing.T, s *servertest.Server) {
	t.Helper()
	sweep, err := s.Store.Maintenance.CollectGarbage(context.Background(), 0, true)
	if err != nil || len(sweep.StagedUploads)+len(sweep.PendingObjects) > 0 {
		t.Errorf("left behind: %+v, %v", sweep, err)
	}
}

// cutReader fails after the time that the bytes before need on a slow link.
type cutReader struct{}

func (cutReader) Read([]byte) (int, error) {
	time.Sleep(50 * time.Millisecond)
	return 0, io.ErrClosedPipe
}

// TestTusCut cuts the connection every 100 KB.
func TestTusCut(t *testing.T) {
	eachTus(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		data := randomModel(5_000_000)
		address, id := tusCreate(t, ada, "cut.stl", len(data))
		sent := 0
		for tries := 0; ; tries++ {
			offset := tusOffset(t, ada, address)
			if offset == len(data) {
				break
			}
			if tries > 60 {
				t.Fatalf("%d bytes after %d requests", offset, tries)
			}
			end := min(offset+100_000, len(data))
			sent += end - offset
			body := io.MultiReader(bytes.NewReader(data[offset:end]), cutReader{})
			if end == len(data) {
				body = bytes.NewReader(data[offset:])
			}
			r := tusRequest(ada, "PATCH", address, body, "Upload-Offset", strconv.Itoa(offset), "Authorization",
				"Bearer "+ada.Token)
			r.ContentLength = int64(len(data) - offset)
			if response, err := http.DefaultClient.Do(r); err == nil {
				response.Body.Close()
			}
		}
		if sent > len(data)*11/10 {
			t.Errorf("%d bytes were sent for %d", sent, len(data))
		}
		wantContent(t, s, ada, id, data)
		nothingStaged(t, s)
	})
}

// TestTusOthers checks that an upload of another user seems not to exist, and that nobody stops it.
func TestTusOthers(t *testing.T) {
	eachTus(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		address, _ := tusCreate(t, ada, "a.stl", 1000)
		for _, method := range []string{"HEAD", "PATCH", "DELETE"} {
			got := tusDo(bob, method, address, nil, "Upload-Offset", "0").Want(t, 404)
			none := tusDo(bob, method, "/files/0/tus/999999", nil, "Upload-Offset", "0").Want(t, 404)
			id := address[strings.LastIndexByte(address, '/')+1:]
			if want := strings.ReplaceAll(string(none.Bytes), "999999", id); string(got.Bytes) != want {
				t.Errorf("%s: got %s, want %s", method, got.Bytes, want)
			}
			tusDo(s.Client(""), method, address, nil, "Upload-Offset", "0").Want(t, 401)
		}
		tusDo(s.Client(""), "POST", "/files/0/tus", nil, "Upload-Length", "5").Want(t, 401)
		tusPatch(t, ada, address, 0, randomModel(1000)).Want(t, 204)
	})
}

// TestTusTwoWriters sends an upload by two requests at once: the later one takes over, and the
// bytes of both never interleave.
func TestTusTwoWriters(t *testing.T) {
	eachTus(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		data := randomModel(400_000)
		address, id := tusCreate(t, ada, "a.stl", len(data))
		hanging, stop := io.Pipe()
		first := make(chan int, 1)
		go func() {
			r := tusRequest(ada, "PATCH", address, hanging, "Upload-Offset", "0", "Authorization", "Bearer "+ada.Token)
			r.ContentLength = int64(len(data))
			response, err := http.DefaultClient.Do(r)
			if err != nil {
				first <- 0
				return
			}
			response.Body.Close()
			first <- response.StatusCode
		}()
		if _, err := stop.Write(data[:150_000]); err != nil {
			t.Fatal(err)
		}
		time.Sleep(200 * time.Millisecond) // until the server has taken the lock
		offset := tusOffset(t, ada, address)
		if offset == 0 || offset > 150_000 {
			t.Errorf("the second client continues at %d, want what the first one has sent", offset)
		}
		go func() {
			_, _ = stop.Write(bytes.Repeat([]byte{'x'}, 100_000))
			_ = stop.CloseWithError(io.ErrClosedPipe)
		}()
		tusPatch(t, ada, address, offset, data[offset:]).Want(t, 204)
		if status := <-first; status == 204 {
			t.Error("the first client succeeded, too")
		}
		wantContent(t, s, ada, id, data)
	})
}

// TestTusQuota refuses what exceeds a limit before its first byte.
func TestTusQuota(t *testing.T) {
	eachTus(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		tusDo(ada, "POST", "/files/0/tus", nil, "Upload-Length", "20001", "Upload-Metadata",
			tusMetadata("filename", "a.stl")).Want(t, 413)
		address, id := tusCreate(t, ada, "a.stl", 6000)
		if over := tusDo(ada, "POST", "/files/0/tus", nil, "Upload-Length", "4001", "Upload-Metadata",
			tusMetadata("filename", "b.stl")); over.StatusCode != 413 && over.StatusCode != 400 ||
			!strings.Contains(string(over.Bytes), "10000 bytes in total, of which 4000 bytes are left") {
			t.Errorf("above the quota: %d %s", over.StatusCode, over.Bytes)
		}
		stands(t, ada, 6000, 1, 0)
		tusPatch(t, ada, address, 0, solid(6000, "a")).Want(t, 204)
		stands(t, ada, 6000, 1, 0)
		// An upload of unknown length stops at the quota.
		r := tusDo(ada, "POST", "/files/0/tus", nil, "Upload-Defer-Length", "1", "Upload-Metadata",
			tusMetadata("filename", "c.stl")).Want(t, 201)
		tusPatch(t, ada, r.Header.Get("Location"), 0, solid(3000, "c")).Want(t, 204)
		if over := tusPatch(t, ada, r.Header.Get("Location"), 3000, solid(3000, "d")); over.StatusCode < 400 {
			t.Errorf("above the quota: %d", over.StatusCode)
		}
		stands(t, ada, 9000, 2, 0)
		tusDo(ada, "DELETE", r.Header.Get("Location"), nil).Want(t, 204)
		stands(t, ada, 6000, 1, 0)
		wantContent(t, s, ada, id, solid(6000, "a"))
		nothingStaged(t, s)
	}, quotas(10000, 3, 10), func(c *config.Settings) { c.UploadLimit = 20000 })
}

// TestTusExpiry lets an upload expire, and collects it.
func TestTusExpiry(t *testing.T) {
	eachTus(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		address, id := tusCreate(t, ada, "a.stl", 2000)
		tusPatch(t, ada, address, 0, solid(1000, "a")).Want(t, 204)
		nothingStaged(t, s)
		past := "UPDATE files SET expires_at = '2020-01-01T00:00:00Z' WHERE id = " + fmt.Sprint(id)
		if strings.HasPrefix(s.Settings.DatabaseURL, "sqlite") {
			past = "UPDATE files SET expires_at = '2020-01-01 00:00:00+00:00' WHERE id = " + fmt.Sprint(id)
		}
		if _, err := servertest.OpenDB(t, s).SQL().Exec(past); err != nil {
			t.Fatal(err)
		}
		tusDo(ada, "HEAD", address, nil).Want(t, 404)
		if _, err := s.Store.Maintenance.CollectGarbage(context.Background(), 0, false); err != nil {
			t.Fatal(err)
		}
		nothingStaged(t, s)
		servertest.NothingLeft(t, s, 0)
	})
}

// TestTusImage checks that metadata of images is removed, as in other uploads.
func TestTusImage(t *testing.T) {
	eachTus(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		picture := withComment(t)
		address, id := tusCreate(t, ada, "a.png", len(picture))
		tusPatch(t, ada, address, 0, picture).Want(t, 204)
		if n := tusOffset(t, ada, address); n != len(picture) {
			t.Errorf("the offset is %d, want %d", n, len(picture))
		}
		var size int
		if err := servertest.OpenDB(t, s).SQL().QueryRow("SELECT size FROM files WHERE id = " + fmt.Sprint(id)).
			Scan(&size); err != nil || size >= len(picture) {
			t.Errorf("the image has %d bytes (%v), of %d with metadata", size, err, len(picture))
		}
		nothingStaged(t, s)
		servertest.SoundCatalogue(t, s)
	})
}

// withComment returns a PNG with a comment, which is metadata.
func withComment(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 4, 4))); err != nil {
		t.Fatal(err)
	}
	text := []byte("tEXtComment\x00taken at home")
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(text)-4))
	chunk = binary.BigEndian.AppendUint32(append(chunk, text...), crc32.ChecksumIEEE(text))
	const header = 8 + 25 // the signature and IHDR
	return slices.Concat(b.Bytes()[:header], chunk, b.Bytes()[header:])
}
