package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/meshyard/meshyard/test/servertest"
)

// moment is an event that clients observe. The time of a kill can depend on it.
type moment int

const (
	sentBytes moment = iota // the last byte of an upload was sent
	sentFinalize
	gotUpload // a response arrived
	gotFinalize
	gotDownload
	moments
)

func (m moment) String() string {
	return [moments]string{"upload sent", "finalize sent", "upload answered", "finalize answered", "download answered"}[m]
}

// mix determines which calls most clients of a round make.
type mix int

const (
	everything  mix = iota
	finalizing      // first only uploads, then only batches that finalize them
	staging         // only forms, most of which are posted again with other bytes
	downloading     // first some files, then only downloads, which share commits
	mixes
)

// hoard is the number of uploads after which the clients of the mix finalizing start to finalize.
const hoard = 50

// load is the clients of one round, which call the server at the same time.
type load struct {
	*client
	mix    mix
	book   *ledger
	pool   [][]byte // contents that several uploads share
	killed atomic.Bool
	sum    [moments]atomic.Int64
	clock  moment
	due    int64
	fire   chan struct{} // closed at the chosen moment
}

// run starts clients, which work until the server is killed. The caller waits for them with the
// returned group.
func (l *load) run(rng *rand.Rand, clients int) *sync.WaitGroup {
	var all sync.WaitGroup
	for i := range clients {
		mine := rand.New(rand.NewPCG(rng.Uint64(), uint64(i)))
		u := l.book.users[i%len(l.book.users)]
		all.Go(func() {
			for !l.killed.Load() {
				l.step(mine, u)
			}
		})
	}
	return &all
}

func (l *load) step(rng *rand.Rand, u *user) {
	n := rng.IntN(100)
	switch {
	case l.mix == staging && n < 90:
		l.sendForm(rng, u)
	case l.mix == finalizing && l.sum[gotUpload].Load() < hoard:
		l.upload(rng, u)
	case l.mix == finalizing && n < 90:
		l.finalize(rng, u)
	case l.mix == downloading && l.sum[gotFinalize].Load() == 0:
		l.finalize(rng, u)
	case l.mix == downloading && n < 95:
		l.download(rng, u)
	case n < 40:
		l.upload(rng, u)
	case n < 60:
		l.sendForm(rng, u)
	case n < 85:
		l.finalize(rng, u)
	default:
		l.download(rng, u)
	}
}

// met counts a moment, and closes l.fire if it is the moment that the kill waits for.
func (l *load) met(m moment) {
	if l.sum[m].Add(1) == l.due && m == l.clock {
		close(l.fire)
	}
}

// answered reports whether a response with the wanted status arrived. A missing response is an
// error unless the server was killed.
func (l *load) answered(what string, a *response, err error, want int) bool {
	killed := l.killed.Load()
	switch {
	case err != nil && !killed:
		l.book.problem("%s: got %v from a server that was not killed, want %d", what, err, want)
	case err != nil:
		l.book.do(func() { l.book.figures.unanswered++ })
	case a.status != want:
		l.book.problem("%s: got %d %.300s, want %d", what, a.status, a.body, want)
	default:
		return true
	}
	return false
}

// bytes returns the bytes of an upload: at most 2 MiB, usually few, and often the same as in other
// uploads.
func (l *load) bytes(rng *rand.Rand) []byte {
	if rng.IntN(5) < 2 {
		return l.pool[rng.IntN(len(l.pool))]
	}
	if l.mix != everything {
		// Short calls make kills occur in each of their stages.
		return randomBytes(rng, 14)
	}
	return randomBytes(rng, 21)
}

// randomBytes returns 1 to 2^most random bytes. The logarithm of the number is uniformly
// distributed.
func randomBytes(rng *rand.Rand, most float64) []byte {
	b := make([]byte, int(math.Exp2(rng.Float64()*most)))
	var seed [32]byte
	for i := range seed {
		seed[i] = byte(rng.Uint32())
	}
	_, _ = rand.NewChaCha8(seed).Read(b) // never fails
	return b
}

