package server_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/meshyard/meshyard/cmd/meshyard/server/servertest"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/auth/oauth"
	"github.com/meshyard/meshyard/models"
)

// fixture contains the IDs and names of the objects of a call, by placeholder.
type fixture map[string]string

// fixtureBuilder creates fixtures. Each fixture belongs to one user. Objects with zoe in their name
// belong to a third user, who makes no calls. The names of objects describe how they are hidden.
type fixtureBuilder struct {
	t        *testing.T
	s        *servertest.Server
	stl, png []byte
	ids      map[string]int64 // of users
	zoes     map[string]int64 // zoe's things with makes and comments of other users, by state
	made     int
}

// as returns a caller that acts as a user with all scopes and roles. It creates objects that the
// user may not be allowed to access later.
func (p *fixtureBuilder) as(user string) auth.Caller {
	return auth.Caller{UserID: p.ids[user], Role: auth.Administrator, Scopes: auth.Scopes{auth.Read, auth.Write, auth.Admin}}
}

func (p *fixtureBuilder) user(name string) *models.User {
	p.t.Helper()
	u := must(p.s.Store.Admin().CreateUser(context.Background(), name, false))(p.t)
	p.ids[name] = u.ID
	must(p.s.Store.UpdateProfile(context.Background(), p.as(name), models.ProfileChange{Email: new(name + "@example.org")}))(p.t)
	return u
}

