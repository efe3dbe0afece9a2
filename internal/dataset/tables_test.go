package dataset

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// openSmall opens a few hand-written rows.
func openSmall(t testing.TB) *Tables {
	t.Helper()
	tables, err := Open(filepath.Join("testdata", "small"))
	if err != nil {
		t.Fatal(err)
	}
	return tables
}

// openReal opens the tables of a real catalogue, and skips the test if they are missing.
func openReal(t testing.TB) *Tables {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "shared", "data", "catalogue")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the tables of a real catalogue are not here")
	}
	tables, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return tables
}

func TestThings(t *testing.T) {
	t.Parallel()
	tables := openSmall(t)
	want := []Thing{
		{
			ID: 10, Name: "Little Lamp", Author: "ada", License: "cc-sa", Date: time.Date(2011, 7, 26, 9, 23, 59, 0, time.UTC),
			Tags:   []string{"Desk Lamp", "light"},
			Files:  []File{{101, "lamp.stl", 484}, {102, "Foot.STL", 684}},
			Counts: Counts{Likes: 5, Collects: 7, Makes: 1, Views: 40},
		},
		{ID: 20, Name: "Fish, flying", Author: "Bob", License: "Some Other", Category: "Art",
			Date: time.Date(2012, 1, 1, 0, 0, 0, 0, time.UTC), Tags: []string{"fish"}, Files: []File{{201, "fish.obj", 84}}},
		{ID: 30, Name: `Grandma's 7" Jig`, Author: "Zoë", License: "pd0", Category: "Tools", Subcategory: "Jigs",
			Date: time.Date(2013, 2, 3, 4, 5, 6, 0, time.UTC)},
	}
	got := slices.Collect(tables.Things())
	if !reflect.DeepEqual(got, want) || tables.Len() != len(want) {
		t.Fatalf("%+v, want %+v", got, want)
	}
	if skipped := []string{"thing 90: no row in things.csv, 1 files and 0 tags left out"}; !slices.Equal(tables.Skipped,
		skipped) {
		t.Errorf("skipped %q, want %q", tables.Skipped, skipped)
	}
	if rest := slices.Collect(tables.ThingsFrom(2)); !reflect.DeepEqual(rest, want[2:]) {
		t.Errorf("from the third on: %+v", rest)
	}
	if rest := slices.Collect(tables.ThingsFrom(4)); rest != nil {
		t.Errorf("beyond the end: %+v", rest)
	}
	got[0].Tags[0], got[0].Files[0].Name = "changed", "changed"
	if again := slices.Collect(tables.Things()); !reflect.DeepEqual(again, want) {
		t.Error("who gets a thing changes the tables by changing it")
	}
}

// TestRealTables checks the numbers that are documented with the tables.
func TestRealTables(t *testing.T) {
	t.Parallel()
	tables := openReal(t)
	things := slices.Collect(tables.Things())
	var tags, files, untagged, shelfless, unlicensed, mostFiles, mostTags int
	distinct, authors := make(map[string]int), make(map[string]int)
	licenses, shelves := make(map[string]int), make(map[[2]string]bool)
	for i, th := range things {
		if i > 0 && things[i-1].ID >= th.ID {
			t.Fatalf("thing %d comes after thing %d", th.ID, things[i-1].ID)
		}
		if length := utf8.RuneCountInString(th.Name); length < 3 || length > 101 || strings.Contains(th.Name, "&#") {
			t.Errorf("thing %d is named %q", th.ID, th.Name)
		}
		for _, tag := range th.Tags {
			distinct[tag]++
		}
		tags, files = tags+len(th.Tags), files+len(th.Files)
		mostFiles, mostTags = max(mostFiles, len(th.Files)), max(mostTags, len(th.Tags))
		authors[th.Author]++
		licenses[th.License]++
		if len(th.Tags) == 0 {
			untagged++
		}
		if th.Category == "" {
			shelfless++
		} else {
			shelves[[2]string{th.Category, th.Subcategory}] = true
		}
		if th.License == "" {
			unlicensed++
		}
	}
	once, single := 0, 0
	for _, n := range distinct {
		if n == 1 {
			once++
		}
	}
	for _, n := range authors {
		if n == 1 {
			single++
		}
	}
	for _, c := range []struct {
		what      string
		got, want int
	}{
		{"things", len(things), 2_010},
		{"things reported", tables.Len(), 2_010},
		{"files, without the one of a thing that has no row", files, 9_999},
		{"tags", tags, 13_564},
		{"different tags", len(distinct), 4_892},
		{"tags used once", once, 3_327},
		{"things without tags", untagged, 108},
		{"most tags of a thing", mostTags, 62},
		{"most files of a thing", mostFiles, 221},
		{"authors", len(authors), 1_083},
		{"authors with one thing", single, 764},
		{"things of the first author", authors["MakerBot"], 103},
		{"pairs of categories, without that of none", len(shelves), 79},
		{"things without a category", shelfless, 462},
		{"things under cc-sa", licenses["cc-sa"], 814},
		{"things under lgpl", licenses["lgpl"], 1},
		{"things without a license", unlicensed, 0},
		{"titles", len(tables.Titles), 27_396},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, want %d", c.what, c.got, c.want)
		}
	}
	if skipped := []string{"thing 22396: no row in things.csv, 1 files and 0 tags left out"}; !slices.Equal(tables.Skipped,
		skipped) {
		t.Errorf("skipped %q, want %q", tables.Skipped, skipped)
	}
	rover := things[slices.IndexFunc(things, func(th Thing) bool { return th.ID == 15_528 })]
	if want := (Counts{Likes: 254, Collects: 333}); rover.Counts != want {
		t.Errorf("thing %d: %+v, want %+v", rover.ID, rover.Counts, want)
	}
}

