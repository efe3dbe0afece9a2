//go:build browser

package viewer_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/meshyard/meshyard/internal/web/graphiql/graphiqltest"
	"github.com/meshyard/meshyard/internal/web/viewer"
)

// TestMain ends the browser that the tests share.
func TestMain(m *testing.M) { os.Exit(graphiqltest.Main(m)) }

// newTab opens a small tab, because rendering in software is slow. scheme is the color scheme of
// the system, light or dark.
func newTab(t *testing.T, s *server, scheme string) *graphiqltest.Tab {
	t.Helper()
	tab := graphiqltest.Open(t, s.URL)
	tab.Do(t, "make the tab small", chromedp.EmulateViewport(800, 600))
	graphiqltest.Call(t, tab, "choose the color scheme", emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	return tab
}

// open opens the page of the model.
func open(t *testing.T, s *server) *graphiqltest.Tab {
	t.Helper()
	tab := newTab(t, s, "light")
	tab.Do(t, "open the page", chromedp.Navigate(s.URL+"/view/7?signature=s"))
	return tab
}

func awaitPhase(t *testing.T, tab *graphiqltest.Tab, phase string) {
	t.Helper()
	tab.Await(t, "see the page "+phase, `document.body.dataset.phase === "`+phase+`"`)
}

func checkProblems(t *testing.T, tab *graphiqltest.Tab) {
	t.Helper()
	if problems := tab.Problems(); len(problems) != 0 {
		t.Errorf("problems: %q", problems)
	}
}

func TestModelIsVisible(t *testing.T) {
	s := serve(t, ell)
	tab := open(t, s)
	awaitPhase(t, tab, "shown")
	first := picture(t, tab, "desktop")
	checkFirstView(t, first)
	for id, want := range map[string]string{"dimensions": "40 × 20 × 40 mm", "detail": "24 triangles",
		"scale": "Grid: 10 mm"} {
		if got := graphiqltest.Read[string](t, tab, "read "+id, `document.getElementById("`+id+`").innerText`); got != want {
			t.Errorf("%s: got %q, want %q", id, got, want)
		}
	}

	tab.Do(t, "show the edges", chromedp.Click(chromedp.CSS("#wireframe")))
	edges := stains(picture(t, tab, "wireframe"))
	if whole := stains(first); edges[0].pixels > whole[0].pixels/3 {
		t.Errorf("as a wireframe %d pixels of the front are seen, of %d", edges[0].pixels, whole[0].pixels)
	}
	tab.Do(t, "show the sides again, by key", chromedp.Focus(chromedp.CSS("#canvas")), chromedp.KeyEvent("w"))

	tab.Do(t, "drag from left to right", chromedp.MouseEvent("mousePressed", 300, 300, chromedp.ButtonLeft),
		chromedp.MouseEvent("mouseMoved", 400, 300, chromedp.ButtonLeft), chromedp.MouseEvent("mouseMoved", 550, 300,
			chromedp.ButtonLeft),
		chromedp.MouseEvent("mouseReleased", 550, 300, chromedp.ButtonLeft))
	if turned := stains(picture(t, tab, "turned")); turned[1].pixels != 0 {
		t.Errorf("after half a turn to the right, the right is still seen: %v", turned[1])
	}
	tab.Do(t, "look from above, by keys", chromedp.Focus(chromedp.CSS("#canvas")),
		chromedp.KeyEvent(strings.Repeat(kb.ArrowDown, 8)))
	if s := stains(picture(t, tab, "above")); s[2].pixels < 10*(s[0].pixels+s[1].pixels) {
		t.Errorf("from above, got front %v, right %v, top %v", s[0], s[1], s[2])
	}
	tab.Do(t, "turn, and reset the view while it glides", chromedp.Evaluate[chromedp.Void](`void (() => {
		for (let i = 0; i < 8; i++) document.querySelector('#canvas').dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowLeft'}));
		document.querySelector('#reset').click();
	})()`))
	checkFirstView(t, picture(t, tab, "reset"))
	checkProblems(t, tab)
	for _, address := range tab.Loaded() {
		if strings.Contains(address, "GLTFLoader") {
			t.Errorf("the page loaded %s, which is not expected", address)
		}
	}
}

// TestDarkModeAndPhone checks that the model looks the same in light and dark mode and on a phone.
func TestDarkModeAndPhone(t *testing.T) {
	for name, scheme := range map[string]string{"phone": "light", "dark": "dark"} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, ell)
			tab := newTab(t, s, scheme)
			if name == "phone" {
				tab.Do(t, "take a phone", chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch,
					chromedp.EmulateScale(1.5)))
			}
			tab.Do(t, "open the page", chromedp.Navigate(s.URL+"/view/7"))
			awaitPhase(t, tab, "shown")
			checkFirstView(t, picture(t, tab, name))
			if got := graphiqltest.Read[int](t, tab, "see what sticks out", `[...document.querySelectorAll('button, .button, h1, dd')].filter(e => {
				const b = e.getBoundingClientRect(); return b.width > 0 && (b.left < 0 || b.right > innerWidth || b.top < 0 || b.bottom > innerHeight) }).length`); got != 0 {
				t.Errorf("%d elements stick out of the window", got)
			}
			checkProblems(t, tab)
		})
	}
}

