package legacy_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/models/account"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestLegacyPaths sends paths and tokens as existing clients write them.
func TestLegacyPaths(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := &legacyClient{T: t, base: s.URL, token: s.User("ada").Token}
		// Some clients write the words of paths in upper case, or with a capital letter.
		thing := ada.one("POST", "/THINGS", legacyObject{"name": "Dish", "license": "cc", "category": "Art",
			"description": "A dish."}, "ThingSchema")
		path := "/THINGS/" + legacyID(thing)
		mesh, picture := string(servertest.Mesh(t, "hschendel_simple_bin.stl")),
			string(servertest.Mesh(t, "lib3mf_thumbnail.png"))
		file := ada.uploadByForm(path+"/FILES", "dish.stl", mesh, "FileSchema")
		image := ada.uploadByForm(path+"/FILES", "dish.png", picture, "ImageSummary")
		ada.same("the file", ada.one("GET", path+"/FILES/"+legacyID(file), nil, "FileSchema")["name"], "dish.stl")
		ada.one("GET", path+"/IMAGES/"+legacyID(image), nil, "ImageSummary")
		ada.one("POST", path+"/Publish", nil, "ThingSchema")
		for _, list := range []string{"/USERS/ada/THINGS", "/Users/ada/things", "/api/USERS/ada/THINGS"} {
			ada.holds(list, ada.list(list, anyThing), thing["id"], true)
		}
		ada.done("DELETE", path+"/IMAGES/"+legacyID(image), nil)
		(&legacyClient{T: t, base: s.URL}).refused(401, "GET", "/USERS/ada/THINGS", nil)
		ada.refused(404, "GET", "/USERS/nobody-of-that-name/THINGS", nil)
		ada.refused(404, "GET", "/THINGZ/"+legacyID(thing), nil)
		ada.call(405, "PUT", path, nil, "Refusal")
		if allowed := ada.header.Get("Allow"); allowed != "GET, PATCH, DELETE" {
			t.Errorf("PUT %s: Allow %q", path, allowed)
		}
		// Words with capital letters are case-sensitive.
		if status, text := ada.post("/files/0/uploadfile", nil, "dish.stl", mesh); status != 404 {
			t.Errorf("uploadfile: %d %s, want 404", status, text)
		}
		// Some clients name the scheme of the header token.
		r := s.Client("").Request("GET", "/users/me", nil)
		r.Header.Set("Authorization", "token "+ada.token)
		s.Client("").Send(r).Want(t, 200)
		// A bulk downloader sends a placeholder of the documentation as it is written there.
		collection := ada.one("POST", "/collections", legacyObject{"name": "Kept"}, "Collection")
		ada.holds("collections", ada.list("/users/ada/collections/{$all}", "Collection"), collection["id"], true)
		// Other programs do not escape the braces.
		client := s.Client(ada.token)
		request := client.Request("GET", "/", nil)
		request.URL.Opaque = "/USERS/ada/collections/{$all}"
		var listed []struct{ Name string }
		if client.Send(request).Want(t, 200, &listed); len(listed) != 1 || listed[0].Name != "Kept" {
			t.Errorf("%s: %v, want the collection", request.URL.Opaque, listed)
		}
	})
}

// TestLegacyValues sends values that existing clients send and the documentation does not mention.
func TestLegacyValues(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := &legacyClient{T: t, base: s.URL, token: s.User("ada").Token}
		thing := ada.one("POST", "/things", legacyObject{"id": "", "name": "Dish", "license": "cc", "category": "Art",
			"description": "A dish.", "creator": ""}, "ThingSchema")
		path := "/things/" + legacyID(thing)

		// A client that saves all its fields sends an empty category, or 0, because no thing in a
		// response has a category.
		for _, none := range []any{"", 0} {
			ada.same("name", ada.one("PATCH", path, legacyObject{"name": fmt.Sprint("Bowl ", none), "category": none},
				"ThingSchema")["name"], fmt.Sprint("Bowl ", none))
		}
		ada.same("category", ada.list(path+"/categories", "Category")[0]["name"], "Art")
		ada.refused(400, "PATCH", path, legacyObject{"category": "No such category"})
		ada.refused(400, "POST", "/things", legacyObject{"name": "Cup", "license": "cc", "category": ""})

		ada.uploadByForm(path+"/files", "dish.stl", string(servertest.Mesh(t, "hschendel_simple_bin.stl")), "FileSchema")
		ada.one("POST", path+"/publish", nil, "ThingSchema")
		for _, kind := range []string{"thing", "models", "Things"} {
			ada.same("total of the type "+kind, ada.one("GET", "/search/bowl?type="+kind, nil, "ThingHits")["total"], 1)
		}
		ada.same("total of users", ada.one("GET", "/search/ada?type=users", nil, "UserHits")["total"], 1)
	})
}

// TestLegacyPageLinks reads the number of pages as existing clients do: some take the number
// after the first "page=", others the last characters of the URL.
func TestLegacyPageLinks(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		for i := range 31 {
			ada.Do("POST", "/collections", servertest.Object{"name": fmt.Sprint("Kept ", i)}).Want(t, 200)
		}
		links := regexp.MustCompile(`<([^>]*)>; rel="(\w+)"`)
		for query, want := range map[string]string{"": "2", "?sort=x&access_token=" + ada.Token: "2", "?per_page=2": "16",
			"?page=2&per_page=3": "11"} {
			header := ada.Get("/users/ada/collections"+query).Want(t, 200).Header.Get("Link")
			for _, link := range links.FindAllStringSubmatch(header, -1) {
				_, after, _ := strings.Cut(link[1], "page=")
				number := regexp.MustCompile(`^\d+`).FindString(after)
				if link[2] == "last" && number != want {
					t.Errorf("%q: the first number in %s is %q, want %s", query, link[0], number, want)
				}
				if asked := strings.Contains(query, "per_page"); asked != strings.Contains(link[1], "per_page") || !asked &&
					after != number {
					t.Errorf("%q: %s, want per_page only if it was sent, and else the page at the end", query, link[0])
				}
			}
		}
	})
}

// TestLegacyTokenResponse checks that clients whose HTTP library accepts JSON by default receive
// the token in the form that they parse.
func TestLegacyTokenResponse(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		b, _ := servertest.SignedIn(t, s, "carl")
		c := servertest.NewOAuthClient(t, s, account.NewApplication{RedirectURIs: []string{servertest.Redirect}})
		for accept, isJSON := range map[string]bool{
			"application/json, text/plain, */*": false, // the default of axios
			"":                                  false,
			"*/*":                               false,
			"application/json":                  true,
			"application/json, */*;q=0.5":       true,
			"text/plain;q=0, application/json":  true,
			"text/html, application/json;q=0.9": true,
		} {
			form := b.Get(c.Question()).Want(t, 200).Fields()
			form.Set("decision", "allow")
			to, err := url.Parse(b.Post("/login/oauth/authorize", form).Want(t, http.StatusSeeOther).Header.Get("Location"))
			if err != nil {
				t.Fatal(err)
			}
			text := c.Exchange(accept, c.Grant(to.Query().Get("code"))).Want(t, 200).Bytes
			if strings.HasPrefix(string(text), "access_token=") == isJSON || json.Valid(text) != isJSON {
				t.Errorf("Accept %q: %s", accept, text)
			}
		}
	})
}
