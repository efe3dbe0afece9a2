package things_test

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestUserImages checks that avatars and covers can be uploaded by a form. They are shown wherever
// the user is shown, need no token, and replace the previous image, whose file and content are
// deleted.
func TestUserImages(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob, nobody := s.User("ada"), s.User("bob"), s.Client("")
		first, second := servertest.Mesh(t, "lib3mf_thumbnail.png"), new(bytes.Buffer)
		picture, err := png.Decode(bytes.NewReader(first))
		if err != nil {
			t.Fatal(err)
		}
		encoder := png.Encoder{CompressionLevel: png.NoCompression}
		if err := encoder.Encode(second, picture); err != nil {
			t.Fatal(err)
		}
		thing := ada.Thing("Gear")
		shown := func(field string) string {
			t.Helper()
			return fmt.Sprint(servertest.ReadObject(t, bob.Get("/users/ada"))[field])
		}
		for path, field := range map[string]string{"/users/me/avatar-image": "thumbnail",
			"/users/ada/cover-image": "cover_image"} {
			if got := shown(field); !strings.HasSuffix(got, "/renders/default/user.png") {
				t.Errorf("%s before the upload: got %s, want the default image", field, got)
			}
			var image struct{ ID int64 }
			servertest.PostForm(t, ada, path, "me.png", first).Want(t, 200, &image)
			if file := servertest.Settled(t, ada, image.ID); file.Processing.State != "DONE" {
				t.Errorf("%s: got %+v, want that the preview is done", path, file.Processing)
			}
			old := shown(field)
			if kind := http.DetectContentType(servertest.Fetch(t, s, old)); !strings.HasPrefix(kind, "image/") ||
				strings.Contains(old, "default") {
				t.Errorf("%s: got %s of type %s, want the uploaded image", field, old, kind)
			}
			before := image.ID
			servertest.PostForm(t, ada, path, "again.png", second.Bytes()).Want(t, 200, &image)
			servertest.Settled(t, ada, image.ID)
			if got := shown(field); got == old {
				t.Errorf("%s: got still %s, want the new image", field, old)
			}
			ada.Get(fmt.Sprint("/files/", before)).Want(t, 404)
			if status := nobody.Get(old).StatusCode; status != 404 {
				t.Errorf("%s: the image before returns %d, want 404", old, status)
			}
			// A file that is not an image is rejected and changes nothing.
			r := servertest.PostForm(t, ada, path, "me.stl", []byte("solid a\nendsolid a\n")).Want(t, 400)
			if !strings.Contains(string(r.Bytes), "must be one image") {
				t.Errorf("%s with a model: got %s, want that it must be one image", path, r.Bytes)
			}
			bob.Do("POST", strings.Replace(path, "me", "ada", 1), servertest.Object{"filename": "x.png"}).Want(t, 403)
			bob.Do("POST", "/users/none/avatar-image", servertest.Object{"filename": "x.png"}).Want(t, 404)
		}
		creator := servertest.ReadObject(t, ada.Get(fmt.Sprint("/things/", thing)))["creator"].(servertest.Object)
		if creator["thumbnail"] != shown("thumbnail") || creator["cover"] != shown("cover_image") {
			t.Errorf("the creator of a thing has the images %v and %v", creator["thumbnail"], creator["cover"])
		}
		if _, err := s.Store.Maintenance.CollectGarbage(context.Background(), 0, false); err != nil {
			t.Fatal(err)
		}
		if got := servertest.Fetch(t, s, shown("thumbnail")); len(got) == 0 {
			t.Error("the avatar is gone after a garbage collection")
		}

		// GraphQL finalizes pending and staged uploads, and null removes an image.
		const update = `mutation ($input: UpdateProfileInput!) { updateProfile(input: $input) { user { avatarUrl coverUrl bio } } }`
		var staged struct {
			StageUserImage struct{ Upload struct{ FileID string } }
		}
		ada.Query(`mutation { stageUserImage(input: {username: "me", kind: COVER, name: "c.png"}) { upload { fileId } } }`,
			nil, &staged)
		r := ada.GraphQL(`mutation { stageUserImage(input: {username: "bob", kind: COVER, name: "c.png"}) { upload { fileId } } }`, nil)
		if r.Code() != "FORBIDDEN" || r.Errors[0].Message != "the profile of bob is not yours" {
			t.Errorf("an image of another user: %+v", r.Errors)
		}
		if r := ada.GraphQL(update,
			servertest.Object{"input": servertest.Object{"coverId": staged.StageUserImage.Upload.FileID}}); r.Code() != "NOT_FOUND" {
			t.Errorf("a staged image without bytes: got %+v, want NOT_FOUND", r.Errors)
		}
		before := shown("thumbnail")
		avatar, model := ada.Upload("own.png", append(bytes.Clone(first), 0)), ada.Upload("a.stl", []byte("solid a"))
		for what, input := range map[string]servertest.Object{
			"a model": {"avatarId": servertest.ID(model), "bio": "changed"}, "both at once": {"avatarId": servertest.ID(avatar), "coverId": servertest.ID(avatar), "bio": "changed"},
		} {
			r := ada.GraphQL(update, servertest.Object{"input": input})
			if len(r.Errors) != 1 || servertest.ReadObject(t, ada.Get("/users/me"))["bio"] != "" {
				t.Errorf("%s: %+v, want an error and no change", what, r.Errors)
			}
		}
		for range 2 { // the second time has the same effect
			ada.Query(update, servertest.Object{"input": servertest.Object{"avatarId": servertest.ID(avatar)}}, new(any))
		}
		if got := shown("thumbnail"); got == before {
			t.Errorf("got avatar %s, want another one", got)
		}
		ada.Query(update, servertest.Object{"input": servertest.Object{"avatarId": nil, "coverId": nil}}, new(any))
		if got := shown("thumbnail"); !strings.HasSuffix(got, "/renders/default/user.png") {
			t.Errorf("the avatar after it was removed: got %s, want the default image", got)
		}
		soundRows(t, s)
	}, servertest.Derives)
}

