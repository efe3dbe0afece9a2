package legacy_test

import (
	"bytes"
	"crypto/md5"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/models/account"
	"github.com/meshyard/meshyard/test/servertest"
)

// publisher is a client that synchronizes a thing with a folder. It finds the thing by its name,
// updates the fields that differ, and replaces changed files.
type publisher struct {
	*legacyClient
	processed func(file any) // returns when the rendering of a file is complete
}

// deploy publishes the contents of a folder, by file name, and returns the thing and the IDs of its
// files.
func (p publisher) deploy(about legacyObject, folder map[string]string) (thing legacyObject, ids map[string]string) {
	p.Helper()
	for _, o := range p.walk("/users/me/things?per_page=2", anyThing) {
		if o["name"] == about["name"] {
			thing = o
		}
	}
	if thing == nil {
		thing = p.one("POST", "/things/", about, "ThingSchema")
	} else {
		p.one("PATCH", "/things/"+legacyID(thing), about, "ThingSchema")
	}
	path := "/things/" + legacyID(thing)
	ids = make(map[string]string)
	for _, file := range p.list(path+"/files", "FileSchema") {
		name := fmt.Sprint(file["name"])
		sum := md5.Sum([]byte(folder[name]))
		if file["hash"] == base64.StdEncoding.EncodeToString(sum[:]) {
			ids[name] = legacyID(file)
			continue
		}
		if rendering, ok := file["default_image"].(legacyObject); ok {
			p.done("DELETE", path+"/images/"+legacyID(rendering), nil)
		}
		p.done("DELETE", path+"/files/"+legacyID(file), nil)
	}
	for _, name := range slices.Sorted(maps.Keys(folder)) {
		if ids[name] == "" {
			file := p.uploadByForm(path+"/files", name, folder[name], "FileSchema")
			p.processed(file["id"])
			ids[name] = legacyID(file)
		}
	}
	return p.one("POST", path+"/publish", nil, "ThingSchema"), ids
}

// tidy deletes the images of a thing that are neither one of the photos nor the rendering of a file
// in the folder. It expects the rendering of lid.stl to be named lid.png.
func (p publisher) tidy(path string, folder map[string]string, photos ...string) {
	p.Helper()
	kept := slices.Clone(photos)
	for name := range folder {
		kept = append(kept, strings.TrimSuffix(name, filepath.Ext(name))+".png")
	}
	for _, image := range p.list(path+"/images", "ThingImage") {
		if !slices.Contains(kept, fmt.Sprint(image["name"])) {
			p.done("DELETE", path+"/images/"+legacyID(image), nil)
		}
	}
}

// TestLegacyClientTasks performs complete tasks as existing clients do. Each task is a subtest that
// uses the things of the tasks before it.
func TestLegacyClientTasks(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		member := s.User("ada")
		mesh := func(name string) string { return string(servertest.Mesh(t, name)) }
		l := &legacyTasks{
			server: s,
			ada:    &legacyClient{base: s.URL, token: member.Token},
			bob:    &legacyClient{base: s.URL, token: s.User("bob").Token},

			donut:   mesh("numpystl_HalfDonut_bin.stl"),
			simple:  mesh("hschendel_simple_bin.stl"),
			box:     mesh("3mfsamples_box.3mf"),
			picture: mesh("lib3mf_thumbnail.png"),

			published: make(map[string]map[string]string),
		}
		for _, task := range []struct {
			name string
			run  func(t *testing.T)
		}{
			{"deploy again with changes", l.deployAgain},
			{"bulk download", l.downloadAll},
			{"follow", l.follow},
			{"avatar", l.changeAvatar},
			{"sign in by OAuth", l.signInByOAuth},
		} {
			t.Run(task.name, func(t *testing.T) {
				l.ada.T, l.bob.T = t, t
				l.processed = func(file any) {
					var id int64
					_, _ = fmt.Sscan(fmt.Sprint(file), &id)
					servertest.Settled(t, member, id)
				}
				task.run(t)
			})
		}
	}, servertest.Derives)
}

// legacyTasks is the state of TestLegacyClientTasks.
type legacyTasks struct {
	server                      *servertest.Server
	ada, bob                    *legacyClient
	donut, simple, box, picture string         // the contents of files
	processed                   func(file any) // returns when the preview of a file is complete

	published map[string]map[string]string // the contents of ada's files, by thing ID and file name
}

