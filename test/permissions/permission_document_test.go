package permissions_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/rest"
	"github.com/meshyard/meshyard/test/servertest"
)

const permissionsDocument = "../../docs/permissions.md"

// TestPermissions checks that every caller gets the result that docs/permissions.md documents, with
// both APIs and on both engines, and that a rejected call changes nothing.
func TestPermissions(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		m := newMatrix(t, s)
		m.preview()
		var b strings.Builder
		b.WriteString(permissionsAre)
		for _, table := range permissions {
			fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| Operation or field | Object | %s |\n|---|---|%s\n", table.title, table.about,
				strings.Join(columns[:], " | "), strings.Repeat("---|", callers))
			for _, p := range table.rows {
				for _, in := range strings.Split(p.fixtures, ", ") {
					var cells [callers]string
					for _, caller := range calling {
						v := m.cell(p, in, caller)
						m.check(p, in, caller, v)
						cells[caller] = v.String()
					}
					fmt.Fprintf(&b, "| %s | %s | %s |\n", named(p.field), about(p, in), strings.Join(cells[:], " | "))
				}
			}
		}
		open := newMatrix(t, servertest.Start(t, filepath.Base(t.Name()), servertest.Derives))
		open.preview()
		b.WriteString(open.addressTable())
		b.WriteString(routeTable(m))
		b.WriteString(generatedIs)
		if *servertest.Update {
			if err := os.WriteFile(permissionsDocument, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want := strings.Split(string(servertest.Must(os.ReadFile(permissionsDocument))(t)), "\n")
		for i, got := range strings.Split(b.String(), "\n") {
			if i >= len(want) || got != want[i] {
				t.Errorf("%s, line %d: got\n%s\nwant\n%s", permissionsDocument, i+1, got, append(want, make([]string, i+1)...)[i])
			}
		}
	}, servertest.Derives, servertest.Privately)
}

// check checks a cell against rules that hold independently of the document.
func (m *matrix) check(p permission, in string, caller int, v outcome) {
	m.T.Helper()
	if want, ok := m.rejection(p, caller); ok && (v.status != want || len(v.shown) > 0) {
		m.T.Errorf("%s, %s, %s: got %s, want %d independently of the document", p.field, in, columns[caller], v, want)
	}
}

// rejection returns the status with which a call must be rejected, whatever the object.
func (m *matrix) rejection(p permission, caller int) (status int, ok bool) {
	m.T.Helper()
	switch {
	case caller == anonymous, caller == overdue:
		return 401, true
	case caller == wrongScope, m.scopeOf(p) != "read" && (caller == suspended || caller == application):
		return 403, true
	}
	return 0, false
}

// preview waits until the files of all fixtures have previews, so that the results do not depend on
// the progress of this work.
func (m *matrix) preview() {
	m.T.Helper()
	_, model, image := m.Thing("zoe", "zoe's "+servertest.Published, servertest.Published)
	for _, id := range []int64{model, image} {
		if f := servertest.Settled(m.T, m.clients[administers][auth.Read], id); f.Processing.State != "DONE" {
			m.T.Fatalf("the preview of file %d: %+v", id, f.Processing)
		}
	}
}

// named returns the name of a field for the document, and what distinguishes the row from others of
// the same field.
func named(field string) string {
	name, how, more := strings.Cut(field, ", ")
	name = "`" + strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(name, "Query."), "Mutation."),
		"Subscription.") + "`"
	if more {
		return name + ", " + how
	}
	return name
}

