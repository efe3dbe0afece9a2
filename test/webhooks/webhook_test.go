package webhooks_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/meshyard/meshyard/cmd/meshyard/server"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/comments"
	"github.com/meshyard/meshyard/models/webhook"
	"github.com/meshyard/meshyard/test/servertest"
)

// toLocal allows webhooks to call receivers on the test machine.
func toLocal(c *config.Settings) { c.WebhookAllowPrivate, c.WebhookTimeout = true, servertest.Hung }

// receiver is an HTTP server that receives webhook messages. It verifies signatures independently
// of the server's code.
type receiver struct {
	*httptest.Server
	t testing.TB
	// respond responds to an attempt to send a message to a path. Attempts are numbered from 1. If it
	// is nil, the response is 200.
	respond func(path string, attempt int, w http.ResponseWriter, r *http.Request)

	mu       sync.Mutex
	secrets  map[string]string            // by path
	attempts map[string]map[string]int    // by path and message
	bodies   map[string]map[string][]byte // of accepted messages, by path and message
	twice    int                          // number of messages that were accepted more than once
	came     *sync.Cond
	done     chan struct{} // closed at the end of the test
}

func newReceiver(t testing.TB, respond func(path string, attempt int, w http.ResponseWriter,
	r *http.Request)) *receiver {
	v := &receiver{t: t, respond: respond, secrets: make(map[string]string), attempts: make(map[string]map[string]int),
		bodies: make(map[string]map[string][]byte), done: make(chan struct{})}
	v.came = sync.NewCond(&v.mu)
	v.Server = httptest.NewServer(v)
	t.Cleanup(v.Close)
	t.Cleanup(func() { close(v.done) })
	return v
}

// hang waits until the sender closes the connection.
func (v *receiver) hang(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-v.done:
	}
}

// ServeHTTP implements http.Handler.
func (v *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	id, path := r.Header.Get("Webhook-Id"), r.URL.Path
	v.mu.Lock()
	if v.attempts[path] == nil {
		v.attempts[path], v.bodies[path] = make(map[string]int), make(map[string][]byte)
	}
	v.attempts[path][id]++
	attempt := v.attempts[path][id]
	if key, keyErr := base64.StdEncoding.DecodeString(strings.TrimPrefix(v.secrets[path], "whsec_")); err == nil {
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.%s", id, r.Header.Get("Webhook-Timestamp"), body)
		want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
		if got := strings.Fields(r.Header.Get("Webhook-Signature")); keyErr != nil || len(key) == 0 ||
			!slices.Contains(got, want) {
			v.t.Errorf("%s, message %s: signatures %q, want %s: %v", path, id, got, want, keyErr)
		}
	}
	v.mu.Unlock()
	answered := &accepted{ResponseWriter: w, status: http.StatusOK}
	if v.respond != nil {
		v.respond(path, attempt, answered, r)
	}
	if answered.status != http.StatusOK || r.Context().Err() != nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.bodies[path][id] != nil {
		v.twice++
	}
	v.bodies[path][id] = body
	v.came.Broadcast()
}

type accepted struct {
	http.ResponseWriter
	status int
}

func (a *accepted) WriteHeader(status int) {
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}

// wait waits until n messages to a path have been accepted, and returns them.
func (v *receiver) wait(path string, n int) []map[string]any {
	v.t.Helper()
	timer := time.AfterFunc(servertest.Hung, v.came.Broadcast)
	defer timer.Stop()
	late := time.Now().Add(servertest.Hung)
	v.mu.Lock()
	defer v.mu.Unlock()
	for len(v.bodies[path]) < n {
		if time.Now().After(late) {
			v.t.Fatalf("%s: %d messages came, want %d", path, len(v.bodies[path]), n)
		}
		v.came.Wait()
	}
	var messages []map[string]any
	for _, body := range v.bodies[path] {
		messages = append(messages, servertest.Must(decoded(body))(v.t.(*testing.T)))
	}
	return messages
}

func decoded(body []byte) (message map[string]any, err error) {
	err = json.Unmarshal(body, &message)
	return message, err
}

// hook creates a webhook of a client's user for all events, and returns its ID.
func (v *receiver) hook(c *servertest.Client, path string, global bool) string {
	v.t.Helper()
	events := []string{"THING_PUBLISHED", "THING_UNPUBLISHED", "FILE_PROCESSED", "MAKE_CREATED", "COMMENT_CREATED",
		"MODERATION_DECIDED"}
	if global {
		events = append(events, "MODERATION_REPORTED")
	}
	var created struct {
		CreateWebhook struct {
			Secret  string
			Webhook struct{ ID string }
		}
	}
	c.Query(`mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { secret webhook { id } } }`,
		servertest.Object{"input": servertest.Object{"url": v.URL + path, "events": events, "isGlobal": global}}, &created)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.secrets[path] = created.CreateWebhook.Secret
	return created.CreateWebhook.Webhook.ID
}

