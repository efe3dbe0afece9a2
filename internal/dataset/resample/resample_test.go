package resample

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/meshyard/meshyard/internal/dataset"
)

// The folders of tables, relative to this package. The large one is not part of the repository.
var (
	small = filepath.Join("..", "testdata", "small")
	large = filepath.Join("..", "..", "..", "..", "shared", "data", "catalogue")
)

// openTables returns a Resampler of the tables in dir, and skips the test where the large tables
// are missing.
func openTables(t testing.TB, dir string) *Resampler {
	t.Helper()
	if _, err := os.Stat(dir); dir == large && err != nil {
		t.Skip("the large tables are missing")
	}
	tables, err := dataset.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return FromTables(tables)
}

func TestPermutation(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 2, 3, 5, 16, 17, 1_000, 4_097} {
		seen := make([]bool, size)
		p := newPermutation(size, 3)
		for i := range size {
			at := p.at(i)
			if at < 0 || at >= size || seen[at] {
				t.Fatalf("%d of %d: got position %d, want a free one below %d", i, size, at, size)
			}
			seen[at] = true
		}
	}
	if p, q := newPermutation(1_000, 3), newPermutation(1_000, 4); p.at(0) == q.at(0) && p.at(1) == q.at(1) &&
		p.at(2) == q.at(2) {
		t.Error("two seeds give one order")
	}
}

func TestZipf(t *testing.T) {
	t.Parallel()
	const ranks, draws = 500, 400_000
	s := newSample(openTables(t, small).distribution, 1, 1)
	z := newZipf(ranks, 0.78)
	var counts [ranks]float64
	for range draws {
		counts[z.draw(s.random)]++
	}
	sum := 0.0
	for rank := range counts {
		sum += math.Pow(float64(rank+1), -0.78)
	}
	for _, rank := range []int{0, 1, 9, 99, 450} {
		// The ranks from three quarters to five quarters of rank together, to reduce noise.
		low, high := rank*3/4, rank*5/4
		got, want := 0.0, 0.0
		for k := low; k <= min(high, ranks-1); k++ {
			got += counts[k]
			want += draws * math.Pow(float64(k+1), -0.78) / sum
		}
		if math.Abs(got/want-1) > 0.08 {
			t.Errorf("rank %d: %.0f of %d draws, want some %.0f", rank+1, got, draws, want)
		}
	}
}

// TestResampleSmall checks that a sequence is deterministic and can be resumed at any index, for
// small tables.
func TestResampleSmall(t *testing.T) {
	t.Parallel()
	tables := openTables(t, small)
	for _, n := range []int{0, 1, 2, 10, 300} {
		things := slices.Collect(tables.ThingsFrom(n, 5, 0))
		if len(things) != n {
			t.Fatalf("%d things, want %d", len(things), n)
		}
		checkThings(t, things)
		for _, first := range []int{0, n / 3, n - 1, n, n + 1} {
			if rest := slices.Collect(tables.ThingsFrom(n, 5, first)); !slices.EqualFunc(rest, things[min(max(first, 0), n):],
				equal) {
				t.Errorf("from %d of %d things on: got other things, want the same as in one run", first, n)
			}
		}
	}
	if none := slices.Collect(New(nil, nil).ThingsFrom(3, 1, 0)); none != nil {
		t.Errorf("of no tables: got %+v, want nothing", none)
	}
}

func equal(a, b dataset.Thing) bool { return reflect.DeepEqual(a, b) }

