package legacy_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/test/servertest"
)

// publishedWith publishes a thing of a client with a model, an image and the given fields.
func publishedWith(t *testing.T, c *servertest.Client, fields servertest.Object) int64 {
	t.Helper()
	all := servertest.Object{"name": "Gear", "license": "cc", "category": "Tools", "description": "A gear."}
	for name, value := range fields {
		all[name] = value
	}
	id := int64(servertest.ReadObject(t, c.Do("POST", "/things", all))["id"].(float64))
	c.Finalize("thing", id, c.Upload("a.stl", []byte("solid a\nendsolid a\n")),
		c.Upload("a.png", servertest.Mesh(t, "lib3mf_thumbnail.png"))).Want(t, 200)
	c.Publish(id).Want(t, 200)
	return id
}

// TestTogglesAndIDs checks the keys of the answers to watches and likes, and of the list of
// collected things.
func TestTogglesAndIDs(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		thing := publishedWith(t, ada, nil)
		collection := fmt.Sprint("/collections/",
			servertest.ReadObject(t, bob.Do("POST", "/collections", servertest.Object{"name": "Gears"}))["id"])
		answers := func(path, want string) {
			t.Helper()
			if got := string(ada.Do("POST", path, nil).Want(t, 200).Bytes); strings.TrimSpace(got) != want {
				t.Errorf("POST %s: %s, want %s", path, got, want)
			}
		}
		for _, state := range []string{"true", "false"} {
			answers(fmt.Sprintf("/things/%d/toggle-watch", thing), `{"watching":`+state+`}`)
			answers(collection+"/watch", `{"watching":`+state+`}`)
			answers(collection+"/like", `{"liking":`+state+`}`)
		}
		collected := func(want string) {
			t.Helper()
			const path = "/users/bob/all-collected-things"
			if got := string(ada.Get(path).Want(t, 200).Bytes); strings.TrimSpace(got) != want {
				t.Errorf("%s: %s, want %s", path, got, want)
			}
		}
		collected(`{"ids":[],"collected_things":[]}`)
		bob.Do("POST", fmt.Sprintf("%s/thing/%d", collection, thing), nil).Want(t, 200)
		collected(fmt.Sprintf(`{"ids":[%d],"collected_things":[%d]}`, thing, thing))
	})
}

// TestUsersByNumber checks that the paths of a user accept the id in the place of the name, and
// that users have a full name.
func TestUsersByNumber(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		thing := publishedWith(t, ada, nil)
		me := servertest.ReadObject(t, ada.Get("/users/me"))
		if me["full_name"] != "ada" {
			t.Errorf("without names: full_name %v, want the username", me["full_name"])
		}
		path := fmt.Sprint("/users/", me["id"])
		for _, c := range []struct{ first, last, full string }{{"Ada", "", "Ada"}, {"Ada", "Lovelace", "Ada Lovelace"}} {
			changed := servertest.ReadObject(t,
				ada.Do("PATCH", path, servertest.Object{"first_name": c.first, "last_name": c.last}))
			creator := servertest.ReadObject(t, bob.Get(fmt.Sprint("/things/", thing)))["creator"].(servertest.Object)
			if changed["full_name"] != c.full || creator["full_name"] != c.full {
				t.Errorf("%v: full_name %v, and of a creator %v", c, changed["full_name"], creator["full_name"])
			}
		}
		if got := servertest.ReadObject(t, bob.Get(path)); got["name"] != "ada" || got["url"] != s.URL+"/users/ada" {
			t.Errorf("%s: %v at %v", path, got["name"], got["url"])
		}
		bob.Do("POST", path+"/followers", nil).Want(t, 200)
		for _, list := range []string{"/things", "/followers", "/search/gear?type=things"} {
			named, numbered := bob.Get("/users/ada"+list).Want(t, 200), bob.Get(path+list).Want(t, 200)
			if string(named.Bytes) != string(numbered.Bytes) || len(named.Bytes) < 100 {
				t.Errorf("%s: by number %s, by name %s", list, numbered.Bytes, named.Bytes)
			}
		}
		bob.Do("PATCH", path, servertest.Object{"first_name": "B"}).Want(t, 403)
		bob.Get(path+"/downloads").Want(t, 403)
		for _, unknown := range []string{"999", "0", "99999999999999999999", fmt.Sprint("0", me["id"])} {
			bob.Get("/users/"+unknown).Want(t, 404)
		}
	})
}

