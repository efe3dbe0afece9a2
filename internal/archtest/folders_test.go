package archtest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// folderRow matches a row of the table of the folders of internal in docs/architecture.md.
var folderRow = regexp.MustCompile("(?m)^\\| `([a-z]+)` \\| (\\d+) \\| (.+) \\|$")

// levels returns the level of each folder in the table of a page.
func levels(page string) map[string]int {
	found := map[string]int{}
	for _, row := range folderRow.FindAllStringSubmatch(page, -1) {
		found[row[1]], _ = strconv.Atoi(row[2])
	}
	return found
}

// folderViolations returns a message for each import from a folder of internal to one that is not
// on a lower level. Imports of tests do not count.
func folderViolations(all imports, level map[string]int) (found []string) {
	folder := func(path string) string {
		rest, _ := strings.CutPrefix(path, module+"internal/")
		if rest == path {
			return ""
		}
		name, _, _ := strings.Cut(rest, "/")
		return name
	}
	for _, p := range slices.Sorted(keys(all)) {
		for _, path := range all[p] {
			from, to := folder(p), folder(path)
			if from != "" && to != "" && from != to && level[to] >= level[from] {
				found = append(found, fmt.Sprintf("%s imports %s: internal/%s is on level %d, internal/%s on level %d",
					strings.TrimPrefix(p, module), strings.TrimPrefix(path, module), from, level[from], to, level[to]))
			}
		}
	}
	return found
}

// TestFoldersOfInternal checks that docs/architecture.md has a row for each folder of internal, and
// that each folder imports only folders of lower levels.
func TestFoldersOfInternal(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	level := levels(string(page))
	entries, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	missing := maps.Clone(level)
	for _, entry := range entries {
		if _, ok := level[entry.Name()]; entry.IsDir() && !ok {
			t.Errorf("internal/%s has no row in docs/architecture.md", entry.Name())
		}
		delete(missing, entry.Name())
	}
	for name := range missing {
		t.Errorf("docs/architecture.md has a row for %s, which is not a folder of internal", name)
	}
	for _, violation := range folderViolations(load(t), level) {
		t.Error(violation)
	}
}

func TestFolderViolationsAreFound(t *testing.T) {
	level := levels("| `apierror` | 1 | errors |\n| `auth` | 2 | callers |\n| `mesh` | 2 | meshes |\n| `x` | Level | y |\n")
	if len(level) != 3 {
		t.Fatalf("got levels %v, want 3", level)
	}
	const m = module + "internal/"
	for name, c := range map[string]struct {
		all  imports
		want string
	}{
		"down": {imports{m + "auth/oidc": {m + "apierror", m + "auth", "os"}, module + "graph": {m + "auth"}}, ""},
		"up": {imports{m + "apierror": {m + "auth"}},
			"internal/apierror imports internal/auth: internal/apierror is on level 1, internal/auth on level 2"},
		"across": {imports{m + "mesh/x": {m + "auth/y"}},
			"internal/mesh/x imports internal/auth/y: internal/mesh is on level 2, internal/auth on level 2"},
	} {
		if got := strings.Join(folderViolations(c.all, level), "\n"); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