// logged returns the events in the delivery log of a webhook with their data, oldest first.
func logged(c *servertest.Client, hook string) (events []string) {
	var data struct {
		Webhook struct {
			Deliveries struct {
				Nodes []struct{ Event, Payload string }
			}
		}
	}
	c.Query(`query ($id: ID!) { webhook(id: $id) { deliveries(first: 100) { nodes { event payload } } } }`,
		servertest.Object{"id": hook}, &data)
	for _, d := range data.Webhook.Deliveries.Nodes {
		message, _ := decoded([]byte(d.Payload))
		text, _ := json.Marshal(message["data"]) // this sorts the keys
		events = append(events, fmt.Sprintf("%s %s", message["type"], text))
	}
	slices.Reverse(events)
	return events
}

// TestWebhookEvents checks who receives which events, and that events contain nothing that the
// owner of the webhook may not see.
func TestWebhookEvents(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		admin, ada, bob, eve := s.Administrator(), s.User("ada"), s.User("bob"), s.User("eve")
		v := newReceiver(t, nil)
		of := map[string]string{"all": v.hook(admin, "/all", true), "ada": v.hook(ada, "/ada", false),
			"bob": v.hook(bob, "/bob", false), "eve": v.hook(eve, "/eve", false)}
		clients := map[string]*servertest.Client{"all": admin, "ada": ada, "bob": bob, "eve": eve}
		seen := make(map[string]int)
		// expect checks the new events of each user after an action: one event that contains the wanted
		// text, or none.
		expect := func(action string, want map[string]string) {
			t.Helper()
			for who, c := range clients {
				events := logged(c, of[who])
				news := events[seen[who]:]
				seen[who] = len(events)
				if text := want[who]; text == "" && len(news) > 0 || text != "" &&
					(len(news) != 1 || !strings.Contains(news[0], text)) {
					t.Errorf("%s: %s receives %q, want %q", action, who, news, text)
				}
				for _, event := range news {
					if strings.Contains(event, "secret") || strings.Contains(event, "@") {
						t.Errorf("%s: %s receives %s, want no secrets and no addresses", action, who, event)
					}
				}
			}
		}
		query := func(c *servertest.Client, format string, args ...any) string {
			t.Helper()
			var data any
			c.Query(fmt.Sprintf(format, args...), nil, &data)
			id, _ := servertest.Below(data, "id").(string)
			return id
		}
		thing := strconv.FormatInt(servertest.PublishedThing(t, ada, "Bracket"), 10)
		ref := `"thing":{"id":"` + thing + `","name":"Bracket"`
		expect("publish", map[string]string{"all": "thing.published {" + ref + `,"url":"` + s.URL + "/thing:" + thing +
			`"},"user":{"id":`, "ada": "thing.published {" + ref})
		draft := strconv.FormatInt(ada.Thing("A secret draft"), 10)
		query(ada, `mutation { createComment(input: {target: {type: THING, id: %s}, body: "secret"}) { comment { id } } }`,
			draft)
		query(ada, `mutation { createMake(input: {thingId: %s}) { make { id } } }`, draft)
		// Only ada receives events about her draft.
		for _, events := range [][]string{logged(ada, of["ada"])} {
			if news := events[seen["ada"]:]; len(news) != 2 || !strings.HasPrefix(news[0], "comment.created") ||
				!strings.HasPrefix(news[1], "make.created") {
				t.Errorf("on a draft: ada receives %q, want a comment and a make", news)
			}
			seen["ada"] = len(events)
		}
		expect("comment and make on a draft", nil)
		comment := query(bob,
			`mutation { createComment(input: {target: {type: THING, id: %s}, body: "secret"}) { comment { id } } }`, thing)
		expect("comment", map[string]string{"all": "comment.created", "ada": `"target":{"id":"` + thing +
			`","name":"Bracket","type":"thing"`, "bob": "comment.created"})
		query(eve, `mutation { createComment(input: {parentId: %s, body: "secret"}) { comment { id } } }`, comment)
		expect("reply", map[string]string{"all": "comment.created", "ada": "comment.created", "bob": "comment.created",
			"eve": "comment.created"})
		query(bob, `mutation { createMake(input: {thingId: %s, name: "Print"}) { make { id } } }`, thing)
		expect("make", map[string]string{"all": "make.created", "ada": ref, "bob": `"name":"Print"`})
		query(eve, `mutation { reportContent(input: {nodeId: %q, reason: SPAM, note: "secret"}) { report { id } } }`,
			models.NodeRef{Type: "Thing", ID: servertest.Atoi(t, thing)}.NodeID())
		expect("report", map[string]string{"all": `moderation.reported {"report":{"id":"1","reason":"spam"},"target":{"id":"` + thing + `","type":"thing"}`})
		query(admin, `mutation { featureThing(input: {id: %s}) { thing { id } } }`, thing)
		expect("feature", map[string]string{"all": `"action":"feature_thing"`, "ada": "moderation.decided"})
		query(admin, `mutation { dismissReport(input: {id: 1, reason: "unfounded"}) { report { id } } }`)
		expect("dismissed report", map[string]string{"all": `"reason":"unfounded"`})
		query(admin, `mutation { suspendUser(input: {username: "bob", reason: "rude"}) { user { id } } }`)
		expect("suspension", map[string]string{"all": `"reason":"rude"`,
			"bob": `moderation.decided {"entry":{"action":"suspend_user","id":"`})
		if last := logged(bob, of["bob"]); strings.Contains(last[len(last)-1], "rude") {
			t.Errorf("bob receives %s, want no reason", last[len(last)-1])
		}
		query(admin, `mutation { unsuspendUser(input: {username: "bob", reason: "sorry"}) { user { id } } }`)
		expect("end of the suspension", map[string]string{"all": `"reason":"sorry"`,
			"bob": `moderation.decided {"entry":{"action":"unsuspend_user","id":"`})
		query(ada, `mutation { publishThing(input: {id: %s, state: UNLISTED}) { thing { id } } }`, thing)
		expect("unlist", map[string]string{"all": "thing.unpublished {" + ref + "}", "ada": "thing.unpublished"})
		query(servertest.Keyed(t, ada, eve, servertest.Atoi(t, thing)),
			`mutation { createComment(input: {target: {type: THING, id: %s}, body: "secret"}) { comment { id } } }`, thing)
		expect("comment on an unlisted thing", map[string]string{"ada": "comment.created", "eve": "comment.created"})
		query(ada, `mutation { unpublishThing(input: {id: %s}) { thing { id } } }`, thing)
		expect("unpublish what is unlisted", nil)
		query(ada, `mutation { createComment(input: {parentId: %s, body: "secret"}) { comment { id } } }`, comment)
		expect("reply on a draft, to a user who saw it", map[string]string{"ada": "comment.created"})
		query(ada, `mutation { publishThing(input: {id: %s}) { thing { id } } }`, thing)
		expect("publish again", map[string]string{"all": "thing.published", "ada": "thing.published"})

		// A change that fails or is rolled back causes no event.
		if r := bob.GraphQL(`mutation ($id: ID!) { deleteThing(input: {id: $id, reason: "no"}) { deletedId } }`,
			servertest.Object{"id": thing}); r.Code() != "FORBIDDEN" {
			t.Errorf("delete by another user: got %+v, want FORBIDDEN", r.Errors)
		}
		expect("refused deletion", nil)
		v.wait("/all", seen["all"])
		// A global webhook receives nothing if its owner is no longer an administrator.
		if _, err := servertest.OpenDB(t, s).SQL().
			Exec("UPDATE users SET is_admin = false WHERE username = 'staff'"); err != nil {
			t.Fatal(err)
		}
		query(ada, `mutation { deleteThing(input: {id: %s}) { deletedId } }`, thing)
		seenByAda := logged(ada, of["ada"])
		if last := seenByAda[len(seenByAda)-1]; !strings.HasPrefix(last, "thing.unpublished") {
			t.Errorf("after the deletion, ada receives %q, want thing.unpublished", last)
		}
		var count int
		if err := servertest.OpenDB(t, s).SQL().QueryRow("SELECT count(*) FROM webhook_deliveries WHERE webhook_id = " +
			of["all"]).Scan(&count); err != nil || count != seen["all"] {
			t.Errorf("the webhook of a former administrator has %d deliveries, want %d: %v", count, seen["all"], err)
		}

		if messages := v.wait("/ada", len(seenByAda)); messages[0]["timestamp"] == nil || messages[0]["data"] == nil {
			t.Errorf("ada receives %v, want a timestamp and data", messages[0])
		}
		// Deleting an account also deletes its webhooks.
		query(eve, `mutation { deleteAccount(input: {username: "eve"}) { deletedId } }`)
		if err := servertest.OpenDB(t, s).SQL().QueryRow("SELECT count(*) FROM webhooks WHERE id = " + of["eve"]).
			Scan(&count); err != nil || count != 0 {
			t.Errorf("%d webhooks of a deleted account are left: %v", count, err)
		}
	}, toLocal)
}