// TestCollectionThumbnails checks the thumbnails of the first four things of each collection in a
// list, and the flags of things in a collection.
func TestCollectionThumbnails(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		var thumbnails []any // newest first
		var things []int64
		for range 5 {
			id := publishedWith(t, ada, servertest.Object{"license": "cc-nd", "is_ai": true})
			things = append(things, id)
			thumbnails = append([]any{servertest.ReadObject(t, ada.Get(fmt.Sprint("/things/", id)))["thumbnail"]}, thumbnails...)
		}
		s.Administrator().Query(`mutation ($id: ID!) { featureThing(input: {id: $id}) { thing { id } } }`,
			servertest.Object{"id": servertest.ID(things[0])}, new(any))
		fill := func(name string, ids []int64) string {
			path := fmt.Sprint("/collections/",
				servertest.ReadObject(t, ada.Do("POST", "/collections", servertest.Object{"name": name}))["id"])
			for _, id := range ids {
				ada.Do("POST", fmt.Sprintf("%s/thing/%d", path, id), nil).Want(t, 200)
			}
			return path
		}
		full := fill("Five", things)
		fill("One", things[4:])
		placeholder := s.URL + "/renders/default/thing.png"
		var list []servertest.Object
		ada.Get("/users/ada/collections").Want(t, 200, &list)
		for i, want := range [][]any{{thumbnails[0], placeholder, placeholder, placeholder}, thumbnails[:4]} {
			for n, thumbnail := range want {
				key := fmt.Sprint("thumbnail_", n+1)
				if list[i][key] != thumbnail {
					t.Errorf("%v: %s is %v, want %v", list[i]["name"], key, list[i][key], thumbnail)
				}
			}
		}
		ada.Get(full+"/things").Want(t, 200, &list)
		for i, thing := range list {
			got := flagsOf(thing, "is_private", "is_printable", "is_winner", "is_edu_approved", "is_featured", "is_ai",
				"is_banned", "allows_derivatives")
			if want := fmt.Sprint("0 1 0 0 ", i == 4, " true false false"); got != want {
				t.Errorf("thing %d of a collection: %s, want %s", i, got, want)
			}
		}
	})
}

// flagsOf returns the values of fields as a line.
func flagsOf(o servertest.Object, names ...string) string {
	values := make([]string, len(names))
	for i, name := range names {
		values[i] = fmt.Sprint(o[name])
	}
	return strings.Join(values, " ")
}

// TestPrintable checks that a thing with a model is printable, and other flags of a thing.
func TestPrintable(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		thing := ada.Thing("Gear")
		check := func(what, want string) {
			t.Helper()
			if got := flagsOf(servertest.ReadObject(t, ada.Get(fmt.Sprint("/things/", thing))), "is_private", "is_printable",
				"is_winner", "is_edu_approved"); got != want {
				t.Errorf("%s: %s, want %s", what, got, want)
			}
		}
		check("without files", "0 0 0 0")
		ada.Finalize("thing", thing, ada.Upload("a.pdf", servertest.Mesh(t, "own_assembly.pdf"))).Want(t, 200)
		check("with a document", "0 0 0 0")
		ada.Finalize("thing", thing, ada.Upload("a.stl", []byte("solid a\nendsolid a\n"))).Want(t, 200)
		check("with a model", "0 1 0 0")
	})
}

