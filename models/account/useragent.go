package account

import "strings"

// The names of browsers and systems, with what their user agents contain. Each comes before those
// that its user agent also contains: Edge identifies as Chrome and Safari too.
var (
	browsers = [][2]string{
		{"Edg", "Edge"}, {"OPR/", "Opera"}, {"SamsungBrowser/", "Samsung Internet"}, {"Firefox/", "Firefox"},
		{"FxiOS/", "Firefox"},
		{"CriOS/", "Chrome"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"},
	}
	systems = [][2]string{
		{"Android", "Android"}, {"iPhone", "iOS"}, {"iPad", "iPadOS"}, {"Windows", "Windows"}, {"Mac OS X", "macOS"},
		{"CrOS", "ChromeOS"}, {"Linux", "Linux"},
	}
)

// Browser returns the name of the browser, or nil if it is not a well-known one.
func (s *Session) Browser() *string { return nameIn(s.UserAgent, browsers) }

// System returns the name of the operating system, or nil if the user agent does not contain it.
func (s *Session) System() *string { return nameIn(s.UserAgent, systems) }

func nameIn(userAgent string, known [][2]string) *string {
	for _, k := range known {
		if strings.Contains(userAgent, k[0]) {
			return &k[1]
		}
	}
	return nil
}
