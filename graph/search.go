package graph

import (
	"regexp"
	"strings"
)

// thingPath matches the paths of a thing on this server: its page, its viewer and its REST
// resource.
var thingPath = regexp.MustCompile(`^/?(?:api/)?(?:thing:|things/|view/)([1-9][0-9]{0,18})(?:[/?#].*)?$`)

// thingAt returns the id of the thing whose URL on this server text is, or "" if it is none. The
// scheme and the host may be left out.
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
