package bucket

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"
)

func eachFixture(t *testing.T, test func(t *testing.T, f fixture)) {
	for name, open := range map[string]func(testing.TB) fixture{"directory": newDirectory, "s3": newS3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

// row is the row of a staged upload.
type row struct{ Staged }

func (r *row) commit(s Staged) error {
	r.Staged = s
	return nil
}

func stage(t *testing.T, f fixture) *row {
	t.Helper()
	s, err := f.Stage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return &row{s}
}

func wantFinished(t *testing.T, f fixture, s Staged, want []byte) {
	t.Helper()
	for range 2 { // it is idempotent
		u, err := f.Finish(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		sha, md := sha256.Sum256(want), md5.Sum(want)
		if u.Size != int64(len(want)) || u.SHA256 != hex.EncodeToString(sha[:]) || u.MD5 != hex.EncodeToString(md[:]) {
			t.Fatalf("finished %+v, want %d bytes with the SHA-256 %x", u, len(want), sha)
		}
	}
	r, _, err := f.Reader(t.Context(), s.Key())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the object has %d bytes that differ (%v)", len(got), err)
	}
	if err := f.Remove(t.Context(), s.Key()); err != nil {
		t.Fatal(err)
	}
	f.wantEmpty(t)
}

func someBytes(n int) []byte {
	p := make([]byte, n)
	source := rand.NewChaCha8([32]byte{1})
	_, _ = source.Read(p)
	return p
}

// TestStagedAppend sends uploads in requests that are cut anywhere.
func TestStagedAppend(t *testing.T) {
	eachFixture(t, func(t *testing.T, f fixture) {
		data := someBytes(3*PartSize + 12345)
		up := stage(t, f)
		for _, request := range []int{1, 1000, PartSize - 1001, 0, PartSize + 1, 100, 2 * PartSize} {
			from := up.Size
			body := io.MultiReader(bytes.NewReader(data[from:min(from+int64(request), int64(len(data)))]),
				iotest.ErrReader(io.ErrUnexpectedEOF))
			if _, err := f.Append(t.Context(), up.Staged, body, nil, up.commit); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("append %d bytes: %v", request, err)
			}
			if want := min(from+int64(request), int64(len(data))); up.Size != want {
				t.Fatalf("%d bytes are stored after a request of %d, want %d", up.Size, request, want)
			}
		}
		if _, err := f.Append(t.Context(), up.Staged, bytes.NewReader(data[up.Size:]), nil, up.commit); err != nil {
			t.Fatal(err)
		}
		wantFinished(t, f, up.Staged, data)
	})
}

// TestStagedKilled ends the process after the bytes are stored and before the row is, at each
// commit.
func TestStagedKilled(t *testing.T) {
	killed := errors.New("killed")
	eachFixture(t, func(t *testing.T, f fixture) {
		data := someBytes(2*PartSize + 500)
		for kill := 1; kill <= 6; kill++ {
			up := stage(t, f)
			commits, lost := 0, false
			commit := func(s Staged) error {
				if commits++; commits == kill {
					lost = true
					return killed
				}
				return up.commit(s)
			}
			for _, size := range []int{200, 300, PartSize, 2 * PartSize, 2 * PartSize} {
				end := min(int(up.Size)+size, len(data))
				if _, err := f.Append(t.Context(), up.Staged, bytes.NewReader(data[up.Size:end]), nil, commit); err != nil &&
					!errors.Is(err, killed) {
					t.Fatalf("kill %d: %v", kill, err)
				}
			}
			if !lost && kill < 4 {
				t.Errorf("kill %d: there were only %d commits", kill, commits)
			}
			wantFinished(t, f, up.Staged, data)
		}
	})
}

// TestStagedVerify keeps no byte of a request whose checksum does not match.
func TestStagedVerify(t *testing.T) {
	wrong := errors.New("wrong checksum")
	eachFixture(t, func(t *testing.T, f fixture) {
		data := someBytes(PartSize + 1000)
		up := stage(t, f)
		for _, c := range []struct {
			sent   []byte
			verify error
		}{{data[:100], nil}, {someBytes(50), wrong}, {bytes.Repeat([]byte{1}, PartSize+900), wrong}, {data[100:], nil}} {
			before := up.Size
			_, err := f.Append(t.Context(), up.Staged, bytes.NewReader(c.sent), func() error { return c.verify }, up.commit)
			if !errors.Is(err, c.verify) {
				t.Fatalf("append %d bytes: got %v, want %v", len(c.sent), err, c.verify)
			}
			if c.verify != nil && up.Size != before {
				t.Errorf("%d bytes with a wrong checksum are kept", up.Size-before)
			}
		}
		broken := io.MultiReader(bytes.NewReader(data), iotest.ErrReader(io.ErrUnexpectedEOF))
		if _, err := f.Append(t.Context(), up.Staged, broken, func() error { return nil }, up.commit); err == nil ||
			up.Size != int64(len(data)) {
			t.Errorf("a request that is cut before its checksum: %v, and %d bytes are stored", err, up.Size)
		}
		wantFinished(t, f, up.Staged, data)
	})
}

// TestStagedWithoutSums reads the bytes again if the state of the hashes is lost.
func TestStagedWithoutSums(t *testing.T) {
	eachFixture(t, func(t *testing.T, f fixture) {
		data := someBytes(10_000)
		up := stage(t, f)
		for _, part := range [][]byte{data[:6000], data[6000:]} {
			if _, err := f.Append(t.Context(), up.Staged, bytes.NewReader(part), nil, up.commit); err != nil {
				t.Fatal(err)
			}
			up.Sums = nil
		}
		wantFinished(t, f, up.Staged, data)
	})
}

func TestUnstage(t *testing.T) {
	eachFixture(t, func(t *testing.T, f fixture) {
		up := stage(t, f)
		if _, err := f.Append(t.Context(), up.Staged, bytes.NewReader(someBytes(PartSize+10)), nil, up.commit); err != nil {
			t.Fatal(err)
		}
		found := false
		for s, err := range f.StagedUploads(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			found = found || s.Name == up.Name
		}
		if !found {
			t.Error("StagedUploads does not return the upload")
		}
		for range 2 {
			if err := f.Unstage(t.Context(), up.Staged); err != nil {
				t.Fatal(err)
			}
		}
		for s := range f.StagedUploads(context.Background()) {
			t.Errorf("StagedUploads returns %+v", s)
		}
		f.wantEmpty(t)
	})
}
