package httpbody

import (
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/apierror"
)

// TestExceedsBounds checks the limits, which apply before JSON is decoded.
func TestExceedsBounds(t *testing.T) {
	for text, want := range map[string]bool{
		`{"a":["x,[{",1]}`: false, `"\"[[[[[[[["`: false, `"ends`: false, `"ends\`: false, `"ends\"`: false,
		strings.Repeat("[", maxNesting) + strings.Repeat("]", maxNesting):     false,
		strings.Repeat("[", maxNesting+1) + strings.Repeat("]", maxNesting+1): true,
		"[" + strings.Repeat("0,", maxValues-2) + "0]":                        false,
		"[" + strings.Repeat("0,", maxValues-1) + "0]":                        true,
	} {
		if got := exceedsBounds([]byte(text)); got != want {
			t.Errorf("%.40s, %d bytes: %v, want %v", text, len(text), got, want)
		}
	}
}

// TestDecodeJSONErrors checks that errors name the input and the position of the fault.
func TestDecodeJSONErrors(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"line break in a string": {"{\n  \"query\": \"{ me\n{ id } }\"\n}",
			"request body: invalid JSON at line 2, column 17: "},
		"ends early":           {`{"query": "{ me }"`, "request body: invalid JSON: ends too early, at line 1, column "},
		"empty":                {"", "request body: is empty, and must be JSON"},
		"wrong type":           {`{"query": 5}`, "request body: query must not be a JSON number (at line 1, column "},
		"text after the value": {`{} {}`, "request body: has text after the JSON value, at line 1, column "},
		"not UTF-8":            {"{\"query\": \"\xff\"}", "request body: contains invalid UTF-8"},
	} {
		var v struct {
			Query string `json:"query"`
		}
		err := DecodeJSON("request body", []byte(c.text), &v)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || apierror.CodeOf(err) != apierror.BadInput {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}