// checkThings checks the invariants of generated things.
func checkThings(t *testing.T, things []dataset.Thing) {
	t.Helper()
	ids := make(map[int64]bool)
	for i, th := range things {
		if length := utf8.RuneCountInString(th.Name); length < 3 || length > longestName || !utf8.ValidString(th.Name) {
			t.Errorf("thing %d: got name %q, want 3 to %d characters", th.ID, th.Name, longestName)
		}
		if th.ID != int64(i)+1 || th.Author == "" || th.Date.Year() < 2009 || th.Date.Year() > 2025 ||
			th.Date.Location() != time.UTC {
			t.Fatalf("at %d: got %+v, want the ID %d, an author and a date from 2009 to 2025 in UTC", i, th, i+1)
		}
		if distinct := dataset.DistinctTags(th.Tags); !slices.Equal(distinct, th.Tags) {
			t.Errorf("thing %d: got tags %q, want distinct ones", th.ID, th.Tags)
		}
		for _, f := range th.Files {
			if ids[f.ID] || f.Name == "" || f.Size < dataset.STLSize(1) || f.Size > dataset.STLSize(mostFaces) {
				t.Fatalf("thing %d: got file %+v, want a new ID, a name and a size of 1 to %d faces", th.ID, f, mostFaces)
			}
			ids[f.ID] = true
		}
		c := th.Counts
		if c.Likes > 0 && (float64(c.Collects) < 1.3*float64(c.Likes)-0.5 || float64(c.Collects) > 1.7*float64(c.Likes)+0.5) {
			t.Errorf("thing %d: got %d collects for %d likes, want 1.3 to 1.7 times as many", th.ID, c.Collects, c.Likes)
		}
		if float64(c.Views) < 1.3*float64(c.Downloads)-1 || float64(c.Views) > 4*float64(c.Downloads)+2 {
			t.Errorf("thing %d: got %d views for %d downloads, want 1.3 to 4 times as many", th.ID, c.Views, c.Downloads)
		}
	}
}