// TestWebhookOfFile checks that the owner of a file receives an event when its preview is done,
// also if the preview already exists because another file has the same content.
func TestWebhookOfFile(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		v := newReceiver(t, nil)
		v.hook(ada, "/ada", false)
		v.hook(bob, "/bob", false)
		attach := func(c *servertest.Client, name string, content []byte) {
			c.Finalize("thing", c.Thing("Draft"), c.Upload(name, content)).Want(t, 200)
		}
		result := func(path string, n int) (results []string) {
			for _, message := range v.wait(path, n) {
				file := message["data"].(map[string]any)["file"].(map[string]any)
				results = append(results, fmt.Sprint(file["name"], " ", file["result"]))
			}
			slices.Sort(results)
			return results
		}
		attach(ada, "a.stl", servertest.Mesh(t, "hschendel_simple_bin.stl"))
		attach(ada, "b.stl", []byte("solid garbage"))
		if got, want := result("/ada", 2), []string{"a.stl done", "b.stl failed"}; !slices.Equal(got, want) {
			t.Errorf("ada receives %q, want %q", got, want)
		}
		attach(bob, "c.stl", servertest.Mesh(t, "hschendel_simple_bin.stl"))
		if got, want := result("/bob", 1), []string{"c.stl done"}; !slices.Equal(got, want) {
			t.Errorf("bob receives %q, want %q", got, want)
		}
	}, toLocal, servertest.Derives)
}

