//go:build browser && npm

package gallery_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/test/servertest"
)

// TestLighthouse runs Lighthouse on the most important pages for visitors, and logs the scores. It
// requires at least 95 of 100 for scores that do not depend on the speed of the machine.
func TestLighthouse(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/lighthouse")); err != nil {
		t.Fatal(err)
	}
	run := func(name string, arguments ...string) []byte {
		t.Helper()
		command := exec.CommandContext(t.Context(), name, arguments...)
		command.Dir, command.Stderr = dir, new(bytes.Buffer)
		command.Env = append(os.Environ(), "CHROMIUM="+chromium())
		out, err := command.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s\n%s", name, err, out, command.Stderr)
		}
		return out
	}
	run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	s, thing := fullGallery(t)
	out := run("node", "run.js", s.URL+"/", s.URL+"/explore?q=part", fmt.Sprintf("%s/thing:%d", s.URL, thing))
	for line := range strings.Lines(string(out)) {
		var report struct {
			URL, Error, Metrics string
			Scores, Audits      map[string]int
			Found               []string
		}
		if err := json.Unmarshal([]byte(line), &report); err != nil || report.Error != "" {
			t.Fatalf("%v %s", err, line)
		}
		path := strings.TrimPrefix(report.URL, s.URL)
		t.Logf("%-16s performance %3d, accessibility %3d, best practices %3d, SEO %3d", path,
			report.Scores["performance"], report.Scores["accessibility"], report.Scores["best-practices"], report.Scores["seo"])
		for category, score := range report.Scores {
			if score < 95 && category != "performance" {
				t.Errorf("%s: %s is %d, want 95", path, category, score)
			}
		}
		for audit, score := range report.Audits {
			if score < 95 {
				t.Errorf("%s: %s is %d, want 95", path, audit, score)
			}
		}
		t.Log("  ", report.Metrics)
		for _, found := range report.Found {
			t.Log("  ", found)
		}
	}
}

// chromium returns the path of the Chromium browser.
func chromium() string {
	if path := os.Getenv("MESHYARD_TEST_CHROMIUM"); path != "" {
		return path
	}
	return "/usr/bin/chromium"
}

// fullGallery returns a server with enough things with previews to fill the first pages of lists,
// and the ID of a thing with several models and comments.
func fullGallery(t *testing.T) (s *servertest.Server, thing int64) {
	t.Helper()
	scene := newScene(t)
	models := smallModels(t)
	upload := func(owner *servertest.Client, thing int64, paths ...string) {
		t.Helper()
		var ids []int64
		for _, path := range paths {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, owner.Upload(filepath.Base(path), content))
		}
		owner.Finalize("THING", thing, ids...)
		owner.GraphQL(`mutation($id: ID!) { updateThing(input: {id: $id, tags: ["gear", "workshop"], instructions: "Print it flat.",
			description: "A part that prints without supports.\n\n* 0.2 mm layers\n* three walls\n\nIt needs **four** screws."}) { thing { id } } }`, servertest.Object{"id": fmt.Sprint(thing)})
		owner.Publish(thing).Want(t, 200)
	}
	ids := []int64{scene.thing}
	for i := range 30 {
		owner := []*servertest.Client{scene.ada, scene.bob}[i%2]
		path := models[i*len(models)/30]
		name := strings.NewReplacer("_", " ", "-", " ").Replace(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
		id := owner.Thing(fmt.Sprintf("Part %d, %s", i+1, name))
		upload(owner, id, path)
		ids = append(ids, id)
	}
	thing = scene.ada.Thing("Part of a robot arm")
	upload(scene.ada, thing, slices.Concat(models[:3], models[len(models)-2:])...)
	scene.bob.GraphQL(`mutation($id: ID!) { likeThing(input: {id: $id}) { thing { id } } createComment(input: {target: {type: THING, id: $id}, body: "Which **layer height** did you use?"}) { comment { id } } }`,
		servertest.Object{"id": fmt.Sprint(thing)})
	for _, id := range ids[1:8] {
		scene.admin.GraphQL(`mutation($id: ID!) { featureThing(input: {id: $id}) { thing { id } } }`,
			servertest.Object{"id": fmt.Sprint(id)})
	}
	for _, id := range append(ids, thing) {
		rendered(t, scene.ada, id)
	}
	scene.Fold()
	return scene.Server, thing
}