// TestDeleteAccount checks that a deleted account does not exist for anyone: the user cannot sign
// in, and everything that the user owned is deleted with its content. Objects of other users stay,
// and comments of the user keep their places without their texts.
func TestDeleteAccount(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob, admin := s.User("ada"), s.User("bob"), s.Administrator()
		stl, picture := []byte("solid ada\nendsolid ada\n"), servertest.Mesh(t, "lib3mf_thumbnail.png")
		publish := func(c *servertest.Client, name string) int64 {
			id := c.Thing(name)
			c.Finalize("thing", id, c.Upload(name+".stl", append([]byte(name), stl...))).Want(t, 200)
			c.Publish(id).Want(t, 200)
			return id
		}
		hers, his := publish(ada, "Hers"), publish(bob, "His")
		draft := ada.Thing("Draft")
		servertest.PostForm(t, ada, fmt.Sprintf("/things/%d/copies", his), "made.png", picture).Want(t, 200)
		servertest.PostForm(t, bob, fmt.Sprintf("/things/%d/copies", hers), "made.png", picture).Want(t, 200)
		servertest.PostForm(t, ada, "/users/me/avatar-image", "me.png", picture).Want(t, 200)
		comment := servertest.ReadObject(t, ada.Do("POST", fmt.Sprintf("/things/%d/comments", his), servertest.Object{"body": "A secret."}))
		bob.Do("POST", fmt.Sprintf("/comments/%v/reply", comment["id"]), servertest.Object{"body": "Really?"}).Want(t, 200)
		for _, path := range []string{fmt.Sprintf("/things/%d/likes", his), "/users/bob/followers", fmt.Sprintf("/things/%d/toggle-watch", his)} {
			ada.Do("POST", path, nil).Want(t, 200)
		}
		bob.Do("POST", "/users/ada/followers", nil).Want(t, 200)
		bob.Do("POST", fmt.Sprintf("/things/%d/likes", hers), nil).Want(t, 200)
		collection := servertest.ReadObject(t, ada.Do("POST", "/collections", servertest.Object{"name": "Useful"}))
		ada.Do("POST", fmt.Sprintf("/collections/%v/thing/%d", collection["id"], his), nil).Want(t, 200)
		var last any
		for i := range 101 { // the job reads 100 at a time
			last = servertest.ReadObject(t, ada.Do("POST", "/collections", servertest.Object{"name": fmt.Sprint("Collection ", i)}))["id"]
		}
		ada.Do("PATCH", "/users/me", servertest.Object{"first_name": "Ada", "bio": "*Me*."}).Want(t, 200)
		ada.Upload("pending.stl", stl)
		ada.Get(fmt.Sprintf("/things/%d/files", his)).Want(t, 200)
		var files []struct{ ID int64 }
		ada.Get(fmt.Sprintf("/things/%d/files", his)).Want(t, 200, &files)
		ada.Get(fmt.Sprintf("/files/%d/download", files[0].ID)).Want(t, 302)
		id := servertest.ReadObject(t, ada.Get("/users/me"))["id"]

		bob.Do("DELETE", "/users/ada", nil).Want(t, 403)
		admin.Do("DELETE", "/users/staff", nil).Want(t, 400) // the last administrator
		bob.Do("DELETE", "/users/none", nil).Want(t, 404)
		if got := string(ada.Do("DELETE", "/users/me", nil).Want(t, 200).Bytes); got != `{"ok":"ok"}` {
			t.Errorf("the response is %s", got)
		}
		ada.Get("/users/me").Want(t, 401)
		for _, name := range []string{"ada", fmt.Sprintf("deleted-%v", id)} {
			bob.Get("/users/"+name).Want(t, 404)
		}
		// Wait for the job, and run it again, as after an interruption.
		for end := time.Now().Add(time.Minute); bob.Get(fmt.Sprint("/things/", hers)).StatusCode != 404 && time.Now().Before(end); {
			time.Sleep(50 * time.Millisecond)
		}
		if err := s.Store.Account.PurgeAccount(context.Background(), int64(id.(float64))); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Store.Maintenance.CollectGarbage(context.Background(), 0, false); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{fmt.Sprint("/things/", hers), fmt.Sprint("/things/", draft), "/copies/1", fmt.Sprintf("/collections/%v", collection["id"]), fmt.Sprintf("/collections/%v", last)} {
			admin.Get(path).Want(t, 404)
		}
		s.Fold()
		thing := servertest.ReadObject(t, bob.Get(fmt.Sprint("/things/", his)))
		if got := fmt.Sprint(thing["like_count"], thing["collect_count"], thing["make_count"], thing["comment_count"], thing["download_count"]); got != "0 0 0 1 1" {
			t.Errorf("the counts of another's thing are %s, want 0 0 0 1 1", got)
		}
		me := servertest.ReadObject(t, bob.Get("/users/me"))
		if got := fmt.Sprint(me["count_of_followers"], me["count_of_following"], me["make_count"], me["like_count"]); got != "0 0 1 0" {
			t.Errorf("the counts of another user are %s, want 0 0 1 0", got)
		}
		left := servertest.ReadObject(t, bob.Get(fmt.Sprintf("/comments/%v", comment["id"])))
		if author := left["user"].(servertest.Object); left["is_deleted"] != true || left["body"] != "" || left["has_children"] != true || author["name"] != fmt.Sprintf("deleted-%v", id) || author["first_name"] != "" {
			t.Errorf("got comment %v, want a deleted one without text, by a deleted user", left)
		}
		var gone, there struct {
			Comment struct{ Creator struct{ IsDeleted bool } }
		}
		bob.Query(fmt.Sprintf(`{ comment(id: %v) { creator { isDeleted } } }`, comment["id"]), nil, &gone)
		bob.Query(`{ comment(id: 2) { creator { isDeleted } } }`, nil, &there)
		if !gone.Comment.Creator.IsDeleted || there.Comment.Creator.IsDeleted {
			t.Errorf("isDeleted of the creators of two comments: %t and %t, want true and false", gone.Comment.Creator.IsDeleted, there.Comment.Creator.IsDeleted)
		}
		if body := string(bob.Get("/search?type=users").Want(t, 200).Bytes); strings.Contains(body, "deleted-") || strings.Contains(body, "ada") {
			t.Errorf("a search for users: got %s, want no deleted user", body)
		}
		soundRows(t, s)
		servertest.SoundCatalogue(t, s)
		servertest.SoundCounts(t, s)

		// The name can be used again, and an administrator can delete other accounts.
		again := s.User("ada")
		if got := servertest.ReadObject(t, again.Get("/users/me")); got["id"] == id || got["first_name"] != "" {
			t.Errorf("a new user with the name: got %v, want another ID and no first name", got)
		}
		admin.Do("DELETE", "/users/ada", nil).Want(t, 200)
		again.Get("/users/me").Want(t, 401)
		var log struct {
			ModerationLog struct{ Nodes []struct{ Action string } }
		}
		admin.Query(`{ moderationLog(first: 1) { nodes { action } } }`, nil, &log)
		if len(log.ModerationLog.Nodes) != 1 || log.ModerationLog.Nodes[0].Action != "DELETE_USER" {
			t.Errorf("got moderation log %v, want one DELETE_USER", log.ModerationLog.Nodes)
		}
	}, func(c *config.Settings) { c.PreviewWorkers = 0 })
}

