//go:build browser && npm

package gallery_test

import (
	"github.com/meshyard/meshyard/test/servertest"

	"fmt"
	"image"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/mail/mailtest"
	"github.com/meshyard/meshyard/internal/mesh/meshtest"
	"github.com/meshyard/meshyard/internal/web/graphiql/graphiqltest"
)

// view is a page in a state that users reach by acting on it.
type view struct {
	name, path string
	act        func() // what follows after the page is loaded, or nil
	within     string // the part that is checked, such as an open dialog; "" is the whole page
}

// display is a screen with settings of its user.
type display struct {
	name     string
	size     image.Point
	features []*emulation.MediaFeature
}

func displays() []display {
	feature := func(name, value string) *emulation.MediaFeature {
		return &emulation.MediaFeature{Name: name, Value: value}
	}
	return []display{
		{"wide, light", image.Pt(1400, 900), []*emulation.MediaFeature{feature("prefers-color-scheme", "light")}},
		// 320 pixels are the width of WCAG 1.4.10: that of a phone, or of a wide screen at 400 % zoom.
		{"narrow, dark, reduced motion", image.Pt(320, 640),
			[]*emulation.MediaFeature{feature("prefers-color-scheme", "dark"), feature("prefers-reduced-motion", "reduce")}},
		{forcedColors, image.Pt(1400, 900), []*emulation.MediaFeature{feature("forced-colors", "active")}},
	}
}

// forcedColors is a display whose colors the system chooses, as the contrast themes of Windows do.
const forcedColors = "forced colors"

// unmarked is a JavaScript expression for the selected elements that look like the others beside
// them.
const unmarked = `[...document.querySelectorAll('#app [aria-selected=true], #app [aria-pressed=true], #app .tabs > [aria-current]')].filter(e => {
	const look = one => (s => [s.borderColor, s.borderWidth, s.backgroundColor].join())(getComputedStyle(one));
	return e.checkVisibility() && [...e.parentElement.children].some(other => other !== e && other.tagName === e.tagName && look(other) === look(e));
}).map(e => e.outerHTML.slice(0, 100))`