// deployAgain publishes a folder three times, the second time with changes.
func (l *legacyTasks) deployAgain(*testing.T) {
	ada := l.ada
	p := publisher{ada, l.processed}
	about := legacyObject{"name": "Dish", "license": "gpl3", "category": "Household", "description": "Version 1",
		"tags": []string{"dish", "round"}}
	folder := map[string]string{"lid.stl": l.donut, "dish.stl": l.simple, "spoon.3mf": l.box}
	thing, before := p.deploy(about, folder)
	path := "/things/" + legacyID(thing)
	photo := ada.uploadByForm(path+"/files", "dish.png", l.picture, "ImageSummary")

	about["description"], about["tags"] = "Version 2", []string{"dish", "bowl"}
	// dish.stl is changed, and the spoon is replaced by a fork.
	folder = map[string]string{"lid.stl": l.donut, "dish.stl": l.donut + "\n", "fork.3mf": l.box}
	again, after := p.deploy(about, folder)
	ada.same("thing", again["id"], thing["id"])
	ada.same("description and tags", fmt.Sprintf("%v, %d tags", again["description"], len(legacyObjects(again["tags"]))),
		"Version 2, 2 tags")
	ada.same("file_count", again["file_count"], 3)
	ada.same("id of the same file", after["lid.stl"], before["lid.stl"])
	if ids := []string{before["dish.stl"], before["spoon.3mf"]}; slices.Contains(ids, after["dish.stl"]) ||
		slices.Contains(ids, after["fork.3mf"]) {
		ada.Errorf("files %v after %v: an id is used again", after, before)
	}
	for _, old := range []string{"dish.stl", "spoon.3mf"} {
		ada.refused(404, "GET", "/files/"+before[old], nil)
	}
	p.tidy(path, folder, "dish.png")
	images := ada.list(path+"/images", "ThingImage")
	ada.same("images: the photo and three renderings", len(images), 4)
	ada.same("the first image", images[0]["id"], photo["id"])

	same, ids := p.deploy(about, folder)
	ada.same("a third run", fmt.Sprint(same["id"], ids, same["file_count"]),
		fmt.Sprint(thing["id"], after, again["file_count"]))
	ada.same("images after a third run", fmt.Sprint(ada.list(path+"/images", "ThingImage")), fmt.Sprint(images))
	ada.same("things", len(ada.list("/users/me/things", anyThing)), 1)
	l.published[legacyID(thing)] = folder
}

// downloadAll downloads all files of a user, and of collections of another.
func (l *legacyTasks) downloadAll(*testing.T) {
	ada, bob := l.ada, l.bob
	for i, content := range []string{l.simple, l.box, l.donut} {
		folder := map[string]string{"part.stl": content, "notes.txt": fmt.Sprint("Notes ", i)}
		thing, _ := publisher{ada, func(any) {}}.deploy(legacyObject{"name": fmt.Sprint("Part ", i), "license": "cc",
			"category": "Tools", "description": "A part."}, folder)
		l.published[legacyID(thing)] = folder
	}
	// download returns the files of things as a client saves them.
	download := func(things []legacyObject, take func(file legacyObject) string) map[string]map[string]string {
		saved := make(map[string]map[string]string)
		for _, thing := range things {
			files := make(map[string]string)
			for _, file := range bob.list(fmt.Sprintf("/things/%v/files", thing["id"]), "FileSchema") {
				files[fmt.Sprint(file["name"])] = take(file)
			}
			saved[legacyID(thing)] = files
		}
		return saved
	}
	byLink := download(bob.walk("/users/ada/things?per_page=3", anyThing), func(file legacyObject) string {
		status, text := bob.do("GET", fmt.Sprint(file["download_url"]), nil, "")
		bob.same(string(text)+" download", status, 302)
		return bob.fetch(bob.header.Get("Location"))
	})
	if !maps.EqualFunc(byLink, l.published, maps.Equal) {
		bob.Error("a download of ada's things by Link has other files or bytes")
	}

	for i, id := range slices.Sorted(maps.Keys(l.published)) {
		collection := bob.one("POST", "/collections/", legacyObject{"name": fmt.Sprint("Kept ", i%2), "description": ""},
			"Collection")
		bob.done("POST", fmt.Sprintf("/collections/%v/thing/%s", collection["id"], id), nil)
	}
	var collected []legacyObject
	for _, collection := range bob.walk("/users/bob/collections?per_page=2", "Collection") {
		collected = append(collected, bob.walk(fmt.Sprintf("/collections/%v/things?per_page=1", collection["id"]),
			anyThing)...)
	}
	byCollection := download(collected, func(file legacyObject) string { return bob.fetch(file["public_url"]) })
	if !maps.EqualFunc(byCollection, l.published, maps.Equal) {
		bob.Error("a download of bob's collections has other files or bytes")
	}
	bob.same("things in the history", len(bob.list("/users/me/downloads", "ThingSchema")), len(l.published))
}

