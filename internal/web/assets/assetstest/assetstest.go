// Package assetstest provides what the tests of packages with assets share.
package assetstest

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/web/assets"
)

// Check checks that the files from npm are those that assets/SHA256SUMS lists, and that our own
// files request no other host.
func Check(t *testing.T, files map[string]*assets.Asset, own func(name string) bool) {
	t.Helper()
	sums, err := os.ReadFile("assets/SHA256SUMS")
	if err != nil {
		t.Fatal(err)
	}
	pinned := map[string]bool{}
	for line := range strings.Lines(string(sums)) {
		want, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if !ok {
			t.Fatalf("assets/SHA256SUMS: line %q", line)
		}
		content, err := os.ReadFile("assets/" + name)
		if err != nil {
			t.Error(err)
		}
		sum := sha256.Sum256(content)
		if got := hex.EncodeToString(sum[:]); got != want {
			t.Errorf("%s: got SHA-256 %s, assets/SHA256SUMS says %q", name, got, want)
		}
		pinned[name] = true
	}
	for name, a := range files {
		if a.ContentType == "" {
			t.Errorf("%s has no content type", name)
		}
		if own(name) == pinned[name] {
			t.Errorf("%s: our own file: %v, in assets/SHA256SUMS: %v", name, own(name), pinned[name])
		}
		// The URL in the icons is an XML namespace.
		if own(name) && strings.Contains(strings.ReplaceAll(string(a.Content), "http://www.w3.org/2000/svg", ""), "://") {
			t.Errorf("%s holds an address", name)
		}
	}
}
