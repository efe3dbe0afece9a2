package rest

import (
	"net/http"

	"github.com/meshyard/meshyard/internal/auth"
)

// unservedOperation is an operation of the published interface that is not served, with the reason.
type unservedOperation struct{ method, path, reason string }

// The reasons are complete sentences: the guide shows them, and the 404 response has them as its
// message.
const (
	noGroups        = "Groups and their forums are not part of this server."
	noMessages      = "Private messages are not part of this server."
	noBanners       = "Banners, advertisements and site-wide notices are not part of this server."
	noApps          = "Apps that run on the site are not part of this server."
	noSubscriptions = "Subscriptions and the dashboard are not part of this server."
	noEmail         = "Sending e-mail for a client is not part of this server."
	noChangelogs    = "The release notes are in CHANGELOG.md of the server's source."
	noVerified      = "There are no verified designers on this server."
)

// unservedOperations lists every operation of the published interface that has no route. Each
// responds with 404 and its reason. A row is removed when its route is added: the conformance test
// fails if an operation is in both tables or in neither.
var unservedOperations = []unservedOperation{
	{post, "/groups", noGroups},
	{get, "/groups/{group_id}", noGroups},
	{patch, "/groups/{group_id}", noGroups},
	{del, "/groups/{group_id}", noGroups},
	{post, "/groups/{group_id}/image", noGroups},
	{get, "/groups/{group_id}/members", noGroups},
	{post, "/groups/{group_id}/members", noGroups},
	{del, "/groups/{group_id}/members", noGroups},
	{get, "/groups/{group_id}/group-forums", noGroups},
	{post, "/groups/{group_id}/group-forums", noGroups},
	{del, "/groups/{group_id}/forum/{forum_id}", noGroups},
	{get, "/groups/{group_id}/forum-topics/{forum_id}", noGroups},
	{get, "/groups/{group_id}/forum-by-slug/{forum_slug}", noGroups},
	{get, "/groups/{group_id}/group-topics", noGroups},
	{post, "/groups/{group_id}/group-topics/{forum_slug}", noGroups},
	{get, "/groups/{group_id}/things", noGroups},
	{post, "/groups/{group_id}/things/{thing_id}", noGroups},
	{del, "/groups/{group_id}/things/{thing_id}", noGroups},
	{post, "/groups/{group_id}/update-group-forum/{forum_id}", noGroups},

	{get, "/grouptopics/{grouptopic_id}", noGroups},
	{patch, "/grouptopics/{grouptopic_id}", noGroups},
	{del, "/grouptopics/{grouptopic_id}", noGroups},
	{post, "/grouptopics/{grouptopic_id}/pin", noGroups},
	{del, "/grouptopics/{grouptopic_id}/pin", noGroups},
	{post, "/grouptopics/{grouptopic_id}/watch", noGroups},
	{del, "/grouptopics/{grouptopic_id}/watch", noGroups},
	{get, "/grouptopics/{grouptopic_id}/comments", noGroups},
	{post, "/grouptopics/{grouptopic_id}/comments", noGroups},
	{get, "/grouptopics/{grouptopic_id}/forumtopics-comments", noGroups},
	{get, "/grouptopics/{grouptopic_id}/root-comments", noGroups},
	{post, "/grouptopics/{grouptopic_id}/update", noGroups},

	{post, "/messages", noMessages},

	{get, "/homebanner", noBanners},

	{get, "/verified", noVerified},

	{get, "/apps/{id}", noApps},
	{get, "/apps/0/approvedandpublished", noApps},

	{get, "/sitewidenotification", noBanners},
	{get, "/sitewidenotification/{id}", noBanners},

	{get, "/subscriptions/{tag}/is-user-subscribed-to-tag", noSubscriptions},
	{post, "/subscriptions/{tag}/set-subscribe-state", noSubscriptions},
	{get, "/subscriptions/0/dashboard", noSubscriptions},
	{get, "/subscriptions/0/dashboard-sources", noSubscriptions},
	{get, "/subscriptions/0/analytics", noSubscriptions},

	{post, "/email", noEmail},
	{post, "/email/thingiverse/enqueue-support", noEmail},
	{post, "/email/{type}/enqueue-dmca", noEmail},

	{get, "/banner", noBanners},
	{get, "/banner/0/page-ad", noBanners},

	{get, "/changelogs", noChangelogs},
}

// ServeHTTP responds with 404 and the reason. As for the operations that are served, a request
// without a valid token gets 401, by which clients know that they must sign in again.
func (u unservedOperation) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setRoute(r)
	if _, err := auth.Identified(r.Context()); err != nil {
		WriteFailure(w, r, err)
		return
	}
	WriteError(w, http.StatusNotFound, u.reason)
}
