//go:build browser

package gallery_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	xdraw "golang.org/x/image/draw"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/web/graphiql/graphiqltest"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/test/servertest"
)

// galleryPage is a page of the gallery that crowdedGallery returns.
type galleryPage struct{ name, path string }

// crowdedGallery returns a server with things, makes, comments and reports by several users, and
// one page of each kind.
func crowdedGallery(t testing.TB, change ...func(*config.Settings)) (*servertest.Server, []galleryPage) {
	t.Helper()
	s := newSceneOn(t, "sqlite", change...)
	ada, bob, carla, first := s.ada, s.bob, s.User("carla.crafts"), s.thing
	var things []int64
	titles := []string{"Bracket, 40 mm", "Planter for a window sill", "Gear test, metric", "Cable clip", "Platonic solids",
		"Box with a lid", "Desk organizer with drawers", "A part"}
	models := smallModels(t)
	for i, title := range titles {
		owner := []*servertest.Client{ada, bob, carla}[i%3]
		id := owner.Thing(title)
		path := models[i*len(models)/len(titles)]
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		owner.Finalize("THING", id, owner.Upload(filepath.Base(path), content))
		owner.GraphQL(`mutation($id: ID!) { updateThing(input: {id: $id, tags: ["gear", "workshop", "gift"], instructions: "Print it flat.",
			description: "Prints without supports.\n\n* 0.2 mm layers\n* three walls", printSettings: {printer: "MK4", supports: NO, infill: "15%", filamentMaterial: "PETG"}}) { thing { id } } }`, servertest.Object{"id": fmt.Sprint(id)})
		owner.Publish(id)
		things = append(things, id)
	}
	s.admin.GraphQL(`mutation($id: ID!) { featureThing(input: {id: $id}) { thing { id } } }`,
		servertest.Object{"id": fmt.Sprint(things[0])})
	var made struct {
		CreateMake struct{ Make struct{ ID, NodeID string } }
	}
	bob.Query(`mutation($id: ID!) { createMake(input: {thingId: $id, description: "Worked at the first try."}) { make { id nodeId } } }`, servertest.Object{"id": fmt.Sprint(first)}, &made)
	bob.Query(`mutation($id: ID!, $node: ID!) {
		likeThing(input: {id: $id}) { thing { id } }
		createComment(input: {target: {type: THING, id: $id}, body: "Which **layer height** did you use?"}) { comment { id } }
		followUser(input: {username: "ada"}) { user { id } }
		createCollection(input: {name: "For the kitchen"}) { collection { id } }
		reportContent(input: {nodeId: $node, reason: SPAM, note: "Only links."}) { report { id } }
	}`, servertest.Object{"id": fmt.Sprint(first), "node": servertest.NodeID(t, carla)}, new(any))
	bob.Query(`mutation($id: ID!) { addToCollection(input: {collectionId: "1", thingId: $id}) { collection { id } } }`,
		servertest.Object{"id": fmt.Sprint(first)}, new(any))
	draft := ada.Thing("A draft")
	ada.Finalize("THING", draft, ada.Upload("simple.stl", servertest.Mesh(t, "hschendel_simple_bin.stl")))
	for _, id := range append(things, first, draft) {
		rendered(t, ada, id)
	}
	return s.Server, []galleryPage{
		{"home", "/"}, {"search", "/explore?q=donut"}, {"filters", "/explore?tag=gear&makes=1"},
		{"thing", fmt.Sprintf("/thing:%d", first)}, {"make", "/make:" + made.CreateMake.Make.ID},
		{"profile", "/ada"}, {"people", "/ada/followers"}, {"collection", "/collection:1"}, {"tag", "/tag:gear"},
		{"category", "/category/3d-printing"}, {"missing", "/thing:999999"},
		{"upload", "/upload"}, {"edit", fmt.Sprintf("/thing:%d/edit", draft)}, {"feed", "/feed"},
		{"notifications", "/notifications"}, {"settings", "/settings"}, {"moderation", "/moderation"},
		{"users", "/moderation?tab=users"},
	}
}

