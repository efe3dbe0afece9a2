package graphqlenum_test

import (
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/graphql/graphqlenum"
)

type choice string

var choices = graphqlenum.Of("Choice", map[string]choice{"YES": "Yes", "EITHER": "Doesn't Matter"})

// TestEnum checks how the values of an enum are read and written. Only exact names are values.
func TestEnum(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   any
		want choice
		err  string
	}{
		{"EITHER", "Doesn't Matter", ""},
		{"YES", "Yes", ""},
		{nil, "", ""},
		{"Yes", "", "Yes is not a valid Choice"},
		{"yes", "", "yes is not a valid Choice"},
		{"Doesn't Matter", "", "Doesn't Matter is not a valid Choice"},
		{"", "", " is not a valid Choice"},
		{1, "", "1 is not a valid Choice"},
		{map[string]any{}, "", "map[string]interface {} is not a string"},
	} {
		got, err := choices.Unmarshal(c.in)
		if err == nil && c.err != "" || err != nil && err.Error() != c.err || got != c.want {
			t.Errorf("%v: got %q and the error %v, want %q and %q", c.in, got, err, c.want, c.err)
		}
	}
	for value, want := range map[choice]string{"Yes": `"YES"`, "Doesn't Matter": `"EITHER"`, "other": `""`} {
		var text strings.Builder
		choices.Marshal(value).MarshalGQL(&text)
		if appended := string(choices.Append([]byte("x"), value)); text.String() != want || appended != "x"+want {
			t.Errorf("%q: got %s and %s, want %s", value, text.String(), appended, want)
		}
	}
}