func TestWrongTables(t *testing.T) {
	t.Parallel()
	whole := map[string]string{
		"things.csv":             "thing_id,date,category,subcategory,name,author,licence\n1,2011-07-26T09:23:59,,,Lamp,ada,A\n",
		"files.csv":              "file_id,thing_id,file_name,num_faces\n7,1,a.stl,4\n",
		"tags.csv":               "thing_id,tag\n",
		"licences.csv":           "code,label,label_in_things_csv\na,The A,A\n",
		"popularity_anchors.csv": "kind,id,downloads,likes,collects,makes,comments,views\n",
	}
	for _, c := range []struct{ file, text, want string }{
		{"", "", ""},
		{"files.csv", "\uFEFF" + whole["files.csv"], ""},
		{"things.csv", "", "things.csv: line 1: must be a header"},
		{"things.csv", "thing_id,date\n", "things.csv: line 1: must have a column category"},
		{"things.csv", whole["things.csv"] + "x,2011-07-26T09:23:59,,,Lamp,ada,A\n",
			`things.csv: line 3: column thing_id: must be a whole number from 0 to 9223372036854775807 (got "x")`},
		{"things.csv", whole["things.csv"] + "1,2011-07-26T09:23:59,,,Lamp,ada,A\n",
			"things.csv: line 3: column thing_id: must be unique and not 0 (got 1)"},
		{"things.csv", whole["things.csv"] + "2,yesterday,,,Lamp,ada,A\n",
			`things.csv: line 3: column date: must be a date such as 2006-01-02T15:04:05 (got "yesterday")`},
		{"things.csv", whole["things.csv"] + "2,2011-07-26T09:23:59,,,,ada,A\n",
			"things.csv: line 3: column name: must not be empty"},
		{"things.csv", whole["things.csv"] + "2\n", "things.csv: record on line 3: wrong number of fields"},
		{"files.csv", whole["files.csv"] + "8,1,a.stl,-3\n",
			`files.csv: line 3: column num_faces: must be a whole number from 0 to 9223372036854775807 (got "-3")`},
		{"files.csv", whole["files.csv"] + "8,1,a.stl,9000000000000000000\n",
			"files.csv: line 3: column num_faces: must be at most 1099511627776 (got 9000000000000000000)"},
		{"files.csv", whole["files.csv"] + "7,1,a.stl,3\n",
			"files.csv: line 3: column file_id: must be unique and not 0 (got 7)"},
		{"files.csv", whole["files.csv"] + "8,1,,3\n", "files.csv: line 3: column file_name: must not be empty"},
		{"tags.csv", whole["tags.csv"] + "1,a\none,red\n",
			`tags.csv: line 3: column thing_id: must be a whole number from 0 to 9223372036854775807 (got "one")`},
		{"tags.csv", whole["tags.csv"] + "1,\"red\n", "tags.csv: parse error on line 2, column 8"},
		{"licences.csv", whole["licences.csv"] + ",B,B\n", "licences.csv: line 3: column code: must not be empty"},
		{"popularity_anchors.csv", whole["popularity_anchors.csv"] + "thing,1,,many,,,,\n",
			`popularity_anchors.csv: line 2: column likes: must be a whole number from 0 to 9223372036854775807 (got "many")`},
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
		if _, err := Open(dir); c.want == "" && err != nil || c.want != "" &&
			(err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s %q: %v, want %q", c.file, c.text, err, c.want)
		}
	}
	if _, err := Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "licences.csv") {
		t.Errorf("an empty folder: %v", err)
	}
}