// about returns the description of a fixture for the document.
func about(p permission, in string) string {
	if words, ok := map[string]string{
		"": "", "catalogue": "all objects", "collection": "collection", "collection private": "private collection",
		"token": "access token", "session": "session", "application": "application", "invitation": "unused invitation",
		"notification": "notification", "report": "report by the owner", "webhook": "webhook",
		"printer": "printer with a held print",
		"user":    "the owner", "user member": "member", "user moderator": "moderator", "user suspended": "suspended member",
		"upload pending": "pending upload", "upload staged": "staged upload with its bytes",
	}[in]; ok {
		return words
	}
	noun, state, _ := strings.Cut(in, " ")
	words := noun + " on a "
	switch {
	case noun == "thing" && state == servertest.Published:
		words = "published thing"
	case noun == "thing" && state == servertest.Draft:
		words = "draft"
	case noun == "thing" && state == servertest.Unlisted:
		words = "unlisted thing"
	case noun == "thing":
		words = "thing taken down"
	case noun == "make" && state == servertest.DownThing:
		words = "make of a thing taken down"
	case noun == "make":
		words = map[string]string{servertest.Published: "published make", servertest.Draft: "draft of a make"}[state]
	default:
		words += map[string]string{servertest.Published: "published thing", servertest.Draft: "draft",
			servertest.Unlisted: "unlisted thing", servertest.DownThing: "thing taken down"}[state]
	}
	if strings.Contains(p.ask, "$file") || strings.Contains(p.ask, "$image") {
		words = strings.Replace("file on a "+words, "a unlisted", "an unlisted", 1)
	}
	return words
}

// addressTable returns the table of who can access the content and the renditions of a file, by
// kind of URL. The requests have no token, because a token makes no difference.
func (m *matrix) addressTable() string {
	m.T.Helper()
	nobody, ada := m.clients[anonymous][auth.Read], m.clients[owner][auth.Read]
	table := "\n## URLs of files and previews\n\n" + addressesAre + "\n\n| The file is attached to, or is | " +
		"`/download:`" + " | `/blobs`, `/view` | previews | `/blobs`, `/view`, signed | previews, signed |\n|---|---|---|---|---|---|\n"
	for _, in := range strings.Split(filesAndUploads, ", ") {
		sc := m.Set("ada", in)
		var f struct {
			File struct {
				PublicURL, DirectURL, ThreejsURL, GlbURL string
				Thumbnail                                struct{ URL string }
			}
		}
		ask := `{ file(id: $file) { publicUrl directUrl threejsUrl glbUrl thumbnail { url } } }`
		if in == "upload staged" || in == "upload pending" {
			ask = `{ file(id: $file) { publicUrl directUrl } }`
		}
		ada.Query(m.filled(ask, sc, owner), nil, &f)
		bytes := []string{f.File.DirectURL, strings.Replace(f.File.DirectURL, "/blobs/", "/view/", 1)}
		bytes[1] = fileName.ReplaceAllString(bytes[1], "$1")
		derived := slices.DeleteFunc([]string{f.File.ThreejsURL, f.File.GlbURL, f.File.Thumbnail.URL},
			func(url string) bool { return url == "" })
		if strings.HasPrefix(in, "upload") {
			for _, kind := range []string{"/threejs/", "/glb/", "/renders/"} {
				derived = append(derived, strings.Replace(f.File.DirectURL, "/blobs/"+sc["file"], kind+sc["file"]+"/any", 1))
			}
		}
		table += fmt.Sprintf("| a %s | %s | %s | %s | %s | %s |\n", about(permission{}, in),
			m.fetched(nobody, false, f.File.PublicURL), m.fetched(nobody, false, bytes...), m.fetched(nobody, false, derived...),
			m.fetched(nobody, true, bytes...), m.fetched(nobody, true, derived...))
	}
	return table
}

// fileName matches the file name in a URL below /blobs whose prefix was replaced by /view. URLs
// below /view contain no file name.
var fileName = regexp.MustCompile(`(/view/\d+)/[^?]*`)

// fetched returns the status that all given URLs have in common, with or without their signatures.
// If a signature is wanted and a URL has none, it returns "not signed".
func (m *matrix) fetched(c *servertest.Client, signed bool, addresses ...string) string {
	m.T.Helper()
	var seen []string
	for _, address := range addresses {
		path, _, has := strings.Cut(address, "?")
		if signed != has {
			if signed {
				return "not signed"
			}
			address = path
		}
		seen = append(seen, fmt.Sprint(c.Get(address).StatusCode))
	}
	if seen = slices.Compact(seen); len(seen) != 1 {
		m.T.Errorf("%q return %q", addresses, seen)
	}
	return strings.Join(seen, ", ")
}