func TestResampleSpread(t *testing.T) {
	t.Parallel()
	tables := openTables(t, large)
	const n, seed = 20_000, 7
	things := slices.Collect(tables.ThingsFrom(n, seed, 0))
	if len(things) != n {
		t.Fatalf("%d things, want %d", len(things), n)
	}
	checkThings(t, things)
	for _, first := range []int{1, 777, n - 500} {
		if tail := slices.Collect(tables.ThingsFrom(n, seed, first)); !slices.EqualFunc(tail, things[first:], equal) {
			t.Errorf("from %d on: got other things, want the same as in one run", first)
		}
	}
	if again := slices.Collect(tables.ThingsFrom(n, seed, 0)); !slices.EqualFunc(again, things, equal) {
		t.Error("the same seed yields other things")
	}
	same := 0
	for i, th := range slices.Collect(tables.ThingsFrom(n, seed+1, 0)) {
		if th.Name == things[i].Name {
			same++
		}
	}
	if same > n/50 {
		t.Errorf("another seed: got %d of %d names again, want at most %d", same, n, n/50)
	}

	authors, spellings, tags, shelves, licenses := make(map[string]int), make(map[string]string), make(map[string]int),
		make(map[[2]string]bool), make(map[string]int)
	var tagCounts, fileCounts, lengths, downloads []int
	var logs []float64
	var tagged, files, untagged, zero, foreign, cyrillic, described, shelfless, ascending, together, size int
	for i, th := range things {
		folded := strings.ToLower(th.Author)
		authors[folded]++
		if spelling, ok := spellings[folded]; ok && spelling != th.Author {
			t.Errorf("got authors %q and %q, want one spelling of each name", spelling, th.Author)
		}
		spellings[folded] = th.Author
		for _, tag := range th.Tags {
			tags[dataset.TagKey(tag)]++
		}
		tagged, files = tagged+len(th.Tags), files+len(th.Files)
		tagCounts, fileCounts = append(tagCounts, len(th.Tags)), append(fileCounts, len(th.Files))
		lengths, downloads = append(lengths, utf8.RuneCountInString(th.Name)), append(downloads, int(th.Counts.Downloads))
		for _, f := range th.Files {
			logs, size = append(logs, math.Log(float64(f.Size-84)/50)), size+int(f.Size)
		}
		count := func(counter *int, holds bool) {
			if holds {
				*counter++
			}
		}
		count(&untagged, len(th.Tags) == 0)
		count(&zero, th.Counts == dataset.Counts{})
		count(&foreign, strings.ContainsFunc(th.Name, func(r rune) bool { return r >= 0x80 }))
		count(&cyrillic, strings.ContainsFunc(th.Name, func(r rune) bool { return unicode.Is(unicode.Cyrillic, r) }))
		count(&described, th.Description != "")
		count(&shelfless, th.Category == "")
		count(&ascending, i > 0 && !th.Date.Before(things[i-1].Date))
		count(&together, i > 0 && th.Date.Equal(things[i-1].Date))
		shelves[[2]string{th.Category, th.Subcategory}] = true
		licenses[th.License]++
	}
	single, most := 0, 0
	for _, count := range authors {
		if most = max(most, count); count == 1 {
			single++
		}
	}
	for _, counts := range [][]int{tagCounts, fileCounts, lengths, downloads} {
		slices.Sort(counts)
	}
	var mean, deviation float64
	for _, l := range logs {
		mean += l / float64(len(logs))
	}
	for _, l := range logs {
		deviation += (l - mean) * (l - mean) / float64(len(logs))
	}
	uses := make([]int, 0, len(tags))
	for _, count := range tags {
		uses = append(uses, count)
	}
	slices.Sort(uses)
	slices.Reverse(uses)
	slope := func(counts []int, from, to int) float64 {
		return math.Log(float64(counts[from-1])/float64(counts[to-1])) / math.Log(float64(to)/float64(from))
	}
	slices.Reverse(downloads)
	for _, c := range []struct {
		what             string
		got, least, most float64
	}{
		{"files a thing", float64(files) / n, 4.6, 5.3},
		{"files a thing, median", float64(fileCounts[n/2]), 3, 3},
		{"files a thing, 90 %", float64(fileCounts[n*9/10]), 11, 13},
		{"files a thing, most", float64(fileCounts[n-1]), 221, 221},
		{"tags a thing", float64(tagged) / n, 6.5, 7},
		{"tags a thing, median", float64(tagCounts[n/2]), 6, 6},
		{"tags a thing, most", float64(tagCounts[n-1]), 62, 62},
		{"share without tags", float64(untagged) / n, 0.045, 0.065},
		{"different tags", float64(len(tags)), 15_000, 22_000},
		{"slope of tags from 5 to 100", slope(uses, 5, 100), 0.70, 0.85},
		{"slope of tags from 100 to 3,000", slope(uses, 100, 3_000), 0.70, 0.85},
		{"authors a thing", float64(len(authors)) / n, 0.5, 0.6},
		{"share of authors with one thing", float64(single) / float64(len(authors)), 0.66, 0.75},
		{"things of the first author", float64(most), 0.005 * n, 0.05 * n},
		{"share without any counts", float64(zero) / n, 0.68, 0.75},
		{"downloads of the first", float64(downloads[0]), mostDownloads, mostDownloads},
		{"slope of downloads from 1 to 5,000", slope(downloads, 1, 5_000), 0.9, 1.1},
		{"share of names that are not all ASCII", float64(foreign) / n, 0.04, 0.15},
		{"names with Cyrillic", float64(cyrillic), 20, 1_000},
		{"characters of a name, median", float64(lengths[n/2]), 20, 36},
		{"share with a description", float64(described) / n, 0.47, 0.53},
		{"share without a category", float64(shelfless) / n, 0.21, 0.25},
		{"pairs of categories", float64(len(shelves)), 75, 80},
		{"share under cc-sa", float64(licenses["cc-sa"]) / n, 0.385, 0.425},
		{"share of dates not before the last", float64(ascending) / n, 0.7, 0.95},
		{"share of dates like the last", float64(together) / n, 0.01, 0.1},
		{"logarithm of faces, mean", mean, 8.48, 8.58},
		{"logarithm of faces, deviation", math.Sqrt(deviation), 2.1, 2.2},
		{"bytes a file", float64(size) / float64(files), 2.0e6, 2.9e6},
	} {
		t.Logf("%s: %.4g", c.what, c.got)
		if c.got < c.least || c.got > c.most {
			t.Errorf("%s: %.4g, want %.4g to %.4g", c.what, c.got, c.least, c.most)
		}
	}
}