// TestWebhookAPI manages webhooks by GraphQL while one receiver hangs, which must not delay
// deliveries to the others.
func TestWebhookAPI(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		a := &webhookAPI{t: t, s: s, ada: s.User("ada"), bob: s.User("bob")}
		a.broken.Store(true)
		a.receiver = newReceiver(t, func(path string, _ int, w http.ResponseWriter, r *http.Request) {
			switch {
			case path == "/hang":
				a.receiver.hang(r)
			case path == "/gone":
				w.WriteHeader(http.StatusGone)
			case path == "/broken" && a.broken.Load():
				w.WriteHeader(http.StatusInternalServerError)
			}
		})
		a.good, a.failing, a.gone = a.receiver.hook(a.ada, "/good", false), a.receiver.hook(a.ada, "/broken", false),
			a.receiver.hook(a.ada, "/gone", false)
		a.receiver.hook(a.ada, "/hang", false)
		draft := a.ada.Thing("Draft")
		for range 20 { // more than the maximum number of connections to a webhook
			a.ada.Do("POST", fmt.Sprintf("/things/%d/comments", draft), servertest.Object{"body": "Note."}).Want(t, 200)
		}
		a.receiver.wait("/good", 20)

		a.ping(a.good)
		if messages := a.receiver.wait("/good", 21); !slices.ContainsFunc(messages,
			func(m map[string]any) bool { return m["type"] == "ping" }) {
			t.Error("no ping came")
		}
		a.checkGone()
		a.checkRetries()
		a.rotateSecret()
		a.disableAndEnable()
		a.checkInputs()
		a.checkQuota()
		if r := a.mutate(a.ada, `mutation { deleteWebhook(input: {id: $id}) { deletedId } }`, a.good); len(r.Errors) > 0 {
			t.Errorf("delete: got %+v, want no error", r.Errors)
		}
		metrics := servertest.Scrape(t, s)
		for _, line := range []string{`meshyard_webhook_attempts_total\{outcome="delivered"\} [1-9]`,
			`meshyard_webhook_attempts_total\{outcome="retried"\} [1-9]`, `meshyard_queue_up\{queue="webhooks"\} 1`} {
			if !regexp.MustCompile(line).MatchString(metrics) {
				t.Errorf("got metrics without a line like %s", line)
			}
		}
	}, toLocal, servertest.WithMetrics)
}

// webhookAPI is the state of TestWebhookAPI.
type webhookAPI struct {
	t                   *testing.T
	s                   *servertest.Server
	ada, bob            *servertest.Client
	receiver            *receiver
	broken              atomic.Bool // the receiver fails at the URL of the webhook failing
	good, failing, gone string      // the IDs of webhooks of ada
}

// mutate runs a mutation with an ID in place of $id.
func (a *webhookAPI) mutate(c *servertest.Client, mutation, id string) *servertest.Result {
	a.t.Helper()
	return c.GraphQL(strings.ReplaceAll(mutation, "$id", id), nil)
}

