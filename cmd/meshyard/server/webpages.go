package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/internal/graphqlhttp"
	"github.com/meshyard/meshyard/internal/webpage"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/rest"
	"github.com/meshyard/meshyard/rest/wire"
)

// reservedNames are the first segments of paths that the server uses, or may use in the future. No
// user may have such a name, because a user's page is at /NAME.
var reservedNames = []string{
	"about", "account", "api", "apps", "assets", "banner", "blobs", "blog", "categories",
	"category", "changelogs", "collection", "collections", "comments", "contact", "copies", "dashboard", "docs",
	"download", "downloads", "email", "events", "explore", "favicon.ico", "featured", "feed", "files", "gallery", "glb",
	"graphiql", "graphql", "groups", "grouptopics", "healthz", "help", "home", "homebanner", "images", "legal", "login",
	"logout", "make", "makes", "me", "messages", "metrics", "migration", "newest", "newsletter", "notifications", "oauth",
	"openapi.json", "popular", "printers", "privacy", "programs", "readyz", "reference", "register", "renders",
	"robots.txt", "schema.graphql", "search", "security", "settings", "setup", "signin", "signout", "signup",
	"sitemap.xml", "sitewidenotification", "static", "status", "subscriptions", "support", "tag", "tags", "terms",
	"thing", "thingops", "things", "threejs", "upload", "upload_file_storage", "uploads", "user", "users", "verified",
	"view", "viewer", "web", "well-known",
}

// isReserved reports whether a name is one of reservedNames, ignoring case, or a file name such as
// .well-known.
func isReserved(name string) bool {
	return strings.HasPrefix(name, ".") || slices.Contains(reservedNames, strings.ToLower(name))
}

// webpages returns the options of the web pages that API responses link to.
func (a *Server) webpages(g *graph.Graph) (webpage.Options, error) {
	document, errs := gqlparser.LoadQueryWithRules(g.Schema(), webpage.Documents, rules.NewDefaultRules())
	if len(errs) > 0 {
		return webpage.Options{}, fmt.Errorf("documents of the web pages: %w", errs)
	}
	executor := g.Executor(graphqlhttp.SingleDocument{Document: document})
	return webpage.Options{
		BaseURL: a.Settings.BaseURL,
		Run: func(ctx context.Context, operation string, variables map[string]any) ([]byte, error) {
			// Visitors need no token where the server permits anonymous reading.
			ctx = graphql.StartOperationTrace(ctx)
			oc, errs := executor.CreateOperationContext(ctx, &graphql.RawParams{OperationName: operation, Variables: variables})
			if errs != nil {
				return nil, errs
			}
			ctx, cancel := graphqlhttp.WithTimeout(ctx, oc)
			defer cancel()
			next, ctx := executor.DispatchOperation(ctx, oc)
			response := next(ctx)
			if response == nil {
				return nil, context.Cause(ctx)
			}
			if len(response.Errors) > 0 {
				e, _ := graphqlhttp.MostSevere(response.Errors)
				if code := e.Extensions["code"]; code == string(models.NotFound) || code == string(models.Forbidden) {
					return nil, webpage.ErrNotFound
				}
				return nil, e
			}
			return response.Data, nil
		},
		LicenseName: func(license string) string {
			for _, row := range wire.Licenses {
				if row.Enum == license {
					return row.Name
				}
			}
			return license
		},
		Open: func(ctx context.Context, id int64) (io.ReadSeekCloser, error) {
			_, key, err := a.Store.Blob(ctx, id, true) // the file was visible to the visitor
			if err != nil {
				return nil, err
			}
			r, _, err := a.bucket.Reader(ctx, key)
			return r, err
		},
		Reserved: isReserved,
		Fail: func(w http.ResponseWriter, r *http.Request, err error) {
			if errors.Is(err, webpage.ErrNotFound) {
				missing(w)
				return
			}
			rest.WriteFailure(w, r, err)
		},
	}, nil
}

// reportReservedNames logs the users whose names are paths of the server. Their accounts work;
// their pages are not reachable at /NAME until an administrator renames them.
func (a *Server) reportReservedNames(ctx context.Context) error {
	taken, err := a.Store.UsersNamed(ctx, reservedNames)
	for _, name := range taken {
		a.Logger.Warn("a user has the name of a path of the server: their page is not reachable", "username", name)
	}
	return err
}