// TestDetailsFromTexts checks that the details of a thing contain its texts, beside the parts that
// are stored, and that a client which sends them back does not store the texts as parts.
func TestDetailsFromTexts(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		part := func(kind, name, content string) servertest.Object {
			return servertest.Object{"type": kind, "name": name, "data": []any{servertest.Object{"content": content}}}
		}
		summary := func(content string) servertest.Object {
			o := part("summary", "Summary", content)
			o["required"] = "required"
			return o
		}
		settings := servertest.Object{"type": "settings", "name": "Print Settings",
			"data": []any{servertest.Object{"printer": "MK4", "infill": 0.25}}}
		design, custom := part("design", "How I Designed This", "In FreeCAD."), part("custom", "Custom Section", "More.")
		path := fmt.Sprint("/things/",
			servertest.ReadObject(t, ada.Do("POST", "/things", servertest.Object{"name": "Gear", "license": "cc",
				"category": "Art"}))["id"])
		check := func(what string, changes servertest.Object, want ...any) {
			t.Helper()
			got, _ := json.Marshal(servertest.ReadObject(t, ada.Do("PATCH", path, changes))["details_parts"])
			expected, _ := json.Marshal(append([]any{}, want...))
			if string(got) != string(expected) {
				t.Errorf("%s: %s, want %s", what, got, expected)
			}
		}
		check("no texts", servertest.Object{}, nil...)
		text, second := summary("<div><p>A <em>gear</em> &amp; more.</p>\n</div>"), summary("<div><p>B.</p>\n</div>")
		check("a description", servertest.Object{"description": "A *gear* & more."}, text)
		tips := part("tips", "Instructions", "<div><p>Print it.</p>\n</div>")
		check("instructions", servertest.Object{"instructions": "Print it."}, text, tips)
		check("stored parts", servertest.Object{"details_parts": []any{settings, design, custom}}, text, settings, design,
			custom, tips)
		whole := servertest.ReadObject(t, ada.Get(path))
		check("the whole sent back", whole, text, settings, design, custom, tips)
		whole["description"] = "B."
		check("the whole with another description", whole, second, settings, design, custom, tips)
		check("another description", servertest.Object{"description": "A *gear* & more."}, text, settings, design,
			custom, tips)
		own, ownTips := summary("<p>Mine.</p>"), part("tips", "Post-Printing", "Sand it.")
		check("parts of the same types", servertest.Object{"details_parts": []any{ownTips, own}}, ownTips, own)
		var parts struct{ Thing struct{ DetailsParts string } }
		ada.Query(`query ($id: ID!) { thing(id: $id) { detailsParts } }`, servertest.Object{"id": path[len("/things/"):]},
			&parts)
		if strings.Contains(parts.Thing.DetailsParts, "gear") {
			t.Errorf("a text is stored as a part: %s", parts.Thing.DetailsParts)
		}
		check("no stored parts", servertest.Object{"details_parts": []any{}}, text, tips)
	})
}

// TestURLsOfDrafts checks that the owner of a draft can read its files by the URLs in the response,
// without a header, until they are published or the URL is changed.
func TestURLsOfDrafts(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, anyone := s.User("ada"), s.Client("")
		const model = "solid draft\nendsolid draft\n"
		thing := ada.Thing("Draft")
		file := ada.Upload("part.stl", []byte(model))
		pending := servertest.ReadObject(t, ada.Get(fmt.Sprint("/files/", file)))["public_url"].(string)
		ada.Finalize("thing", thing, file).Want(t, 200)
		zipped := servertest.ReadObject(t, ada.Get(fmt.Sprint("/things/", thing)))["zip_data"].(servertest.Object)["files"].([]any)[0].(servertest.Object)["url"].(string)
		public := servertest.ReadObject(t, ada.Get(fmt.Sprint("/files/", file)))["public_url"].(string)
		for what, address := range map[string]string{"public_url of a pending upload": pending, "public_url": public, "zip_data": zipped} {
			if r := anyone.Get(address).Want(t, 200); string(r.Bytes) != model || !strings.HasPrefix(r.Header.Get("Cache-Control"), "private") {
				t.Errorf("%s %s: %q with %q", what, address, r.Bytes, r.Header.Get("Cache-Control"))
			}
			plain, _, _ := strings.Cut(address, "?")
			anyone.Get(plain).Want(t, 403)
			anyone.Get(strings.Replace(address, "signature=", "signature=x", 1)).Want(t, 403)
			if !strings.HasPrefix(plain, s.URL+fmt.Sprint("/download:", file)) {
				t.Errorf("%s is %s", what, address)
			}
		}
		ada.Do("PATCH", fmt.Sprint("/things/", thing), servertest.Object{"description": "Done."}).Want(t, 200)
		ada.Publish(thing).Want(t, 200)
		anyone.Get(public).Want(t, 200)
		anyone.Get(strings.Replace(public, "signature=", "signature=x", 1)).Want(t, 200)
		if got := servertest.ReadObject(t, ada.Get(fmt.Sprint("/files/", file)))["public_url"]; got != s.URL+fmt.Sprint("/download:", file) {
			t.Errorf("of a published thing: %v", got)
		}
	})
}

