package servertest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/fsck"
)

// CodeStatus is the REST status for a GraphQL error code, as the specification of the legacy wire
// format defines it.
var CodeStatus = map[string]int{
	"": 200, "BAD_USER_INPUT": 400, "CONFLICT": 400, "TOO_LARGE": 400, "UNAUTHENTICATED": 401, "FORBIDDEN": 403,
	"NOT_FOUND": 404,
}

// CheckErrorBody checks that an error has the documented body.
func CheckErrorBody(t *testing.T, r *Response) {
	t.Helper()
	var body struct {
		Error, Type, Message string
		Code                 int
	}
	if err := json.Unmarshal(r.Bytes, &body); err != nil {
		t.Fatalf("no JSON: %s", r.Bytes)
	}
	words := map[int]string{400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found"}[r.StatusCode]
	if body.Error != words || r.Header.Get("X-Error") != words || body.Code != r.StatusCode || body.Message == "" ||
		body.Type == "" {
		t.Errorf("error %+v, X-Error %q: want %q, code %d, a type and a message", body, r.Header.Get("X-Error"), words,
			r.StatusCode)
	}
	if (r.StatusCode == 401) != (r.Header.Get("WWW-Authenticate") == "Bearer") {
		t.Errorf("status %d with WWW-Authenticate %q", r.StatusCode, r.Header.Get("WWW-Authenticate"))
	}
}

// World contains the objects that the calls refer to.
type World struct {
	Ada, Bob                                  *Client
	Thing, Draft                              int64 // ada's
	Public, Hidden                            int64 // ada's files on them
	Pending, Others                           int64 // ada's upload, bob's upload
	Nobody, Garbage, Expired, Revoked, Rd, Wr *Client
}

func NewWorld(t *testing.T, s *Server) *World {
	t.Helper()
	w := &World{Ada: s.User("ada"), Bob: s.User("bob"), Nobody: s.Client("")}
	stl := Mesh(t, "hschendel_simple_bin.stl")
	w.Thing, w.Draft = w.Ada.Thing("Public"), w.Ada.Thing("Draft")
	w.Public, w.Hidden = w.Ada.Upload("public.stl", stl), w.Ada.Upload("hidden.stl", stl)
	w.Ada.Finalize("thing", w.Thing, w.Public).Want(t, 200)
	w.Ada.Finalize("thing", w.Draft, w.Hidden).Want(t, 200)
	w.Ada.Publish(w.Thing).Want(t, 200)
	w.Pending, w.Others = w.Ada.Upload("pending.stl", stl), w.Bob.Upload("others.stl", stl)

	w.Garbage = s.Client("my_" + strings.Repeat("x", 43))
	w.Rd, w.Wr = s.Client(s.Token("ada", auth.Read)), s.Client(s.Token("ada", auth.Write))
	w.Revoked = s.Client(s.Token("ada", auth.Read, auth.Write))
	token, err := s.Store.Account.Admin().CreateToken(context.Background(), "ada", "", auth.Scopes{auth.Read, auth.Write},
		time.Microsecond)
	if err != nil {
		t.Fatal(err)
	}
	w.Expired = s.Client(token)
	db := OpenDB(t, s)
	hash, _ := auth.Hash(w.Revoked.Token)
	if _, err := db.SQL().Exec("UPDATE tokens SET revoked_at = created_at WHERE sha256 = '" + hash + "'"); err != nil {
		t.Fatal(err)
	}
	return w
}

// OpenDB opens the database of the server a second time.
func OpenDB(t *testing.T, s *Server) *models.DB {
	t.Helper()
	db, err := models.OpenDB(context.Background(), s.Settings.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = db.Close()
		db = nil // see RunLogging
	})
	return db
}

const UploadChange = `mutation ($file: Upload!) { uploadFile(input: {file: $file}) { file { id } } }`

// NothingLeft checks that there are no unexpected file rows, and no objects without a row.
func NothingLeft(t *testing.T, s *Server, rows int) {
	t.Helper()
	var got int
	if err := OpenDB(t, s).SQL().QueryRow("SELECT count(*) FROM files").Scan(&got); err != nil || got != rows {
		t.Errorf("%d rows of files (%v), want %d", got, err, rows)
	}
	sweep, err := s.Store.Maintenance.CollectGarbage(context.Background(), 0, true)
	if err != nil || len(sweep.PendingObjects)+len(sweep.ContentObjects) > 0 {
		t.Errorf("left behind: %+v, %v", sweep, err)
	}
	SoundCatalogue(t, s)
}

// SoundCatalogue checks that the database and the bucket match exactly.
func SoundCatalogue(t *testing.T, s *Server) {
	t.Helper()
	if _, err := s.Store.Fsck.Check(context.Background(), fsck.Options{Rehash: true},
		func(p fsck.Problem) { t.Error(p) }); err != nil {
		t.Error(err)
	}
}
