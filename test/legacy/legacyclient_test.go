package legacy_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// legacyShapes are the schemas that the client was generated from, as field:kind. A field
// ending in ~ may be missing, and a kind ending in ? may be null. [kind] is an array, {kind} an
// object with any keys, and a|b is either of two kinds.
var legacyShapes = map[string]string{
	"FileSchema": `id:int name:text size:int url:url public_url:url download_url:url threejs_url:link thumbnail:url
		default_image:ImageSummary? date:filedate formatted_size:text meta_data:list download_count:int direct_url:url? hash:text rank:int`,
	"ImageSummary": `id:int url:url name:text sizes:[ImageSize] added:date`,
	"ThingImage":   `id:int url:url name:text sizes:[ImageSize]`,
	"ImageSize":    `type:text size:text url:url`,
	"ShortThingSchema": `id:int name:text url:url public_url:url created_at:date thumbnail:url preview_image:link creator:UserSummary?
		is_private:flag is_purchased:flag is_published:flag is_printable:flag is_winner:flag is_edu_approved:flag like_count:int collect_count:int make_count:int comment_count:int tags:[Tag]
		is_nsfw:bool? rank:int?`,
	// Some clients decode the results of a search into the type that they use for complete things.
	"ThingHit": `id:int name:text url:url public_url:url created_at:date thumbnail:url preview_image:link creator:UserSummary?
		is_private:flag is_purchased:flag is_published:flag is_printable:flag is_winner:flag is_edu_approved:flag like_count:int collect_count:int make_count:int comment_count:int tags:[Tag]
		is_nsfw:bool? rank:int? is_featured:bool is_ai:bool is_banned:bool`,
	"FeaturedSchema": `id:int name:text url:url public_url:url created_at:date thumbnail:url preview_image:link creator:UserSummary?
		is_private:bool is_purchased:bool is_published:bool is_printable:flag is_winner:flag is_edu_approved:flag like_count:int collect_count:int make_count:int comment_count:int tags:[Tag]
		is_nsfw:bool? rank:int? spotlight_images:Spotlight`,
	"Spotlight": `large~:some small~:some`,
	"Tag":       `name:text url:url count:int things_url:url absolute_url:text tag:text`,
	"TagCount":  `tag:text tag_count:int`,
	"UserSummary": `id:int name:text first_name:text last_name:text full_name:filled url:url public_url:url thumbnail:url count_of_followers:int
		count_of_following:int count_of_designs:int collection_count:int make_count:int accepts_tips:bool is_following:bool location:text cover:link is_admin:bool
		is_moderator:bool is_featured:bool is_verified:bool`,
	"ThingSchema": `name:text thumbnail:url url:url public_url:url description:text instructions:text description_html:text
		instructions_html:text details:filled edu_details:text license:license files_url:url images_url:url likes_url:url ancestors_url:url
		derivatives_url:url tags_url:url categories_url:url moderation:text type_name:text added:date modified:date creator:UserSummary
		default_image:ImageSummary? education:Education zip_data:ZipData details_parts:list edu_details_parts:list tags:[Tag] ancestors:list is_published:flag
		is_wip:flag is_private:flag is_printable:flag is_winner:flag is_edu_approved:flag is_purchased:flag needs_moderation:flag is_decoy:flag is_featured:bool is_nsfw:bool is_ai:bool is_liked:bool
		is_collected:bool is_watched:bool allows_derivatives:bool is_derivative:bool can_comment:bool is_banned:bool is_comments_disabled:bool
		id:int like_count:int collect_count:int comment_count:int file_count:int app_id:int? download_count:int view_count:int
		remix_count:int make_count:int app_count:int root_comment_count:int`,
	"Education": `grades:list subjects:list`,
	"ZipData":   `files:[ZipEntry] images:[ZipEntry]`,
	"ZipEntry":  `name:text url:url`,
	"UserSchema": `id:int name:text first_name:text last_name:text full_name:filled email~:text url:url public_url:url thumbnail:url bio:text bio_html:text
		level:int location:text country:text registered:date last_active:date cover_image:link things_url:url copies_url:url likes_url:url
		printers:list programs:list types:list groups:list skill_level:some accepts_tips:bool website:text twitter:object?
		count_of_followers:int count_of_following:int count_of_designs:int collection_count:int make_count:int like_count:int has_favorite:bool favorite_count:int is_admin:bool
		is_moderator:bool is_featured:bool is_verified:bool is_following:bool default_license~:text`,
	"CopySchema": `id:int url:url public_url:text added:date like_count:int comment_count:int description:text description_html:text
		is_liked:bool creator:UserSummary thing:ThingSchema|empty thumbnail:url preview_image:link images_url:url name:text needs_moderation:bool
		type_name:text view_count:int category_name:text category_url:link details_parts:list details:text root_comment_count:int
		is_watched:bool is_comments_disabled:bool`,
	"CommentSchema": `id:int url:url target_type:text target_id:int public_url:text target_url:url body:text body_html:text user:UserSummary
		added:date modified:date parent_id:int is_deleted:switch attachments:[Attachment] is_root_comment:switch has_children:switch
		can_comment:switch topic_name:text things:list`,
	"Attachment": `id:int name:text download_url:url`,
	"Threads":    `comments:{[ThreadComment]} users:{ThreadUser}`,
	"ThreadComment": `id:int add_date:date modified_date:date body:text user_id:int is_deleted:bool url:url needs_moderation:flag
		assets:list parent_id:int parent_user_name:text parent_url:text`,
	"ThreadUser":   `user_name:filled user_avatar:url is_admin:flag`,
	"Category":     `id:int name:text url:url count:int slug:text things_url:url thumbnail:url preview_image:url`,
	"CategoryTree": `id:int name:text url:url count:int slug:text things_url:url thumbnail:url preview_image:url children:[Category]`,
	"Collection": `id:int name:text description:text description_html:text added:date modified:date creator:UserSummary url:url count:int
		is_editable:bool is_featured:bool is_liked:bool is_watched:bool featured_on:text? featured_thing_id:int? preview_image:link
		absolute_url:url thumbnail:url thumbnail_1:url thumbnail_2:url thumbnail_3:url thumbnail_4:url`,
	"ThingHits":      `total:int hits:[ThingHit]`,
	"UserHits":       `total:int hits:[UserSchema]`,
	"CollectionHits": `total:int hits:[Collection]`,
	"AnyHits":        `total:int hits:list`,
	"StorageForm":    `action:url fields:FormFields`,
	"FormFields": `AWSAccessKeyId:filled bucket:filled key:filled acl:filled success_action_redirect:url policy:filled signature:filled Content-Type:filled
		Content-Disposition:filled`,
	"Pending": `id:int`,
	"Done":    `ok:ok`,
	"Refusal": `error:filled code:int type:filled message:text errors~:[filled]`,
}

