package servertest

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/auth/oauth"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/account"
	"github.com/meshyard/meshyard/models/collections"
	"github.com/meshyard/meshyard/models/comments"
	"github.com/meshyard/meshyard/models/makes"
	"github.com/meshyard/meshyard/models/moderation"
	"github.com/meshyard/meshyard/models/printer"
	"github.com/meshyard/meshyard/models/social"
	"github.com/meshyard/meshyard/models/uploads"
	"github.com/meshyard/meshyard/models/webhook"
)

// Fixture contains the IDs and names of the objects of a call, by placeholder.
type Fixture map[string]string

// FixtureBuilder creates fixtures. Each fixture belongs to one user. Objects with zoe in their name
// belong to a third user, who makes no calls. The names of objects describe how they are hidden.
type FixtureBuilder struct {
	T        *testing.T
	S        *Server
	STL, PNG []byte
	IDs      map[string]int64 // of users
	Zoes     map[string]int64 // zoe's things with makes and comments of other users, by state
	made     int
}

// As returns a caller that acts as a user with all scopes and roles. It creates objects that the
// user may not be allowed to access later.
func (p *FixtureBuilder) As(user string) auth.Caller {
	return auth.Caller{UserID: p.IDs[user], Role: auth.Administrator, Scopes: auth.Scopes{auth.Read, auth.Write,
		auth.Admin}}
}

func (p *FixtureBuilder) User(name string) *models.User {
	p.T.Helper()
	u := Must(p.S.Store.Admin().CreateUser(context.Background(), name, false))(p.T)
	p.IDs[name] = u.ID
	Must(p.S.Store.UpdateProfile(context.Background(), p.As(name),
		models.ProfileChange{Email: new(name + "@example.org")}))(p.T)
	return u
}