// sending returns a reader of b that is fast or, in some cases, slow.
func (l *load) sending(rng *rand.Rand, b []byte) io.Reader {
	r := &trickle{left: b, step: len(b), end: func() { l.met(sentBytes) }}
	if l.mix == everything && rng.IntN(5) == 0 {
		r.step, r.pause = len(b)/8+1, time.Duration(1+rng.IntN(20))*time.Millisecond
	}
	return r
}

// trickle is a slow reader. It calls end at the end of the bytes.
type trickle struct {
	left  []byte
	step  int
	pause time.Duration
	end   func()
}

func (t *trickle) Read(p []byte) (int, error) {
	if len(t.left) == 0 {
		t.end()
		return 0, io.EOF
	}
	time.Sleep(t.pause)
	n := copy(p[:min(len(p), t.step)], t.left)
	t.left = t.left[n:]
	return n, nil
}

func (l *load) upload(rng *rand.Rand, u *user) {
	b := l.bytes(rng)
	name := fmt.Sprintf("%08x.stl", rng.Uint32())
	body, contentType := multipartBody(nil, name, l.sending(rng, b))
	a, err := l.send(u, http.MethodPost, "/files/0/uploadFile", contentType, body)
	if !l.answered("upload "+name, a, err, http.StatusOK) {
		return
	}
	l.met(gotUpload)
	var up struct{ ID int64 }
	switch err := json.Unmarshal(a.body, &up); {
	case a.cut != nil && l.killed.Load(): // the response arrived, but was truncated before the id
	case err != nil || up.ID == 0:
		l.book.problem("upload %s: got %.300s, want an id", name, a.body)
	default:
		has := contentOf(b)
		f := &file{id: up.ID, owner: u, name: name, has: &has}
		l.book.do(func() {
			l.book.figures.uploads++
			l.book.files = append(l.book.files, f)
			u.pending = append(u.pending, f)
		})
	}
}

// sendForm continues a staged upload: it posts the form, perhaps again with other bytes, and
// finalizes.
func (l *load) sendForm(rng *rand.Rand, u *user) {
	var f *file
	l.book.do(func() {
		if n := len(u.forms); n > 0 && rng.IntN(2) == 0 {
			f, u.forms = u.forms[n-1], u.forms[:n-1]
		}
	})
	if f == nil {
		if f = l.stage(rng, u); f == nil {
			return
		}
	}
	for f.has == nil || l.mix == staging && rng.IntN(4) != 0 || rng.IntN(4) == 0 {
		if !l.postForm(rng, f) {
			return
		}
	}
	if rng.IntN(8) == 0 {
		l.book.do(func() { u.forms = append(u.forms, f) })
		return
	}
	b := &batch{files: []*file{f}, thing: f.thing}
	l.book.do(func() {
		f.asked = b
		l.book.batches = append(l.book.batches, b)
	})
	l.met(sentFinalize)
	a, err := l.send(u, http.MethodPost, fmt.Sprintf("/files/%d/finalize", f.id), "", nil)
	if l.answered(fmt.Sprintf("finalize of staged file %d", f.id), a, err, http.StatusOK) {
		l.done(b)
	}
}

func (l *load) stage(rng *rand.Rand, u *user) *file {
	f := &file{owner: u, name: fmt.Sprintf("%08x.stl", rng.Uint32())}
	l.book.do(func() { f.thing = u.things[len(u.things)-1-rng.IntN(min(3, len(u.things)))] })
	body, _ := json.Marshal(map[string]string{"filename": f.name})
	a, err := l.send(u, http.MethodPost, fmt.Sprintf("/things/%d/files", f.thing), "application/json",
		bytes.NewReader(body))
	if !l.answered("stage "+f.name, a, err, http.StatusOK) || a.cut != nil {
		return nil
	}
	var staged struct {
		Action string
		Fields map[string]string
	}
	err = json.Unmarshal(a.body, &staged)
	if err == nil {
		_, err = fmt.Sscanf(staged.Fields["key"], "pending/%d", &f.id)
	}
	action, fault := url.Parse(staged.Action)
	if err != nil || fault != nil {
		l.book.problem("stage %s: %v, %v: %.300s", f.name, err, fault, a.body)
		return nil
	}
	// Keep only the path: the address of the server changes after every kill.
	f.form = &form{action.Path, staged.Fields}
	l.book.secret(staged.Fields["signature"])
	l.book.do(func() { l.book.files = append(l.book.files, f) })
	return f
}