// legacyObject is the type that the client decodes an object into.
type legacyObject = map[string]any

// legacyFaults returns where a value does not match the generated types of the client.
func legacyFaults(base string, v any, kind string) (faults []string) {
	within := func(at string, v any, kind string) {
		for _, fault := range legacyFaults(base, v, kind) {
			faults = append(faults, at+fault)
		}
	}
	kind, nullable := strings.CutSuffix(kind, "?")
	array, isArray := v.([]any)
	o, isObject := v.(legacyObject)
	switch fields, isSchema := legacyShapes[kind]; {
	case v == nil && nullable:
	case kind[0] == '[' && isArray:
		for i, element := range array {
			within(fmt.Sprintf("[%d]", i), element, kind[1:len(kind)-1])
		}
	case kind[0] == '{' && isObject:
		for name, member := range o {
			within("."+name, member, kind[1:len(kind)-1])
		}
	case isSchema && isObject:
		for _, field := range strings.Fields(fields) {
			name, kind, _ := strings.Cut(field, ":")
			name, optional := strings.CutSuffix(name, "~")
			if member, there := o[name]; there {
				within("."+name, member, kind)
			} else if !optional {
				faults = append(faults, "."+name+" is missing")
			}
		}
	case kind[0] != '[' && strings.Contains(kind, "|"):
		for i, alternative := range strings.Split(kind, "|") {
			if f := legacyFaults(base, v, alternative); i == 0 || len(f) < len(faults) {
				faults = f
			}
		}
	case kind[0] == '[', kind[0] == '{', isSchema, !legacyPlain(base, v, kind):
		faults = []string{fmt.Sprintf(": %.60v is no %s", v, kind)}
	}
	return faults
}

// legacyPlain reports whether a value matches a kind that is not a schema.
func legacyPlain(base string, v any, kind string) bool {
	number, isNumber := v.(json.Number)
	text, isText := v.(string)
	_, isBool := v.(bool)
	_, isArray := v.([]any)
	object, isObject := v.(legacyObject)
	_, notInt := strconv.ParseInt(string(number), 10, 64)
	lately := func(layout string) bool {
		at, err := time.Parse(layout, text)
		return err == nil && time.Since(at).Abs() < time.Hour
	}
	isFlag, isURL := number == "0" || number == "1", strings.HasPrefix(text, base+"/")
	ok, known := map[string]bool{
		"int": isNumber && notInt == nil, "flag": isFlag, "bool": isBool, "switch": isBool || isFlag, "text": isText,
		"filled": text != "",
		"url":    isURL, "link": isText && (text == "" || isURL), "list": isArray, "object": isObject, "empty": isObject &&
			len(object) == 0, "some": v != nil, "ok": text == "ok",
		"date": lately("2006-01-02T15:04:05+00:00"), "filedate": lately("2006-01-02 15:04:05"),
		"license": slices.Contains(legacyLicenses, text),
	}[kind]
	if !known {
		panic("no kind " + kind)
	}
	return ok
}