// TestSpamAndRestoring checks that users report comments, that moderators hide and restore them,
// and that moderators restore makes that were hidden with their thing.
func TestSpamAndRestoring(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob, admin := s.User("ada"), s.User("bob"), s.Administrator()
		thing := ada.Thing("Gear")
		ada.Finalize("thing", thing, ada.Upload("a.stl", []byte("solid a\nendsolid a\n"))).Want(t, 200)
		ada.Publish(thing).Want(t, 200)
		comment := servertest.ReadObject(t, bob.Do("POST", fmt.Sprintf("/things/%d/comments", thing), servertest.Object{"body": "Buy *this*."}))
		path := fmt.Sprintf("/comments/%v", comment["id"])
		state := func(c *servertest.Client) string {
			t.Helper()
			o := servertest.ReadObject(t, c.Get(path))
			s.Fold()
			return fmt.Sprint(o["body_html"], " ", o["is_deleted"], " ", o["needs_moderation"], " ", servertest.ReadObject(t, ada.Get(fmt.Sprint("/things/", thing)))["comment_count"])
		}
		check := func(what string, c *servertest.Client, want string) {
			t.Helper()
			if got := state(c); got != want {
				t.Errorf("%s: %s, want %s", what, got, want)
			}
		}
		const text = "<p>Buy <em>this</em>.</p>\n"
		bob.Do("POST", path+"/spam", nil).Want(t, 400)
		ada.Do("POST", path+"/spam", nil).Want(t, 200)
		check("reported, to a member", ada, text+" false false 1")
		check("reported, to a moderator", admin, text+" false true 1")
		ada.Do("POST", path+"/restore", nil).Want(t, 403)
		admin.Do("POST", path+"/restore", nil).Want(t, 200)
		check("dismissed", admin, text+" false false 1")
		ada.Do("POST", path+"/spam", nil).Want(t, 200)
		admin.Do("POST", path+"/spam", nil).Want(t, 200)
		admin.Do("POST", path+"/spam", nil).Want(t, 200) // a second time
		check("hidden", admin, " true false 0")
		admin.Do("POST", path+"/restore", nil).Want(t, 200)
		check("restored", ada, text+" false false 1")
		bob.Do("DELETE", path, nil).Want(t, 200)
		admin.Do("POST", path+"/restore", nil).Want(t, 400) // its text was deleted
		check("deleted by its author", admin, " true false 0")

		var made struct {
			CreateMake struct{ Make struct{ ID string } }
		}
		bob.Query(`mutation ($id: ID!) { createMake(input: {thingId: $id}) { make { id } } }`, servertest.Object{"id": servertest.ID(thing)}, &made)
		path = "/copies/" + made.CreateMake.Make.ID
		admin.Query(`mutation ($id: ID!) { takeDownThing(input: {id: $id, reason: "Copied."}) { thing { id } } deleteThing(input: {id: $id, reason: "Copied."}) { deletedId } }`, servertest.Object{"id": servertest.ID(thing)}, new(any))
		ada.Get(path).Want(t, 403)
		if o := servertest.ReadObject(t, bob.Get(path)); o["needs_moderation"] != true {
			t.Errorf("hidden with its thing: got needs_moderation %v, want true", o["needs_moderation"])
		}
		bob.Do("POST", path+"/restore", nil).Want(t, 403)
		for range 2 {
			admin.Do("POST", path+"/restore", nil).Want(t, 200)
		}
		if o := servertest.ReadObject(t, ada.Get(path)); o["needs_moderation"] != false {
			t.Errorf("restored: got needs_moderation %v, want false", o["needs_moderation"])
		}
		admin.Do("POST", "/copies/999/restore", nil).Want(t, 404)
		s.Fold()
		servertest.SoundCounts(t, s)
	})
}
