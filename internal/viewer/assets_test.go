package viewer

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"testing"
)

// TestAssetSums checks that the files from npm are those that assets/README.md describes.
func TestAssetSums(t *testing.T) {
	t.Parallel()
	sums, err := os.ReadFile("assets/SHA256SUMS")
	if err != nil {
		t.Fatal(err)
	}
	pinned := map[string]string{}
	for line := range strings.Lines(string(sums)) {
		sum, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if !ok {
			t.Fatalf("assets/SHA256SUMS: line %q", line)
		}
		pinned[name] = sum
	}
	contents := map[string][]byte{}
	for name, a := range files() {
		if a.ContentType == "" {
			t.Errorf("%s has no content type", name)
		}
		contents[name] = a.Content
	}
	if contents["LICENSE-three.txt"], err = os.ReadFile("assets/LICENSE-three.txt"); err != nil {
		t.Fatal(err)
	}
	for name, content := range contents {
		if strings.HasPrefix(name, "viewer/") {
			continue
		}
		sum := sha256.Sum256(content)
		if got := hex.EncodeToString(sum[:]); got != pinned[name] {
			t.Errorf("%s: got SHA-256 %s, assets/SHA256SUMS says %q", name, got, pinned[name])
		}
		delete(pinned, name)
	}
	if len(pinned) != 0 {
		t.Errorf("assets/SHA256SUMS has files that are not there: %v", pinned)
	}
}

// TestOwnAssetsStayHere checks that our own files request no other host; the URL in the icon is a
// namespace.
func TestOwnAssetsStayHere(t *testing.T) {
	t.Parallel()
	for name, a := range files() {
		text := strings.ReplaceAll(string(a.Content), "http://www.w3.org/2000/svg", "")
		if strings.HasPrefix(name, "viewer/") && strings.Contains(text, "://") {
			t.Errorf("%s holds an address", name)
		}
	}
}
