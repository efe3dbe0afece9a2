package things_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/test/servertest"
)

const createUploads = `mutation ($uploads: [NewStagedUploadInput!]!, $target: TargetInput) {
	createStagedUploads(input: {uploads: $uploads, target: $target}) {
		uploads { fileId formAction formFields { name value } maxSize isComplete tusUrl parts { number size url } }
	}
}`

const completeUploads = `mutation ($uploads: [CompleteUploadInput!]!) {
	completeStagedUploads(input: {uploads: $uploads}) { uploads { id error file { id size sha256 } } }
}`

// stagedUpload is an upload of createStagedUploads.
type stagedUpload struct {
	FileID     string `json:"fileId"`
	FormAction string
	FormFields []struct{ Name, Value string }
	MaxSize    int64
	IsComplete bool
	TusURL     *string `json:"tusUrl"`
	Parts      []struct {
		Number int
		Size   int
		URL    string
	}
}

func (u stagedUpload) id() int64 {
	id, _ := strconv.ParseInt(u.FileID, 10, 64)
	return id
}

func (u stagedUpload) post(c *servertest.Client, file []byte) *servertest.Response {
	form := servertest.UploadForm{Action: u.FormAction, Fields: map[string]string{}}
	for _, f := range u.FormFields {
		form.Fields[f.Name] = f.Value
	}
	return form.Post(c, file)
}

func hexOf(p []byte) string {
	sum := sha256.Sum256(p)
	return hex.EncodeToString(sum[:])
}

// create creates uploads of files by name.
func create(c *servertest.Client, target any, uploads ...servertest.Object) []stagedUpload {
	var got struct {
		CreateStagedUploads struct{ Uploads []stagedUpload }
	}
	c.Query(createUploads, servertest.Object{"uploads": uploads, "target": target}, &got)
	return got.CreateStagedUploads.Uploads
}

// completion is a result of completeStagedUploads.
type completion struct {
	ID    string
	Error *string
	File  *struct {
		Size   int64
		Sha256 string
	}
}

func complete(c *servertest.Client, uploads ...servertest.Object) []completion {
	var got struct {
		CompleteStagedUploads struct{ Uploads []completion }
	}
	c.Query(completeUploads, servertest.Object{"uploads": uploads}, &got)
	return got.CompleteStagedUploads.Uploads
}

// wantError checks that an upload is not complete, for a reason.
func (c completion) wantError(t *testing.T, part string) {
	t.Helper()
	if c.Error == nil || !strings.Contains(*c.Error, part) || c.File != nil {
		t.Errorf("upload %s: got %+v, want an error with %q", c.ID, c, part)
	}
}

// wantFile checks that an upload is complete.
func (c completion) wantFile(t *testing.T, want []byte) {
	t.Helper()
	if c.Error != nil || c.File == nil || c.File.Sha256 != hexOf(want) {
		t.Errorf("upload %s: got %+v, want a file with %s", c.ID, c, hexOf(want))
		if c.Error != nil {
			t.Log(*c.Error)
		}
	}
}

