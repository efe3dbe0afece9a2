package link

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/layout"
	"github.com/meshyard/meshyard/internal/license"
	"github.com/meshyard/meshyard/internal/remote"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/importer"
)

// Source says what to preview.
type Source struct {
	URL   string
	Token string // of the other service; may be empty
}

// Input says what to import.
type Input struct {
	URL      string
	Token    string // of the other service; may be empty
	Category string // of things without one; "": Other
}

// Preview is what an import of a URL would create.
type Preview struct {
	URL     string
	Things  []PreviewThing
	Skipped []Skip
}

// PreviewThing is a thing that an import would create or update.
type PreviewThing struct {
	Name    string
	Origin  *models.Origin
	License license.ID
	Files   []PreviewFile
	// EarlierID is the ID of the thing of an earlier import; 0: there is none.
	EarlierID int64
}

// PreviewFile is a file of a thing that an import would create. Size is 0 if it is unknown.
type PreviewFile struct {
	Path string
	Size int64
	Kind layout.Kind
}

// maxToken is the maximum length of a token in bytes.
const maxToken = 4_000

// check normalizes an input. It returns BadInput if the URL is invalid.
func (s *Store) check(in *Input) error {
	if s.options.Open == nil {
		return models.Fail(models.Forbidden, "imports from URLs are turned off on this server")
	}
	if len(in.Token) > maxToken {
		return models.Invalid("token", "token: must be at most %d bytes (got %d)", maxToken, len(in.Token))
	}
	if err := models.CheckText("category", in.Category, models.MaxName); err != nil {
		return err
	}
	address, err := remote.Normalize(in.URL, in.Token != "" && !s.options.AllowPrivate)
	if err != nil {
		return models.Invalid("url", "url: %v", err)
	}
	in.URL = address
	return nil
}

// previewTime limits the time of a preview.
const previewTime = time.Minute

// Preview returns what an import would create. It changes nothing. A user can have one preview at a
// time. The error is BadInput with the reason if the URL cannot be imported.
func (s *Store) Preview(ctx context.Context, caller auth.Caller, of Source) (*Preview, error) {
	in := Input{URL: of.URL, Token: of.Token}
	if err := s.check(&in); err != nil {
		return nil, err
	}
	if !s.begin(caller.UserID) {
		return nil, models.Fail(models.Conflict, "another preview of a URL is in progress")
	}
	defer s.end(caller.UserID)
	ctx, cancel := context.WithTimeout(ctx, previewTime)
	defer cancel()
	source, err := s.open(ctx, Source{in.URL, in.Token}, 2)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	p := &Preview{URL: in.URL, Skipped: skips(source.Found)}
	for _, t := range source.Found.Things {
		shown := PreviewThing{Name: t.Name, License: t.License.ID()}
		if o := importer.OriginOf(t); o != nil {
			shown.Origin = &models.Origin{Creator: *o.Creator, CreatorURL: *o.CreatorURL, URL: *o.URL, Site: *o.Site}
		}
		for _, f := range t.Files {
			shown.Files = append(shown.Files, PreviewFile{f.Path, f.Size, f.Kind})
		}
		if shown.EarlierID, err = s.earlier(ctx, caller.UserID, in.URL, t.Source); err != nil {
			return nil, err
		}
		p.Things = append(p.Things, shown)
	}
	return p, nil
}

func (s *Store) begin(userID int64) bool {
	s.previewing.Lock()
	defer s.previewing.Unlock()
	if s.users[userID] {
		return false
	}
	s.users[userID] = true
	return true
}

func (s *Store) end(userID int64) {
	s.previewing.Lock()
	defer s.previewing.Unlock()
	delete(s.users, userID)
}

// open opens the source at a URL and finds its things. The caller must close the source.
func (s *Store) open(ctx context.Context, of Source, attempts int) (*remote.Source, error) {
	source, err := s.options.Open(ctx, of.URL, of.Token, attempts)
	if err != nil {
		return nil, explain(err)
	}
	found := source.Found
	if len(found.Things) == 0 {
		reason := ""
		for _, skip := range found.Skipped {
			reason = fmt.Sprintf(": %.100s: %.200s", skip.Source, skip.Reason)
		}
		return nil, errors.Join(models.Invalid("url", "url: there is no model that can be imported%s", reason),
			source.Close())
	}
	for i, t := range found.Things {
		if t.URL == "" && len(t.Links) == 0 {
			found.Things[i].URL = source.Page
		}
	}
	return source, nil
}

// explain returns an error of a source for the user who gave the URL.
func explain(err error) error {
	if reason := remote.Reason(err); reason != "" {
		return models.Invalid("url", "url: %s", reason)
	}
	return err
}

// maxSkips is the number of skipped files that are kept and shown.
const maxSkips = 1_000

func skips(found layout.Result) []Skip {
	var all []Skip
	for _, skip := range found.Skipped[:min(len(found.Skipped), maxSkips)] {
		all = append(all, Skip{skip.Source, skip.Reason})
	}
	return all
}

// sourceOf identifies a thing at a URL for a user.
func sourceOf(userID int64, address, path string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\n%s\n%s", userID, remote.Identity(address), path))
	return hex.EncodeToString(sum[:])
}

// earlier returns the thing of an earlier import of a thing, or 0.
func (s *Store) earlier(ctx context.Context, userID int64, address, path string) (int64, error) {
	var ids []int64
	err := s.core.DB.Write.NewSelect().Model((*linkThing)(nil)).Column("lt.thing_id").
		Join("JOIN things AS t ON t.id = lt.thing_id").
		Where("lt.source = ? AND t.owner_id = ? AND t.deletes_at IS NULL", sourceOf(userID, address, path), userID).
		Order("lt.thing_id DESC").Limit(1).Scan(ctx, &ids)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	return ids[0], nil
}
