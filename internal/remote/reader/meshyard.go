package reader

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/meshyard/meshyard/internal/legacyclient"
	"github.com/meshyard/meshyard/internal/remote"
)

// filesPerRequest is the number of files that a request to another Meshyard asks for.
const filesPerRequest = 500

const thingQuery = `{ thing(id: "%d"%s) {
  name description instructions isNsfw category { slug } tags { name } licenseInfo { spdxId } creator { username }
  origin { creator creatorUrl url site } fileCount
  files(first: %d, offset: %d) { path size isAvailable publicUrl sha256 note }
} }`

// thing is a thing of another Meshyard.
type thing struct {
	Name, Description, Instructions string
	IsNsfw                          bool
	Category                        struct{ Slug string }
	Tags                            []struct{ Name string }
	LicenseInfo                     struct{ SPDXID string }
	Creator                         struct{ Username string }
	Origin                          *struct{ Creator, CreatorURL, URL, Site string }
	FileCount                       int
	Files                           []struct {
		Path        string
		Size        int64
		IsAvailable bool
		PublicURL   string
		SHA256      string
		Note        string
	}
}

// reply is the response to a GraphQL query.
type reply struct {
	Data   *struct{ Thing *thing }
	Errors []struct {
		Message    string
		Extensions struct{ Code string }
	}
}

// openMeshyard reads a thing by GraphQL. found is false if the service has none.
func (s *source) openMeshyard(ctx context.Context, base string, id int64, key string) (found bool, err error) {
	if strings.HasPrefix(base, "https://api.thingiverse.com") {
		return false, nil
	}
	argument := ""
	if key != "" {
		argument = fmt.Sprintf(", key: %q", url.QueryEscape(key)) // a key has no other characters
	}
	var first *thing
	for {
		at := 0
		if first != nil {
			at = len(first.Files)
		}
		var r reply
		query := fmt.Sprintf(thingQuery, id, argument, filesPerRequest, at)
		err := s.client.JSON(ctx, "/graphql?query="+url.QueryEscape(query), &r)
		_, refused := errors.AsType[*legacyclient.StatusError](err)
		_, other := errors.AsType[*json.SyntaxError](err)
		switch {
		case first == nil && (refused || other || err == nil && r.Data == nil && len(r.Errors) == 0):
			return false, nil
		case err != nil:
			return true, err
		case r.Data == nil || r.Data.Thing == nil:
			code, message := "", ""
			if len(r.Errors) > 0 {
				code, message = r.Errors[0].Extensions.Code, r.Errors[0].Message
			}
			switch code {
			case "NOT_FOUND":
				return true, remote.Failf("the thing %d does not exist there, or it is not public", id)
			case "UNAUTHENTICATED", "FORBIDDEN":
				return true, remote.Failf("the other service requires a token")
			}
			return first != nil, unlessEmpty(first != nil, message)
		}
		if first == nil {
			first = r.Data.Thing
		} else {
			first.Files = append(first.Files, r.Data.Thing.Files...)
		}
		if len(r.Data.Thing.Files) == 0 || len(first.Files) >= min(first.FileCount, s.options.MaxFiles+1) {
			break
		}
	}
	return true, s.listThing(base, id, first)
}

func unlessEmpty(is bool, message string) error {
	if !is {
		return nil
	}
	return remote.Failf("the other service says: %.200s", message)
}

// listThing makes the tree of a thing of another Meshyard.
func (s *source) listThing(base string, id int64, t *thing) error {
	s.page = fmt.Sprintf("%s/thing:%d", base, id)
	described := map[string]any{
		"title": t.Name, "description": t.Description, "instructions": t.Instructions, "category": t.Category.Slug,
		"sensitive": t.IsNsfw,
		"licenses":  []any{map[string]string{"name": t.LicenseInfo.SPDXID}},
		"creator":   t.Creator.Username, "creatorURL": base + "/" + url.PathEscape(t.Creator.Username), "url": s.page,
		"site": s.host(),
	}
	if o := t.Origin; o != nil {
		described["creator"], described["creatorURL"] = o.Creator, o.CreatorURL
		described["url"], described["site"] = cmp.Or(o.URL, s.page), cmp.Or(o.Site, s.host())
	}
	var tags []string
	for _, tag := range t.Tags {
		tags = append(tags, tag.Name)
	}
	var files []*file
	var resources []any
	for _, f := range t.Files {
		listed := &file{path: f.Path, url: f.PublicURL, size: f.Size, sha256: f.SHA256}
		if !f.IsAvailable {
			listed.skip = "the other service does not have its bytes"
		}
		files = append(files, listed)
		if f.Note != "" {
			resources = append(resources, map[string]string{"path": f.Path, "caption": f.Note})
		}
	}
	described["tags"], described["resources"] = tags, resources
	metadata, err := json.Marshal(described)
	if err != nil {
		return err
	}
	s.layout.Name = t.Name
	return s.list("thing.json", metadata, files)
}

// host returns the name of the host of the page.
func (s *source) host() string {
	u, err := url.Parse(s.page)
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(u.Hostname(), "www.")
}
