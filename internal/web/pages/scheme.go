package pages

import "net/http"

// Scheme returns the color scheme that the visitor chose in the gallery, light or dark, or "" for
// that of the system. The gallery keeps it in a cookie (web/src/theme.ts).
func Scheme(r *http.Request) string {
	cookie, err := r.Cookie("meshyard_theme")
	if err != nil || cookie.Value != "light" && cookie.Value != "dark" {
		return ""
	}
	return cookie.Value
}