func (l *load) postForm(rng *rand.Rand, f *file) bool {
	b := l.bytes(rng)
	sent := contentOf(b)
	l.book.do(func() { f.may = append(f.may, sent) })
	body, contentType := multipartBody(f.form.fields, f.name, l.sending(rng, b))
	a, err := l.send(nil, http.MethodPost, f.form.path, contentType, body)
	if !l.answered(fmt.Sprintf("form of file %d", f.id), a, err, http.StatusOK) {
		return false
	}
	l.book.do(func() {
		f.has, f.may = &sent, nil
		l.book.figures.forms++
	})
	l.met(gotUpload)
	return true
}

// finalize attaches 1 to 5 uploads to a thing, sometimes by two concurrent calls.
func (l *load) finalize(rng *rand.Rand, u *user) {
	b := l.book.claim(rng, u, 1+rng.IntN(5))
	if b == nil {
		l.upload(rng, u)
		return
	}
	var calls sync.WaitGroup
	for range 1 + rng.IntN(5)/4 {
		calls.Go(func() {
			body, _ := json.Marshal(servertest.FinalizeBody("thing", b.thing, ids(b.files)...))
			l.met(sentFinalize)
			a, err := l.send(u, http.MethodPost, "/files/0/FinalizeFiles", "application/json", bytes.NewReader(body))
			if l.answered(fmt.Sprintf("finalize of files %v onto thing %d", ids(b.files), b.thing), a, err, http.StatusOK) {
				l.done(b)
			}
		})
	}
	calls.Wait()
}

func (l *load) done(b *batch) {
	l.book.finalized(b)
	l.book.do(func() { l.book.figures.finalizes++ })
	l.met(gotFinalize)
}

// download performs a tracked download and sometimes reads the bytes. Some clients send the token
// in the URL.
func (l *load) download(rng *rand.Rand, u *user) {
	var f *file
	l.book.do(func() {
		if n := len(u.finalized); n > 0 {
			f = u.finalized[n-1-rng.IntN(min(n, 20))]
			f.unsure++
		}
	})
	if f == nil {
		return
	}
	path, by := fmt.Sprintf("/files/%d/download", f.id), u
	if rng.IntN(4) == 0 {
		path, by = path+"?access_token="+url.QueryEscape(u.token), nil
	}
	a, err := l.send(by, http.MethodGet, path, "", nil)
	if !l.answered(fmt.Sprintf("download of file %d", f.id), a, err, http.StatusFound) {
		return
	}
	l.book.do(func() {
		f.unsure--
		f.downloads++
		l.book.figures.downloads++
	})
	l.met(gotDownload)
	to := a.header.Get("Location")
	l.book.secret(signatureOf(to))
	if rng.IntN(4) != 0 {
		return
	}
	a, err = l.send(nil, http.MethodGet, strings.TrimPrefix(to, l.url), "", nil)
	if !l.answered(fmt.Sprintf("bytes of file %d", f.id), a, err, http.StatusOK) || a.cut != nil && l.killed.Load() {
		return
	}
	want := *f.has
	if got := contentOf(a.body); got != want {
		l.book.problem("bytes of file %d: got %+v, want %+v", f.id, got, want)
	}
}

// pool returns contents that several uploads share.
func pool(rng *rand.Rand) [][]byte {
	contents := make([][]byte, 12)
	for i := range contents {
		contents[i] = randomBytes(rng, 21)
	}
	return slices.Clip(contents)
}
