package config

import (
	"strings"
	"testing"
)

func TestOrigins(t *testing.T) {
	for text, want := range map[string]struct {
		all, none bool
		allowed   string
	}{
		"*":                       {all: true, allowed: "https://a.example http://localhost:3000 null"},
		"none":                    {none: true},
		"https://a.example":       {allowed: "https://a.example"},
		"https://a.example:8443 ": {allowed: "https://a.example:8443"},
		"https://a.example, http://localhost:3000,tauri://localhost,http://[::1]:8080": {allowed: "https://a.example http://localhost:3000 tauri://localhost"},
	} {
		var o Origins
		if err := o.UnmarshalText([]byte(text)); err != nil || o.All() != want.all || o.None() != want.none {
			t.Errorf("%s: %+v, %v", text, o, err)
		}
		for _, origin := range []string{"https://a.example", "https://A.example", "http://a.example",
			"https://a.example.evil.example", "https://evil.example", "http://localhost:3000", "https://a.example:8443",
			"tauri://localhost", "null", ""} {
			if allowed := want.all || origin != "" && strings.Contains(" "+want.allowed+" ",
				" "+origin+" "); o.Allow(origin) != allowed {
				t.Errorf("%s: %s is allowed: %v", text, origin, !allowed)
			}
		}
	}
	for _, text := range []string{"a.example", "https://a.example/", "https://A.example", "https://*.a.example",
		"https://a.example:443", "http://a.example:80", "https://a.example?x", "https://u@a.example", "https://a.example,*",
		"null", "https://", "https://ä.example", "https://a.example,", "https://a.example:", "://a"} {
		var o Origins
		if err := o.UnmarshalText([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), `origin "`) {
			t.Errorf("%s is taken: %+v, %v", text, o, err)
		}
	}
	var zero Origins
	if !zero.All() || zero.None() || !zero.Allow("https://a.example") {
		t.Error("the zero Origins are not all")
	}
}