// TestSchemeOfGallery checks that the model and the page around it have the color scheme that was
// chosen in the gallery, also if the system has the other one. In a frame, they have that of the
// page with the frame.
func TestSchemeOfGallery(t *testing.T) {
	for chosen, want := range map[string][2]string{"light": {"rgb(29, 39, 51)", "rgb(109, 124, 144)"},
		"dark": {"rgb(232, 237, 245)", "rgb(141, 157, 181)"}} {
		t.Run(chosen, func(t *testing.T) {
			s := serve(t, ell)
			tab := newTab(t, s, map[string]string{"light": "dark", "dark": "light"}[chosen])
			read := func(doing, of string) (got [2]string) {
				t.Helper()
				for i, name := range []string{"color", "--grid"} {
					got[i] = graphiqltest.Read[string](t, tab, "read "+name+" "+doing,
						"getComputedStyle("+of+").getPropertyValue('"+name+"')")
				}
				return got
			}
			tab.Do(t, "open the page", chromedp.Navigate(s.URL+"/view/7"))
			awaitPhase(t, tab, "shown")
			if got := read("of the system", "document.body"); got == want {
				t.Fatalf("got the colors %q without a choice, want those of the other scheme", got)
			}
			tab.Do(t, "choose the scheme",
				chromedp.Evaluate[chromedp.Void](`document.cookie = 'meshyard_theme=`+chosen+`; path=/'`),
				chromedp.Navigate(s.URL+"/view/7?again"))
			awaitPhase(t, tab, "shown")
			if got := read("of the page", "document.body"); got != want {
				t.Errorf("got the colors %q, want %q", got, want)
			}
			picture(t, tab, "chosen-"+chosen)
			checkProblems(t, tab)

			tab.Do(t, "open a page that may have frames", chromedp.Navigate(s.URL+"/model.json"))
			tab.Do(t, "put the page into a frame", chromedp.Evaluate[chromedp.Void](`(() => {
				const frame = document.createElement('iframe');
				frame.src = '/view/7';
				document.documentElement.style.colorScheme = '`+chosen+`';
				document.body.replaceChildren(frame);
			})()`))
			framed := `document.querySelector('iframe').contentDocument`
			tab.Await(t, "see the frame", framed+`?.body?.dataset.phase === 'shown'`)
			tab.Do(t, "choose the other scheme for the page",
				chromedp.Evaluate[chromedp.Void](`document.documentElement.style.colorScheme = '`+map[string]string{"light": "dark",
					"dark": "light"}[chosen]+`'`))
			tab.Await(t, "see the other scheme in the frame", `getComputedStyle(`+framed+`.body).color !== '`+want[0]+`'`)
		})
	}
}

// TestFullDetail checks that all triangles are loaded from GLB on request, with the same position
// and view.
func TestFullDetail(t *testing.T) {
	m := ell
	m.Decimated, m.GLBURL, m.Triangles = true, "/model.glb", 1234567
	tab := open(t, serve(t, m))
	awaitPhase(t, tab, "shown")
	detail := `document.querySelector('#detail').innerText`
	if got, want := graphiqltest.Read[string](t, tab, "read the detail", detail),
		"1,234,567 triangles, 24 of them shown"; got != want {
		t.Errorf("got detail %q, want %q", got, want)
	}
	before := stains(picture(t, tab, "decimated"))
	tab.Do(t, "ask for all", chromedp.Click(chromedp.CSS("#full")))
	tab.Await(t, "see that it is there",
		`document.querySelector('#full').ariaPressed === 'true' && document.body.dataset.phase === 'shown'`)
	if got, want := graphiqltest.Read[string](t, tab, "read the detail", detail), "1,234,567 triangles"; got != want {
		t.Errorf("got detail %q, want %q", got, want)
	}
	for i, after := range stains(picture(t, tab, "full")) {
		if b := before[i]; max(after.x-b.x, b.x-after.x, after.y-b.y, b.y-after.y, b.light-after.light-.1) > .01 ||
			after.pixels < b.pixels*9/10 {
			t.Errorf("side %d is seen as %v, and before as %v", i, after, b)
		}
	}
	checkProblems(t, tab)
}

