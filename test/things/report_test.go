package things_test

import (
	"fmt"
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestReportNode checks who gets a report by its node ID: administrators, and moderators with the
// scope admin unless the report is about them.
func TestReportNode(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		admin, reporter, mod := s.Administrator(), s.User("ada"), s.User("mo")
		var user struct{ User struct{ NodeID string } }
		admin.Query(`mutation { setUserRole(input: {username: "mo", role: MODERATOR, reason: "Helps."}) { user { id } } }`,
			nil, new(any))
		admin.Query(`{ user(username: "mo") { nodeId } }`, nil, &user)
		var made struct {
			ReportContent struct{ Report struct{ NodeID string } }
		}
		submit := `mutation ($id: ID!) { reportContent(input: {nodeId: $id, reason: SPAM}) { report { nodeId } } }`
		aboutMod := func() string {
			reporter.Query(submit, servertest.Object{"id": user.User.NodeID}, &made)
			return made.ReportContent.Report.NodeID
		}()
		thing := servertest.PublishedThing(t, admin, "Vase")
		reporter.Query(submit, servertest.Object{"id": models.NodeRef{Type: "Thing", ID: thing}.NodeID()}, &made)
		other := made.ReportContent.Report.NodeID
		for _, c := range []struct {
			name   string
			client *servertest.Client
			report string
			shown  bool
		}{
			{"an administrator", admin, aboutMod, true},
			{"a moderator", s.Client(s.Token("mo", auth.Read, auth.Admin)), other, true},
			{"the reported moderator", s.Client(s.Token("mo", auth.Read, auth.Admin)), aboutMod, false},
			{"a moderator without the scope admin", mod, other, false},
			{"the reporter", reporter, other, false},
		} {
			var v struct{ Nodes []*struct{ NodeID string } }
			c.client.Query(`query ($id: ID!) { nodes(nodeIds: [$id]) { nodeId } }`, servertest.Object{"id": c.report}, &v)
			if shown := len(v.Nodes) == 1 && v.Nodes[0] != nil && v.Nodes[0].NodeID == c.report; shown != c.shown {
				t.Errorf("%s: got the report %v, want %v", c.name, shown, c.shown)
			}
		}
	})
}