// follow follows and unfollows a user twice.
func (l *legacyTasks) follow(*testing.T) {
	ada, bob := l.ada, l.bob
	for range 2 {
		for range 2 { // the second time has no effect
			bob.done("POST", "/users/ada/followers", nil)
		}
		bob.same("followers", bob.list("/users/ada/followers", "UserSummary")[0]["name"], "bob")
		bob.same("following", ada.list("/users/bob/following", "UserSummary")[0]["name"], "ada")
		seen, me := bob.one("GET", "/users/ada", nil, "UserSchema"), bob.one("GET", "/users/me", nil, "UserSchema")
		bob.same("followed", fmt.Sprintf("%v %v %v", seen["is_following"], seen["count_of_followers"],
			me["count_of_following"]), "true 1 1")
		for range 2 {
			bob.done("DELETE", "/users/ada/followers", nil)
		}
		bob.same("followers after", len(bob.list("/users/ada/followers", "UserSummary")), 0)
	}
	bob.refused(400, "POST", "/users/bob/followers", nil)
	bob.refused(404, "POST", "/users/nobody-of-that-name/followers", nil)
}

// changeAvatar uploads two avatars.
func (l *legacyTasks) changeAvatar(*testing.T) {
	ada, bob := l.ada, l.bob
	for _, name := range []string{"me.png", "again.png"} {
		before := ada.one("GET", "/users/me", nil, "UserSchema")["thumbnail"]
		image := ada.uploadByForm("/users/me/avatar-image", name, l.picture+name, "ImageSummary")
		l.processed(image["id"])
		after := bob.one("GET", "/users/ada", nil, "UserSchema")["thumbnail"]
		if got := http.DetectContentType([]byte(bob.fetch(after))); after == before || !strings.HasPrefix(got, "image/") {
			ada.Errorf("the avatar %s is %v, of type %s; before it was %v", name, after, got, before)
		}
	}
}

// signInByOAuth gets tokens by the authorization code grant in the ways of different clients.
func (l *legacyTasks) signInByOAuth(t *testing.T) {
	b, _ := servertest.SignedIn(t, l.server, "carl")
	const oob = "urn:ietf:wg:oauth:2.0:oob"
	plain := []string{"code_challenge", "", "code_challenge_method", "", "scope", ""}
	allow := func(page *servertest.Response) *servertest.Response {
		form := page.Want(t, 200).Fields()
		form.Set("decision", "allow")
		return b.Post("/login/oauth/authorize", form)
	}
	for _, style := range []struct {
		name, redirect string
		question       []string
		json           bool
	}{
		{"form", servertest.Redirect, plain, false},
		{"JSON", servertest.Redirect, plain, true},
		{"no response_type", servertest.Redirect, append(slices.Clone(plain), "response_type", ""), false},
		{"out of band", oob, append(slices.Clone(plain), "response_type", ""), false},
	} {
		c := servertest.NewOAuthClient(t, l.server, account.NewApplication{RedirectURIs: []string{style.redirect}})
		response := allow(b.Get(c.Question(append(style.question, "redirect_uri", style.redirect)...)))
		var code string
		if style.redirect == oob { // the user copies the code
			code = string(regexp.MustCompile(`id="code" value="(\w+)"`).FindSubmatch(response.Want(t, 200).Bytes)[1])
		} else {
			to, _ := url.Parse(response.Want(t, http.StatusSeeOther).Header.Get("Location"))
			code = to.Query().Get("code")
		}
		body, kind := url.Values{"client_id": {c.ID}, "client_secret": {c.Secret}, "code": {code},
			"redirect_uri": {style.redirect}}.Encode(), "application/x-www-form-urlencoded"
		if style.json {
			text, _ := json.Marshal(legacyObject{"client_id": c.ID, "client_secret": c.Secret, "code": code})
			body, kind = string(text), "application/json"
		}
		reply, err := http.Post(l.server.URL+"/login/oauth/access_token", kind, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		_, _ = text.ReadFrom(reply.Body)
		reply.Body.Close()
		found := regexp.MustCompile(`access_token=(\w+)`).FindStringSubmatch(text.String())
		if found == nil {
			t.Errorf("%s: %d %s", style.name, reply.StatusCode, text.String())
			continue
		}
		program := &legacyClient{T: t, base: l.server.URL, token: found[1]}
		program.same(style.name, program.one("GET", "/users/me", nil, "UserSchema")["name"], "carl")
	}
}
