package main_test

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
)

// content describes the bytes of an upload.
type content struct {
	size   int64
	sha256 string // hex
	md5    string // base64, as in responses
}

func contentOf(b []byte) content {
	long, short := sha256.Sum256(b), md5.Sum(b)
	return content{int64(len(b)), hex.EncodeToString(long[:]), base64.StdEncoding.EncodeToString(short[:])}
}

// file is a client's view of a file.
type file struct {
	id        int64
	owner     *user
	name      string
	thing     int64     // the target, or the requested target
	has       *content  // the last confirmed content
	may       []content // contents sent after that, without a response
	form      *form     // nil if it was sent to uploadFile
	finalized bool      // the finalization was confirmed
	asked     *batch    // finalization sent, without a response
	downloads int       // confirmed downloads
	unsure    int       // downloads sent, without a response
}

// form is the signed form of a staged upload.
type form struct {
	path   string
	fields map[string]string
}

// batch is a set of files that are finalized by one call.
type batch struct {
	files    []*file
	thing    int64
	answered bool
}

// user is a user, with the objects that clients may use next.
type user struct {
	name, token string
	things      []int64
	pending     []*file // uploaded, and in no batch
	forms       []*file // staged, and not in use by a client
	finalized   []*file
}

// figures count responses and missing responses, for the log.
type figures struct {
	kills, gcKills, gcsBeside                   int
	uploads, forms, finalizes, files, downloads int // with a response
	unanswered                                  int // calls that a kill interrupted
	// Uploads, finalizations and downloads among those that took effect nevertheless.
	tookEffect int
	// Objects that the test created in the state that a kill leaves them in, and objects that gc
	// removed.
	planted, collected int
}

// ledger records the responses that clients received, and so what must exist after any number of
// kills.
type ledger struct {
	mu       sync.Mutex
	users    []*user
	files    []*file
	batches  []*batch // of this round
	secrets  []string // must not occur in any log
	problems []string
	figures  figures
}

func (l *ledger) do(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
}

// problem records a violation. Clients call it instead of failing the test, which only the
// goroutine of the test may do.
func (l *ledger) problem(format string, args ...any) {
	l.do(func() { l.problems = append(l.problems, fmt.Sprintf(format, args...)) })
}

// claim moves up to n of the user's pending uploads into a batch for the calling client, or returns
// nil if there are none.
func (l *ledger) claim(rng *rand.Rand, u *user, n int) (b *batch) {
	l.do(func() {
		n = min(n, len(u.pending))
		if n == 0 {
			return
		}
		rng.Shuffle(len(u.pending), func(i, j int) { u.pending[i], u.pending[j] = u.pending[j], u.pending[i] })
		// Use only the latest things, because lists of files have at most 1,000.
		latest := u.things[max(0, len(u.things)-3):]
		b = &batch{files: slices.Clone(u.pending[:n]), thing: latest[rng.IntN(len(latest))]}
		u.pending = u.pending[n:]
		for _, f := range b.files {
			f.asked, f.thing = b, b.thing
		}
		l.batches = append(l.batches, b)
	})
	return b
}

// finalized records that the finalization of a batch was confirmed.
func (l *ledger) finalized(b *batch) {
	l.do(func() {
		if b.answered {
			return
		}
		b.answered = true
		for _, f := range b.files {
			f.finalized = true
			l.figures.files++
			f.owner.finalized = append(f.owner.finalized, f)
		}
	})
}

// info is the part of FileSchema that the test reads.
type info struct {
	ID            int64   `json:"id"`
	Size          int64   `json:"size"`
	Hash          string  `json:"hash"`
	DownloadCount int     `json:"download_count"`
	DirectURL     *string `json:"direct_url"`
}

// verify compares the server with the ledger while no client is active, and resolves what was
// unknown: a call without a response has either taken effect by now, or never will. It reads the
// content of recently used files and of a random sample of the others.
func (l *ledger) verify(c *client, rng *rand.Rand, sample int) error {
	listed := make(map[int64]map[int64]info) // by thing and file
	for _, u := range l.users {
		for _, thing := range u.things {
			var files []info
			if err := c.json(u, fmt.Sprintf("/things/%d/files", thing), &files); err != nil {
				return err
			}
			listed[thing] = make(map[int64]info, len(files))
			for _, f := range files {
				listed[thing][f.ID] = f
			}
		}
	}
	done := make(map[*batch]int)
	counts := make(map[*user]int)
	var there, fresh []*file // fresh files may be affected by the last kill
	at := make(map[*file]info)
	for _, f := range l.files {
		found, hangs := listed[f.thing][f.id]
		if !hangs {
			status, err := c.try(f.owner, fmt.Sprintf("/files/%d", f.id), &found)
			if err != nil {
				return err
			}
			if status == http.StatusNotFound {
				l.checkAbsent(f)
				continue
			}
		}
		if f.asked != nil || len(f.may) > 0 {
			fresh = append(fresh, f)
		}
		l.checkFile(f, found, hangs)
		if f.asked != nil && hangs {
			done[f.asked]++
		}
		counts[f.owner] += found.DownloadCount
		there = append(there, f)
		at[f] = found
	}
	for _, b := range l.batches {
		if n := done[b]; n != len(b.files) && (n != 0 || b.answered) {
			l.problem("finalize of files %v onto thing %d, answered %t: got %d finalized, want %s", ids(b.files), b.thing,
				b.answered, n,
				map[bool]string{true: "all", false: "all or none"}[b.answered])
		}
	}
	l.batches = nil
	for _, u := range l.users {
		if err := l.checkHistory(c, u, counts[u]); err != nil {
			return err
		}
	}
	if sample < len(there) {
		rng.Shuffle(len(there), func(i, j int) { there[i], there[j] = there[j], there[i] })
		there = there[:sample]
	}
	for _, f := range append(there, fresh...) {
		if err := l.checkBytes(c, f, at[f]); err != nil {
			return err
		}
	}
	l.collectLoose()
	return nil
}

