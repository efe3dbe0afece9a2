package library

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"path"

	"github.com/meshyard/meshyard/internal/layout"
	"github.com/meshyard/meshyard/models"
)

// maxLost is the maximum number of missing files of earlier scans among which a scan looks for
// moved files.
const maxLost = 50_000

// lost are the files that are no longer where they were. A file with the same bytes elsewhere is
// one of them that was moved.
type lost struct {
	bySize map[int64][]*models.File // only those that were read
	marked map[int64]bool           // those that this scan has marked as missing
}

func newLost() lost { return lost{map[int64][]*models.File{}, map[int64]bool{}} }

func (l lost) add(files ...*models.File) {
	for _, f := range files {
		if f.SHA256 != "" {
			l.bySize[f.Size] = append(l.bySize[f.Size], f)
		}
	}
}

// remove removes a file that was found.
func (l lost) remove(f *models.File) {
	for i, other := range l.bySize[f.Size] {
		if other.ID == f.ID {
			l.bySize[f.Size] = append(l.bySize[f.Size][:i:i], l.bySize[f.Size][i+1:]...)
			return
		}
	}
}

// sameBytes returns a lost file that has the bytes of a file that was found, or nil. It prefers one
// of the same name. It reads the file only if a lost one that is wanted has the same size.
func (sc *scan) sameBytes(found layout.File, wanted func(*models.File) bool) (same *models.File) {
	sum := ""
	for _, f := range sc.moved.lost.bySize[found.Size] {
		if !wanted(f) {
			continue
		}
		if sum == "" {
			if sum = sc.sum(found.Source); sum == "" {
				return nil
			}
		}
		if f.SHA256 == sum && (same == nil || f.Name == path.Base(found.Path)) {
			same = f
		}
	}
	return same
}

// sum returns the SHA-256 of a file of the library, or "" if it cannot be read: it is then a new
// file, whose bytes are read later.
func (sc *scan) sum(file string) string {
	if known := sc.sums[file]; known != "" {
		return known
	}
	f, err := sc.root.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	sum := hex.EncodeToString(h.Sum(nil))
	sc.sums[file] = sum
	return sum
}

// missing returns the files of the library that earlier scans did not find, by their things.
// Without changed places, nothing can have moved, and it returns none.
func (sc *scan) missing(ctx context.Context, changed bool) (map[int64][]*models.File, error) {
	if !changed {
		return nil, nil
	}
	var files []*models.File
	err := sc.core.DB.Write.NewSelect().Model(&files).Column(fileColumns...).
		Where("missing_since IS NOT NULL AND target_type = ? AND object_key LIKE ?", models.OnThing, sc.prefix()+"%").
		Order("id").Limit(maxLost).Scan(ctx)
	byThing := map[int64][]*models.File{}
	for _, f := range files {
		byThing[f.TargetID] = append(byThing[f.TargetID], f)
	}
	return byThing, err
}
