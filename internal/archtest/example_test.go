package archtest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestExampleArea checks that the example of an area in CONTRIBUTING.md compiles.
func TestExampleArea(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, code, _ := strings.Cut(string(text), "### Example: an area\n")
	_, code, _ = strings.Cut(code, "```go\n")
	code, _, found := strings.Cut(code, "```\n")
	if !found || !strings.Contains(code, "package note\n") {
		t.Fatal("CONTRIBUTING.md has no example of an area")
	}
	dir := t.TempDir()
	file, overlay := filepath.Join(dir, "store.go"), filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, "models", "note",
		"store.go"): file}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(overlay, replace, 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-overlay", overlay, "./models/note")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Errorf("the example does not compile: %v\n%s", err, out)
	}
}
