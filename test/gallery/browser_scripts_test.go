//go:build browser

package gallery_test

import (
	"github.com/meshyard/meshyard/test/servertest"

	"fmt"
	"testing"

	"github.com/meshyard/meshyard/internal/web/graphiql/graphiqltest"
)

// TestBrowserGalleryScripts checks that scripts in the texts of users do not run on any page.
func TestBrowserGalleryScripts(t *testing.T) {
	s := newScene(t)
	const evil = `"><script>window.hacked = 1</script><img src=x onerror="window.hacked = 1"><svg onload="window.hacked = 1"><a href="javascript:window.hacked = 1">click</a>`
	id := fmt.Sprint(s.thing)
	s.ada.Query(`mutation($id: ID!, $text: String!) {
		updateThing(input: {id: $id, name: $text, description: $text, instructions: $text, tags: ["<img src=x onerror=window.hacked=1>"], printSettings: {printer: $text}}) { thing { id } }
		updateProfile(input: {firstName: $text, lastName: $text, location: $text, bio: $text}) { user { id } }
		createCollection(input: {name: $text, description: $text}) { collection { id } }
	}`, servertest.Object{"id": id, "text": evil}, new(any))
	s.bob.Query(`mutation($id: ID!, $node: ID!, $text: String!) {
		createComment(input: {target: {type: THING, id: $id}, body: $text}) { comment { id } }
		createMake(input: {thingId: $id, name: $text, description: $text}) { make { id } }
		reportContent(input: {nodeId: $node, reason: OTHER, note: $text}) { report { id } }
	}`, servertest.Object{"id": id, "text": evil, "node": servertest.NodeID(t, s.ada)}, new(any))

	v := visitGallery(t, s.Server)
	check := func(where string) {
		t.Helper()
		v.settled()
		if graphiqltest.Read[bool](t, v.Tab, "look for a script that ran", `'hacked' in window`) {
			t.Errorf("%s: a script ran", where)
		}
		links := graphiqltest.Read[int](t, v.Tab, "count links that are scripts",
			`[...document.links].filter(a => a.protocol === 'javascript:').length`)
		if links > 0 {
			t.Errorf("%s: %d links are scripts", where, links)
		}
	}
	for _, path := range []string{"/", "/explore?q=onerror", "/explore?type=makes", "/ada", "/ada/collections",
		"/collection:1", "/make:1"} {
		v.open(path)
		check(path)
	}
	v.open("/thing:" + id)
	for _, tab := range []string{"Files", "Comments", "Makes"} {
		v.click(".tabs", tab)
		check(tab)
	}
	for name, paths := range map[string][]string{"ada": {"/notifications", "/settings", "/thing:" + id + "/edit"},
		"staff": {"/moderation"}} {
		v.signInAs(name)
		for _, path := range paths {
			v.open(path)
			check(path)
		}
		v.open("/")
		v.signOut()
	}
}
