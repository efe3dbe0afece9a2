package graph

import (
	"regexp"
	"strings"
)

// thingPath matches the paths of a thing on this server: its page, its viewer and its REST
// resource.
var thingPath = regexp.MustCompile(`^/?(?:api/)?(?:thing:|things/|view/)([1-9][0-9]{0,18})(?:[/?#].*)?$`)

// thingAt returns the ID of the thing if text is its URL on this server, or "" if it is not. The
// URL can omit the scheme and the host.
func (r *Resolver) thingAt(text string) string {
	text = strings.TrimSpace(text)
	_, host, _ := strings.Cut(r.URLs.Base, "://")
	for _, prefix := range []string{"https://" + host, "http://" + host, host} {
		if rest, ok := strings.CutPrefix(text, prefix); ok && host != "" {
			text = rest
			break
		}
	}
	if found := thingPath.FindStringSubmatch(text); found != nil {
		return found[1]
	}
	return ""
}