// TestResampleMillion checks the numbers of authors and tags of a million things, and that memory
// stays constant.
func TestResampleMillion(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	tables := openTables(t, large)
	const n, made = 1_000_000, 100_000
	s := newSample(tables.distribution, n, 1)
	authors := make([]uint8, s.author.ranks+n) // number of things of each author, at most 2
	for i := range n {
		s.begin(i)
		index := s.authorIndex(i)
		authors[index] = min(authors[index]+1, 2)
	}
	all, single := 0, 0
	for _, count := range authors {
		if count > 0 {
			all++
		}
		if count == 1 {
			single++
		}
	}
	t.Logf("%d authors, %d with one thing; %d tags", all, single, s.tag.ranks)
	if share := float64(single) / float64(all); all < 500_000 || all > 600_000 || share < 0.67 || share > 0.75 {
		t.Errorf("got %d authors, %.2f of them with one thing, want 500,000 to 600,000 and 0.67 to 0.75", all, share)
	}
	if s.tag.ranks < 180_000 || s.tag.ranks > 220_000 {
		t.Errorf("got %d tags, want 180,000 to 220,000", s.tag.ranks)
	}

	heap := func() float64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc) / (1 << 20)
	}
	before, i := heap(), 0
	for th := range tables.ThingsFrom(n, 1, n-made) {
		if i++; i == made-1 { // the sequence is still active
			if more := heap() - before; more > 2 {
				t.Errorf("after %d things: got %.1f MiB more, want at most 2", i, more)
			}
		}
		if want := int64(n - made + i); th.ID != want {
			t.Fatalf("id %d, want %d", th.ID, want)
		}
	}
	if i != made {
		t.Errorf("%d things, want %d", i, made)
	}
	if all := heap(); all > 64 {
		t.Errorf("got %.1f MiB in all, want at most 64", all)
	}
	runtime.KeepAlive(authors)
}

// TestGeneratedNames checks that author names are distinct, ignoring case, and that no generated
// tag exists in the source.
func TestGeneratedNames(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{"small": small, "large": large} {
		t.Run(name, func(t *testing.T) { checkMadeNames(t, openTables(t, dir)) })
	}
}

func checkMadeNames(t *testing.T, tables *Resampler) {
	s := newSample(tables.distribution, 100_000, 1)
	seen := make(map[string]int)
	for index := range 150_000 {
		author := strings.ToLower(s.authorName(index))
		if other, ok := seen[author]; ok {
			t.Fatalf("authors %d and %d: got %q twice, want distinct names", other, index, author)
		}
		seen[author] = index
	}
	clear(seen)
	for rank := range s.tag.ranks {
		tag, ok := s.tagAt(rank)
		if other, there := seen[dataset.TagKey(tag)]; there && ok {
			t.Fatalf("tags %d and %d: got %q twice, want distinct tags", other, rank, tag)
		}
		if ok {
			seen[dataset.TagKey(tag)] = rank
		}
	}
}

// TestGeneratedNamesBesideSimilarOnes checks that generated names avoid existing names of the same
// form.
func TestGeneratedNamesBesideSimilarOnes(t *testing.T) {
	t.Parallel()
	like := []dataset.Thing{
		{ID: 1, Name: "red fox", Author: "Red_Fox", Tags: []string{"fox", "Red_Fox", "red"}},
		{ID: 2, Name: "fox", Author: "fox-red", Tags: []string{"fox"}},
	}
	s := newSample(measure(like, nil), 1_000, 1)
	if want := []string{"fox", "red", "Red_Fox"}; !slices.Equal(s.tags, want) {
		t.Errorf("tags by frequency: %q, want %q", s.tags, want)
	}
	authors := make(map[string]bool)
	for index := range 200 {
		author := strings.ToLower(s.authorName(index))
		if authors[author] {
			t.Errorf("got author %q twice, want distinct names", author)
		}
		authors[author] = true
	}
	made := 0
	for rank := len(s.tags); rank < s.tag.ranks; rank++ {
		if tag, ok := s.tagAt(rank); ok {
			made++
			if dataset.TagKey(tag) == "red fox" {
				t.Errorf("got generated tag %q, want none that is in the tables", tag)
			}
		}
	}
	if made != 3 {
		t.Errorf("%d made tags, want 3", made)
	}
}

func BenchmarkResample(b *testing.B) {
	tables := openTables(b, large)
	b.ReportAllocs()
	b.ResetTimer()
	i := 0
	for range tables.ThingsFrom(1_000_000_000, 1, 0) {
		if i++; i >= b.N {
			break
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "things/s")
}