// checkAbsent checks a file that does not exist on the server.
func (l *ledger) checkAbsent(f *file) {
	if f.has != nil || f.finalized {
		l.problem("file %d of %s, %s: got 404, want it there", f.id, f.owner.name, f.story())
	}
	f.may, f.asked = nil, nil
}

// checkFile checks a file that exists on the server, and records its state.
func (l *ledger) checkFile(f *file, got info, hangs bool) {
	switch {
	case f.finalized && !hangs:
		l.problem("file %d, %s: got no finalized file, want it on thing %d", f.id, f.story(), f.thing)
	case hangs && !f.finalized && f.asked == nil:
		l.problem("file %d, %s: got it finalized without a request", f.id, f.story())
	}
	possible := slices.Clone(f.may)
	if f.has != nil {
		possible = append(possible, *f.has)
	}
	i := slices.IndexFunc(possible, func(c content) bool { return c.size == got.Size && c.md5 == got.Hash })
	if i < 0 {
		l.problem("file %d, %s: got %d bytes with hash %s, want one of %+v", f.id, f.story(), got.Size, got.Hash, possible)
		return
	}
	if n := got.DownloadCount; n < f.downloads || n > f.downloads+f.unsure {
		l.problem("file %d, %s: got a download_count of %d, want %d to %d", f.id, f.story(), n, f.downloads,
			f.downloads+f.unsure)
	}
	if f.has == nil || *f.has != possible[i] {
		l.figures.tookEffect++
	}
	l.figures.tookEffect += got.DownloadCount - f.downloads
	f.has, f.may = &possible[i], nil
	f.downloads, f.unsure = got.DownloadCount, 0
	if hangs && !f.finalized {
		l.figures.tookEffect++
		f.finalized = true
		f.owner.finalized = append(f.owner.finalized, f)
	}
}

// checkHistory compares the length of a user's download history with the download counts of the
// user's files. Users download only their own files.
func (l *ledger) checkHistory(c *client, u *user, want int) error {
	got, err := c.history(u)
	if err == nil && got != want {
		l.problem("download history of %s: got %d entries, want %d as the files count", u.name, got, want)
	}
	return err
}

// checkBytes downloads the content of a file and compares its SHA-256.
func (l *ledger) checkBytes(c *client, f *file, at info) error {
	if at.DirectURL == nil {
		l.problem("file %d: got no direct_url, want one", f.id)
		return nil
	}
	l.secret(signatureOf(*at.DirectURL))
	r, err := http.NewRequest(http.MethodGet, *at.DirectURL, nil)
	if err != nil {
		return err
	}
	response, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	hash := sha256.New()
	n, err := io.Copy(hash, response.Body)
	if err != nil {
		return err
	}
	if sum := hex.EncodeToString(hash.Sum(nil)); response.StatusCode != http.StatusOK || sum != f.has.sha256 {
		l.problem("bytes of file %d, %s: got status %d, %d bytes with SHA-256 %s, want 200, %d with %s",
			f.id, f.story(), response.StatusCode, n, sum, f.has.size, f.has.sha256)
	}
	return nil
}

// collectLoose makes files available again that interrupted clients were using.
func (l *ledger) collectLoose() {
	for _, u := range l.users {
		u.pending, u.forms = nil, nil
	}
	for _, f := range l.files {
		f.asked = nil
		switch {
		case f.finalized:
		case f.form != nil:
			f.owner.forms = append(f.owner.forms, f)
		default:
			f.owner.pending = append(f.owner.pending, f)
		}
	}
}

func (l *ledger) secret(s string) {
	if s != "" {
		l.do(func() { l.secrets = append(l.secrets, s) })
	}
}

// story describes the calls for a file, for error messages.
func (f *file) story() string {
	by := "uploaded"
	if f.form != nil {
		by = "staged"
	}
	return fmt.Sprintf("%s as %s (bytes answered %t, %d sent without an answer; finalize answered %t, sent %t; downloads answered %d, sent without an answer %d)",
		by, f.name, f.has != nil, len(f.may), f.finalized, f.asked != nil, f.downloads, f.unsure)
}

func ids(files []*file) []int64 {
	var ids []int64
	for _, f := range files {
		ids = append(ids, f.id)
	}
	return ids
}