// ping sends a ping to a webhook and returns the ID of the delivery.
func (a *webhookAPI) ping(id string) string {
	a.t.Helper()
	r := a.mutate(a.ada, `mutation { pingWebhook(input: {id: $id}) { delivery { id event state attempts } } }`, id)
	if len(r.Errors) > 0 || !strings.Contains(string(r.Data), `"event":"PING","state":"WAITING","attempts":0`) {
		a.t.Fatalf("ping: got %s %+v, want a waiting delivery", r.Data, r.Errors)
	}
	var data any
	_ = json.Unmarshal(r.Data, &data)
	return servertest.Below(data, "id").(string)
}

// await waits until done returns true for the given fields of a webhook.
func (a *webhookAPI) await(id, fields string, done func(data string) bool) {
	a.t.Helper()
	for late := time.Now().Add(servertest.Hung); ; {
		r := a.ada.GraphQL(`{ webhook(id: `+id+`) { `+fields+` } }`, nil)
		if done(string(r.Data)) {
			return
		}
		if time.Now().After(late) {
			a.t.Fatalf("webhook %s stays %s %+v", id, r.Data, r.Errors)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// checkGone checks that a webhook whose receiver responds with 410 is disabled, and that its
// deliveries fail.
func (a *webhookAPI) checkGone() {
	a.await(a.gone, "isEnabled disabledReason waiting: deliveries(state: WAITING) { totalCount }", func(data string) bool {
		return strings.Contains(data,
			`"isEnabled":false,"disabledReason":"the receiver responded with 410 Gone","waiting":{"totalCount":0}`)
	})
	if r := a.mutate(a.ada, `mutation { pingWebhook(input: {id: $id}) { delivery { id } } }`,
		a.gone); r.Code() != "CONFLICT" {
		a.t.Errorf("ping of a disabled webhook: got %s %+v, want CONFLICT", r.Data, r.Errors)
	}
}

// checkRetries checks that failed deliveries are retried later, except for pings, and that a failed
// message can be sent again after the receiver works again.
func (a *webhookAPI) checkRetries() {
	failed := a.ping(a.failing)
	a.await(a.failing, "failingSince deliveries(state: FAILED) { nodes { id statusCode error nextAttemptAt attempts } }",
		func(data string) bool {
			return strings.Contains(data,
				`"id":"`+failed+`","statusCode":500,"error":"the receiver responded with 500","nextAttemptAt":null,"attempts":1`) &&
				!strings.Contains(data, `"failingSince":null`)
		})
	a.await(a.failing, "deliveries(state: WAITING) { nodes { attempts statusCode } }", func(data string) bool {
		return strings.Count(data, `{"attempts":1,"statusCode":500}`) == 20
	})
	// After the receiver works again, the failed message can be sent again.
	a.broken.Store(false)
	if r := a.mutate(a.bob, `mutation { redeliverWebhook(input: {deliveryId: $id}) { delivery { id } } }`,
		failed); r.Code() != "NOT_FOUND" {
		a.t.Errorf("bob repeats a delivery of ada: got %s %+v, want NOT_FOUND", r.Data, r.Errors)
	}
	if r := a.mutate(a.ada, `mutation { redeliverWebhook(input: {deliveryId: $id}) { delivery { state attempts } } }`,
		failed); len(r.Errors) > 0 {
		a.t.Errorf("redeliver: got %+v, want no error", r.Errors)
	}
	a.receiver.wait("/broken", 1)
	a.await(a.failing, "failingSince deliveries(state: DELIVERED) { nodes { id statusCode error } }",
		func(data string) bool {
			return strings.Contains(data, `{"failingSince":null,`) &&
				strings.Contains(data, `{"id":"`+failed+`","statusCode":200,"error":""}`)
		})
}

// rotateSecret checks that messages are signed with both secrets after a rotation.
func (a *webhookAPI) rotateSecret() {
	old := a.receiver.secrets["/good"]
	r := a.mutate(a.ada, `mutation { rotateWebhookSecret(input: {id: $id}) { secret } }`, a.good)
	var rotated struct{ RotateWebhookSecret struct{ Secret string } }
	servertest.Decode(a.t, r, &rotated)
	if next := rotated.RotateWebhookSecret.Secret; next == old || !strings.HasPrefix(next, "whsec_") {
		a.t.Errorf("got secret %q, want a new one (the old one is %q)", next, old)
	}
	a.ping(a.good)
	a.receiver.wait("/good", 22)
	a.receiver.mu.Lock()
	a.receiver.secrets["/good"] = rotated.RotateWebhookSecret.Secret
	a.receiver.mu.Unlock()
	a.ping(a.good)
	a.receiver.wait("/good", 23)
}

// disableAndEnable checks the fields of a webhook that its owner disables and enables.
func (a *webhookAPI) disableAndEnable() {
	if r := a.mutate(a.ada,
		`mutation { updateWebhook(input: {id: $id, isEnabled: false, description: "off", events: [MAKE_CREATED]}) { webhook { isEnabled disabledReason description events } } }`, a.good); string(r.Data) !=
		`{"updateWebhook":{"webhook":{"isEnabled":false,"disabledReason":"disabled by its owner","description":"off","events":["MAKE_CREATED"]}}}` {
		a.t.Errorf("disable: got %s %+v, want a webhook that its owner disabled", r.Data, r.Errors)
	}
	if r := a.mutate(a.ada,
		`mutation { updateWebhook(input: {id: $id, isEnabled: true, description: null}) { webhook { isEnabled disabledAt disabledReason description } } }`, a.good); string(r.Data) !=
		`{"updateWebhook":{"webhook":{"isEnabled":true,"disabledAt":null,"disabledReason":"","description":""}}}` {
		a.t.Errorf("enable: got %s %+v, want an enabled webhook", r.Data, r.Errors)
	}
}

// checkInputs checks that invalid inputs of createWebhook are rejected.
func (a *webhookAPI) checkInputs() {
	for input, field := range map[string]string{
		`url: "ftp://example.org/", events: [MAKE_CREATED]`:                                          "url",
		`url: "https://example.org/", events: []`:                                                    "events",
		`url: "https://example.org/", events: [PING]`:                                                "events",
		`url: "https://example.org/", events: [MODERATION_REPORTED]`:                                 "events",
		`url: "https://u:p@example.org/", events: [MAKE_CREATED]`:                                    "url",
		`url: "https://a/", events: [MAKE_CREATED], description: "` + strings.Repeat("x", 201) + `"`: "description",
	} {
		if r := a.ada.GraphQL(`mutation { createWebhook(input: {`+input+`}) { webhook { id } } }`,
			nil); r.Code() != "BAD_USER_INPUT" || r.Errors[0].Extensions.Field != field {
			a.t.Errorf("%.80s: %s %+v, want BAD_USER_INPUT of %s", input, r.Data, r.Errors, field)
		}
	}
}

// checkQuota checks that a user can have 20 webhooks.
func (a *webhookAPI) checkQuota() {
	for range 17 {
		a.receiver.hook(a.bob, "/bob", false)
	}
	var r *servertest.Result
	for range 4 {
		r = a.bob.GraphQL(`mutation { createWebhook(input: {url: "https://example.org/", events: [MAKE_CREATED]}) { webhook { id } } }`, nil)
	}
	if r.Code() != "CONFLICT" || r.Errors[0].Extensions.Limit != 20 {
		a.t.Errorf("webhook 21: %s %+v, want CONFLICT", r.Data, r.Errors)
	}
}

// quietly is a logger that discards the expected warnings of a server.
var quietly = slog.New(slog.DiscardHandler)

// commenting is a server that runs no jobs, and a user with a draft to comment on. Comments cause
// events for the user's webhooks.
type commenting struct {
	t      *testing.T
	server *server.Server
	ada    auth.Caller
	on     models.Target
}

func newCommenting(t *testing.T, settings config.Settings) *commenting {
	t.Helper()
	ctx := t.Context()
	c := &commenting{t: t, server: servertest.Must(server.Open(ctx, settings, quietly))(t)}
	u := servertest.Must(c.server.Store.Admin().CreateUser(ctx, "ada", false))(t)
	c.ada = auth.Caller{UserID: u.ID, Scopes: auth.Scopes{auth.Read, auth.Write}}
	thing := servertest.Must(c.server.Store.CreateThing(ctx, c.ada, models.NewThing{Name: "Draft", License: models.CC,
		Category: "Tools"}))(t)
	c.on = models.Target{Type: models.OnThing, ID: thing.ID}
	return c
}

func (c *commenting) hook(url string) (id int64, secret string) {
	c.t.Helper()
	w, secret, err := c.server.Store.Webhook.CreateWebhook(c.t.Context(), c.ada,
		webhook.Input{URL: url, Events: []webhook.Event{webhook.CommentCreatedEvent}})
	return servertest.Must(w, err)(c.t).ID, secret
}

func (c *commenting) comment(n int) {
	c.t.Helper()
	for range n {
		servertest.Must(c.server.Store.Comments.CreateComment(c.t.Context(), c.ada,
			comments.NewComment{Target: &c.on, Body: "Note."}))(c.t)
	}
}

// states returns the number of deliveries to a webhook by state.
func (c *commenting) states(hook int64) map[string]int {
	c.t.Helper()
	rows := servertest.Must(c.sql().Query(fmt.Sprint("SELECT state, count(*) FROM webhook_deliveries WHERE webhook_id = ",
		hook, " GROUP BY state")))(c.t)
	defer rows.Close()
	states := make(map[string]int)
	for rows.Next() {
		var state string
		var n int
		if err := rows.Scan(&state, &n); err != nil {
			c.t.Fatal(err)
		}
		states[state] = n
	}
	return states
}

func (c *commenting) sql() *sql.DB {
	c.t.Helper()
	return servertest.OpenDB(c.t, &servertest.Server{Server: c.server}).SQL()
}

// TestWebhookDeliveries sends events to receivers that fail, hang, or redirect to a private
// address, until all attempts are made. Each message must be delivered once or reported as failed,
// and no connection to the private address may be opened. MESHYARD_TEST_WEBHOOK_EVENTS is the
// number of events.
func TestWebhookDeliveries(t *testing.T) {
	t.Parallel()
	events := 24
	if text := os.Getenv("MESHYARD_TEST_WEBHOOK_EVENTS"); text != "" {
		events = servertest.Must(strconv.Atoi(text))(t)
	}
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			private := servertest.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
			t.Cleanup(func() { private.Close() })
			var connections atomic.Int64
			go func() {
				for {
					c, err := private.Accept()
					if err != nil {
						return
					}
					connections.Add(1)
					c.Close()
				}
			}()
			var v *receiver
			var hung atomic.Int64
			v = newReceiver(t, func(path string, attempt int, w http.ResponseWriter, r *http.Request) {
				switch {
				case path == "/fail" && attempt <= 3:
					w.WriteHeader(http.StatusInternalServerError + attempt)
				case path == "/hang" && hung.Add(1) <= int64(min(events/8, 50)):
					v.hang(r)
				case path == "/redirect":
					http.Redirect(w, r, "http://"+private.Addr().String()+"/", http.StatusTemporaryRedirect)
				}
			})
			settings := servertest.Settings(t, engine)
			settings.WebhookAllowPrivate, settings.WebhookTimeout = true, 4*time.Second
			c := newCommenting(t, settings)
			defer c.server.Close()
			hooks := make(map[string]int64)
			for _, path := range []string{"/good", "/fail", "/hang", "/redirect"} {
				hooks[path], v.secrets[path] = c.hook(v.URL + path)
			}
			c.comment(events)
			// Run eight rounds of the attempts that are due.
			c.rounds(8, slices.Collect(maps.Values(hooks))...)
			for path, hook := range hooks {
				want := map[string]int{"delivered": events}
				if path == "/redirect" {
					want = map[string]int{"failed": events}
				}
				if got := c.states(hook); !maps.Equal(got, want) {
					t.Errorf("%s: %v, want %v", path, got, want)
				}
				if path != "/redirect" && len(v.bodies[path]) != events {
					t.Errorf("%s accepted %d messages, want %d", path, len(v.bodies[path]), events)
				}
			}
			if v.twice > 0 {
				t.Errorf("%d messages were accepted twice, want none", v.twice)
			}

			// Open the same webhooks on a server that does not allow private addresses.
			settings.WebhookAllowPrivate = false
			strict := &commenting{t: t, server: servertest.Must(server.Open(t.Context(), settings, quietly))(t), ada: c.ada,
				on: c.on}
			defer strict.server.Close()
			_, port, _ := net.SplitHostPort(private.Addr().String())
			local, _ := strict.hook("https://localhost:" + port + "/")
			before := len(v.attempts["/good"])
			strict.comment(events / 4)
			strict.rounds(8, hooks["/good"], local)
			if got := strict.states(local); !maps.Equal(got, map[string]int{"failed": events / 4}) {
				t.Errorf("to a name of a private address: %v, want %d that failed", got, events/4)
			}
			if n := connections.Load(); n > 0 || len(v.attempts["/good"]) != before {
				t.Errorf("got %d connections to the private address and %d messages to another one, want none", n,
					len(v.attempts["/good"])-before)
			}
		})
	}
}

