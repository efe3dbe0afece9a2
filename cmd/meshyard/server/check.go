package server

import (
	"context"
	"fmt"

	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/graphql/graphqlhttp"
	"github.com/meshyard/meshyard/internal/web/webpage"
)

// CheckSettings checks what the settings name: the documents, the files of the site, and, if this
// server makes previews, the program that converts CAD files. It returns a
// [config.InvalidError] about the first one that is invalid. It opens no database.
func CheckSettings(s config.Settings) error {
	if s.Documents != "" {
		g := graph.New(&graph.Resolver{})
		documents, err := Documents(s, g)
		if err != nil {
			return err
		}
		nobody := func(context.Context, string) (auth.Caller, error) { return auth.Caller{}, nil }
		if _, err := g.Handler(graphqlhttp.Options{Hardened: s.Hardened, Documents: documents,
			Authenticate: nobody}); err != nil {
			return &config.InvalidError{Err: fmt.Errorf("--documents %s: %w", s.Documents, err)}
		}
	}
	if _, err := webpage.NewSite(s.SiteName, s.SiteColor, s.SiteLogo, s.SiteFolder); err != nil {
		return &config.InvalidError{Err: err}
	}
	if converter, err := cadConverter(s.CADConverter); err == nil && converter != nil &&
		s.Roles.Has(config.RolePreviews) && s.PreviewWorkers > 0 {
		if err := converter.Check(); err != nil {
			return &config.InvalidError{Err: fmt.Errorf("--cad-converter: %w", err)}
		}
	}
	return nil
}
