// Package resample generates catalogues of any size with the statistical distribution of a small
// one, for load tests: tags, authors, file sizes and popularity follow the same laws.
package resample

import (
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/meshyard/meshyard/internal/dataset"
)

// Parameters of the distribution, measured on 2,010 things of Thingi10K (Zhou and Jacobson, 2016).
const (
	// exponent of tag frequency by rank; 0.75 for the first ranks and 0.80 for later ones
	tagSlope = 0.78
	// exponent of vocabulary size by number of things: 4,892 tags become 200,000 for a million
	// things
	tagGrowth  = 0.6
	longestTag = 64 // characters of a generated tag

	authorSlope = 0.65 // exponent of author frequency by rank
	rankedShare = 0.40 // authors that are drawn by rank, as a fraction of the number of things
	singleShare = 0.25 // fraction of things whose author has no other thing

	meanLogFaces      = 8.53 // of the natural logarithm of the number of triangles
	deviationLogFaces = 2.15
	mostFaces         = 5_672_212

	popularitySlope = 1.05 // exponent of downloads by rank
	mostDownloads   = 3_200_000
	popularShare    = 0.3  // fraction of things with any downloads
	newShare        = 0.02 // fraction of things that are too new to have downloads

	longestName = 101 // characters

	// distance between the file IDs of consecutive things, and the maximum number of files of a
	// thing
	idsApart = 1_000
)

// Dates of publication are in [firstDate, lastDate).
var (
	firstDate = time.Date(2009, 1, 1, 0, 0, 0, 0, time.UTC)
	lastDate  = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
)

// Resampler generates catalogues of any size with the distribution of a small one. It is safe for
// concurrent use.
type Resampler struct{ *distribution }

// New returns a Resampler that draws from the given things and additional titles. It keeps both
// slices; callers must not change them afterwards.
func New(things []dataset.Thing, titles []string) *Resampler {
	return &Resampler{measure(things, titles)}
}

// FromTables returns a Resampler that draws from the things and titles of the tables.
func FromTables(t *dataset.Tables) *Resampler {
	return New(slices.Collect(t.Things()), t.Titles)
}

// ThingsFrom returns the things from index first of a sequence of n things, generated one by one as
// they are consumed. It does not generate the things before first. The numbers of tags and files,
// the file names, the category and the license are those of things in the source; tags and authors
// are drawn by rank, existing ones first and generated ones after them; names are titles with one
// or two words of other titles added; file sizes are log-normal; downloads and the other counts
// fall with the inverse of the rank, and almost three quarters of the things have none.
//
// The thing at index i has ID i+1, and its files have IDs from (i+1)*1000. The result depends only
// on the source, n, seed and i. A Resampler without things returns none.
func (r *Resampler) ThingsFrom(n int, seed uint64, first int) iter.Seq[dataset.Thing] {
	return func(yield func(dataset.Thing) bool) {
		if len(r.things) == 0 || n <= 0 {
			return
		}
		s := newSample(r.distribution, n, seed)
		for i := max(first, 0); i < n; i++ {
			if !yield(s.thing(i)) {
				return
			}
		}
	}
}

// sample generates the things of one sequence. It is not safe for concurrent use.
type sample struct {
	*distribution
	n      int
	seed   uint64
	source *rand.PCG
	random *rand.Rand
	tag    zipf
	author zipf
	ranks  permutation // popularity rank of all but the newest things
	old    int         // number of things that are not too new to be popular
	drawn  []int       // tag ranks of the current thing
	text   []byte      // scratch buffer
}

func newSample(d *distribution, n int, seed uint64) *sample {
	s := &sample{distribution: d, n: n, seed: seed, source: rand.NewPCG(0, 0)}
	s.random = rand.New(s.source)
	vocabulary := float64(len(s.tags)) * max(1, math.Pow(float64(n)/float64(len(s.things)), tagGrowth))
	// A generated tag is a pair of parts, which limits their number.
	s.tag = newZipf(max(1, min(int(vocabulary), len(s.tags)+len(s.parts)*len(s.parts))), tagSlope)
	s.author = newZipf(max(1, int(rankedShare*float64(n))), authorSlope)
	s.old = n - int(newShare*float64(n))
	s.ranks = newPermutation(s.old, seed)
	return s
}

// begin seeds the random numbers for the thing at an index.
func (s *sample) begin(i int) {
	at := mix(uint64(i))
	s.source.Seed(mix(s.seed^at), mix(s.seed+at))
}

// thing generates the thing at an index.
func (s *sample) thing(i int) dataset.Thing {
	s.begin(i)
	kin := &s.things[s.random.IntN(len(s.things))]
	return dataset.Thing{
		ID:          int64(i) + 1,
		Name:        s.name(),
		Author:      s.authorName(s.authorIndex(i)),
		License:     kin.License,
		Category:    kin.Category,
		Subcategory: kin.Subcategory,
		Description: s.description(),
		Date:        s.date(i),
		Tags:        s.tagsOfThing(),
		Files:       s.files(i),
		Counts:      s.counts(i),
	}
}

// name returns a title with one or two words of other titles, up to longestName characters.
func (s *sample) name() string {
	s.text = append(s.text[:0], s.titles[s.random.IntN(len(s.titles))]...)
	length := utf8.RuneCount(s.text)
	for range 1 + s.random.IntN(2) {
		word := s.word()
		if more := 1 + utf8.RuneCountInString(word); length+more <= longestName {
			s.text = append(append(s.text, ' '), word...)
			length += more
		}
	}
	return string(s.text)
}

// word returns a random word of the titles.
func (s *sample) word() string {
	if len(s.words) == 0 {
		return "thing"
	}
	return s.words[s.random.IntN(len(s.words))]
}