// TestStagedUploads sends the bytes of staged uploads by the form, by tus and in parts, and
// finalizes them by each of the ways.
func TestStagedUploads(t *testing.T) {
	eachTus(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		thing := ada.Thing("One")
		target := servertest.Object{"type": "THING", "id": thing}
		inS3 := strings.HasPrefix(s.Settings.BucketURL, "s3:")
		small, large := randomModel(300_000), randomModel(20_000_000)

		uploads := create(ada, target, servertest.Object{"filename": "form.stl", "size": len(small),
			"sha256": strings.ToUpper(hexOf(small))},
			servertest.Object{"filename": "tus.stl", "size": len(small)}, servertest.Object{"filename": "parts.stl",
				"size": len(large), "sha256": hexOf(large)})
		form, resumable, inParts := uploads[0], uploads[1], uploads[2]
		for _, u := range uploads {
			if u.IsComplete || u.TusURL == nil || (u.Parts != nil) != inS3 {
				t.Errorf("a new upload: %+v", u)
			}
		}
		stands(t, ada, int64(2*len(small)+len(large)), 3, 1)

		complete(ada, servertest.Object{"id": form.FileID})[0].wantError(t, "has 0 bytes of 300000")
		other := append([]byte("solid other"), small[11:]...)
		form.post(ada, other).Want(t, 400)
		form.post(ada, small[1:]).Want(t, 400)
		form.post(ada, append(bytes.Clone(small), 0)).Want(t, 400)
		nothingStaged(t, s)
		form.post(ada, small).Want(t, 200)
		tusDo(ada, "PATCH", *form.TusURL, small, "Upload-Offset", "0").Want(t, 409)

		tusPatch(t, ada, *resumable.TusURL, 0, small[:100_000]).Want(t, 204)
		complete(ada, servertest.Object{"id": resumable.FileID})[0].wantError(t, "has 100000 bytes of 300000")
		tusPatch(t, ada, *resumable.TusURL, 100_000, small[100_000:]).Want(t, 204)

		if inS3 {
			put := func(part int, data []byte) {
				t.Helper()
				r, err := http.NewRequest(http.MethodPut, inParts.Parts[part].URL, bytes.NewReader(data))
				if err != nil {
					t.Fatal(err)
				}
				response, err := http.DefaultClient.Do(r)
				if err != nil || response.StatusCode != 200 {
					t.Fatalf("part %d: %v %v", part, response, err)
				}
				response.Body.Close()
			}
			from := 0
			for i, p := range inParts.Parts {
				if !strings.Contains(p.URL, "content-length") {
					t.Errorf("the size of part %d is not signed: %s", p.Number, p.URL)
				}
				if i != 1 {
					put(i, large[from:from+p.Size])
				}
				from += p.Size
			}
			if len(inParts.Parts) != 3 || from != len(large) {
				t.Errorf("the parts have %d bytes: %+v", from, inParts.Parts)
			}
			complete(ada, servertest.Object{"id": inParts.FileID})[0].wantError(t, "has 8388608 bytes of 20000000")
			put(1, large[8<<20:16<<20])
		} else {
			tusPatch(t, ada, *inParts.TusURL, 0, large).Want(t, 204)
		}

		complete(bob, servertest.Object{"id": form.FileID})[0].wantError(t, "does not exist")
		done := complete(ada, servertest.Object{"id": form.FileID, "sha256": hexOf(small)},
			servertest.Object{"id": resumable.FileID, "sha256": hexOf(other)},
			servertest.Object{"id": inParts.FileID}, servertest.Object{"id": "999999"})
		done[0].wantFile(t, small)
		done[1].wantError(t, "the bytes have "+hexOf(small))
		done[2].wantFile(t, large)
		done[3].wantError(t, "does not exist")
		complete(ada, servertest.Object{"id": resumable.FileID})[0].wantFile(t, small)

		ada.Do("POST", fmt.Sprintf("/files/%s/finalize", form.FileID), nil).Want(t, 200)
		ada.Finalize("thing", thing, inParts.id()).Want(t, 200)
		ada.Query(`mutation ($id: ID!) { finalizeFile(input: {id: $id}) { file { id } } }`,
			servertest.Object{"id": resumable.FileID}, new(any))
		complete(ada, servertest.Object{"id": inParts.FileID})[0].wantFile(t, large)
		form.post(ada, small).Want(t, 403)
		stands(t, ada, int64(2*len(small)+len(large)), 0, 1)
		servertest.SoundCatalogue(t, s)
		nothingStaged(t, s)
	}, func(c *config.Settings) { c.UploadLimit = 32 << 20 })
}