// TestTextures checks that a model with textures is loaded from GLB, and its textures from blobs,
// with each of the two image loaders of three.js. A large one is loaded from GLB on request.
func TestTextures(t *testing.T) {
	for name, before := range map[string]string{"bitmaps": "", "images": "delete globalThis.createImageBitmap"} {
		t.Run(name, func(t *testing.T) {
			m := ell
			m.Textured, m.GLBURL, m.Triangles = true, "/textured.glb", 12
			s := serve(t, m)
			tab := newTab(t, s, "light")
			graphiqltest.Call(t, tab, "prepare the browser", page.AddScriptToEvaluateOnNewDocument,
				page.AddScriptToEvaluateOnNewDocumentParams{Source: before})
			tab.Do(t, "open the page", chromedp.Navigate(s.URL+"/view/7"))
			awaitPhase(t, tab, "shown")
			seen := stains(picture(t, tab, "textured-"+name))
			for i, of := range []string{"red", "green", "blue"} {
				if seen[i].pixels < 5000 {
					t.Errorf("got %d %s pixels, want 5000 or more", seen[i].pixels, of)
				}
			}
			if red, blue := seen[0], seen[2]; red.y > blue.y {
				t.Errorf("red is at %v, and blue at %v, want it below", red, blue)
			}
			checkProblems(t, tab)

			m.Decimated = true
			s.change(m, nil)
			tab.Do(t, "open the page of a large model", chromedp.Navigate(s.URL+"/view/7?large"))
			awaitPhase(t, tab, "shown")
			checkFirstView(t, picture(t, tab, "textured-decimated-"+name))
			tab.Do(t, "ask for all", chromedp.Click(chromedp.CSS("#full")))
			tab.Await(t, "see that it is there",
				`document.querySelector('#full').ariaPressed === 'true' && document.body.dataset.phase === 'shown'`)
			if full := stains(picture(t, tab, "textured-full-"+name)); full[2].pixels < 5000 {
				t.Errorf("got %d blue pixels, want 5000 or more", full[2].pixels)
			}
			tab.Do(t, "ask for less", chromedp.Click(chromedp.CSS("#full")))
			tab.Await(t, "see that it is there",
				`document.querySelector('#full').ariaPressed === 'false' && document.body.dataset.phase === 'shown'`)
			checkProblems(t, tab)
		})
	}
}

// TestPoints checks that points are large enough to be visible, and have no edges.
func TestPoints(t *testing.T) {
	m := ell
	m.ThreejsURL, m.Triangles = "/points.json", 0
	tab := open(t, serve(t, m))
	awaitPhase(t, tab, "shown")
	// points of the top, which are drawn over others
	if s := stains(picture(t, tab, "points")); s[2].pixels < 50 {
		t.Errorf("got %d blue pixels, want 50 or more", s[2].pixels)
	}
	if got := graphiqltest.Read[string](t, tab, "read the detail",
		`document.querySelector('#detail').innerText`); got != "16 points" {
		t.Errorf("got detail %q, want 16 points", got)
	}
	if !graphiqltest.Read[bool](t, tab, "see that there is no wireframe",
		`document.querySelector('#wireframe').disabled`) {
		t.Error("a wireframe is offered")
	}
	checkProblems(t, tab)
}

// awaitRequest waits until the page has requested its state and received a response: want is the
// path and the status.
func (s *server) awaitRequest(t *testing.T, want string) {
	t.Helper()
	asked := func() []string {
		s.mu.Lock()
		defer s.mu.Unlock()
		return slices.Clone(s.asked)
	}
	for deadline := time.Now().Add(3 * time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if slices.Contains(asked(), want) {
			return
		}
	}
	t.Fatalf("got states %q, want %q", asked(), want)
}

