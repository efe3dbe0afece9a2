package language

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/apierror"
)

func TestOf(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, cookie, accept, want string }{
		{"nothing", "", "", "en"},
		{"region", "", "de-AT", "de"},
		{"case", "", "DE", "de"},
		{"order", "", "de, en", "de"},
		{"weights", "", "en;q=0.5, de;q=0.8", "de"},
		{"unsupported first", "", "fr, nl;q=0.9, de;q=0.1", "de"},
		{"refused", "", "de;q=0", "en"},
		{"three letters", "", "deu", "de"},
		{"another language", "", "den-XX", "en"},
		{"invalid", "", ";;q=x,,de;q=x, -", "en"},
		{"choice", "en", "de", "en"},
		{"unknown choice", "fr", "de", "de"},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		if tc.cookie != "" {
			r.AddCookie(&http.Cookie{Name: cookie, Value: tc.cookie})
		}
		if tc.accept != "" {
			r.Header.Set("Accept-Language", tc.accept)
		}
		if got := Of(r).Code; got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.name, got, tc.want)
		}
	}
}

var placeholder = regexp.MustCompile(`%[\w\d]*[a-z]|</?\w+[^>]*>`)

// TestTexts checks that every language has every text, with the placeholders and the HTML elements
// of the English one.
func TestTexts(t *testing.T) {
	t.Parallel()
	for _, l := range All[1:] {
		compare(t, l.Code, reflect.ValueOf(*english), reflect.ValueOf(*l))
		for _, code := range []apierror.Code{
			apierror.Unauthenticated, apierror.Forbidden, apierror.NotFound, apierror.BadInput, apierror.Conflict,
			apierror.TooLarge, apierror.RateLimited, apierror.Unavailable,
			apierror.InsufficientStorage, apierror.Timeout, apierror.Internal,
		} {
			if l.Errors[code] == "" {
				t.Errorf("%s: there is no sentence for the code %s", l.Code, code)
			}
		}
	}
}

func compare(t *testing.T, path string, want, got reflect.Value) {
	for i := range want.NumField() {
		name := path + "." + want.Type().Field(i).Name
		switch want.Field(i).Kind() {
		case reflect.Struct:
			compare(t, name, want.Field(i), got.Field(i))
		case reflect.String:
			marks := func(v reflect.Value) []string {
				found := placeholder.FindAllString(v.String(), -1)
				slices.Sort(found)
				return found
			}
			if want.Field(i).String() == "" || got.Field(i).String() == "" {
				t.Errorf("%s: one of the texts is missing: %q, %q", name, want.Field(i), got.Field(i))
			}
			if a, b := marks(want.Field(i)), marks(got.Field(i)); !slices.Equal(a, b) {
				t.Errorf("%s: got placeholders %q, want %q", name, b, a)
			}
		}
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	taken := &apierror.Error{Code: apierror.Conflict, Field: "username", Message: `username "ada" is taken`}
	full := &apierror.Error{Code: apierror.Conflict, Message: "you have 500 access tokens"}
	for _, tc := range []struct {
		of   *Texts
		e    *apierror.Error
		want Message
	}{
		{english, taken, Message{Text: `Username "ada" is taken.`, Field: "username"}},
		{german, taken, Message{Text: "Dieser Benutzername ist vergeben.", Field: "username"}},
		{german, full, Message{Text: "Das ist gerade nicht möglich.", Detail: "You have 500 access tokens."}},
		{german, &apierror.Error{Code: apierror.Internal, Message: "internal error"},
			Message{Text: german.Errors[apierror.Internal]}},
		{german, &apierror.Error{Message: "x"}, Message{Text: german.Errors[apierror.Internal], Detail: "X."}},
	} {
		if got := tc.of.Explain(tc.e); got != tc.want {
			t.Errorf("%s, %v: got %+v, want %+v", tc.of.Code, tc.e, got, tc.want)
		}
	}
}

func TestFill(t *testing.T) {
	t.Parallel()
	if got, want := fmt.Sprint(Fill("<b>%s</b>", `<i>"`)), "<b>&lt;i&gt;&#34;</b>"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestFiles checks that the files of all languages have the same texts, also those that only the
// client uses, with the same placeholders, and that no page has a text that the client has, too.
func TestFiles(t *testing.T) {
	t.Parallel()
	flat := func(code string) map[string]string {
		content, err := files.ReadFile("texts/" + code + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var tree map[string]any
		if err := json.Unmarshal(content, &tree); err != nil {
			t.Fatal(err)
		}
		found := make(map[string]string)
		for _, section := range []string{"text", "sentences", "counts", "pages", "mails", "signIn", "viewer", "printing",
			"manage"} {
			flatten(found, section, tree[section])
		}
		return found
	}
	want := flat("en")
	if len(want) < 500 {
		t.Fatalf("found only %d texts", len(want))
	}
	marks := func(text string) []string {
		found := placeholder.FindAllString(text, -1)
		slices.Sort(found)
		return found
	}
	for name, text := range want {
		// The client makes a function of each sentence. An element shows nothing for a function.
		if strings.HasPrefix(name, "sentences.") && !strings.Contains(text, "%") {
			t.Errorf("%s: has no placeholder, so it belongs to the section text", name)
		}
	}
	for _, l := range All[1:] {
		got := flat(l.Code)
		for _, name := range slices.Sorted(maps.Keys(want)) {
			text, ok := got[name]
			switch {
			case !ok:
				t.Errorf("%s: the text %s is missing", l.Code, name)
			case (text == "") != (want[name] == ""):
				t.Errorf("%s: one of the texts %s is empty: %q, %q", l.Code, name, text, want[name])
			// A number can be missing in the singular, and an error can contain the message of the server or
			// the limit.
			case !strings.HasSuffix(name, ".one") && !strings.HasPrefix(name, "text.faults.") &&
				!slices.Equal(marks(text), marks(want[name])):
				t.Errorf("%s: %s: got placeholders %q, want %q", l.Code, name, marks(text), marks(want[name]))
			}
			delete(got, name)
		}
		for name := range got {
			t.Errorf("%s: there is no English text %s", l.Code, name)
		}
		for name, text := range flat(l.Code) {
			key, isPage := strings.CutPrefix(name, "pages.")
			if isPage && flat(l.Code)["text."+key] == text && want["text."+key] == want[name] {
				t.Errorf("%s: %s is the same text as text.%s", l.Code, name, key)
			}
		}
	}
}

// flatten adds the texts of a JSON value to found, by path.
func flatten(found map[string]string, path string, value any) {
	switch value := value.(type) {
	case string:
		found[path] = value
	case map[string]any:
		for key, below := range value {
			flatten(found, path+"."+key, below)
		}
	}
}
