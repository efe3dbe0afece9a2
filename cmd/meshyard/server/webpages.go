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
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/auth/bearer"
	"github.com/meshyard/meshyard/internal/graphql/graphqlhttp"
	"github.com/meshyard/meshyard/internal/telemetry"
	"github.com/meshyard/meshyard/internal/web/gallery"
	"github.com/meshyard/meshyard/internal/web/webpage"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/rest"
)

// reservedNames are the first segments of paths that the server uses or may use in the future. They
// are not allowed as usernames, because a user's page is at /NAME.
var reservedNames = []string{
	"about", "account", "ads.txt", "api", "apple-touch-icon.png", "apps", "assets", "banner", "blobs", "blog",
	"browserconfig.xml",
	"categories", "category", "changelogs", "collection", "collections", "comments", "confirm", "contact", "copies",
	"dashboard",
	"developers", "docs", "download", "downloads", "email", "events", "explore", "favicon.ico", "featured", "feed",
	"feed.xml",
	"files", "gallery", "glb", "graphiql", "graphql", "groups", "grouptopics", "healthz", "help", "home", "homebanner",
	"humans.txt", "images", "imprint", "invitation", "invitations", "invite", "legal", "login", "logout", "make", "makes",
	"manifest.json", "manifest.webmanifest", "me", "messages", "metrics", "migration", "moderation", "newest",
	"newsletter",
	"notifications", "oauth", "openapi.json", "password", "popular", "printers", "privacy", "programs", "readyz",
	"reference",
	"register", "renders", "reset", "robots.txt", "schema.graphql", "search", "security", "security.txt", "settings",
	"setup",
	"signin", "signout", "signup", "sitemap", "sitemap.xml", "sitewidenotification", "static", "status", "subscriptions",
	"support", "sw.js", "tag", "tags", "terms", "thing", "thingops", "things", "threejs", "upload", "upload_file_storage",
	"uploads", "user", "users", "verified", "view", "viewer", "web", "well-known",
}

// isReserved reports whether a name is one of reservedNames, ignoring case, or starts with a dot,
// such as .well-known.
func isReserved(name string) bool {
	return strings.HasPrefix(name, ".") || slices.Contains(reservedNames, strings.ToLower(name))
}

// webpages returns the options of the web pages that API responses link to.
func (a *Server) webpages(g *graph.Graph) (webpage.Options, error) {
	document, errs := gqlparser.LoadQueryWithRules(g.Schema(), webpage.Documents, rules.NewDefaultRules())
	if len(errs) > 0 {
		return webpage.Options{}, fmt.Errorf("documents of the web pages: %w", errs)
	}
	site, err := webpage.NewSite(a.Settings.SiteName, a.Settings.SiteColor, a.Settings.SiteLogo, a.Settings.SiteFolder)
	if err != nil {
		return webpage.Options{}, err
	}
	run := runner(g.Executor(graphqlhttp.SingleDocument{Document: document}))
	client := make(map[string]func(context.Context, string, map[string]any) ([]byte, error))
	for _, d := range gallery.Documents() {
		if !slices.Contains(webpage.ClientDocuments, d.Name) {
			continue
		}
		document, errs := gqlparser.LoadQueryWithRules(g.Schema(), d.Text, rules.NewDefaultRules())
		if len(errs) > 0 {
			return webpage.Options{}, fmt.Errorf("document %s of the gallery: %w", d.Name, errs)
		}
		client[d.Name] = runner(g.Executor(graphqlhttp.SingleDocument{Document: document}))
	}
	return webpage.Options{
		BaseURL: a.Settings.BaseURL, Site: site, AnonymousRead: a.Settings.AnonymousRead,
		Registration: a.Settings.Registration, UploadLimit: int64(a.Settings.UploadLimit), Styles: gallery.Styles(),
		Script: gallery.Script, Icon: gallery.Icon(),
		Visitor: a.visitor,
		Run:     run,
		RunClient: func(ctx context.Context, operation string, variables map[string]any) ([]byte, error) {
			return client[operation](ctx, operation, variables)
		},
		Sitemap: sitemap{a.Store},
		Open: func(ctx context.Context, id int64) (io.ReadSeekCloser, error) {
			_, key, err := a.Store.Blob(ctx, id, models.Signed, nil) // the file was visible to the visitor
			if err != nil {
				return nil, err
			}
			r, _, err := a.bucket.Reader(ctx, key)
			return r, a.explainLost(ctx, err)
		},
		Reserved: isReserved,
		Fail: func(w http.ResponseWriter, r *http.Request, err error) {
			switch {
			case errors.Is(err, webpage.ErrNotFound):
				missing(w)
			case errors.Is(err, webpage.ErrSignInRequired):
				rest.WriteFailure(w, r, &models.Error{Code: models.Unauthenticated, Message: "an access token is required"})
			default:
				rest.WriteFailure(w, r, err)
			}
		},
		Explain: explain,
	}, nil
}

