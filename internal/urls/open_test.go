package urls

import (
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/urls/signing"
)

// TestOpen checks for how long the URL for a program is valid, that nothing in it can be changed,
// and that its signature is valid nowhere else.
func TestOpen(t *testing.T) {
	t.Parallel()
	b := Builder{Base: "https://example.org", Key: signing.Key("secret")}
	expires := time.UnixMicro(2_000_000_000_000_001)
	address := b.Open(7, 42, "a b.stl", expires)
	rest, ok := strings.CutPrefix(address, "https://example.org/blobs/open/7.42.2000000000000001.")
	signature, name, _ := strings.Cut(rest, "/")
	if !ok || len(signature) != 43 || name != "a%20b.stl" {
		t.Fatalf("the URL is %s", address)
	}
	token := "7.42.2000000000000001." + signature
	before := expires.Add(-time.Microsecond)
	if o, ok := b.Opened(token, before); !ok || o != (Opening{7, 42, expires, token}) {
		t.Errorf("got %+v, %t", o, ok)
	}
	for _, other := range []string{
		"", ".", "...", signature, "8.42.2000000000000001." + signature, "7.43.2000000000000001." + signature,
		"7.42.2000000000000002." + signature, token + "x", token[:len(token)-1], "7.42.2000000000000001.",
		"7.42.2000000000000001." + b.Key.Sign(blobPurpose, "7", "2000000000"),
		"7.42." + b.Key.Sign(openPurpose, "7.42"), "7.42.x." + b.Key.Sign(openPurpose, "7.42.x"),
	} {
		if o, ok := b.Opened(other, before); ok {
			t.Errorf("%s is valid: %+v", other, o)
		}
	}
	if _, ok := b.Opened(token, expires); ok {
		t.Error("it is valid when it expires")
	}
	query := map[string][]string{"expires": {"2000000000"}, "signature": {signature}}
	if signed, _ := b.Verified(7, query, before); signed {
		t.Error("the signature is valid in another URL")
	}
	if got := Loggable("/blobs/open/" + token + "/a b.stl"); got != "/blobs/open/…/a b.stl" {
		t.Errorf("logged as %s", got)
	}
	if got := Loggable("/blobs/7/a.stl"); got != "/blobs/7/a.stl" {
		t.Errorf("logged as %s", got)
	}
}