// TestStagedUploadOfOtherBytes sends parts that do not have the declared SHA-256.
func TestStagedUploadOfOtherBytes(t *testing.T) {
	eachTus(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		data := randomModel(300_000)
		u := create(ada, nil, servertest.Object{"filename": "a.stl", "size": len(data)})[0]
		if u.Parts != nil {
			r, _ := http.NewRequest(http.MethodPut, u.Parts[0].URL, bytes.NewReader(data))
			response, err := http.DefaultClient.Do(r)
			if err != nil || response.StatusCode != 200 {
				t.Fatalf("%v %v", response, err)
			}
			response.Body.Close()
			complete(ada, servertest.Object{"id": u.FileID, "sha256": hexOf(data[1:])})[0].wantError(t,
				"the bytes have "+hexOf(data))
			complete(ada, servertest.Object{"id": u.FileID})[0].wantError(t, "does not exist")
		} else {
			ada.Query(`mutation ($id: ID!) { deletePendingUpload(input: {id: $id}) { deletedId } }`,
				servertest.Object{"id": u.FileID}, new(any))
		}
		stands(t, ada, 0, 0, 0)
		nothingStaged(t, s)
		servertest.NothingLeft(t, s, 0)
	})
}

// TestStagedUploadReplacedPart sends an upload by tus and then replaces a part of it in S3. The
// file must not get the hash of the bytes before.
func TestStagedUploadReplacedPart(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		data, other := randomModel(8<<20+1000), randomModel(8<<20)
		other[100]++
		u := create(ada, nil, servertest.Object{"filename": "a.stl", "size": len(data)})[0]
		tusPatch(t, ada, *u.TusURL, 0, data[:8<<20]).Want(t, 204)
		r, _ := http.NewRequest(http.MethodPut, u.Parts[0].URL, bytes.NewReader(other))
		response, err := http.DefaultClient.Do(r)
		if err != nil || response.StatusCode != 200 {
			t.Fatalf("%v %v", response, err)
		}
		response.Body.Close()
		tusPatch(t, ada, *u.TusURL, 8<<20, data[8<<20:]).Want(t, 204)
		complete(ada, servertest.Object{"id": u.FileID, "sha256": hexOf(data)})[0].wantError(t, "sha256: the bytes have")
		complete(ada, servertest.Object{"id": u.FileID})[0].wantFile(t, append(other, data[8<<20:]...))
	}, func(c *config.Settings) { c.BucketURL, c.UploadLimit = servertest.FakeS3(t), 32<<20 })
}

// TestUploadHeals flips a byte of a stored file. The right bytes heal it, when they are uploaded
// again, for all files that have them.
func TestUploadHeals(t *testing.T) {
	eachTus(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		data := randomModel(300_000)
		thing := ada.Thing("One")
		ada.Finalize("thing", thing, ada.Upload("a.stl", data)).Want(t, 200)
		ada.Publish(thing)
		flipped := bytes.Clone(data)
		flipped[200_000] ^= 1
		overwrite(t, s.Settings, "files/"+hexOf(data), flipped)

		known := create(ada, nil, servertest.Object{"filename": "b.stl", "size": len(data), "sha256": hexOf(data)})[0]
		if known.IsComplete {
			t.Error("damaged bytes count as known")
		}
		tusPatch(t, ada, *known.TusURL, 0, data).Want(t, 204)
		ada.Finalize("thing", thing, known.id()).Want(t, 200)
		r, _, err := s.Store.Bucket.Reader(t.Context(), "files/"+hexOf(data))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if body, err := io.ReadAll(r); err != nil || !bytes.Equal(body, data) {
			t.Errorf("the stored object still has other bytes (%v)", err)
		}
		servertest.SoundCatalogue(t, s)
	})
}