// TestTermsAsTyped checks searches for terms that clients do not escape: with slashes, and with a
// percent sign, for which no URL can be built. They also work on a connection that is kept open.
func TestTermsAsTyped(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		bolt := publishedWith(t, ada, servertest.Object{"name": "M3/M4 bolt", "tags": []string{"M3/M4"}})
		percent := publishedWith(t, ada, servertest.Object{"name": "Grown 100%"})
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		answers := bufio.NewReader(conn)
		for path, want := range map[string]int64{
			"/search/M3/M4%20bolt": bolt, "/search/M3/M4%20bolt/": bolt, "/search/M3/M4+bolt?type=things": bolt, "/api/search/M3/M4": bolt, "/Search/M3%2FM4": bolt,
			fmt.Sprint("/search/", s.URL, "/thing:", percent): percent, "/users/ada/search/M3/M4": bolt, "/search/M3/M4/autocomplete": bolt,
			"/search/100%/": percent, "/search/100%": percent, "/search/grown%20100%?type=things&x=%": percent, "/search/100%25": percent,
		} {
			fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\n\r\n", path, ada.Token)
			response, err := http.ReadResponse(answers, nil)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(response.Body)
			var found struct {
				Hits []struct{ ID int64 }
			}
			if err != nil || response.StatusCode != 200 || json.Unmarshal(body, &found) != nil || len(found.Hits) == 0 || found.Hits[0].ID != want {
				t.Errorf("%s: %d %.300s (%v), want thing %d first", path, response.StatusCode, body, err, want)
			}
		}
	})
}

// TestUnknownLicense checks that a license which the server does not know is stored as the one that
// permits the least, and that an update with it changes nothing.
func TestUnknownLicense(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		const least = "Creative Commons - Attribution - Non-Commercial - No Derivatives"
		for _, license := range []any{"house rules", "?", 7, []any{"x"}} {
			made := servertest.ReadObject(t, ada.Do("POST", "/things", servertest.Object{"name": "A", "license": license, "category": "Art"}))
			if made["license"] != least || made["allows_derivatives"] != false {
				t.Errorf("%v: stored as %v", license, made["license"])
			}
		}
		made := servertest.ReadObject(t, ada.Do("POST", "/things", servertest.Object{"name": "A", "license": "cc-sa", "category": "Art"}))
		if got := servertest.ReadObject(t, ada.Do("PATCH", fmt.Sprint("/things/", made["id"]), servertest.Object{"license": "house rules"}))["license"]; got != made["license"] {
			t.Errorf("an update with an unknown license: %v, want %v", got, made["license"])
		}
		for _, c := range []struct{ text, later, want string }{
			{"GNU GPL v2", "", "GPL-2.0-only"}, {"GNU GPL v2", "GNU - GPL", "GPL-2.0-only"}, {"GNU GPL v2", "gpl", "GPL-2.0-only"}, {"gpl", "GPL-2.0-or-later", "GPL-2.0-or-later"},
			{"gpl3", "", "GPL-3.0-only"}, {"cc-by-nc-3.0", "", "CC-BY-NC-3.0"}, {"cc-by-nc-3.0", "house rules", "CC-BY-NC-3.0"}, {"cc-by-nc-3.0", "cc-nc-nd", "CC-BY-NC-ND-4.0"},
			{"Apache 2.0", "", "Apache-2.0"}, {"Apache 2.0", "Apache License 2.0", "Apache-2.0"}, {"All Rights Reserved", "", "LicenseRef-All-Rights-Reserved"},
			{"CC BY 4.0, but not for sale", "", "LicenseRef-All-Rights-Reserved"}, {"?", "", "CC-BY-NC-ND-4.0"}, {"GPL v9", "", "CC-BY-NC-ND-4.0"},
		} {
			made := servertest.ReadObject(t, ada.Do("POST", "/things", servertest.Object{"name": "A", "license": c.text, "category": "Art"}))
			if c.later != "" {
				ada.Do("PATCH", fmt.Sprint("/things/", made["id"]), servertest.Object{"license": c.later}).Want(t, 200)
			}
			var got struct {
				Thing struct{ LicenseInfo struct{ SPDXID string } }
			}
			ada.Query(fmt.Sprintf(`{ thing(id: %v) { licenseInfo { spdxId } } }`, made["id"]), nil, &got)
			if id := got.Thing.LicenseInfo.SPDXID; id != c.want {
				t.Errorf("%q, then %q: got %s, want %s", c.text, c.later, id, c.want)
			}
		}
	})
}
