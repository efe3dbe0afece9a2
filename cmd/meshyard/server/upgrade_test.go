package server_test

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/md5"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/cmd/meshyard/server"
	"github.com/meshyard/meshyard/cmd/meshyard/server/servertest"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/pgtest"
	"github.com/meshyard/meshyard/models"
)

// unpack extracts the files of an archive to a folder.
func unpack(t *testing.T, archive, folder string) {
	t.Helper()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		entry, err := r.Next()
		if err == io.EOF {
			return
		}
		var content []byte
		if err == nil && entry.Typeflag == tar.TypeReg {
			path := filepath.Join(folder, filepath.Clean("/"+entry.Name))
			if content, err = io.ReadAll(r); err == nil {
				err = os.MkdirAll(filepath.Dir(path), 0o750)
			}
			if err == nil {
				err = os.WriteFile(path, content, 0o640)
			}
		}
		if err != nil {
			t.Fatalf("%s: %v", archive, err)
		}
	}
}

// oldRelease returns the settings of a catalogue that an earlier release created, and its users. It
// consists of the database after the named migration, the bucket, and recorded responses to the
// users' requests. The renderings in the bucket were replaced by a small image.
func oldRelease(t *testing.T, engine, migration string) (settings config.Settings, users map[string]oldUser) {
	t.Helper()
	settings = servertest.Settings(t, engine)
	unpack(t, filepath.Join("testdata", "upgrade", migration+"."+engine+".tar.gz"), settings.Data)
	if engine == "postgres" {
		settings.DatabaseURL = pgtest.Database(t)
		db, err := models.OpenDB(context.Background(), settings.DatabaseURL)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		dump, err := os.ReadFile(filepath.Join(settings.Data, "meshyard.sql"))
		if err == nil {
			_, err = db.SQL().ExecContext(context.Background(), string(dump))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(settings.Data, "answers.json"))
	if err == nil {
		err = json.Unmarshal(text, &users)
	}
	if err != nil {
		t.Fatal(err)
	}
	return settings, users
}

// oldUser is a user of an earlier release, with the responses of that release to the user's GET
// requests, by path.
type oldUser struct {
	Token   string
	Answers map[string]any
}

// renewed reports whether this release intentionally returns another value than release 0007.
func renewed(at, key string, before any) bool {
	text, _ := before.(string)
	if strings.Contains(text, "signature=") { // the URL has a new signature
		return true
	}
	switch key {
	case "details_parts": // description and instructions were not in it
		return true
	case "public_url": // that of a file that is not public is signed now; that of others is used below
		return true
	case "default_image": // renderings now have their own ID, name and URL
		return true
	case "url": // images now have a URL that needs no token, and those in zip_data end with the name
		return strings.Contains(at, "images") || strings.Contains(at, "zip_data")
	case "thumbnail": // things with only models had no thumbnail
		return strings.HasSuffix(text, "/renders/default/thing.png")
	case "level", "twitter", "needs_moderation", "rank": // these had another type
		return true
	case "is_admin": // the same, of the authors of threaded comments
		return strings.Contains(at, "threaded-comments.users")
	case "moderation", "is_banned": // takedowns were not shown
		return true
	case "absolute_url": // that of a tag has its name now, and that of a collection is absolute
		return true
	case "default_license": // the code; it was the long name
		return true
	case "spotlight_images": // it has a larger size now
		return true
	}
	return false
}

// lost returns the values in a response of an earlier release that the response of this release
// lacks or unintentionally changes.
func lost(at string, before, now any) (faults []string) {
	switch b := before.(type) {
	case map[string]any:
		n, _ := now.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(b)) {
			if !renewed(at, key, b[key]) {
				faults = append(faults, lost(at+"."+key, b[key], n[key])...)
			}
		}
	case []any:
		n, _ := now.([]any)
		if strings.HasSuffix(at, "images") && len(n) > len(b) {
			n = n[:len(b)] // renderings come after the image files
		}
		if len(n) != len(b) {
			return []string{fmt.Sprintf("%s: %d entries, before %d", at, len(n), len(b))}
		}
		for i := range b {
			faults = append(faults, lost(fmt.Sprintf("%s[%d]", at, i), b[i], n[i])...)
		}
	default:
		if before != now {
			faults = []string{fmt.Sprintf("%s: %v, before %v", at, now, before)}
		}
	}
	return faults
}

// TestUpgrade checks that upgrading the database of an earlier release keeps content, IDs and
// tokens: requests with the old tokens get the old responses, files have their content, and IDs are
// not reused.
func TestUpgrade(t *testing.T) {
	servertest.Sequential(t)
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			settings, users := oldRelease(t, engine, "0007_quotas")
			if _, err := server.Migrate(context.Background(), settings); err != nil {
				t.Fatal(err)
			}
			s := servertest.Run(t, settings)
			for name, user := range users {
				if !strings.Contains(user.Token, "-") {
					t.Errorf("the token of %s has no hyphen", name)
				}
				c := s.Client(user.Token)
				for _, path := range slices.Sorted(maps.Keys(user.Answers)) {
					var now any
					r := c.Get(path).Want(t, 200)
					if err := json.Unmarshal([]byte(strings.ReplaceAll(string(r.Bytes), s.URL, "http://old.example")), &now); err != nil {
						t.Fatal(err)
					}
					for _, fault := range lost(path, user.Answers[path], now) {
						t.Error(name, fault)
					}
				}
			}
			ada, bob := s.Client(users["ada"].Token), s.Client(users["bob"].Token)
			for _, file := range users["bob"].Answers["/things/1/files"].([]any) {
				about := file.(map[string]any)
				content := fetch(t, s, strings.Replace(about["public_url"].(string), "http://old.example", s.URL, 1))
				if sum := md5.Sum(content); base64.StdEncoding.EncodeToString(sum[:]) != about["hash"] {
					t.Errorf("%v has other bytes", about["name"])
				}
			}
			images := imageIDs(t, bob, 1)
			ada.Finalize("thing", 3, 6).Want(t, 200) // 6 is a pending upload
			ada.Do("DELETE", "/things/1/files/1", nil).Want(t, 200)
			if got := imageIDs(t, bob, 1); !slices.Equal(got, images[:1]) || len(images) != 2 {
				t.Errorf("images %v, and %v after the model was deleted, want the photo", images, got)
			}
			if id := ada.Upload("new.stl", []byte("solid new\nendsolid new\n")); id <= images[1] {
				t.Errorf("the next file has the id %d of a file or a rendering", id)
			}
			soundRows(t, s)
		})
	}
}
