package server

import (
	"net/http"
	"net/url"
	"regexp"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/fieldset"
	"github.com/meshyard/meshyard/internal/image/thumbnail"
	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/preview"
	"github.com/meshyard/meshyard/internal/urls"
	"github.com/meshyard/meshyard/internal/web/viewer"
	"github.com/meshyard/meshyard/internal/web/webpage"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/rest"
)

// viewerPath matches the path of a page of the viewer.
var viewerPath = regexp.MustCompile(`^/view/\d+$`)

// isViewer reports whether a path, perhaps with a query, is that of a page of the viewer.
func isViewer(path string) bool {
	u, err := url.Parse(path)
	return err == nil && viewerPath.MatchString(u.Path)
}

// viewerTTL is how long the URLs work that a page of the viewer loads.
const viewerTTL = time.Hour

// viewer serves the 3D viewer with the same access rules as the content of files: for a file of a
// draft, the URL of the page needs the same signature. Visitors of a server without anonymous
// reading sign in first.
func (a *Server) viewer(addresses urls.Builder, webPages webpage.Options) http.Handler {
	return viewer.Handler(viewer.Options{
		Load: func(r *http.Request, id int64) (viewer.Model, error) {
			return a.viewed(r, addresses.For(r.Context()), id)
		},
		Fail: rest.WriteFailure, Explain: explain,
		Redirect: func(w http.ResponseWriter, r *http.Request, err error) bool {
			signIn := models.CodeOf(err) == models.Unauthenticated && webpage.IsVisit(r)
			if signIn {
				webPages.SignIn(w, r)
			}
			return signIn
		},
	})
}

// viewed returns what the viewer shows of a file.
func (a *Server) viewed(r *http.Request, addresses urls.Builder, fileID int64) (viewer.Model, error) {
	signed, takenDown := addresses.Verified(fileID, r.URL.Query(), time.Now())
	by := models.Unsigned
	switch {
	case takenDown:
		by = models.SignedTakenDown
	case signed:
		by = models.Signed
	}
	if by == models.Unsigned {
		if err := a.mayRead(r); err != nil {
			return viewer.Model{}, err
		}
	}
	f, _, err := a.Store.Blob(r.Context(), fileID, by, auth.OpenedOf(r.Context()))
	if err != nil {
		return viewer.Model{}, err
	}
	shown, err := a.Store.FilesByID(r.Context(), previewOfFile, []int64{f.ID})
	if err != nil {
		return viewer.Model{}, err
	}
	with := func(url string) string {
		switch {
		case signed:
			return url + "?" + r.URL.RawQuery
		case !a.Settings.AnonymousRead, !f.Public():
			return addresses.Signed(url, f.ID, f.TakenDown(), time.Now().Add(viewerTTL))
		}
		return url
	}
	m := viewer.Model{
		Name: f.Name, State: viewer.None, DownloadURL: with(addresses.Blob(f.ID, f.Name)),
		ThingURL: pageOfThing(f, addresses, auth.OpenedOf(r.Context())),
	}
	if shown[f.ID] != nil && shown[f.ID].Preview != nil {
		p := shown[f.ID].Preview
		showPreview(&m, p, func(kind, name string) string { return with(addresses.Derived(kind, f.ID, p.Tag(), name)) })
	}
	return m, nil
}

// pageOfThing returns the URL of the page of the thing of a file, or an empty string if it has
// none. The URL has a key only if the request has one, because a signature gives access to the file
// alone.
func pageOfThing(f *models.File, addresses urls.Builder, opened *auth.Opened) string {
	if f.ThingID == 0 {
		return ""
	}
	page := addresses.ThingPage(f.ThingID)
	if opened.Has(f.ThingID) {
		return addresses.WithKey(page, f.ThingID)
	}
	return page
}

// previewOfFile has the preview of a file.
var previewOfFile = fieldset.Of[models.File]("PreviewMesh")

// showPreview adds the state of a preview to m and, if it is done, its parts. derived returns the
// URL of a part.
func showPreview(m *viewer.Model, p *models.Preview, derived func(kind, name string) string) {
	switch p.State {
	case models.PreviewRunning:
		m.State, m.Progress = viewer.Running, p.Progress
		return
	case models.PreviewFailed:
		m.State, m.Reason = viewer.Failed, p.Reason.Upper()
		if p.Reason.HasDetails() {
			m.Error = p.Error
		}
		return
	case models.PreviewDone:
	default:
		m.State = viewer.Waiting
		return
	}
	if p.ImageFormat != "" {
		m.ThumbnailURL = derived("renders", preview.ImagePart(thumbnail.Full, p.ImageFormat).Name)
	}
	if p.Mesh == nil {
		return
	}
	m.State, m.Decimated, m.Triangles, m.Vertices = viewer.Done, p.Mesh.Decimated, p.Mesh.Triangles, p.Mesh.Vertices
	m.ThreejsURL, m.GLBURL = derived("threejs", preview.Threejs.Name), derived("glb", preview.GLB.Name)
	m.Textured, m.SizeMM = p.Mesh.Textured, p.Mesh.Size
	if p.Mesh.Up == mesh.UpY.String() {
		m.SizeMM[1], m.SizeMM[2] = m.SizeMM[2], m.SizeMM[1]
	}
}
