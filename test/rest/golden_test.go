package rest_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"testing"

	"github.com/meshyard/meshyard/test/servertest"
)

// varying matches values that differ from run to run, and contains their replacements.
var varying = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00`), "2026-01-02T03:04:05+00:00"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`), "2026-01-02 03:04:05"},
	{regexp.MustCompile(`"day": "\d{4}-\d\d-\d\d"`), `"day": "2026-01-02"`},
	{regexp.MustCompile(`expires=\d+`), "expires=EXPIRES"},
	{regexp.MustCompile(`signature=[\w-]+`), "signature=SIGNATURE"},
	{regexp.MustCompile(`"(policy|signature|key)": "[^"]*"`), `"$1": "…"`},
}

// seen contains the golden files that a run has compared on either engine.
var seen sync.Map

// golden compares the first successful response of an operation with its golden file, which is the
// same for both engines.
func golden(t *testing.T, operation string, response *servertest.Response, base string) {
	t.Helper()
	if response.StatusCode >= 400 {
		return
	}
	if _, again := seen.LoadOrStore(t.Name()+" "+operation, true); again {
		return
	}
	indented := bytes.NewBufferString("")
	if to := response.Header.Get("Location"); to != "" {
		indented.WriteString(strconv.Itoa(response.StatusCode) + " " + to)
	}
	if len(response.Bytes) > 0 {
		if err := json.Indent(indented, response.Bytes, "", "  "); err != nil {
			t.Fatalf("%s: %v: %s", operation, err, response.Bytes)
		}
	}
	got := bytes.ReplaceAll(indented.Bytes(), []byte(base), []byte("https://models.example"))
	for _, v := range varying {
		got = v.pattern.ReplaceAll(got, []byte(v.instead))
	}
	got = append(got, '\n')
	path := filepath.Join("testdata", "answers", operation+".json")
	if *servertest.Update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Errorf("%s: %v", operation, err)
	} else if !bytes.Equal(got, want) {
		t.Errorf("%s: got\n%s\nwant, as in %s,\n%s", operation, got, path, want)
	}
}
