package servertest

import (
	"net/http"
	"strings"
	"testing"
)

func TestDescriptionRefusesOtherResponses(t *testing.T) {
	d, err := described()
	if err != nil {
		t.Fatal(err)
	}
	asked, _ := http.NewRequest(http.MethodGet, "/files/1", nil)
	route, _, err := d.router.FindRoute(asked)
	if err != nil {
		t.Fatal(err)
	}
	const notFound = `{"error":"Not Found","code":404,"type":"NOT_FOUND","message":"there is no file 1"}`
	for _, c := range []struct {
		name        string
		status      int
		contentType string
		body        string
		want        string // in the error; "" if there is none
	}{
		{"as described", 404, "application/json", notFound, ""},
		{"a charset", 404, "application/json; charset=utf-8", notFound, ""},
		{"another status", 500, "application/json", notFound, "the status is not described"},
		{"another content type", 404, "text/html", notFound, `"text/html" is not described`},
		{"a missing property", 404, "application/json", `{"code":404}`, "missing properties"},
		{"another type", 404, "application/json", strings.Replace(notFound, `"code":404`, `"code":"404"`, 1), "got string"},
		{"not JSON", 404, "application/json", `{`, "EOF"},
	} {
		response := &Response{Response: &http.Response{StatusCode: c.status,
			Header: http.Header{"Content-Type": {c.contentType}}}, Bytes: []byte(c.body)}
		err := d.check(route, response)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}
