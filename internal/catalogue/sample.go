package catalogue

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// What the tables show, and larger catalogues of their kind: how far from evenly tags and authors are used, and how meshes spread.
const (
	tagSlope    = 0.78 // of frequency by rank, both logarithmic
	authorSlope = 0.6
	soloShare   = 0.2 // of things whose author has no other, beside those of rarely drawn authors
	authorShare = 0.2 // authors who are drawn by rank, for each thing

	meanLogFaces      = 8.53 // of the natural logarithm of the number of a mesh's triangles
	deviationLogFaces = 2.15
	mostFaces         = 5_672_212

	popularShare  = 0.3 // of things with which anybody did anything
	mostDownloads = 3_200_000

	filesApart = 256 // between the first file ids of two things; none has more files
	longestTag = 64
)

// sample makes things with the spread of tables.
type sample struct {
	*Tables
	n       int
	seed    uint64
	tags    []string // the most frequent first
	authors []string
	names   []string
	words   []string
	stride  int // coprime to n: in its steps the ranks of popularity go through the things
}

// Resample makes n things, from the one at the index first on. They have ids from 1 and the spread of the tables: counts of files and tags, shelves and licences
// are drawn from them, tags and authors by rank, sizes of meshes log-normally, and names from titles. Popularity falls as the inverse of the rank and is nothing for
// most things. Each is a function of the tables, n, the seed and its index alone.
func (t *Tables) Resample(n int, seed uint64, first int) iter.Seq[Thing] {
	s := &sample{Tables: t, n: n, seed: seed}
	tags, authors := make(map[string]int), make(map[string]int)
	words := make(map[string]bool)
	for _, th := range t.things {
		for _, tag := range th.Tags {
			tags[strings.ToLower(tag)]++
		}
		authors[th.Author]++
		s.names = append(s.names, th.Name)
		for _, word := range strings.Fields(th.Name) {
			words[word] = true
		}
	}
	s.names = append(s.names, t.titles...)
	s.tags, s.authors, s.words = byFrequency(tags), byFrequency(authors), slices.Sorted(maps.Keys(words))
	for s.stride = max(1, n*618/1000); gcd(s.stride, n) != 1; s.stride++ {
	}
	return func(yield func(Thing) bool) {
		if len(t.things) == 0 {
			return
		}
		for i := first; i < n; i++ {
			if !yield(s.thing(i)) {
				return
			}
		}
	}
}

func byFrequency(counts map[string]int) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(counts[b]-counts[a], strings.Compare(a, b)) })
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// thing makes the thing at an index.
func (s *sample) thing(i int) Thing {
	r := rand.New(rand.NewPCG(s.seed, uint64(i)))
	like := &s.things[r.IntN(len(s.things))]
	th := Thing{
		ID: int64(i) + 1, Name: s.name(r), Author: s.author(r, i), License: like.License, Category: like.Category,
		Date: date(r, i, s.n), Counts: s.counts(r, i),
	}
	if r.IntN(2) == 0 {
		th.Description = s.description(r)
	}
	if n := len(s.things[r.IntN(len(s.things))].Tags); n > 0 {
		th.Tags = make([]string, 0, n)
		for range n {
			if tag := s.tag(r); !slices.Contains(th.Tags, tag) {
				th.Tags = append(th.Tags, tag)
			}
		}
	}
	for k, f := range like.Files[:min(len(like.Files), filesApart)] {
		faces := min(mostFaces, int64(math.Exp(meanLogFaces+deviationLogFaces*r.NormFloat64())))
		th.Files = append(th.Files, File{ID: int64(i)*filesApart + int64(k) + 1, Name: f.Name, Size: meshSize(faces)})
	}
	return th
}

// ranked draws a rank below n, the frequency of which falls with a slope.
func ranked(r *rand.Rand, n int, slope float64) int {
	return min(n-1, int(float64(n)*math.Pow(r.Float64(), 1/(1-slope))))
}

// name is a title with one or two words of others, as names of things are: 3 to 101 characters.
func (s *sample) name(r *rand.Rand) string {
	name := s.names[r.IntN(len(s.names))]
	for range 1 + r.IntN(2) {
		if longer := name + " " + s.words[r.IntN(len(s.words))]; utf8.RuneCountInString(longer) <= 101 {
			name = longer
		}
	}
	return name
}

func (s *sample) description(r *rand.Rand) string {
	var text strings.Builder
	for range 1 + r.IntN(3) {
		text.WriteString("It is for ")
		for range 4 + r.IntN(8) {
			text.WriteString(s.words[r.IntN(len(s.words))] + " ")
		}
		text.WriteString("and printed well. ")
	}
	return text.String()
}

// tag is drawn from the tags of the tables and, in larger catalogues, from pairs of them: some 200,000 at a million things.
func (s *sample) tag(r *rand.Rand) string {
	known := len(s.tags)
	grown := float64(known) * math.Pow(float64(s.n)/float64(len(s.things)), 0.6)
	rank := ranked(r, max(known, int(grown)), tagSlope)
	if rank < known {
		return s.tags[rank]
	}
	rank -= known
	if tag := s.tags[rank%known] + " " + s.tags[rank/known]; utf8.RuneCountInString(tag) <= longestTag {
		return tag
	}
	return "tag " + strconv.Itoa(rank)
}

// author is one who has this thing alone, or one of those who have more the lower their rank is.
func (s *sample) author(r *rand.Rand, i int) string {
	rank, apart := 0, ""
	if r.Float64() < soloShare {
		rank, apart = i, "_"
	} else {
		rank = ranked(r, max(1, int(authorShare*float64(s.n))), authorSlope)
	}
	name, round := s.authors[rank%len(s.authors)], rank/len(s.authors)
	if round == 0 && apart == "" {
		return name
	}
	return name + apart + strconv.Itoa(round)
}

// date lies between 2009 and 2026: later things have later dates, with some disorder, and some have the same.
func date(r *rand.Rand, i, n int) time.Time {
	const minutes = 17 * 365 * 24 * 60
	at := int(float64(i)/float64(n)*minutes) + r.IntN(24*60)
	return time.Date(2009, 1, 1, 0, at, 0, 0, time.UTC)
}

// counts fall with the rank, which goes through the things in steps.
func (s *sample) counts(r *rand.Rand, i int) Counts {
	rank := i * s.stride % s.n
	if float64(rank) >= popularShare*float64(s.n) {
		return Counts{}
	}
	downloads := mostDownloads / float64(rank+1)
	likes := downloads * (0.01 + 0.03*r.Float64())
	return Counts{
		Downloads: int64(downloads), Likes: int64(likes), Collects: int64(likes * (1.3 + 0.4*r.Float64())),
		Makes: int64(downloads / 700), Comments: int64(downloads / 1000),
	}
}