var legacyLicenses = []string{
	"Creative Commons - Attribution", "Creative Commons - Attribution - Share Alike",
	"Creative Commons - Attribution - No Derivatives",
	"Creative Commons - Attribution - Non-Commercial", "Creative Commons - Attribution - Non-Commercial - Share Alike",
	"Creative Commons - Attribution - Non-Commercial - No Derivatives", "Creative Commons - Public Domain Dedication",
	"GNU - GPL", "GNU - LGPL", "BSD License",
}

// legacyClient is a client that was written for another server and is configured with a new base
// URL.
type legacyClient struct {
	*testing.T
	base, token string

	calls  int
	header http.Header // of the last response
}

// legacyTransport follows no redirects. legacyBrowser follows them, to get content.
var (
	legacyTransport = &http.Client{CheckRedirect: func(*http.Request,
		[]*http.Request) error {
		return http.ErrUseLastResponse
	}}
	legacyBrowser = &http.Client{}
)

// do sends a request as existing clients do: sometimes with a wrong Content-Type, with the token in
// the query, or with a trailing slash. An absolute URL is used as it is.
func (c *legacyClient) do(method, path string, body any, contentType string) (int, []byte) {
	c.Helper()
	text, isText := body.(string)
	if raw, isRaw := body.([]byte); isRaw {
		text = string(raw)
	} else if !isText && body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			c.Fatal(err)
		}
		text = string(encoded)
	}
	address, bearer := path, c.token
	if c.calls++; strings.HasPrefix(path, "/") {
		path, query, _ := strings.Cut(path, "?")
		if c.calls%5 == 0 {
			path = strings.TrimSuffix(path, "/") + "/"
		}
		if c.calls%4 == 0 && c.token != "" {
			query, bearer = strings.TrimPrefix(query+"&access_token="+c.token, "&"), ""
		}
		address = strings.TrimSuffix(c.base+path+"?"+query, "?")
	}
	r, err := http.NewRequest(method, address, strings.NewReader(text))
	if err != nil {
		c.Fatalf("%s %q: %v", method, path, err)
	}
	if contentType == "" {
		contentType = []string{"application/x-www-form-urlencoded", "", "application/json"}[c.calls%3]
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	response, err := legacyTransport.Do(r)
	if err != nil {
		c.Fatalf("%s %s: %v", method, path, err)
	}
	defer response.Body.Close()
	read, err := io.ReadAll(response.Body)
	if err != nil {
		c.Fatalf("%s %s: %v", method, path, err)
	}
	c.header = response.Header
	return response.StatusCode, read
}

// call sends a request and checks the status and the kind of the response. It continues after a
// wrong response, to find all problems.
func (c *legacyClient) call(status int, method, path string, body any, kind string) any {
	c.Helper()
	got, text := c.do(method, path, body, "")
	return c.take(status, got, text, kind, method+" "+path)
}

func (c *legacyClient) take(status, got int, text []byte, kind, what string) (v any) {
	c.Helper()
	if got != status {
		c.Errorf("%s: %d, want %d: %.200s", what, got, status, text)
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		c.Errorf("%s: %v: %.200s", what, err, text)
	} else if faults := legacyFaults(c.base, v, kind); len(faults) > 0 {
		c.Errorf("%s: as %s: %s", what, kind, strings.Join(faults, "; "))
	}
	return v
}

// one sends a request and expects an object, list expects an array, and done expects {"ok":"ok"}.
func (c *legacyClient) one(method, path string, body any, kind string) legacyObject {
	c.Helper()
	o, ok := c.call(200, method, path, body, kind).(legacyObject)
	if !ok {
		return legacyObject{}
	}
	return o
}

func (c *legacyClient) list(path, kind string) []legacyObject {
	c.Helper()
	return legacyObjects(c.call(200, "GET", path, nil, "["+kind+"]"))
}

func (c *legacyClient) done(method, path string, body any) {
	c.Helper()
	c.one(method, path, body, "Done")
}

// refused sends a request and expects an error in the documented format.
func (c *legacyClient) refused(status int, method, path string, body any) legacyObject {
	c.Helper()
	o, _ := c.call(status, method, path, body, "Refusal").(legacyObject)
	if o != nil {
		c.same(path+": error", o["error"], map[int]string{400: "Bad Request", 401: "Unauthorized", 403: "Forbidden",
			404: "Not Found"}[status])
		c.same(path+": X-Error", c.header.Get("X-Error"), o["error"])
		c.same(path+": code", o["code"], status)
	}
	if status == 401 && c.header.Get("WWW-Authenticate") != "Bearer" &&
		!strings.HasPrefix(c.header.Get("WWW-Authenticate"), "Bearer ") {
		c.Errorf("%s %s: WWW-Authenticate %q", method, path, c.header.Get("WWW-Authenticate"))
	}
	return o
}

