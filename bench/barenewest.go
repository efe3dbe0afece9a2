package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// selectNewest selects the columns of a response, in the order in which thingResponse.scan reads
// them.
const selectNewest = "SELECT t.id, t.name, t.created_at, t.published_at, t.like_count, t.collect_count, t.make_count, t.comment_count, u.id, u.username, u.first_name, " +
	"u.last_name, u.follower_count, u.following_count, u.thing_count, u.collection_count, u.make_count, EXISTS (SELECT 1 FROM follows WHERE follower_id = 1 AND followed_id = u.id), " +
	"u.location, u.is_admin, f.id, f.name, (SELECT CAST(sum(thing_count) AS bigint) FROM categories), " +
	"(SELECT string_agg(tt.name || chr(1) || g.slug || chr(1) || g.thing_count, chr(2)) " + tagsOfOne + " JOIN tags AS g ON g.id = tt.tag_id) " +
	pageOfThings + withOwner + "LEFT JOIN files AS f ON f.id = (SELECT id " + filesOfOne + " AND kind = 'image' ORDER BY rank, id LIMIT 1) " + inOrder

// thingResponse has the keys of the REST type ShortThingSchema, in the same order.
type thingResponse struct {
	ID           int64           `json:"id"`
	Name         string          `json:"name"`
	URL          string          `json:"url"`
	PublicURL    string          `json:"public_url"`
	CreatedAt    string          `json:"created_at"`
	Thumbnail    string          `json:"thumbnail"`
	PreviewImage string          `json:"preview_image"`
	Creator      creatorResponse `json:"creator"`
	IsPrivate    int             `json:"is_private"`
	IsPurchased  int             `json:"is_purchased"`
	IsPublished  int             `json:"is_published"`
	LikeCount    int64           `json:"like_count"`
	CollectCount int64           `json:"collect_count"`
	MakeCount    int64           `json:"make_count"`
	CommentCount int64           `json:"comment_count"`
	Tags         []tagResponse   `json:"tags"`
	IsNSFW       bool            `json:"is_nsfw"`
	Rank         *struct{}       `json:"rank"`
}

// creatorResponse has the keys of the REST type UserSummary.
type creatorResponse struct {
	ID               int64  `json:"id"`
	Name             string `json:"name"`
	FirstName        string `json:"first_name"`
	LastName         string `json:"last_name"`
	URL              string `json:"url"`
	PublicURL        string `json:"public_url"`
	Thumbnail        string `json:"thumbnail"`
	CountOfFollowers int64  `json:"count_of_followers"`
	CountOfFollowing int64  `json:"count_of_following"`
	CountOfDesigns   int64  `json:"count_of_designs"`
	CollectionCount  int64  `json:"collection_count"`
	MakeCount        int64  `json:"make_count"`
	AcceptsTips      bool   `json:"accepts_tips"`
	IsFollowing      bool   `json:"is_following"`
	Location         string `json:"location"`
	Cover            string `json:"cover"`
	IsAdmin          bool   `json:"is_admin"`
	IsModerator      bool   `json:"is_moderator"`
	IsFeatured       bool   `json:"is_featured"`
	IsVerified       bool   `json:"is_verified"`
}

type tagResponse struct {
	Name        string `json:"name"`
	URL         string `json:"url"`
	Count       int    `json:"count"`
	ThingsURL   string `json:"things_url"`
	AbsoluteURL string `json:"absolute_url"`
	Tag         string `json:"tag"`
}

// bareNewest serves a page of the newest things.
func bareNewest(e engine, base string, newest selection) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		_, cursor, _ := strings.Cut(query.Get("after"), ":") // the page number stands before it
		after, err := parseCursor(cursor)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		page, err := strconv.ParseInt(query.Get("page"), 10, 64)
		if err != nil {
			page = 1
		}
		var total int64
		var last position
		things := make([]*thingResponse, 0, listedPage)
		err = newest(r.Context(), func(scan scanner) (err error) {
			t := new(thingResponse)
			things = append(things, t)
			last, total, err = t.scan(e, scan, base)
			return err
		}, after.arguments(e)...)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		linkNewest(w.Header(), base, page, total, last)
		writeJSON(w, things)
	}
}

// scan reads a row. It returns the position of the thing in the list and the total length of the
// list.
func (t *thingResponse) scan(e engine, scan scanner, base string) (at position, total int64, err error) {
	var image *int64
	var imageName, tags *string
	u, created, published := &t.Creator, moment{e: e}, moment{e: e}
	err = scan(&t.ID, &t.Name, created.column(), published.column(), &t.LikeCount, &t.CollectCount, &t.MakeCount, &t.CommentCount, &u.ID, &u.Name, &u.FirstName,
		&u.LastName, &u.CountOfFollowers, &u.CountOfFollowing, &u.CountOfDesigns, &u.CollectionCount, &u.MakeCount, &u.IsFollowing, &u.Location, &u.IsAdmin,
		&image, &imageName, &total, &tags)
	if err != nil {
		return at, 0, err
	}
	if at.published, err = published.time(); err != nil {
		return at, 0, err
	}
	at.id = t.ID
	createdAt, err := created.time()
	if err != nil {
		return at, 0, err
	}
	t.CreatedAt = createdAt.UTC().Format("2006-01-02T15:04:05-07:00")

	id := strconv.FormatInt(t.ID, 10)
	t.URL, t.PublicURL = base+"/things/"+id, base+"/thing:"+id
	t.Thumbnail = base + "/renders/default/thing.png"
	if image != nil {
		t.Thumbnail = base + "/blobs/" + strconv.FormatInt(*image, 10) + "/" + url.PathEscape(*imageName)
	}
	t.PreviewImage = t.Thumbnail
	t.IsPublished = 1
	u.URL, u.PublicURL = base+"/users/"+u.Name, base+"/"+u.Name
	u.Thumbnail = base + "/renders/default/user.png"
	u.Cover = u.Thumbnail
	t.Tags = []tagResponse{}
	for tag := range entries(tags) {
		name, rest, _ := strings.Cut(tag, field)
		slug, count, _ := strings.Cut(rest, field)
		n, err := strconv.Atoi(count)
		if err != nil {
			return at, 0, fmt.Errorf("tag %q: %w", tag, err)
		}
		address := base + "/tags/" + url.PathEscape(slug)
		t.Tags = append(t.Tags, tagResponse{Name: name, URL: address, Count: n, ThingsURL: address + "/things", AbsoluteURL: "/tag:" + strings.ReplaceAll(name, " ", "_"), Tag: slug})
	}
	return at, total, nil
}

// linkNewest sets the headers Total-Count and Link.
func linkNewest(h http.Header, base string, page, total int64, last position) {
	h.Set("Total-Count", strconv.FormatInt(total, 10))
	link := func(rel string, page int64, after string) string {
		return "<" + base + "/newest?" + after + "page=" + strconv.FormatInt(page, 10) + "&per_page=" + strconv.Itoa(listedPage) + `>; rel="` + rel + `"`
	}
	links := []string{link("first", 1, "")}
	if page > 1 {
		links = append(links, link("prev", page-1, ""))
	}
	if page*listedPage < total {
		links = append(links, link("next", page+1, "after="+url.QueryEscape(strconv.FormatInt(page+1, 10)+":"+last.cursor())+"&"))
	}
	h.Set("Link", strings.Join(append(links,
		link("last", (total+listedPage-1)/listedPage, ""),
		"<"+base+`/migration#get_newest>; rel="deprecation"; type="text/html"`,
	), ", "))
}