// smallModels returns the paths of models whose previews are generated quickly.
func smallModels(t testing.TB) []string {
	t.Helper()
	return slices.DeleteFunc(servertest.Meshes(t), func(path string) bool {
		size, err := os.Stat(path)
		return err != nil || size.Size() > 2<<20 || strings.Contains(path, "malformed") ||
			!slices.Contains([]string{".stl", ".3mf", ".ply", ".glb", ".obj"}, filepath.Ext(path))
	})
}

// scheme sets the color scheme: light or dark.
func (v *visitor) scheme(name string) {
	v.t.Helper()
	graphiqltest.Call(v.t, v.Tab, "choose the scheme", emulation.SetEmulatedMedia,
		emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}})
}

// size sets the size of the screen.
func (v *visitor) size(size image.Point) {
	v.t.Helper()
	graphiqltest.Call(v.t, v.Tab, "choose the size", emulation.SetDeviceMetricsOverride,
		emulation.SetDeviceMetricsOverrideParams{Width: int64(size.X), Height: int64(size.Y), DeviceScaleFactor: 1,
			Mobile: size.X < 500})
}

// TestBrowserGalleryLongNames checks that no page is wider than the screen if a name is one long
// word.
func TestBrowserGalleryLongNames(t *testing.T) {
	s := newScene(t)
	thing := s.bob.Thing(strings.Repeat("Wide", 50))
	s.bob.Finalize("THING", thing, s.bob.Upload(strings.Repeat("long_", 40)+"name.stl",
		servertest.Mesh(t, "hschendel_simple_bin.stl")))
	s.bob.Publish(thing)
	s.bob.Query(`mutation($id: ID!, $name: String!) {
		createCollection(input: {name: $name}) { collection { id } }
		addToCollection(input: {collectionId: "1", thingId: $id}) { collection { id } }
		createComment(input: {target: {type: THING, id: $id}, body: $name}) { comment { id } }
	}`, servertest.Object{"id": fmt.Sprint(thing), "name": strings.Repeat("Wide", 50)}, new(any))
	wide := strings.Repeat("Wide", 50)
	s.bob.Query(`mutation($wide: String!) { updateProfile(input: {firstName: $wide, location: $wide, bio: $wide}) { user { id } } }`, servertest.Object{"wide": wide}, new(any))
	s.bob.Query(`mutation($id: ID!, $text: String!) { updateThing(input: {id: $id, description: $text}) { thing { id } } }`, servertest.Object{"id": fmt.Sprint(thing), "text": wide + "\n\n    " + strings.Repeat("wide ", 50)}, new(any))
	down := servertest.PublishedThing(t, s.bob, "Down")
	s.admin.Query(`mutation($id: ID!, $wide: String!) { takeDownThing(input: {id: $id, reason: $wide}) { thing { id } } }`,
		servertest.Object{"id": fmt.Sprint(down), "wide": wide}, new(any))
	s.ada.Query(`mutation($id: ID!, $wide: String!) { reportContent(input: {nodeId: $id, reason: OTHER, note: $wide}) { report { id } } }`, servertest.Object{"id": models.NodeRef{Type: "Thing", ID: thing}.NodeID(), "wide": wide}, new(any))
	s.admin.Query(`mutation { setUserRole(input: {username: "bob", role: MODERATOR, reason: "for the test"}) { user { id } } }`, nil, new(any))
	v := visitGallery(t, s.Server)
	v.signInAs("bob")
	for _, size := range []image.Point{{360, 800}, {1280, 800}} {
		v.size(size)
		graphiqltest.Call(t, v.Tab, "disable JavaScript", emulation.SetScriptExecutionDisabled,
			emulation.SetScriptExecutionDisabledParams{Value: true})
		for _, path := range []string{"/", "/explore?q=wide", "/bob", "/collection:1", fmt.Sprintf("/thing:%d", thing)} {
			v.Do(t, "open "+path, chromedp.Navigate(v.url+path))
			v.is(fmt.Sprintf("%s without JavaScript is at most %d pixels wide", path, size.X),
				fmt.Sprintf(`document.documentElement.scrollWidth <= %d && document.querySelector('main.plain')`, size.X))
		}
		graphiqltest.Call(t, v.Tab, "enable JavaScript", emulation.SetScriptExecutionDisabled,
			emulation.SetScriptExecutionDisabledParams{})
		for _, path := range []string{"/", "/explore?q=wide", "/bob/collections", "/collection:1", "/thing:%d",
			"/thing:%d/files", "/thing:%d/comments", "/thing:%d/edit", fmt.Sprintf("/thing:%d", down),
			fmt.Sprintf("/thing:%d/edit", down), "/bob", "/moderation"} {
			path = strings.ReplaceAll(path, "%d", fmt.Sprint(thing))
			v.open(path)
			v.is(fmt.Sprintf("%s is at most %d pixels wide", path, size.X),
				fmt.Sprintf(`document.documentElement.scrollWidth <= %d`, size.X))
		}
	}
}

