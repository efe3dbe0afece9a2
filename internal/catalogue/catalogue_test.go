package catalogue_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/meshyard/meshyard/internal/catalogue"
)

func open(t testing.TB) *catalogue.Tables {
	t.Helper()
	tables, err := catalogue.Open(filepath.Join("..", "..", "testdata", "catalogue"))
	if err != nil {
		t.Fatal(err)
	}
	return tables
}

func TestTables(t *testing.T) {
	tables := open(t)
	things := slices.Collect(tables.Things(0))
	tags, files := 0, 0
	for _, th := range things {
		tags += len(th.Tags)
		files += len(th.Files)
	}
	if len(things) != 2_010 || tables.Len() != 2_010 || tags != 13_564 || files != 9_999 || len(tables.Skipped) != 1 {
		t.Errorf("%d things, %d tags, %d files, skipped %q", len(things), tags, files, tables.Skipped)
	}
	got := things[slices.IndexFunc(things, func(th catalogue.Thing) bool { return th.ID == 10_367 })]
	got.Date = got.Date.UTC()
	want := catalogue.Thing{
		ID: 10_367, Name: "Octocat", Author: "BrianEnigma", License: "cc-sa", Date: got.Date, Tags: got.Tags,
		Files: []catalogue.File{{ID: 32_770, Name: "Octocat-v1.stl", Size: 84 + 50*37_884}, got.Files[1]},
	}
	if !reflect.DeepEqual(got, want) || got.Date.String() != "2011-07-26 09:23:59 +0000 UTC" || len(got.Tags) != 5 || got.Tags[0] != "cat" {
		t.Errorf("%+v, want %+v", got, want)
	}
	if rest := slices.Collect(tables.Things(2_000)); !reflect.DeepEqual(rest, things[2_000:]) {
		t.Errorf("from 2,000 on there are %d", len(rest))
	}
}

func TestBrokenTables(t *testing.T) {
	whole := map[string]string{
		"things.csv":   "thing_id,date,category,subcategory,name,author,licence\n1,2011-07-26T09:23:59,,,Octo,ada,GPL\n",
		"files.csv":    "file_id,thing_id,file_name,num_faces\n",
		"tags.csv":     "thing_id,tag\n",
		"licences.csv": "code,label,label_in_things_csv\ngpl,GNU,GPL\n",
	}
	for _, c := range []struct{ file, text, want string }{
		{"", "", ""},
		{"things.csv", "thing_id,date\n", "things.csv: no column category"},
		{"things.csv", "", "things.csv: the header line: EOF"},
		{"things.csv", whole["things.csv"] + "x,2011-07-26T09:23:59,,,Octo,ada,GPL\n", `things.csv: line 3: thing_id: "x" is not a number`},
		{"things.csv", whole["things.csv"] + "2,yesterday,,,Octo,ada,GPL\n", `things.csv: line 3: date: "yesterday" is not as 2006-01-02T15:04:05`},
		{"things.csv", whole["things.csv"] + "1,2011-07-26T09:23:59,,,Octo,ada,GPL\n", `things.csv: line 3: thing_id: 1 is there twice`},
		{"things.csv", whole["things.csv"] + "2,2011-07-26T09:23:59,,,,ada,GPL\n", `things.csv: line 3: name: is empty`},
		{"things.csv", whole["things.csv"] + "2\n", `wrong number of fields`},
		{"files.csv", whole["files.csv"] + "1,1,a.stl,-3\n", `files.csv: line 2: num_faces: "-3" is not a number`},
		{"tags.csv", whole["tags.csv"] + "one,red\n", `tags.csv: line 2: thing_id: "one" is not a number`},
		{"tags.csv", whole["tags.csv"] + "1,\"red\n", `extraneous or missing`},
	} {
		dir := t.TempDir()
		for name, text := range whole {
			if name == c.file {
				text = c.text
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := catalogue.Open(dir); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s %q: %v, want %q", c.file, c.text, err, c.want)
		}
	}
}

func TestResample(t *testing.T) {
	const n = 20_000
	tables := open(t)
	things := slices.Collect(tables.Resample(n, 7, 0))
	if len(things) != n {
		t.Fatalf("%d things, want %d", len(things), n)
	}
	if tail := slices.Collect(tables.Resample(n, 7, n-500)); !reflect.DeepEqual(tail, things[n-500:]) {
		t.Error("going on in the middle gives other things")
	}
	if other := slices.Collect(tables.Resample(n, 8, n-500)); reflect.DeepEqual(other, things[n-500:]) {
		t.Error("another seed gives the same things")
	}
	authors, tags, fileIDs := make(map[string]int), make(map[string]int), make(map[int64]bool)
	var files, tagged, untagged, zero, foreign, top, none int
	for i, th := range things {
		if length := utf8.RuneCountInString(th.Name); th.ID != int64(i)+1 || length < 3 || length > 130 {
			t.Fatalf("thing %d: %+v", i, th)
		}
		authors[strings.ToLower(th.Author)]++
		files += len(th.Files)
		for _, f := range th.Files {
			if fileIDs[f.ID] || f.Size < 84 || f.Size > 84+50*5_672_212 {
				t.Fatalf("file %+v", f)
			}
			fileIDs[f.ID] = true
		}
		tagged += len(th.Tags)
		for _, tag := range th.Tags {
			tags[tag]++
		}
		if len(th.Tags) == 0 {
			untagged++
		}
		if th.Counts == (catalogue.Counts{}) {
			zero++
		}
		if th.Counts.Downloads > 1_000_000 {
			top++
		}
		if th.Category == "" {
			none++
		}
		if strings.ContainsFunc(th.Name, func(r rune) bool { return r >= 0x80 }) {
			foreign++
		}
	}
	single := 0
	for _, count := range authors {
		if count == 1 {
			single++
		}
	}
	within := func(what string, got, least, most float64) {
		t.Logf("%s: %.3f", what, got)
		if got < least || got > most {
			t.Errorf("%s: %.3f, want %.3f to %.3f", what, got, least, most)
		}
	}
	within("files a thing", float64(files)/n, 4.5, 5.5)
	within("tags a thing", float64(tagged)/n, 5.5, 7)
	within("things without tags", float64(untagged)/n, 0.04, 0.07)
	within("different tags", float64(len(tags)), 9_000, 25_000)
	within("things that nobody did anything with", float64(zero)/n, 0.65, 0.75)
	within("things with a million downloads", float64(top), 2, 4)
	within("things without a shelf", float64(none)/n, 0.2, 0.26)
	within("names that are not all ASCII", float64(foreign)/n, 0.05, 0.3)
	within("authors with one thing", float64(single)/float64(len(authors)), 0.62, 0.78)
}

func BenchmarkResample(b *testing.B) {
	b.ReportAllocs()
	tables := open(b)
	for range tables.Resample(b.N, 1, 0) {
	}
}
