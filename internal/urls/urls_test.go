package urls

import (
	"net/url"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/urls/signing"
)

// TestSignedURLs checks for which file, until when, and whether during a takedown a signed URL is
// valid.
func TestSignedURLs(t *testing.T) {
	t.Parallel()
	b := Builder{Base: "https://example.org", Key: signing.Key("secret")}
	expires := time.Unix(2_000_000_000, 0)
	query := func(takenDown bool) url.Values {
		u, err := url.Parse(b.SignedBlob(7, "a b.stl", takenDown, expires))
		if err != nil || u.Path != "/blobs/7/a b.stl" {
			t.Fatalf("the URL is %s (%v)", u, err)
		}
		return u.Query()
	}
	later := query(false)
	later.Set("expires", "2000000001")
	for name, c := range map[string]struct {
		fileID            int64
		query             url.Values
		now               time.Time
		signed, takenDown bool
	}{
		"a second before it expires": {7, query(false), expires.Add(-time.Second), true, false},
		"when it expires":            {7, query(false), expires, false, false},
		"with a later expiry time":   {7, later, expires, false, false},
		"another file":               {8, query(false), expires.Add(-time.Second), false, false},
		"a takedown":                 {7, query(true), expires.Add(-time.Second), true, true},
		"after a takedown":           {7, query(true), expires, false, false},
		"unsigned":                   {7, url.Values{}, expires.Add(-time.Second), false, false},
		"without a signature":        {7, url.Values{"expires": {"2000000000"}}, expires.Add(-time.Second), false, false},
	} {
		if signed, takenDown := b.Verified(c.fileID, c.query, c.now); signed != c.signed || takenDown != c.takenDown {
			t.Errorf("%s: signed %t, during a takedown %t, want %t and %t", name, signed, takenDown, c.signed, c.takenDown)
		}
	}
	other := Builder{Base: b.Base, Key: signing.Key("another secret")}
	if signed, _ := other.Verified(7, query(false), expires.Add(-time.Second)); signed {
		t.Error("a signature of another key is valid")
	}
}