// description returns one to three sentences of four to twelve words, or "" for half of the things.
func (s *sample) description() string {
	if s.random.IntN(2) == 0 {
		return ""
	}
	s.text = s.text[:0]
	for range 1 + s.random.IntN(3) {
		for range 4 + s.random.IntN(9) {
			s.text = append(append(s.text, s.word()...), ' ')
		}
		s.text = append(s.text[:len(s.text)-1], ". "...)
	}
	return string(s.text[:len(s.text)-1])
}

// authorIndex returns the index of an author: one drawn by rank, or one who has only this thing.
func (s *sample) authorIndex(i int) int {
	if s.random.Float64() < singleShare {
		return s.author.ranks + i
	}
	return s.author.draw(s.random)
}

// authorName returns the name of the author at an index: existing names first, then generated ones.
// Names are distinct, ignoring case.
func (s *sample) authorName(index int) string {
	if index < len(s.authors) {
		return s.authors[index]
	}
	index -= len(s.authors)
	// A third each are two stems joined by '_', two joined by '-', and a stem with a number. Stems
	// contain neither, so the names are distinct.
	form, k := index%3, index/3
	pairs := len(s.stems) * len(s.stems)
	pair, round := scattered(k, pairs), k/pairs
	s.text = append(s.text[:0], s.stems[pair/len(s.stems)]...)
	switch form {
	case 0:
		s.text = append(append(s.text, '_'), s.stems[pair%len(s.stems)]...)
	case 1:
		s.text = append(append(s.text, '-'), s.stems[pair%len(s.stems)]...)
	case 2:
		s.text = strconv.AppendInt(s.text, int64(pair%len(s.stems)+round*len(s.stems)), 10)
		round = 0
	}
	if round > 0 {
		s.text = strconv.AppendInt(append(s.text, '.'), int64(round), 10)
	}
	for s.known[string(s.text)] { // an existing name; generated names are in lower case
		s.text = append(s.text, "_x"...)
	}
	return string(s.text)
}

// tagsOfThing draws as many tags as a random thing of the source has.
func (s *sample) tagsOfThing() []string {
	count := min(len(s.things[s.random.IntN(len(s.things))].Tags), s.tag.ranks)
	if count == 0 {
		return nil
	}
	tags := make([]string, 0, count)
	s.drawn = s.drawn[:0]
	// Frequent tags are drawn repeatedly. The bound is for sources with few tags.
	for tries := 64 * count; len(tags) < count && tries > 0; tries-- {
		rank := s.tag.draw(s.random)
		if slices.Contains(s.drawn, rank) {
			continue
		}
		if tag, ok := s.tagAt(rank); ok {
			s.drawn = append(s.drawn, rank)
			tags = append(tags, tag)
		}
	}
	return tags
}

// tagAt returns the tag at a rank: existing tags first, then pairs of words. ok is false if the
// pair is an existing tag or too long.
func (s *sample) tagAt(rank int) (tag string, ok bool) {
	if rank < len(s.tags) {
		return s.tags[rank], true
	}
	pair := scattered(rank-len(s.tags), len(s.parts)*len(s.parts))
	s.text = append(append(append(s.text[:0], s.parts[pair/len(s.parts)]...), ' '), s.parts[pair%len(s.parts)]...)
	return string(s.text), !s.tagKeys[string(s.text)] && utf8.RuneCount(s.text) <= longestTag
}

// date increases with the index. One thing in five shares its date with its neighbors, as things
// imported together do, and one in eight is dated later than its index suggests.
func (s *sample) date(i int) time.Time {
	var late time.Duration
	switch kind := s.random.IntN(40); {
	case kind < 8:
		i -= i % 8
	case kind < 13:
		late = time.Duration(s.random.ExpFloat64() * 10 * float64(24*time.Hour))
	}
	age := time.Duration(float64(lastDate.Sub(firstDate)) * (float64(i) / float64(s.n)))
	at := firstDate.Add(age + late).Truncate(time.Second)
	if !at.Before(lastDate) {
		return lastDate.Add(-time.Second)
	}
	return at
}

// files returns the files of a random thing of the source, with other sizes.
func (s *sample) files(i int) []dataset.File {
	kin := s.things[s.random.IntN(len(s.things))].Files
	kin = kin[:min(len(kin), idsApart)]
	if len(kin) == 0 {
		return nil
	}
	files := make([]dataset.File, len(kin))
	for k := range kin {
		faces := math.Exp(meanLogFaces + deviationLogFaces*s.random.NormFloat64())
		files[k] = dataset.File{ID: (int64(i)+1)*idsApart + int64(k), Name: kin[k].Name,
			Size: dataset.STLSize(int64(min(max(faces, 1), mostFaces)))}
	}
	return files
}

// counts decrease with the popularity rank. Collects are 1.3 to 1.7 times the likes, and views 1.3
// to 4 times the downloads, up to rounding. The ratios of likes, makes and comments to downloads
// are estimates from a few things.
func (s *sample) counts(i int) dataset.Counts {
	if i >= s.old {
		return dataset.Counts{}
	}
	rank := s.ranks.at(i)
	if float64(rank) >= popularShare*float64(s.n) {
		return dataset.Counts{}
	}
	between := func(least, most float64) float64 { return least + (most-least)*s.random.Float64() }
	downloads := math.Round(mostDownloads * math.Pow(float64(rank+1), -popularitySlope))
	likes := math.Round(downloads * between(0.02, 0.08))
	return dataset.Counts{
		Downloads: int64(downloads),
		Likes:     int64(likes),
		Collects:  int64(math.Round(likes * between(1.3, 1.7))),
		Makes:     int64(downloads * between(0.0005, 0.003)),
		Comments:  int64(downloads * between(0.0001, 0.0006)),
		Views:     int64(math.Round(downloads * between(1.3, 4))),
	}
}