// fetch returns the content at a URL, requested without a token like a browser does.
func (c *legacyClient) fetch(address any) string {
	c.Helper()
	response, err := legacyBrowser.Get(fmt.Sprint(address))
	if err != nil {
		c.Error(err)
		return ""
	}
	defer response.Body.Close()
	b, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != 200 || len(b) == 0 {
		c.Errorf("GET %v with no token: %d, %d bytes, %v", address, response.StatusCode, len(b), err)
	}
	return string(b)
}

var (
	legacyLink = regexp.MustCompile(`<([^>]*)>; rel="(next|last)"`)
	legacyPage = regexp.MustCompile(`[?&]page=(\d+)`)
)

// walk follows the pages of a list and returns all objects. Only the URL of the first page contains
// the token.
func (c *legacyClient) walk(path, kind string) (all []legacyObject) {
	c.Helper()
	bare := &legacyClient{T: c.T, base: c.base}
	seen, pages, last := map[string]bool{}, 0, "1"
	for next := c.base + path + "&access_token=" + c.token; next != "" && pages < 50; pages++ {
		page := bare.list(next, kind)
		next = ""
		for _, link := range legacyLink.FindAllStringSubmatch(strings.Join(bare.header.Values("Link"), ", "), -1) {
			if link[2] == "next" {
				next = link[1]
			} else if number := legacyPage.FindStringSubmatch(link[1]); number != nil {
				last = number[1]
			}
		}
		for _, o := range page {
			if seen[legacyID(o)] {
				c.Errorf("%s: %s comes twice", path, legacyID(o))
			}
			seen[legacyID(o)] = true
		}
		all = append(all, page...)
	}
	c.same(path+`: pages by rel="last"`, last, pages)
	c.same(path+": Total-Count", bare.header.Get("Total-Count"), len(all))
	return all
}

// post submits a multipart form: the fields in the given order, and then the file.
func (c *legacyClient) post(address string, fields [][2]string, name, file string) (int, []byte) {
	c.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, field := range fields {
		_ = w.WriteField(field[0], field[1])
	}
	part, _ := w.CreateFormFile("file", name)
	_, _ = part.Write([]byte(file))
	_ = w.Close()
	return c.do("POST", address, b.Bytes(), w.FormDataContentType())
}

// upload uploads a file in one request and returns the ID of the pending upload.
func (c *legacyClient) upload(name, file, kind string) any {
	c.Helper()
	status, text := c.post("/files/0/uploadFile", [][2]string{{"type", kind}}, name, file)
	o, _ := c.take(200, status, text, "Pending", "uploadFile").(legacyObject)
	return o["id"]
}

// uploadByForm uploads a file in three requests: one for the form, one that posts the file without
// a token, and one to the URL that the server redirects to.
func (c *legacyClient) uploadByForm(path, name, file, kind string) legacyObject {
	c.Helper()
	form := c.one("POST", path, legacyObject{"filename": name}, "StorageForm")
	given, _ := form["fields"].(legacyObject)
	var fields [][2]string
	for name, value := range given {
		if name != "bucket" {
			fields = append(fields, [2]string{name, fmt.Sprint(value)})
		}
	}
	slices.SortFunc(fields, func(a, b [2]string) int { return strings.Compare(b[0], a[0]) })
	storage, to := &legacyClient{T: c.T, base: c.base}, fmt.Sprint(given["success_action_redirect"])
	status, text := storage.post(fmt.Sprint(form["action"]), fields, name, file)
	storage.take(200, status, text, "Done", "storage of "+name)
	c.same("Location of the storage", storage.header.Get("Location"), to)
	return c.one("POST", to, nil, kind)
}

// same checks that two values are equal as text.
func (c *legacyClient) same(what string, got, want any) {
	c.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		c.Errorf("%s: %v, want %v", what, got, want)
	}
}

// holds checks whether a list contains an object with the ID.
func (c *legacyClient) holds(what string, list []legacyObject, id any, want bool) {
	c.Helper()
	if got := slices.ContainsFunc(list, func(o legacyObject) bool { return legacyID(o) == fmt.Sprint(id) }); got != want {
		c.Errorf("%s: %d entries, with %v: %v, want %v", what, len(list), id, got, want)
	}
}

func legacyID(o legacyObject) string { return fmt.Sprint(o["id"]) }

func legacyObjects(v any) []legacyObject {
	array, _ := v.([]any)
	objects := make([]legacyObject, len(array))
	for i := range array {
		objects[i], _ = array[i].(legacyObject)
	}
	return objects
}