// rounds makes all due attempts n times. After each time it makes the next attempts due.
func (c *commenting) rounds(n int, hooks ...int64) {
	c.t.Helper()
	db := servertest.OpenDB(c.t, &servertest.Server{Server: c.server})
	for range n {
		var all sync.WaitGroup
		for _, hook := range hooks {
			all.Go(func() {
				for due := 1; due > 0; {
					if err := c.server.Store.Webhook.DeliverWebhook(context.Background(), hook); err != nil {
						c.t.Error(err)
						return
					}
					// DeliverWebhook returns after a time limit, and is then called again.
					err := db.Read.NewSelect().Table("webhook_deliveries").ColumnExpr("count(*)").
						Where("webhook_id = ? AND state = 'waiting' AND next_attempt_at <= ?", hook, time.Now().UTC()).
						Scan(context.Background(), &due)
					if err != nil {
						c.t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		if _, err := db.SQL().
			Exec("UPDATE webhook_deliveries SET next_attempt_at = created_at WHERE state = 'waiting'"); err != nil {
			c.t.Fatal(err)
		}
	}
}

// TestWebhooksSurviveTheirServer checks that messages are sent even if the server dies between the
// commit and the attempt, or during the attempt.
func TestWebhooksSurviveTheirServer(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			v := newReceiver(t, nil)
			settings := servertest.Settings(t, engine)
			toLocal(&settings)
			c := newCommenting(t, settings)
			_, v.secrets["/"] = c.hook(v.URL + "/")
			c.comment(3) // this process runs no jobs
			c.server.Close()
			s := servertest.Run(t, settings)
			v.wait("/", 3)
			// Simulate a message whose job was lost and whose attempt never ended.
			c.server = s.Server
			db := c.sql()
			for late := time.Now().Add(servertest.Hung); ; time.Sleep(10 * time.Millisecond) {
				// Wait until the attempt is recorded, which happens after the message has arrived.
				changed, err := db.Exec(
					"UPDATE webhook_deliveries SET state = 'waiting', next_attempt_at = created_at WHERE id = 1 AND state = 'delivered'")
				if err != nil {
					t.Fatal(err)
				}
				if n, err := changed.RowsAffected(); n == 1 || err != nil {
					break
				}
				if time.Now().After(late) {
					t.Fatal("the attempt is not recorded")
				}
			}
			if err := s.Store.Webhook.DeliverOverdue(t.Context()); err != nil {
				t.Fatal(err)
			}
			for late := time.Now().Add(servertest.Hung); ; {
				v.mu.Lock()
				twice := v.twice
				v.mu.Unlock()
				if twice == 1 {
					break
				}
				if time.Now().After(late) {
					t.Fatal("the message is not sent again")
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
}

// TestFailingWebhookIsDisabled checks that a webhook is disabled after some days of failures, and
// that log entries expire.
func TestFailingWebhookIsDisabled(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			v := newReceiver(t, func(_ string, _ int, w http.ResponseWriter,
				_ *http.Request) {
				w.WriteHeader(http.StatusNotFound)
			})
			settings := servertest.Settings(t, engine)
			toLocal(&settings)
			c := newCommenting(t, settings)
			defer c.server.Close()
			id, secret := c.hook(v.URL + "/")
			v.secrets["/"] = secret
			c.comment(2)
			c.rounds(1, id)
			if w := servertest.Must(c.server.Store.Webhook.Webhook(t.Context(), c.ada, webhook.AllFields, id))(t); !w.IsEnabled() || w.FailingSince == nil {
				t.Fatalf("after one failure: got %+v, want an enabled webhook that is failing", w)
			}
			longAgo := time.Now().UTC().Add(-4 * 24 * time.Hour)
			db := servertest.OpenDB(t, &servertest.Server{Server: c.server})
			if _, err := db.Write.NewUpdate().Table("webhooks").Set("failing_since = ?", longAgo).Where("id = ?", id).Exec(t.Context()); err != nil {
				t.Fatal(err)
			}
			c.rounds(1, id)
			if w := servertest.Must(c.server.Store.Webhook.Webhook(t.Context(), c.ada, webhook.AllFields, id))(t); w.IsEnabled() || w.DisabledReason != "all deliveries failed for three days" {
				t.Errorf("after four days of failures: got %+v, want a disabled webhook", w)
			}
			if got := c.states(id); !maps.Equal(got, map[string]int{"failed": 2}) {
				t.Errorf("deliveries %v, want 2 that failed", got)
			}
			c.comment(1)
			if got := c.states(id); got["waiting"] > 0 {
				t.Errorf("a disabled webhook: got deliveries %v, want none that wait", got)
			}
			if _, err := db.Write.NewUpdate().Table("webhook_deliveries").Set("created_at = ?", longAgo.Add(-11*24*time.Hour)).Where("id = (SELECT min(id) FROM webhook_deliveries)").Exec(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := c.server.Store.Maintenance.CollectGarbage(t.Context(), time.Hour, false); err != nil {
				t.Fatal(err)
			}
			if got := c.states(id); !maps.Equal(got, map[string]int{"failed": 1}) {
				t.Errorf("after the collection: %v, want 1 that failed", got)
			}
		})
	}
}