// runner returns a function that runs the operations of an executor in process and returns their
// data, or one of the errors of package webpage.
func runner(executor *executor.Executor) func(ctx context.Context, operation string,
	variables map[string]any) ([]byte, error) {
	return func(ctx context.Context, operation string, variables map[string]any) ([]byte, error) {
		// CreateOperationContext needs the start time that this sets.
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
			switch e.Extensions["code"] {
			case string(models.NotFound), string(models.Forbidden):
				return nil, webpage.ErrNotFound
			case string(models.Unauthenticated):
				return nil, webpage.ErrSignInRequired
			}
			return nil, e
		}
		return response.Data, nil
	}
}

// reportReservedNames logs a warning for each user whose name is a path of the server. Their
// accounts work, but their pages are not reachable at /NAME until an administrator renames them.
func (a *Server) reportReservedNames(ctx context.Context) error {
	taken, err := a.Store.UsersNamed(ctx, reservedNames)
	for _, name := range taken {
		a.Logger.Warn("a user has the name of a path of the server: their page is not reachable", "username", name)
	}
	return err
}

// visitor returns the user whose browser session a page request belongs to, or nil, and the request
// with that user as its caller. The session cookie suffices, because pages change nothing. A
// request with a token is returned unchanged.
func (a *Server) visitor(r *http.Request) (*webpage.User, *http.Request, error) {
	if bearer.Token(r) != "" {
		return nil, r, nil
	}
	who, ok, err := a.session(r)
	if !ok || err != nil {
		return nil, r, err
	}
	telemetry.SetCaller(r.Context(), who.UserID, 0)
	user := &webpage.User{ID: who.UserID, Username: who.Username, Name: who.Name, Role: strings.ToUpper(string(who.Role)),
		HasAvatar: who.HasAvatar}
	return user, r.WithContext(auth.WithCaller(r.Context(), who.Caller, nil)), nil
}

// sitemap implements webpage.Sitemap with the published things and their creators.
type sitemap struct{ store *catalogue.Catalogue }

const (
	partOfThings = "things"
	partOfUsers  = "users"
)

// Parts implements webpage.Sitemap.
func (s sitemap) Parts(ctx context.Context, size int) (parts []webpage.SitemapPart, err error) {
	things, err := s.store.Lists.RangesOfThings(ctx, int64(size))
	if err != nil {
		return nil, err
	}
	creators, err := s.store.Lists.RangesOfCreators(ctx, int64(size))
	for _, r := range things {
		parts = append(parts, webpage.SitemapPart{Kind: partOfThings, Number: r.Number, Count: r.Count})
	}
	for _, r := range creators {
		parts = append(parts, webpage.SitemapPart{Kind: partOfUsers, Number: r.Number, Count: r.Count})
	}
	return parts, err
}

// Part implements webpage.Sitemap.
func (s sitemap) Part(ctx context.Context, size int,
	part webpage.SitemapPart) (found []webpage.SitemapPage, err error) {
	if part.Kind == partOfThings {
		things, err := s.store.Lists.ThingsInRange(ctx, int64(size), part.Number)
		for _, t := range things {
			found = append(found, webpage.SitemapPage{Path: fmt.Sprintf("/thing:%d", t.ID), ModifiedAt: &t.ModifiedAt})
		}
		return found, err
	}
	names, err := s.store.Lists.CreatorsInRange(ctx, int64(size), part.Number)
	for _, name := range names {
		if !isReserved(name) {
			found = append(found, webpage.SitemapPage{Path: "/" + name})
		}
	}
	return found, err
}