// Must returns a function that returns a value, and fails the test if there was an error.
func Must[V any](v V, err error) func(t *testing.T) V {
	return func(t *testing.T) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func (p *FixtureBuilder) Upload(user, name string, content []byte) int64 {
	p.T.Helper()
	return Must(p.S.Store.Uploads.Upload(context.Background(), p.As(user),
		uploads.NewUpload{Name: name, Bytes: bytes.NewReader(content)}))(p.T).ID
}

// Thing creates a thing of a user with a model and an image. state is published, draft or down.
func (p *FixtureBuilder) Thing(user, name, state string, ancestors ...int64) (id, file, image int64) {
	p.T.Helper()
	ctx, caller := context.Background(), p.As(user)
	file, image = p.Upload(user, name+".stl", p.STL), p.Upload(user, name+".png", p.PNG)
	tags := []string{"shared"}
	if state == Draft {
		tags = []string{"shared", "unheard of"}
	}
	id = Must(p.S.Store.CreateThing(ctx, caller, models.NewThing{
		Name: name, License: models.CC, Category: "Tools", Description: "Made for a test.", Tags: tags,
		AncestorIDs: ancestors, Files: []models.FinalizeFile{{ID: file}, {ID: image}},
	}))(p.T).ID
	switch state {
	case Draft:
	case Unlisted:
		Must(p.S.Store.PublishThing(ctx, caller, id, models.Unlisted))(p.T)
	default:
		Must(p.S.Store.PublishThing(ctx, caller, id, models.Published))(p.T)
	}
	if state == DownThing {
		Must(p.S.Store.Moderation.TakeDownThing(ctx, caller, id, "the reason"))(p.T)
	}
	return id, file, image
}

// zoe returns a thing of zoe's in a state. It is created once, because no row changes it.
func (p *FixtureBuilder) zoe(state string) int64 {
	p.T.Helper()
	if p.Zoes[state] == 0 {
		p.Zoes[state], _, _ = p.Thing("zoe", "zoe's "+state, state)
	}
	return p.Zoes[state]
}

// make creates a make with an image of a thing. If state is draft, the make is a draft.
func (p *FixtureBuilder) make(user, name, state string, thing int64) (id, file int64) {
	p.T.Helper()
	ctx, caller := context.Background(), p.As(user)
	of := makes.NewMake{ThingID: thing, Name: name}
	if state == Draft {
		of.PictureName = new("later.png")
	}
	m, _, err := p.S.Store.Makes.CreateMake(ctx, caller, of)
	id = Must(m, err)(p.T).ID
	if state == Draft {
		return id, 0
	}
	file = p.Upload(user, name+".png", p.PNG)
	Must(p.S.Store.Finalize(ctx, caller, []models.FinalizeFile{{ID: file}},
		models.Target{Type: models.OnMake, ID: id}))(p.T)
	return id, file
}

// Comment creates a comment.
func (p *FixtureBuilder) Comment(user, body string, on models.Target, parent int64) int64 {
	p.T.Helper()
	n := comments.NewComment{Target: &on, Body: body}
	if parent != 0 {
		n.ParentID = &parent
	}
	return Must(p.S.Store.Comments.CreateComment(context.Background(), p.As(user), n))(p.T).ID
}

// Attach attaches a model to a comment.
func (p *FixtureBuilder) Attach(user, name string, comment int64) (file int64) {
	p.T.Helper()
	file = p.Upload(user, name+".stl", p.STL)
	Must(p.S.Store.Finalize(context.Background(), p.As(user), []models.FinalizeFile{{ID: file}},
		models.Target{Type: models.OnComment, ID: comment}))(p.T)
	return file
}

const Published = "published"

const Draft = "draft"

const DownThing = "taken down"

const Unlisted = "unlisted"

// Set creates the fixture of a user with a name. The name consists of a noun and how the object is
// hidden.
func (p *FixtureBuilder) Set(user, name string) Fixture {
	p.T.Helper()
	ctx, caller := context.Background(), p.As(user)
	p.made++
	switch name {
	case "":
		return Fixture{}
	case "notification":
		thing, _, _ := p.Thing(user, Published, Published)
		p.Comment("zoe", "zoe's", models.Target{Type: models.OnThing, ID: thing}, 0)
		list := Must(p.S.Store.Social.Notifications(caller, caller.UserID, social.NotificationFilter{}))(p.T)
		pages := Must(list.Page(ctx, []int64{caller.UserID}, models.Slice{First: 1}))(p.T)
		return Fixture{"id": ID(pages[caller.UserID].Entries[0].ID)}
	case "thing " + Published, "thing " + Draft, "thing " + DownThing, "thing " + Unlisted:
		state := name[len("thing "):]
		id, file, image := p.Thing(user, state, state)
		return Fixture{"thing": ID(id), "file": ID(file), "image": ID(image)}
	case "make " + Published, "make " + Draft, "make " + DownThing:
		state := name[len("make "):]
		of := Published
		if state == DownThing {
			of = DownThing
		}
		thing := p.zoe(of)
		id, file := p.make(user, state, state, thing)
		comment := p.Comment("zoe", "zoe's", models.Target{Type: models.OnMake, ID: id}, 0)
		return Fixture{"copy": ID(id), "file": ID(file), "image": ID(file), "thing": ID(thing), "comment": ID(comment)}
	case "comment " + Published, "comment " + Draft, "comment " + DownThing:
		state := name[len("comment "):]
		var thing int64
		if state == Draft {
			thing, _, _ = p.Thing(user, state, state)
		} else {
			thing = p.zoe(state)
		}
		on := models.Target{Type: models.OnThing, ID: thing}
		parent := p.Comment("zoe", "zoe's", on, 0)
		id := p.Comment(user, "own", on, parent)
		file := p.Attach(user, "own", id)
		p.Comment("zoe", "zoe's reply", on, id)
		return Fixture{"comment": ID(id), "file": ID(file), "thing": ID(thing)}
	case "collection private":
		id := Must(p.S.Store.Collections.CreateCollection(ctx, caller, collections.NewCollection{Name: "private",
			Visibility: models.PrivateCollection}))(p.T).ID
		thing, _, _ := p.Thing(user, Published, Published)
		Must(p.S.Store.Collections.Collect(ctx, caller, id, thing))(p.T)
		return Fixture{"collection": ID(id), "thing": ID(thing)}
	case "collection":
		id := Must(p.S.Store.Collections.CreateCollection(ctx, caller, collections.NewCollection{Name: "collection"}))(p.T).ID
		return Fixture{"collection": ID(id)}
	case "upload pending":
		thing, _, _ := p.Thing(user, Published, Published)
		id := ID(p.Upload(user, "pending.stl", p.STL))
		return Fixture{"file": id, "image": id, "thing": ID(thing)}
	case "upload staged":
		thing, _, _ := p.Thing(user, Published, Published)
		up := Must(p.S.Store.Uploads.StageUpload(ctx, caller, "staged.stl", models.Target{Type: models.OnThing,
			ID: thing}))(p.T)
		defer p.beforeSuspension(user)()
		if err := p.S.Store.Uploads.StoreStaged(ctx, up.FileID, 0, up.Limit, bytes.NewReader(p.STL)); err != nil {
			p.T.Fatal(err)
		}
		return Fixture{"file": ID(up.FileID), "image": ID(up.FileID), "thing": ID(thing)}
	case "token":
		defer p.beforeSuspension(user)()
		_, token, err := p.S.Store.Account.CreateToken(ctx, caller, account.NewToken{Name: user, Scopes: caller.Scopes})
		return Fixture{"token": ID(Must(token, err)(p.T).ID)}
	case "session":
		if _, err := p.S.Store.Account.SignIn(ctx, auth.Verified{UserID: caller.UserID},
			"browser of "+user); models.CodeOf(err) == models.Forbidden {
			return Fixture{"id": "1000000"} // a suspended user has no session
		} else if err != nil {
			p.T.Fatal(err)
		}
		return Fixture{"id": ID(Must(p.S.Store.Account.Sessions(ctx, caller))(p.T)[0].ID)}
	case "webhook":
		w, _, err := p.S.Store.Webhook.CreateWebhook(ctx, caller, webhook.Input{URL: "https://hook.invalid/",
			Events: []webhook.Event{webhook.FileProcessedEvent}})
		id := Must(w, err)(p.T).ID
		d := Must(p.S.Store.Webhook.PingWebhook(ctx, caller, id))(p.T)
		return Fixture{"id": ID(id), "delivery": ID(d.ID)}
	case "printer":
		thing, _, _ := p.Thing(user, Published, Published)
		var gcode []int64
		for _, name := range []string{"first.gcode", "second.gcode"} {
			id := p.Upload(user, name, []byte("G28\n"))
			Must(p.S.Store.Finalize(ctx, caller, []models.FinalizeFile{{ID: id}}, models.Target{Type: models.OnThing,
				ID: thing}))(p.T)
			gcode = append(gcode, id)
		}
		of := Must(p.S.Store.Printer.CreatePrinter(ctx, caller, printer.Input{Name: "Printer", Kind: "octoprint",
			URL: "http://printer.invalid/"}))(p.T)
		j := Must(p.S.Store.Printer.SendToPrinter(ctx, caller, printer.Send{PrinterID: of.ID, FileID: gcode[0]}))(p.T)
		Must(p.S.Store.DB.Write.NewRaw("UPDATE print_jobs SET state = 'held' WHERE id = ?", j.ID).Exec(ctx))(p.T)
		return Fixture{"id": ID(of.ID), "job": ID(j.ID), "file": ID(gcode[1])}
	case "report":
		thing, _, _ := p.Thing("zoe", "zoe's reported", Published)
		node := models.NodeRef{Type: "Thing", ID: thing}.NodeID()
		r := Must(p.S.Store.Moderation.ReportContent(ctx, caller,
			moderation.NewReport{NodeID: node, Reason: moderation.ReportOther}))(p.T)
		return Fixture{"report": ID(r.ID)}
	case "application":
		_, a, err := p.S.Store.Account.Admin().RegisterApplication(ctx, account.NewApplication{Name: "program"})
		return Fixture{"app": Must(a, err)(p.T).ClientID}
	case "invitation":
		_, inv, err := p.S.Store.Account.Admin().CreateInvitation(ctx, account.NewInvitation{})
		return Fixture{"id": ID(Must(inv, err)(p.T).ID)}
	case "user member", "user moderator", "user suspended":
		u := p.User(fmt.Sprintf("%s-%d", user, p.made))
		p.decide(name, u.Username)
		return Fixture{"user": u.Username}
	case "user":
		return Fixture{"user": user}
	case "catalogue":
		return p.catalogue(user)
	}
	p.T.Fatalf("there is no fixture %q", name)
	return nil
}

// beforeSuspension ends the suspension of a suspended user, and returns a function that suspends
// the user again.
func (p *FixtureBuilder) beforeSuspension(user string) (suspend func()) {
	if u := Must(p.S.Store.User(p.T.Context(), p.As(user), models.AllUserFields, user))(p.T); u.SuspendedAt == nil {
		return func() {}
	}
	Must(p.S.Store.Moderation.UnsuspendUser(p.T.Context(), p.As("zoe"), user, "a pause"))(p.T)
	return func() { Must(p.S.Store.Moderation.SuspendUser(p.T.Context(), p.As("zoe"), user, "the reason"))(p.T) }
}

// decide assigns a user the role, or the suspension, that the name of the fixture contains.
func (p *FixtureBuilder) decide(name, user string) {
	p.T.Helper()
	switch name {
	case "user moderator":
		Must(p.S.Store.Moderation.SetUserRole(context.Background(), p.As("zoe"), user, auth.Moderator, "a reason"))(p.T)
	case "user suspended":
		Must(p.S.Store.Moderation.SuspendUser(context.Background(), p.As("zoe"), user, "the reason"))(p.T)
	}
}

// catalogue returns a fixture with all kinds of objects of a user, some of them hidden. The keys of
// the user's objects are their states, and those of zoe's objects also contain her name.
func (p *FixtureBuilder) catalogue(user string) Fixture {
	p.T.Helper()
	ctx, caller := context.Background(), p.As(user)
	collection := Must(p.S.Store.Collections.CreateCollection(ctx, caller,
		collections.NewCollection{Name: "collection"}))(p.T).ID
	Must(p.S.Store.Collections.CreateCollection(ctx, caller, collections.NewCollection{Name: "private",
		Visibility: models.PrivateCollection}))(p.T)
	Must(p.S.Store.Collections.CreateCollection(ctx, p.As("zoe"), collections.NewCollection{Name: "zoe's private",
		Visibility: models.PrivateCollection}))(p.T)
	of := map[string]map[string]int64{"": {}, "zoe's ": {}} // by owner and state
	file := make(map[string]int64)
	for _, state := range []string{Published, Draft, DownThing, Unlisted} {
		id, f, _ := p.Thing("zoe", "zoe's "+state, state)
		of["zoe's "][state], file[state] = id, f
		Must(p.S.Store.Collections.Collect(ctx, caller, collection, id))(p.T)
		if err := p.S.Store.Social.Like(ctx, caller, models.Target{Type: models.OnThing, ID: id}); err != nil {
			p.T.Fatal(err)
		}
		p.makeOfZoes(user, state, id)
		p.Attach(user, "on zoe's "+state, p.Comment(user, "on zoe's "+state, models.Target{Type: models.OnThing, ID: id}, 0))
	}
	ancestors := []int64{of["zoe's "][Published], of["zoe's "][Draft], of["zoe's "][DownThing], of["zoe's "][Unlisted]}
	for _, state := range []string{Draft, DownThing, Unlisted, Published} {
		id, f, _ := p.Thing(user, state, state, ancestors...)
		of[""][state] = id
		Must(p.S.Store.Collections.Collect(ctx, caller, collection, id))(p.T)
		p.Attach(user, "on "+state, p.Comment(user, "on "+state, models.Target{Type: models.OnThing, ID: id}, 0))
		if state == Draft {
			ancestors = append(ancestors, id)
			p.download(caller, f)
		}
	}
	thing := of[""][Published]
	Must(p.S.Store.Moderation.FeatureThing(ctx, caller, thing, true))(p.T)
	for _, state := range []string{Published, Draft, DownThing, Unlisted} {
		p.Thing("zoe", "zoe's remix, "+state, state, thing)
	}
	copyID, _ := p.make("zoe", "zoe's "+Published, Published, thing)
	hidden, _ := p.make("zoe", "zoe's "+Draft, Draft, thing)
	ofDraft := p.Attach("zoe", "on zoe's draft of a make", p.Comment("zoe", "on zoe's draft of a make",
		models.Target{Type: models.OnMake, ID: hidden}, 0))
	for _, f := range []int64{file[Published], file[Draft], file[Unlisted], ofDraft} {
		p.download(caller, f)
	}
	Must(p.S.Store.Moderation.RestoreThing(ctx, caller, of["zoe's "][DownThing], "for a moment"))(p.T)
	p.download(caller, file[DownThing])
	Must(p.S.Store.Moderation.TakeDownThing(ctx, caller, of["zoe's "][DownThing], "the reason"))(p.T)
	a, err := p.S.Store.Account.Application(ctx, p.Set(user, "application")["app"])
	suspend := p.beforeSuspension(user)
	Must(p.S.Store.Account.AuthorizeImplicitly(ctx, oauth.Grant{Application: Must(a, err)(p.T), UserID: p.IDs[user],
		Scopes: auth.Scopes{auth.Read}}))(p.T)
	suspend()
	Must(p.S.Store.Moderation.ReportContent(ctx, caller,
		moderation.NewReport{NodeID: models.NodeRef{Type: "Thing", ID: of["zoe's "][Draft]}.NodeID(),
			Reason: moderation.ReportSpam}))(p.T)
	p.S.Store.Activity.NoteDeprecated(caller, "get_newest", "old")
	return Fixture{
		"thing": ID(thing), "copy": ID(copyID), "collection": ID(collection), "user": user, "userid": ID(p.IDs[user]),
		"tag": "shared", "slug": "tools", "term": "shared",
	}
}

// makeOfZoes creates a make of zoe's thing by a user and, if the thing is published, also a draft
// of a make.
func (p *FixtureBuilder) makeOfZoes(user, state string, thing int64) {
	p.T.Helper()
	p.make(user, "of zoe's "+state, Published, thing)
	if state == Published {
		p.make(user, Draft, Draft, thing)
	}
}

func (p *FixtureBuilder) download(caller auth.Caller, file int64) {
	p.T.Helper()
	if _, _, err := p.S.Store.Activity.RecordDownload(context.Background(), caller, file); err != nil {
		p.T.Fatal(err)
	}
}

// Expired returns a client with an expired token.
func (p *FixtureBuilder) Expired(user string) *Client {
	p.T.Helper()
	return p.S.Client(Must(p.S.Store.Account.Admin().CreateToken(context.Background(), user, user,
		auth.Scopes{auth.Read, auth.Write}, time.Microsecond))(p.T))
}