// TestBrowserGalleryDirections checks that each paragraph of a description has the direction of its
// own letters.
func TestBrowserGalleryDirections(t *testing.T) {
	s := newScene(t)
	s.ada.Query(`mutation($id: ID!) { updateThing(input: {id: $id, description: "يطبع بدون دعامات.\n\nIt prints (without supports)."}) { thing { id } } }`, servertest.Object{"id": fmt.Sprint(s.thing)}, new(any))
	v := visitGallery(t, s.Server)
	v.open(fmt.Sprintf("/thing:%d", s.thing))
	v.await("the paragraphs", `document.querySelectorAll('.prose p').length === 2`)
	v.is("the first paragraph is on the right and the second one on the left", `(([first, second]) => {
		const place = p => { const range = document.createRange(); range.selectNodeContents(p); return range.getBoundingClientRect(); };
		const whole = first.getBoundingClientRect();
		return Math.abs(place(first).right - whole.right) < 1 && Math.abs(place(second).left - whole.left) < 1;
	})(document.querySelectorAll('.prose p'))`)
}

// TestGalleryContactSheet takes screenshots of all pages in three widths and both color schemes,
// and writes them to the image file in MESHYARD_TEST_CONTACT_SHEET.
func TestGalleryContactSheet(t *testing.T) {
	target := os.Getenv("MESHYARD_TEST_CONTACT_SHEET")
	if target == "" {
		t.Skip("MESHYARD_TEST_CONTACT_SHEET names no picture")
	}
	s, pages := crowdedGallery(t)
	v := visitGallery(t, s)
	v.signInAs("ada")
	sizes := []image.Point{{390, 844}, {820, 1180}, {1440, 900}}
	const height, gap = 420, 12
	width := gap
	for range 2 {
		for _, size := range sizes {
			width += size.X*height/size.Y + gap
		}
	}
	sheet := image.NewRGBA(image.Rect(0, 0, width, len(pages)*(height+gap)+gap))
	draw.Draw(sheet, sheet.Bounds(), image.NewUniform(color.Gray{0x80}), image.Point{}, draw.Src)
	signedIn := "ada"
	as := func(name string) {
		if name != signedIn {
			v.open("/")
			v.signOut()
			v.signInAs(name)
			signedIn = name
		}
	}
	x := gap
	for _, scheme := range []string{"light", "dark"} {
		v.scheme(scheme)
		for _, size := range sizes {
			v.size(size)
			w := size.X * height / size.Y
			for row, p := range pages {
				if strings.HasPrefix(p.path, "/moderation") {
					as("staff")
				} else {
					as("ada")
				}
				v.open(p.path)
				if wide := graphiqltest.Read[bool](t, v.Tab, "measure", `document.documentElement.scrollWidth > innerWidth`); wide {
					t.Errorf("%s is wider than %d pixels", p.path, size.X)
				}
				shot, err := png.Decode(bytes.NewReader(graphiqltest.Run(t, v.Tab, "take a screenshot",
					chromedp.CaptureScreenshot())))
				if err != nil {
					t.Fatal(err)
				}
				y := gap + row*(height+gap)
				xdraw.ApproxBiLinear.Scale(sheet, image.Rect(x, y, x+w, y+height), shot, shot.Bounds(), draw.Src, nil)
			}
			x += w + gap
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, sheet); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(target, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