// must returns a function that returns a value, and fails the test if there was an error.
func must[V any](v V, err error) func(t *testing.T) V {
	return func(t *testing.T) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func (p *fixtureBuilder) upload(user, name string, content []byte) int64 {
	p.t.Helper()
	return must(p.s.Store.Upload(context.Background(), p.as(user), models.NewUpload{Name: name, Bytes: bytes.NewReader(content)}))(p.t).ID
}

// thing creates a thing of a user with a model and an image. state is published, draft or down.
func (p *fixtureBuilder) thing(user, name, state string, ancestors ...int64) (id, file, image int64) {
	p.t.Helper()
	ctx, caller := context.Background(), p.as(user)
	file, image = p.upload(user, name+".stl", p.stl), p.upload(user, name+".png", p.png)
	tags := []string{"shared"}
	if state == draft {
		tags = []string{"shared", "unheard of"}
	}
	id = must(p.s.Store.CreateThing(ctx, caller, models.NewThing{
		Name: name, License: models.CC, Category: "Tools", Description: "Made for a test.", Tags: tags, AncestorIDs: ancestors, Files: []models.FinalizeFile{{ID: file}, {ID: image}},
	}))(p.t).ID
	switch state {
	case draft:
	case unlisted:
		must(p.s.Store.PublishThing(ctx, caller, id, models.Unlisted))(p.t)
	default:
		must(p.s.Store.PublishThing(ctx, caller, id, models.Published))(p.t)
	}
	if state == down {
		must(p.s.Store.TakeDownThing(ctx, caller, id, "the reason"))(p.t)
	}
	return id, file, image
}

// zoe returns a thing of zoe's in a state. It is created once, because no row changes it.
func (p *fixtureBuilder) zoe(state string) int64 {
	p.t.Helper()
	if p.zoes[state] == 0 {
		p.zoes[state], _, _ = p.thing("zoe", "zoe's "+state, state)
	}
	return p.zoes[state]
}

// make creates a make with an image of a thing. If state is draft, the make is a draft.
func (p *fixtureBuilder) make(user, name, state string, thing int64) (id, file int64) {
	p.t.Helper()
	ctx, caller := context.Background(), p.as(user)
	of := models.NewMake{ThingID: thing, Name: name}
	if state == draft {
		of.PictureName = new("later.png")
	}
	m, _, err := p.s.Store.CreateMake(ctx, caller, of)
	id = must(m, err)(p.t).ID
	if state == draft {
		return id, 0
	}
	file = p.upload(user, name+".png", p.png)
	must(p.s.Store.Finalize(ctx, caller, []models.FinalizeFile{{ID: file}}, models.Target{Type: models.OnMake, ID: id}))(p.t)
	return id, file
}

// comment creates a comment.
func (p *fixtureBuilder) comment(user, body string, on models.Target, parent int64) int64 {
	p.t.Helper()
	n := models.NewComment{Target: &on, Body: body}
	if parent != 0 {
		n.ParentID = &parent
	}
	return must(p.s.Store.CreateComment(context.Background(), p.as(user), n))(p.t).ID
}

// attach attaches a model to a comment.
func (p *fixtureBuilder) attach(user, name string, comment int64) (file int64) {
	p.t.Helper()
	file = p.upload(user, name+".stl", p.stl)
	must(p.s.Store.Finalize(context.Background(), p.as(user), []models.FinalizeFile{{ID: file}}, models.Target{Type: models.OnComment, ID: comment}))(p.t)
	return file
}

// The states of objects in fixtures.
const (
	published = "published"
	draft     = "draft"
	down      = "taken down"
	unlisted  = "unlisted"
)

// set creates the fixture of a user with a name. The name consists of a noun and how the object is
// hidden.
func (p *fixtureBuilder) set(user, name string) fixture {
	p.t.Helper()
	ctx, caller := context.Background(), p.as(user)
	p.made++
	switch name {
	case "":
		return fixture{}
	case "notification":
		thing, _, _ := p.thing(user, published, published)
		p.comment("zoe", "zoe's", models.Target{Type: models.OnThing, ID: thing}, 0)
		list := must(p.s.Store.Notifications(caller, caller.UserID, models.NotificationFilter{}))(p.t)
		pages := must(list.Page(ctx, []int64{caller.UserID}, models.Slice{First: 1}))(p.t)
		return fixture{"id": servertest.ID(pages[caller.UserID].Entries[0].ID)}
	case "thing " + published, "thing " + draft, "thing " + down, "thing " + unlisted:
		state := name[len("thing "):]
		id, file, image := p.thing(user, state, state)
		return fixture{"thing": servertest.ID(id), "file": servertest.ID(file), "image": servertest.ID(image)}
	case "make " + published, "make " + draft, "make " + down:
		state := name[len("make "):]
		of := published
		if state == down {
			of = down
		}
		thing := p.zoe(of)
		id, file := p.make(user, state, state, thing)
		comment := p.comment("zoe", "zoe's", models.Target{Type: models.OnMake, ID: id}, 0)
		return fixture{"copy": servertest.ID(id), "file": servertest.ID(file), "image": servertest.ID(file), "thing": servertest.ID(thing), "comment": servertest.ID(comment)}
	case "comment " + published, "comment " + draft, "comment " + down:
		state := name[len("comment "):]
		var thing int64
		if state == draft {
			thing, _, _ = p.thing(user, state, state)
		} else {
			thing = p.zoe(state)
		}
		on := models.Target{Type: models.OnThing, ID: thing}
		parent := p.comment("zoe", "zoe's", on, 0)
		id := p.comment(user, "own", on, parent)
		file := p.attach(user, "own", id)
		p.comment("zoe", "zoe's reply", on, id)
		return fixture{"comment": servertest.ID(id), "file": servertest.ID(file), "thing": servertest.ID(thing)}
	case "collection private":
		id := must(p.s.Store.CreateCollection(ctx, caller, models.NewCollection{Name: "private", Visibility: models.PrivateCollection}))(p.t).ID
		thing, _, _ := p.thing(user, published, published)
		must(p.s.Store.Collect(ctx, caller, id, thing))(p.t)
		return fixture{"collection": servertest.ID(id), "thing": servertest.ID(thing)}
	case "collection":
		id := must(p.s.Store.CreateCollection(ctx, caller, models.NewCollection{Name: "collection"}))(p.t).ID
		return fixture{"collection": servertest.ID(id)}
	case "upload pending":
		thing, _, _ := p.thing(user, published, published)
		id := servertest.ID(p.upload(user, "pending.stl", p.stl))
		return fixture{"file": id, "image": id, "thing": servertest.ID(thing)}
	case "upload staged":
		thing, _, _ := p.thing(user, published, published)
		up := must(p.s.Store.StageUpload(ctx, caller, "staged.stl", models.Target{Type: models.OnThing, ID: thing}))(p.t)
		defer p.beforeSuspension(user)()
		if err := p.s.Store.StoreStaged(ctx, up.FileID, 0, up.Limit, bytes.NewReader(p.stl)); err != nil {
			p.t.Fatal(err)
		}
		return fixture{"file": servertest.ID(up.FileID), "image": servertest.ID(up.FileID), "thing": servertest.ID(thing)}
	case "token":
		defer p.beforeSuspension(user)()
		_, token, err := p.s.Store.CreateToken(ctx, caller, models.NewToken{Name: user, Scopes: caller.Scopes})
		return fixture{"token": servertest.ID(must(token, err)(p.t).ID)}
	case "session":
		if _, err := p.s.Store.SignIn(ctx, auth.Verified{UserID: caller.UserID}, "browser of "+user); models.CodeOf(err) == models.Forbidden {
			return fixture{"id": "1000000"} // a suspended user has no session
		} else if err != nil {
			p.t.Fatal(err)
		}
		return fixture{"id": servertest.ID(must(p.s.Store.Sessions(ctx, caller))(p.t)[0].ID)}
	case "webhook":
		w, _, err := p.s.Store.CreateWebhook(ctx, caller, models.NewWebhook{URL: "https://hook.invalid/", Events: []models.WebhookEvent{models.FileProcessedEvent}})
		id := must(w, err)(p.t).ID
		d := must(p.s.Store.PingWebhook(ctx, caller, id))(p.t)
		return fixture{"id": servertest.ID(id), "delivery": servertest.ID(d.ID)}
	case "report":
		thing, _, _ := p.thing("zoe", "zoe's reported", published)
		node := models.NodeRef{Type: "Thing", ID: thing}.NodeID()
		r := must(p.s.Store.ReportContent(ctx, caller, models.NewReport{NodeID: node, Reason: models.ReportOther}))(p.t)
		return fixture{"report": servertest.ID(r.ID)}
	case "application":
		_, a, err := p.s.Store.Admin().RegisterApplication(ctx, models.NewApplication{Name: "program"})
		return fixture{"app": must(a, err)(p.t).ClientID}
	case "invitation":
		_, inv, err := p.s.Store.Admin().CreateInvitation(ctx, models.NewInvitation{})
		return fixture{"id": servertest.ID(must(inv, err)(p.t).ID)}
	case "user member", "user moderator", "user suspended":
		u := p.user(fmt.Sprintf("%s-%d", user, p.made))
		p.decide(name, u.Username)
		return fixture{"user": u.Username}
	case "user":
		return fixture{"user": user}
	case "catalogue":
		return p.catalogue(user)
	}
	p.t.Fatalf("there is no fixture %q", name)
	return nil
}

// beforeSuspension ends the suspension of a suspended user, and returns a function that suspends
// the user again.
func (p *fixtureBuilder) beforeSuspension(user string) (suspend func()) {
	if u := must(p.s.Store.User(p.t.Context(), p.as(user), models.AllUserFields, user))(p.t); u.SuspendedAt == nil {
		return func() {}
	}
	must(p.s.Store.UnsuspendUser(p.t.Context(), p.as("zoe"), user, "a pause"))(p.t)
	return func() { must(p.s.Store.SuspendUser(p.t.Context(), p.as("zoe"), user, "the reason"))(p.t) }
}

// decide assigns a user the role, or the suspension, that the name of the fixture contains.
func (p *fixtureBuilder) decide(name, user string) {
	p.t.Helper()
	switch name {
	case "user moderator":
		must(p.s.Store.SetUserRole(context.Background(), p.as("zoe"), user, auth.Moderator, "a reason"))(p.t)
	case "user suspended":
		must(p.s.Store.SuspendUser(context.Background(), p.as("zoe"), user, "the reason"))(p.t)
	}
}

// catalogue returns a fixture with all kinds of objects of a user, some of them hidden. The keys of
// the user's objects are their states, and those of zoe's objects also contain her name.
func (p *fixtureBuilder) catalogue(user string) fixture {
	p.t.Helper()
	ctx, caller := context.Background(), p.as(user)
	collection := must(p.s.Store.CreateCollection(ctx, caller, models.NewCollection{Name: "collection"}))(p.t).ID
	must(p.s.Store.CreateCollection(ctx, caller, models.NewCollection{Name: "private", Visibility: models.PrivateCollection}))(p.t)
	must(p.s.Store.CreateCollection(ctx, p.as("zoe"), models.NewCollection{Name: "zoe's private", Visibility: models.PrivateCollection}))(p.t)
	of := map[string]map[string]int64{"": {}, "zoe's ": {}} // by owner and state
	file := make(map[string]int64)
	for _, state := range []string{published, draft, down, unlisted} {
		id, f, _ := p.thing("zoe", "zoe's "+state, state)
		of["zoe's "][state], file[state] = id, f
		must(p.s.Store.Collect(ctx, caller, collection, id))(p.t)
		if err := p.s.Store.Like(ctx, caller, models.Target{Type: models.OnThing, ID: id}); err != nil {
			p.t.Fatal(err)
		}
		p.makeOfZoes(user, state, id)
		p.attach(user, "on zoe's "+state, p.comment(user, "on zoe's "+state, models.Target{Type: models.OnThing, ID: id}, 0))
	}
	ancestors := []int64{of["zoe's "][published], of["zoe's "][draft], of["zoe's "][down], of["zoe's "][unlisted]}
	for _, state := range []string{draft, down, unlisted, published} {
		id, f, _ := p.thing(user, state, state, ancestors...)
		of[""][state] = id
		must(p.s.Store.Collect(ctx, caller, collection, id))(p.t)
		p.attach(user, "on "+state, p.comment(user, "on "+state, models.Target{Type: models.OnThing, ID: id}, 0))
		if state == draft {
			ancestors = append(ancestors, id)
			p.download(caller, f)
		}
	}
	thing := of[""][published]
	must(p.s.Store.FeatureThing(ctx, caller, thing, true))(p.t)
	for _, state := range []string{published, draft, down, unlisted} {
		p.thing("zoe", "zoe's remix, "+state, state, thing)
	}
	copyID, _ := p.make("zoe", "zoe's "+published, published, thing)
	hidden, _ := p.make("zoe", "zoe's "+draft, draft, thing)
	ofDraft := p.attach("zoe", "on zoe's draft of a make", p.comment("zoe", "on zoe's draft of a make", models.Target{Type: models.OnMake, ID: hidden}, 0))
	for _, f := range []int64{file[published], file[draft], file[unlisted], ofDraft} {
		p.download(caller, f)
	}
	must(p.s.Store.RestoreThing(ctx, caller, of["zoe's "][down], "for a moment"))(p.t)
	p.download(caller, file[down])
	must(p.s.Store.TakeDownThing(ctx, caller, of["zoe's "][down], "the reason"))(p.t)
	a, err := p.s.Store.Application(ctx, p.set(user, "application")["app"])
	suspend := p.beforeSuspension(user)
	must(p.s.Store.AuthorizeImplicitly(ctx, oauth.Grant{Application: must(a, err)(p.t), UserID: p.ids[user], Scopes: auth.Scopes{auth.Read}}))(p.t)
	suspend()
	must(p.s.Store.ReportContent(ctx, caller, models.NewReport{NodeID: models.NodeRef{Type: "Thing", ID: of["zoe's "][draft]}.NodeID(), Reason: models.ReportSpam}))(p.t)
	p.s.Store.NoteDeprecated(caller, "get_newest", "old")
	return fixture{
		"thing": servertest.ID(thing), "copy": servertest.ID(copyID), "collection": servertest.ID(collection), "user": user, "userid": servertest.ID(p.ids[user]), "tag": "shared", "slug": "tools", "term": "shared",
	}
}

// makeOfZoes creates a make of zoe's thing by a user and, if the thing is published, also a draft
// of a make.
func (p *fixtureBuilder) makeOfZoes(user, state string, thing int64) {
	p.t.Helper()
	p.make(user, "of zoe's "+state, published, thing)
	if state == published {
		p.make(user, draft, draft, thing)
	}
}

func (p *fixtureBuilder) download(caller auth.Caller, file int64) {
	p.t.Helper()
	if _, _, err := p.s.Store.RecordDownload(context.Background(), caller, file); err != nil {
		p.t.Fatal(err)
	}
}

// expired returns a client with an expired token.
func (p *fixtureBuilder) expired(user string) *servertest.Client {
	p.t.Helper()
	return p.s.Client(must(p.s.Store.Admin().CreateToken(context.Background(), user, user, auth.Scopes{auth.Read, auth.Write}, time.Microsecond))(p.t))
}