// routeTable returns the table of the rows that apply to each REST operation.
func routeTable(m *matrix) string {
	table := "\n## The REST API\n\n" + routesAre + "\n\n| Path | Operations and fields above |\n|---|---|\n"
	for _, operation := range rest.Operations() {
		var rows []string
		for _, in := range permissions {
			for _, p := range in.rows {
				if slices.Contains(strings.Fields(p.routes), operation) {
					rows = append(rows, named(p.field))
				}
			}
		}
		slices.Sort(rows)
		table += fmt.Sprintf("| `%s %s` | %s |\n", m.addresses[operation].method, m.addresses[operation].path,
			strings.Join(slices.Compact(rows), "; "))
	}
	return table
}

// TestPermissionsAreWhole checks that each operation of either API, and each field that may return
// hidden objects, has a row, and that each row refers to an existing operation.
func TestPermissionsAreWhole(t *testing.T) {
	schema := graph.New(nil).Schema()
	rows, routes := make(map[string]bool), make(map[string]bool)
	for _, table := range permissions {
		for _, p := range table.rows {
			name, _, _ := strings.Cut(p.field, ",")
			rows[name] = true
			for _, operation := range strings.Fields(p.routes) {
				routes[operation] = true
			}
			of, field, _ := strings.Cut(name, ".")
			if definition := schema.Types[of]; definition == nil || definition.Fields.ForName(field) == nil {
				t.Errorf("%s is in no schema", name)
			}
		}
	}
	// These have no row, because a subscription to the caller's own files sends no event until one of
	// them is processed. Its events have the same type as those of thingProcessing. CompletedUpload is
	// in the rows of completeStagedUploads, which has the scope.
	for _, name := range []string{"Subscription.myProcessing", "FileProcessing.file", "FileProcessing.processing",
		"CompletedUpload.file"} {
		rows[name] = true
	}
	// An update can be undone only by the user who made it. Its things are those of updateThings.
	// Problems are those of the caller's own things; TestProblems checks that.
	for _, name := range []string{"Mutation.undoThingsUpdate", "ThingUpdate.thing", "Query.problems", "Problem.thing",
		"Problem.file", "Problem.duplicateOf"} {
		rows[name] = true
	}
	// These make the server send a request. Imports are seen by the user who started them alone;
	// TestImportFromMeshyard checks that. Their things are drafts of that user.
	for _, name := range []string{"Mutation.previewLink", "Mutation.importLink", "Mutation.cancelLinkImport",
		"Query.linkImport", "LinkImport.things", "LinkPreviewThing.earlier"} {
		rows[name] = true
	}
	rows["PrintJob.file"] = true // it is read as Query.file, for the user who has sent it
	for _, definition := range schema.Types {
		root := definition == schema.Query || definition == schema.Mutation || definition == schema.Subscription
		part := slices.ContainsFunc([]string{"Connection", "Edge", "Payload"},
			func(s string) bool { return strings.HasSuffix(definition.Name, s) })
		if definition.Kind != ast.Object || strings.HasPrefix(definition.Name, "__") || part {
			continue
		}
		for _, field := range definition.Fields {
			leads := slices.Contains(hideable, strings.TrimSuffix(field.Type.Name(), "Connection")) ||
				field.Directives.ForName("auth") != nil
			if name := definition.Name + "." + field.Name; (root || leads) && !strings.HasPrefix(field.Name, "__") &&
				!rows[name] {
				t.Errorf("%s has no row among the permissions", name)
			}
		}
	}
	for _, operation := range rest.Operations() {
		// It returns the first of Thing.collections, or 404 if there is none, which a row cannot
		// distinguish from a permission error.
		if !routes[operation] && operation != "get_collections_thing_id_by_thing_id" {
			t.Errorf("%s is of no row among the permissions", operation)
		}
	}
}

// hideable are the types whose objects can be hidden.
var hideable = []string{
	"Thing", "Make", "Comment", "File", "Download", "AccessToken", "Application", "ModerationEntry", "Takedown",
	"Suspension", "Popularity", "Mesh", "Image", "Processing",
	"Attachable", "Commentable", "Likeable", "SearchHit",
}