// overwrite replaces the bytes of an object, behind the back of the server.
func overwrite(t *testing.T, settings config.Settings, key string, data []byte) {
	t.Helper()
	if path, ok := strings.CutPrefix(settings.BucketURL, "file://"); ok {
		if err := os.WriteFile(filepath.Join(path, key), data, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	u, err := url.Parse(settings.BucketURL)
	if err != nil {
		t.Fatal(err)
	}
	r, _ := http.NewRequest(http.MethodPut, u.Query().Get("endpoint")+"/meshyard/"+key, bytes.NewReader(data))
	response, err := http.DefaultClient.Do(r)
	if err != nil || response.StatusCode != 200 {
		t.Fatalf("%v %v", response, err)
	}
	response.Body.Close()
}

// TestStagedUploadOfKnownBytes names bytes that the server has. A user who may not read them learns
// nothing.
func TestStagedUploadOfKnownBytes(t *testing.T) {
	eachTus(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		data := randomModel(300_000)
		thing := ada.Thing("One")
		ada.Finalize("thing", thing, ada.Upload("a.stl", data)).Want(t, 200)
		known := servertest.Object{"filename": "folder/b.stl", "size": len(data), "sha256": hexOf(data)}

		if u := create(bob, nil, known)[0]; u.IsComplete || u.TusURL == nil {
			t.Errorf("bob may not read the draft: %+v", u)
		}
		if u := create(ada, nil, servertest.Object{"filename": "b.stl", "size": len(data) - 1,
			"sha256": hexOf(data)})[0]; u.IsComplete {
			t.Errorf("another size: %+v", u)
		}
		ada.Publish(thing)
		theirs := bob.Thing("Two")
		u := create(bob, servertest.Object{"type": "THING", "id": theirs}, known)[0]
		if !u.IsComplete || u.TusURL != nil || u.Parts != nil {
			t.Errorf("bob may read the thing: %+v", u)
		}
		complete(bob, servertest.Object{"id": u.FileID})[0].wantFile(t, data)
		var named struct{ File struct{ Name string } }
		bob.Query(`query ($id: ID!) { file(id: $id) { name } }`, servertest.Object{"id": u.FileID}, &named)
		if named.File.Name != "b.stl" {
			t.Errorf("the name is %q", named.File.Name)
		}
		ada.Query(`mutation ($id: ID!) { deleteThing(input: {id: $id}) { deletedId } }`, servertest.Object{"id": thing},
			new(any))
		if _, err := s.Store.Maintenance.CollectGarbage(t.Context(), 0, false); err != nil {
			t.Fatal(err)
		}
		bob.Do("POST", fmt.Sprintf("/files/%s/finalize", u.FileID), nil).Want(t, 200)
		if r := bob.Get(fmt.Sprintf("/files/%s/download", u.FileID)); r.StatusCode >= 400 {
			t.Errorf("the download: %d %s", r.StatusCode, r.Bytes)
		}
		servertest.SoundCatalogue(t, s)
	})
}

// TestStagedUploadRefusals checks that a refused upload names its place in the input, and that no
// upload is created.
func TestStagedUploadRefusals(t *testing.T) {
	eachTus(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		fine := servertest.Object{"filename": "a.stl", "size": 100}
		for field, bad := range map[string]servertest.Object{
			"filename": {"filename": " ", "size": 5},
			"size":     {"filename": "b.stl", "size": 20_001},
			"sha256":   {"filename": "b.stl", "size": 5, "sha256": "12"},
		} {
			r := ada.GraphQL(createUploads, servertest.Object{"uploads": []servertest.Object{fine, bad}})
			if want := "uploads[1]." + field; len(r.Errors) != 1 || r.Errors[0].Extensions.Field != want {
				t.Errorf("%v: got %+v, want an error about %s", bad, r.Errors, want)
			}
		}
		if r := ada.GraphQL(createUploads, servertest.Object{"uploads": []any{}}); len(r.Errors) == 0 {
			t.Error("no uploads: got no error")
		}
		if r := ada.GraphQL(createUploads,
			servertest.Object{"uploads": []servertest.Object{fine, {"filename": "b.stl", "size": 9_950}}}); len(r.Errors) == 0 {
			t.Error("above the quota: got no error")
		}
		if r := ada.GraphQL(createUploads, servertest.Object{"uploads": []servertest.Object{fine},
			"target": servertest.Object{"type": "THING", "id": 99}}); r.Code() != "NOT_FOUND" {
			t.Errorf("a target that does not exist: %+v", r.Errors)
		}
		stands(t, ada, 0, 0, 0)
		servertest.NothingLeft(t, s, 0)
		nothingStaged(t, s)
	}, quotas(10_000, 3, 10), func(c *config.Settings) { c.UploadLimit = 20_000 })
}