// TestReports follows reports of all kinds of content from the reporter to the moderators, whose
// decision resolves all reports of an object.
func TestReports(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob, eve, admin := s.User("ada"), s.User("bob"), s.User("eve"), s.Administrator()
		thing := servertest.PublishedThing(t, ada, "Vase")
		var made struct {
			CreateComment    struct{ Comment struct{ ID, NodeID string } }
			CreateMake       struct{ Make struct{ NodeID string } }
			CreateCollection struct{ Collection struct{ ID, NodeID string } }
			User             struct{ NodeID string }
			Thing            struct{ NodeID string }
		}
		ada.Query(`mutation ($id: ID!) { createComment(input: {target: {type: THING, id: $id}, body: "Spam"}) { comment { id nodeId } } createMake(input: {thingId: $id}) { make { nodeId } }
			createCollection(input: {name: "Vases"}) { collection { id nodeId } } }`, servertest.Object{"id": servertest.ID(thing)}, &made)
		ada.Query(`query ($id: ID!) { user(username: "ada") { nodeId } thing(id: $id) { nodeId } }`,
			servertest.Object{"id": servertest.ID(thing)}, &made)
		type report struct {
			ID, State, Reason, Note, Decision string
			Reporter, User                    struct{ Username string }
			DecidedBy                         *struct{ Username string }
			Target                            *struct {
				Typename string `json:"__typename"`
			}
		}
		const fields = `id state reason note decision reporter { username } user { username } decidedBy { username } target { __typename }`
		submit := func(c *servertest.Client, node, reason string) report {
			t.Helper()
			var v struct{ ReportContent struct{ Report report } }
			c.Query(`mutation ($node: ID!, $reason: ReportReason!) { reportContent(input: {nodeId: $node, reason: $reason, note: "Look."}) { report { `+fields+` } } }`, servertest.Object{"node": node, "reason": reason}, &v)
			return v.ReportContent.Report
		}
		queue := func(state string) (reports []report) {
			t.Helper()
			var v struct {
				Reports struct {
					TotalCount int
					Nodes      []report
				}
			}
			admin.Query(`{ reports(state: `+state+`) { totalCount nodes { `+fields+` } } }`, nil, &v)
			if v.Reports.TotalCount != len(v.Reports.Nodes) {
				t.Errorf("%d reports, and totalCount is %d", len(v.Reports.Nodes), v.Reports.TotalCount)
			}
			return v.Reports.Nodes
		}
		for kind, node := range map[string]string{
			"Thing": made.Thing.NodeID, "Comment": made.CreateComment.Comment.NodeID, "Make": made.CreateMake.Make.NodeID,
			"Collection": made.CreateCollection.Collection.NodeID, "User": made.User.NodeID,
		} {
			first := submit(bob, node, "SPAM")
			if first.State != "OPEN" || first.User.Username != "ada" || first.Reporter.Username != "bob" ||
				first.Note != "Look." || first.Target == nil || first.Target.Typename != kind {
				t.Errorf("%s: %+v", kind, first)
			}
			if again := submit(bob, node, "OTHER"); again.ID != first.ID || again.Reason != "SPAM" {
				t.Errorf("%s, reported again: %+v, want report %s", kind, again, first.ID)
			}
			if r := ada.GraphQL(
				`mutation ($node: ID!) { reportContent(input: {nodeId: $node, reason: SPAM}) { report { id } } }`,
				servertest.Object{"node": node}); r.Code() != "BAD_USER_INPUT" {
				t.Errorf("%s of the reporter: %+v", kind, r.Errors)
			}
		}
		if got := queue("OPEN"); len(got) != 5 {
			t.Fatalf("the queue is %+v, want 5 reports", got)
		}
		if r := bob.GraphQL(`mutation { reportContent(input: {nodeId: "x", reason: SPAM}) { report { id } } }`,
			nil); r.Code() != "BAD_USER_INPUT" {
			t.Errorf("nothing: %+v", r.Errors)
		}

		// A decision resolves all reports of the object, and is logged.
		other := submit(eve, made.Thing.NodeID, "COPYRIGHT")
		decide := func(c *servertest.Client, what, id, reason string) *servertest.Result {
			t.Helper()
			return c.GraphQL(fmt.Sprintf(
				`mutation ($id: ID!, $reason: String!) { %s(input: {id: $id, reason: $reason}) { report { id } } }`, what),
				servertest.Object{"id": id, "reason": reason})
		}
		for _, c := range []struct {
			who                *servertest.Client
			what, reason, code string
		}{
			{bob, "resolveReport", "x", "FORBIDDEN"}, {admin, "resolveReport", " ", "BAD_USER_INPUT"},
			{admin, "resolveReport", "Taken down.", ""},
			{admin, "resolveReport", "Again.", ""}, {admin, "dismissReport", "Changed my mind.", "CONFLICT"},
		} {
			if r := decide(c.who, c.what, other.ID, c.reason); r.Code() != c.code {
				t.Errorf("%s for %q: %+v, want %s", c.what, c.reason, r.Errors, c.code)
			}
		}
		resolved := queue("RESOLVED")
		if len(resolved) != 2 || resolved[1].Decision != "Taken down." || resolved[0].DecidedBy == nil ||
			resolved[0].DecidedBy.Username != "staff" {
			t.Errorf("resolved reports: %+v, want both of the thing", resolved)
		}
		var log struct {
			ModerationLog struct {
				TotalCount int
				Nodes      []struct{ Action, Reason, ObjectID string }
			}
		}
		admin.Query(`{ moderationLog(first: 1) { totalCount nodes { action reason objectId } } }`, nil, &log)
		if n := log.ModerationLog.Nodes; log.ModerationLog.TotalCount != 2 || n[0].Action != "RESOLVE_REPORT" ||
			n[0].Reason != "Taken down." || n[0].ObjectID != other.ID {
			t.Errorf("the log is %+v, want the role of the administrator and one decision", log.ModerationLog)
		}

		// Deleting an object resolves its reports; restoring a comment dismisses them.
		ada.Query(`mutation ($id: ID!) { deleteCollection(input: {id: $id}) { deletedId } }`,
			servertest.Object{"id": made.CreateCollection.Collection.ID}, new(any))
		admin.Query(`mutation ($id: ID!) { restoreComment(input: {id: $id}) { comment { needsModeration } } }`,
			servertest.Object{"id": made.CreateComment.Comment.ID}, new(any))
		if got := queue("DISMISSED"); len(got) != 1 || got[0].Target.Typename != "Comment" {
			t.Errorf("dismissed: %+v, want the comment", got)
		}
		if got := queue("RESOLVED"); len(got) != 3 {
			t.Errorf("resolved: %+v, want those of the thing and the collection", got)
		}
		if got := queue("null"); len(got) != 6 {
			t.Errorf("%d reports, want 6", len(got))
		}
	})
}