// TestBrowserAccessibility checks all pages of the server, their dialogs and their errors with
// axe-core, for visitors and for each role. No page may be wider than the screen. The first page is
// checked on the first display, the second on the second, and so on; if MESHYARD_TEST_DISPLAYS is
// "all", each is checked on all of them. GraphiQL and the operations of the reference are checked
// without the parts that come from other projects.
func TestBrowserAccessibility(t *testing.T) {
	axe, err := os.ReadFile(filepath.Join(meshtest.Root(), "web", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err) // it is installed by npm ci
	}
	box := mailtest.New(t, mailtest.Options{})
	library := t.TempDir()
	if err := os.WriteFile(filepath.Join(library, "gear.stl"), []byte("solid gear"), 0o644); err != nil {
		t.Fatal(err)
	}
	s, pages := crowdedGallery(t, func(c *config.Settings) {
		c.Library = []config.Library{{Name: "lib", Dir: library}}
		c.Registration, c.SMTPURL, c.SMTPFrom = true, box.URL, "Models <no-reply@example.org>"
	})
	v := visitGallery(t, s)
	check := func(p view, d display) {
		v.Do(t, "open "+p.path, chromedp.Navigate(v.url+p.path))
		v.await("the page "+p.path,
			`document.readyState === 'complete' && (document.querySelector('#app')?.dataset.ready ?? '') === '' && !document.querySelector('#reference .scripted')`)
		v.settled()
		v.answer(true) // leaving the page loses input
		if p.act != nil {
			p.act()
		}
		place := fmt.Sprintf("%s (%s), %s", p.name, p.path, d.name)
		v.Do(t, "load axe", chromedp.Evaluate[chromedp.Void](string(axe)))
		rules := ``
		if d.name == forcedColors { // axe-core reads the colors of the style sheet
			rules = `rules: {'color-contrast': {enabled: false}}, `
			for _, element := range graphiqltest.Read[[]string](t, v.Tab, "look for selected elements", unmarked) {
				t.Errorf("%s: nothing shows that it is selected: %s", place, element)
			}
		}
		context := `{exclude: ['#graphiql', '#reference']}`
		if p.within != "" {
			context = fmt.Sprintf(`{include: [%q]}`, p.within)
		}
		v.Do(t, "start axe", chromedp.Evaluate[chromedp.Void](`void axe.run(`+context+`, {`+rules+`iframes: false, runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}).then(r => {
			window.found = r.violations.flatMap(v => v.nodes.map(n => v.id + ': ' + n.target + ' ' + n.failureSummary.replaceAll('\n', ' ')));
		})`))
		v.await("the result of axe", `window.found`)
		for _, problem := range graphiqltest.Read[[]string](t, v.Tab, "read the result", `window.found`) {
			t.Errorf("%s: %s", place, problem)
		}
		if wide := graphiqltest.Read[int](t, v.Tab, "measure", `document.documentElement.scrollWidth`); wide > d.size.X {
			t.Errorf("%s: the page is %d pixels wide", place, wide)
		}
		if moves := graphiqltest.Read[int](t, v.Tab, "count animations",
			`document.getAnimations().filter(a => a.playState === 'running').length`); moves > 0 &&
			strings.Contains(d.name, "reduced motion") {
			t.Errorf("%s: %d animations run", place, moves)
		}
		v.run("forget input", `addEventListener('beforeunload', event => event.stopImmediatePropagation(), true)`)
	}

	admin := s.Client(s.Token("staff", auth.Read, auth.Write, auth.Admin))
	s.User("mo")
	s.Password("mo", servertest.Password)
	admin.Query(`mutation { setUserRole(input: {username: "mo", role: MODERATOR, reason: "Test."}) { user { id } } }`, nil,
		new(any))
	var link struct{ CreateInvitation struct{ URL string } }
	admin.Query(`mutation { createInvitation(input: {}) { url } }`, nil, &link)
	invitation, err := url.Parse(link.CreateInvitation.URL)
	if err != nil {
		t.Fatal(err)
	}
	var app struct {
		CreateApplication struct{ Application struct{ ClientID string } }
	}
	admin.Query(`mutation { createApplication(input: {name: "Slicer", redirectUris: ["http://127.0.0.1:9/done"]}) { application { clientId } } }`, nil, &app)
	consent := "/login/oauth/authorize?response_type=code&client_id=" + app.CreateApplication.Application.ClientID

	var thing, draft, edit string
	byName := make(map[string]view)
	for _, p := range pages {
		byName[p.name] = view{name: p.name, path: p.path}
	}
	thing, edit = byName["thing"].path, byName["edit"].path
	draft = strings.TrimSuffix(edit, "/edit")
	press := func(within, text string) func() { return func() { v.click(within, text) } }
	dialog := func(steps ...func()) func() {
		return func() {
			for _, step := range steps {
				step()
			}
			v.await("the dialog", `document.querySelector('dialog[open]')`)
		}
	}
	faulty := filepath.Join(t.TempDir(), "empty.stl")
	if err := os.WriteFile(faulty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	send := func(selector, fault string) func() {
		return func() {
			v.run("send the form",
				fmt.Sprintf(`const form = document.querySelector(%q); form.noValidate = true; form.requestSubmit()`, selector))
			v.await("the error", fmt.Sprintf(`document.readyState === 'complete' && document.querySelector(%q)`, fault))
		}
	}

	tabs := func(of string, names ...string) (views []view) {
		for _, name := range names {
			views = append(views, view{name: name + " of " + of, path: of + "/" + name})
		}
		return views
	}
	public := append(tabs(thing, "files", "comments", "makes", "remixes"), tabs("/bob", "makes", "collections", "likes",
		"following")...)
	public = append(public, byName["home"], byName["search"], byName["filters"], byName["thing"], byName["make"],
		byName["profile"], byName["people"], byName["collection"], byName["tag"], byName["category"], byName["missing"],
		view{name: "no result", path: "/explore?q=nothing-like-it"},
		view{name: "search for people", path: "/explore?q=ada&type=users"},
		view{name: "no page", path: "/no/such/page"}, view{name: "a draft of another user", path: draft},
		view{name: "settings without a session", path: "/settings"},
		view{name: "menu", path: "/", act: press("header", "Menu"), within: "header"},
		view{name: "suggestions", path: "/", within: "header", act: func() {
			v.enter(".search input", "don")
			v.await("suggestions", `document.querySelector('.search li')`)
		}},
		view{name: "3D view", path: thing, act: func() {
			v.click(".strip", "View in 3D")
			v.await("the model", `document.querySelector('iframe')?.contentDocument?.body?.dataset.phase === 'shown'`)
		}},
		view{name: "the question to sign in", path: thing, act: dialog(press(".summary", "Like"))},
		view{name: "sign-in page", path: "/login"}, view{name: "wrong password", path: "/login",
			act: send("main form", ".bad")},
		view{name: "sign-up page", path: "/signup"}, view{name: "faulty sign-up", path: "/signup",
			act: send("main form", ".bad")},
		view{name: "forgotten password", path: "/login/forgotten"}, view{name: "link that does not work",
			path: "/login/reset?token=x"},
		view{name: "invitation", path: invitation.RequestURI()},
		view{name: "faulty invitation", path: invitation.RequestURI(), act: send("main form", ".bad")},
		view{name: "unknown application", path: "/login/oauth/authorize?client_id=x"},
		view{name: "developers", path: "/developers"}, view{name: "reference", path: "/reference"},
		view{name: "migration", path: "/migration"}, view{name: "GraphiQL", path: "/graphiql"})
	own := []view{
		byName["home"], byName["thing"], byName["collection"], byName["upload"], byName["edit"], byName["feed"],
		byName["notifications"], byName["settings"],
		{name: "comments", path: thing + "/comments"}, {name: "draft", path: draft}, {name: "drafts", path: "/ada/drafts"},
		{name: "problems", path: "/ada/problems"}, {name: "selection", path: "/ada/drafts", act: press("main", "Select")},
		{name: "tags of a selection", path: "/ada", act: dialog(press("main", "Select"), press("main", "Select all"),
			press(".bulk-bar", "Tags"))}, {name: "collections", path: "/ada/collections"},
		{name: "account menu", path: "/", act: press("header", "Account menu"), within: "header"},
		{name: "menu of a thing", path: "/thing:3", act: press(".summary", "More actions"), within: ".summary"},
		{name: "collections of a thing", path: thing, act: dialog(press(".summary", "Collect"))},
		{name: "faulty make", path: "/thing:3/makes", act: dialog(press("main", "I made this"), press("dialog", "Post"))},
		{name: "report", path: byName["make"].path, act: dialog(press("main", "More actions"),
			press(".menu-items", "Report"))},
		{name: "reply", path: thing + "/comments", act: press(".comment", "Reply")},
		{name: "new collection", path: "/ada/collections", act: dialog(press("main", "New collection"))},
		{name: "faulty thing", path: edit, act: func() {
			v.choose("main .drop input", faulty)
			v.await("the failed upload", `document.querySelector('.uploads .fault')`)
			v.run("empty the name", `document.querySelector('#name').value = ''`)
			v.click(".publish-bar", "Save")
			v.await("the error", `document.querySelector('#name-fault')`)
		}},
		{name: "upload without a category", path: "/upload", act: func() {
			v.choose("main .drop input", faulty)
			v.await("the error", `document.querySelector('#category-fault')`)
		}},
		{name: "signed in", path: "/login"}, {name: "tokens", path: "/login/tokens"},
		{name: "password", path: "/login/password"}, {name: "consent", path: consent},
	}
	moderator := []view{
		byName["moderation"], {name: "all reports", path: "/moderation?tab=all"},
		{name: "moderation log", path: "/moderation?tab=log"}, byName["users"], {name: "thing", path: thing},
		{name: "reason", path: "/moderation", act: dialog(press(".report", "Suspend user"))},
	}
	administrator := []view{{name: "role", path: "/ada", act: dialog(press(".profile", "More actions"),
		press(".menu-items", "Change role"))}, {name: "invitations", path: "/moderation?tab=invitations"},
		{name: "libraries", path: "/moderation?tab=libraries"}, {name: "dry run", path: "/moderation?tab=libraries&plan=lib"},
		{name: "new invitation", path: "/moderation?tab=invitations", act: func() {
			v.click("main", "Create invitation")
			v.sees("Link of the new invitation")
		}}}
	for _, one := range []struct {
		user  string
		views []view
	}{{"", public}, {"ada", own}, {"mo", moderator}, {"staff", administrator}} {
		if one.user != "" {
			v.signInAs(one.user)
		}
		for on, d := range displays() {
			graphiqltest.Call(t, v.Tab, "choose the settings of the user", emulation.SetEmulatedMedia,
				emulation.SetEmulatedMediaParams{Features: d.features})
			v.size(d.size)
			for i, p := range one.views {
				if i%len(displays()) == on || os.Getenv("MESHYARD_TEST_DISPLAYS") == "all" {
					check(p, d)
				}
			}
		}
		v.size(image.Pt(1400, 900))
		if one.user != "" {
			v.open("/")
			v.signOut()
		}
	}
}