// TestPageWaitsForModel checks that the page polls until the model is ready, and then shows it.
func TestPageWaitsForModel(t *testing.T) {
	s := serve(t, viewer.Model{Name: "ell.stl", State: viewer.Waiting})
	tab := open(t, s)
	awaitPhase(t, tab, "waiting")
	s.awaitRequest(t, "/view/7/state?signature=s Not Modified")
	s.change(viewer.Model{Name: "ell.stl", State: viewer.Running, Progress: .4}, nil)
	tab.Await(t, "see progress", `document.querySelector('#progress').value === .4`)
	picture(t, tab, "running")
	s.change(ell, nil)
	awaitPhase(t, tab, "shown")
	checkFirstView(t, picture(t, tab, "made"))
	if got := graphiqltest.Read[string](t, tab, "read the size",
		`document.querySelector('#dimensions').innerText`); got != "40 × 20 × 40 mm" {
		t.Errorf("got size %q", got)
	}
	checkProblems(t, tab)
}

// TestNothingToShow checks the message, the thumbnail and the download link of a model that cannot
// be shown.
func TestNothingToShow(t *testing.T) {
	failed, none, empty, missing := ell, ell, ell, ell
	failed.State, failed.Error, failed.ThreejsURL = viewer.Failed, "STL: line 3: “vertex” without three numbers.", ""
	none.State, none.ThreejsURL = viewer.None, ""
	empty.ThreejsURL = "/empty.json"
	missing.ThreejsURL = "/nowhere.json"
	for _, tc := range []struct {
		name        string
		model       viewer.Model
		phase, want string
	}{
		{"failed", failed, "failed", "without three numbers"},
		{"none", none, "none", "There is no 3D view"},
		{"empty", empty, "failed", "There is nothing in it"},
		{"missing", missing, "failed", "The server responds with 404"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tab := open(t, serve(t, tc.model))
			awaitPhase(t, tab, tc.phase)
			tab.Await(t, "see the reason", `document.querySelector('#message').innerText.includes("`+tc.want+`")`)
			tab.Await(t, "see the image",
				`document.querySelector('#thumbnail').naturalWidth === 8 && document.querySelector('#thumbnail').getBoundingClientRect().width > 0`)
			tab.Await(t, "see the download", `document.querySelector('#download').getAttribute('href') === '/download:7'`)
			picture(t, tab, tc.name)
			others := slices.DeleteFunc(tab.Problems(), func(p string) bool { return strings.Contains(p, "/nowhere.json") })
			if len(others) != 0 {
				t.Errorf("problems: %q", others)
			}
		})
	}
}

// TestRefusedWhileWaiting checks the page when access to the file ends while it polls.
func TestRefusedWhileWaiting(t *testing.T) {
	s := serve(t, viewer.Model{Name: "ell.stl", State: viewer.Waiting})
	tab := open(t, s)
	awaitPhase(t, tab, "waiting")
	s.change(viewer.Model{}, errors.New("the address has expired"))
	awaitPhase(t, tab, "failed")
	tab.Await(t, "be told", `document.querySelector('#message').innerText.includes('403')`)
}

func TestNoWebGL(t *testing.T) {
	s := serve(t, ell)
	tab := graphiqltest.Open(t, s.URL, chromedp.Flag("disable-3d-apis", true))
	tab.Do(t, "open the page", chromedp.Navigate(s.URL+"/view/7"))
	awaitPhase(t, tab, "failed")
	tab.Await(t, "be told", `document.querySelector('#message').innerText.includes('needs WebGL')`)
	tab.Await(t, "see the image", `document.querySelector('#thumbnail').naturalWidth === 8`)
	checkProblems(t, tab)
}

// TestTabNotices checks that the tab detects problems. If it reported nothing, every other test
// would pass.
func TestTabNotices(t *testing.T) {
	for doing, script := range map[string]string{
		"inline script": `document.head.append(Object.assign(document.createElement('script'), {textContent: '1'}))`,
		"inline style":  `document.head.append(Object.assign(document.createElement('style'), {textContent: 'p{}'}))`,
		"own script":    `document.head.append(Object.assign(document.createElement('script'), {src: '/things/7'}))`,
		"another host":  `void fetch('https://example.org/').catch(() => 0)`,
		"worker":        `void (() => { try { new Worker('/things/7') } catch {} })()`,
	} {
		t.Run(doing, func(t *testing.T) {
			tab := open(t, serve(t, ell))
			awaitPhase(t, tab, "shown")
			checkProblems(t, tab)
			tab.Do(t, doing, chromedp.Evaluate[chromedp.Void](script))
			tab.AwaitProblem(t, "Content Security Policy")
		})
	}
}
