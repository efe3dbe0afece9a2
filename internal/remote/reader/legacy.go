package reader

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/meshyard/meshyard/internal/legacyclient"
	"github.com/meshyard/meshyard/internal/license"
	"github.com/meshyard/meshyard/internal/remote"
)

// openLegacy reads a thing by the legacy REST API.
func (s *source) openLegacy(ctx context.Context, id int64) error {
	var t legacyclient.Thing
	path := fmt.Sprintf("/things/%d", id)
	if err := s.client.JSON(ctx, path, &t); err != nil {
		return err
	}
	var files []legacyclient.File
	if err := s.client.JSON(ctx, path+"/files", &files); err != nil {
		return err
	}
	if t.Name == "" {
		return remote.Failf("the service at the URL has neither the GraphQL API of Meshyard nor the REST API")
	}
	if t.PublicURL != "" {
		s.page = t.PublicURL
	}
	declared := t.License
	if id, ok := license.Coded(t.License); ok {
		declared = string(id)
	}
	var tags []string
	for _, tag := range t.Tags {
		tags = append(tags, tag.Name)
	}
	metadata, err := json.Marshal(map[string]any{
		"title": t.Name, "description": t.Description, "instructions": t.Instructions, "sensitive": t.IsNSFW,
		"licenses": []any{map[string]string{"name": declared}},
		"creator":  t.Creator.Name, "creatorURL": t.Creator.PublicURL, "url": s.page, "site": s.host(), "tags": tags,
	})
	if err != nil {
		return err
	}
	var list []*file
	for _, f := range files {
		listed := &file{path: f.Name, size: f.Size, url: f.PublicURL, urls: []string{f.DownloadURL}}
		if f.DirectURL != nil {
			listed.urls = []string{*f.DirectURL, f.DownloadURL}
		}
		list = append(list, listed)
	}
	for _, image := range t.ZipData.Images {
		list = append(list, &file{path: image.Name, size: -1, url: image.URL})
	}
	s.layout.Name = t.Name
	return s.list("thing.json", metadata, list)
}