// TestDecidedReportsOfComments checks that a comment needs moderation from the first report of spam
// until a moderator decides.
func TestDecidedReportsOfComments(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob, admin := s.User("ada"), s.User("bob"), s.Administrator()
		thing := servertest.PublishedThing(t, ada, "Vase")
		for _, decide := range []string{"resolveReport", "dismissReport"} {
			comment := servertest.ReadObject(t, ada.Do("POST", fmt.Sprintf("/things/%d/comments", thing),
				servertest.Object{"body": "Buy this."}))
			path := fmt.Sprintf("/comments/%v", comment["id"])
			check := func(want bool) {
				t.Helper()
				if got := servertest.ReadObject(t, admin.Get(path))["needs_moderation"]; got != want {
					t.Errorf("%s: needs_moderation is %v, want %v", decide, got, want)
				}
			}
			var v struct {
				Comment       struct{ NodeID string }
				ReportContent struct{ Report struct{ ID string } }
			}
			bob.Query(`query ($id: ID!) { comment(id: $id) { nodeId } }`, servertest.Object{"id": fmt.Sprint(comment["id"])}, &v)
			check(false)
			bob.Query(`mutation ($node: ID!) { reportContent(input: {nodeId: $node, reason: SPAM}) { report { id } } }`,
				servertest.Object{"node": v.Comment.NodeID}, &v)
			check(true)
			admin.Query(`mutation ($id: ID!) { `+decide+`(input: {id: $id, reason: "Decided."}) { report { id } } }`,
				servertest.Object{"id": v.ReportContent.Report.ID}, new(any))
			check(false)
		}
	})
}

// TestReportsOfSeveralUsers reads a queue that contains a user and a thing of another user. The
// target of a report and the reported user are loaded independently, whichever comes first.
func TestReportsOfSeveralUsers(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob, admin := s.User("ada"), s.User("bob"), s.Administrator()
		s.User("eve")
		thing := servertest.PublishedThing(t, ada, "Vase")
		var v struct {
			Thing, User struct{ NodeID string }
			Reports     struct {
				Nodes []struct {
					User   struct{ Username string }
					Target struct {
						Typename string `json:"__typename"`
					}
				}
			}
		}
		bob.Query(`query ($id: ID!) { thing(id: $id) { nodeId } user(username: "eve") { nodeId } }`,
			servertest.Object{"id": servertest.ID(thing)}, &v)
		for _, node := range []string{v.Thing.NodeID, v.User.NodeID} {
			bob.Query(`mutation ($node: ID!) { reportContent(input: {nodeId: $node, reason: SPAM}) { report { id } } }`,
				servertest.Object{"node": node}, new(any))
		}
		for _, fields := range []string{"target { __typename } user { username }",
			"user { username } target { __typename }"} {
			admin.Query(`{ reports { nodes { `+fields+` } } }`, nil, &v)
			n := v.Reports.Nodes
			if len(n) != 2 || n[0].User.Username != "eve" || n[0].Target.Typename != "User" || n[1].User.Username != "ada" ||
				n[1].Target.Typename != "Thing" {
				t.Errorf("{ %s }: %+v, want eve and the thing of ada", fields, n)
			}
		}
	})
}
