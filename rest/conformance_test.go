package rest

import (
	"bufio"
	"os"
	"regexp"
	"strings"
	"testing"
)

// published is one row of testdata/wire-paths.tsv: an operation of the published interface.
type published struct {
	method, path string   // the path without its query and without a slash at its end
	parameters   []string // such as path:thing_id!:integer
	body         string
	responses    []string // such as 200:ThingSchema
}

func publishedOperations(t *testing.T) (all []published) {
	t.Helper()
	f, err := os.Open("testdata/wire-paths.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Scan() // the names of the columns
	for lines.Scan() {
		cells := strings.Split(lines.Text(), "\t")
		path, _, _ := strings.Cut(cells[1], "?")
		all = append(all, published{
			method: cells[0], path: strings.TrimSuffix(path, "/"),
			parameters: strings.Fields(cells[4]), body: cells[5], responses: strings.Fields(cells[6]),
		})
	}
	if err := lines.Err(); err != nil || len(all) != 176 {
		t.Fatalf("read %d operations, want 176: %v", len(all), err)
	}
	return all
}

var anyParameter = regexp.MustCompile(`\{\w+\}`)

// pathShape is a method and a path in which the names of parameters do not matter.
func pathShape(method, path string) string {
	return method + " " + anyParameter.ReplaceAllString(path, "{}")
}

// TestEveryPublishedOperation checks that each operation of the published interface is either served
// or refused with a reason.
func TestEveryPublishedOperation(t *testing.T) {
	served, refused := make(map[string]bool), make(map[string]bool)
	for _, r := range routes {
		served[pathShape(r.method, r.path)] = true
	}
	for _, u := range unserved {
		shape := pathShape(u.method, u.path)
		if refused[shape] {
			t.Errorf("%s %s: twice among the refusals", u.method, u.path)
		}
		if u.reason == "" {
			t.Errorf("%s %s: refused without a reason", u.method, u.path)
		}
		refused[shape] = true
	}
	known := make(map[string]bool)
	for _, op := range publishedOperations(t) {
		shape := pathShape(op.method, op.path)
		known[shape] = true
		switch {
		case served[shape] && refused[shape]:
			t.Errorf("%s %s: served and refused: remove its row from unserved", op.method, op.path)
		case !served[shape] && !refused[shape]:
			t.Errorf("%s %s: neither served nor refused", op.method, op.path)
		}
	}
	for shape := range refused {
		if !known[shape] {
			t.Errorf("%s: refused, but not part of the published interface", shape)
		}
	}
}
