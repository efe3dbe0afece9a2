package permissions_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models/account"
	"github.com/meshyard/meshyard/test/servertest"
)

// The columns of the matrix, in the order of the document.
const (
	anonymous = iota
	other
	owner
	moderates
	administers
	suspended
	wrongScope
	overdue
	application
	callers
)

var columns = [callers]string{"anonymous", "other", "owner", "moderator", "administrator", "suspended", "wrong scope",
	"expired", "application"}

// calling is the order of the calls. Callers who are rejected come first, because an unchanged
// object can be used for the next call too.
var calling = []int{anonymous, overdue, wrongScope, application, other, suspended, moderates, administers, owner}

// matrix runs the rows of the permissions on one engine.
type matrix struct {
	*servertest.FixtureBuilder
	clients   [callers]map[auth.Scope]*servertest.Client // by required scope
	names     [callers]string                            // of their users
	addresses map[string]address                         // by REST operation
	schema    *ast.Schema
	kept      map[string]servertest.Fixture
	latest    *sql.Stmt
	before    []string // the current rows, if known
	rejected  []string // mutations since before was compared with the rows
}

type address struct{ method, path string }

// outcome is the content of a cell: the status of a call, and the objects in the response.
type outcome struct {
	status int
	shown  []string
}

func (v outcome) String() string {
	if len(v.shown) == 0 {
		return fmt.Sprint(v.status)
	}
	return fmt.Sprint(v.status, ": ", strings.Join(v.shown, ", "))
}

func newMatrix(t *testing.T, s *servertest.Server) *matrix {
	t.Helper()
	p := &servertest.FixtureBuilder{T: t, S: s, STL: servertest.Mesh(t, "hschendel_simple_bin.stl"),
		PNG: servertest.Mesh(t, "lib3mf_thumbnail.png"), IDs: make(map[string]int64), Zoes: make(map[string]int64)}
	m := &matrix{FixtureBuilder: p, addresses: make(map[string]address), schema: graph.New(nil).Schema(),
		kept: make(map[string]servertest.Fixture), latest: servertest.Must(servertest.OpenDB(t, s).SQL().
			Prepare(latestRows()))(t)}
	ctx := context.Background()
	for _, name := range []string{"zoe", "ada", "bob", "mod", "root", "sue", "mal"} {
		p.User(name)
	}
	servertest.Must(s.Store.Moderation.SetUserRole(ctx, p.As("zoe"), "mod", auth.Moderator, "for the test"))(t)
	servertest.Must(s.Store.Moderation.SetUserRole(ctx, p.As("zoe"), "mal", auth.Moderator, "for the test"))(t)
	servertest.Must(s.Store.Moderation.SetUserRole(ctx, p.As("zoe"), "root", auth.Administrator, "for the test"))(t)
	token := func(name string, scopes ...auth.Scope) *servertest.Client {
		return s.Client(servertest.Must(s.Store.Account.Admin().CreateToken(ctx, name, name, scopes, 0))(t))
	}
	everywhere := func(c *servertest.Client) map[auth.Scope]*servertest.Client {
		return map[auth.Scope]*servertest.Client{auth.Read: c, auth.Write: c, auth.Admin: c}
	}
	m.names = [callers]string{owner: "ada", other: "bob", moderates: "mod", administers: "root", suspended: "sue",
		wrongScope: "ada", overdue: "ada"}
	m.clients[anonymous] = everywhere(s.Client(""))
	m.clients[other] = everywhere(token("bob", auth.Read, auth.Write))
	m.clients[owner] = everywhere(token("ada", auth.Read, auth.Write))
	m.clients[moderates] = everywhere(token("mod", auth.Read, auth.Write, auth.Admin))
	m.clients[administers] = everywhere(token("root", auth.Read, auth.Write, auth.Admin))
	m.clients[suspended] = everywhere(token("sue", auth.Read, auth.Write))
	m.clients[suspended][auth.Admin] = token("mal", auth.Read, auth.Write, auth.Admin)
	m.clients[wrongScope] = map[auth.Scope]*servertest.Client{auth.Read: token("ada", auth.Write),
		auth.Write: token("ada", auth.Read), auth.Admin: token("root", auth.Read, auth.Write)}
	m.clients[overdue] = everywhere(p.Expired("ada"))
	_, registered, err := s.Store.Account.Admin().RegisterApplication(ctx, account.NewApplication{Name: "program"})
	a := servertest.Must(s.Store.Account.Application(ctx, servertest.Must(registered, err)(t).ClientID))(t)
	m.clients[application] = everywhere(s.Client(servertest.Must(s.Store.Account.IssueOwn(ctx, a))(t).Text))
	for _, name := range []string{"sue", "mal"} {
		servertest.Must(s.Store.Moderation.SuspendUser(ctx, p.As("zoe"), name, "the reason"))(t)
	}
	var described struct {
		Paths map[string]map[string]struct{ OperationID string }
	}
	s.Client("").Get("/openapi.json").Want(t, 200, &described)
	for path, methods := range described.Paths {
		for method, o := range methods {
			m.addresses[o.OperationID] = address{strings.ToUpper(method), path}
		}
	}
	// It is not in the OpenAPI description.
	m.addresses["head_files_file_id_download"] = address{http.MethodHead, m.addresses["get_files_file_id_download"].path}
	return m
}

// setting returns the fixture of a row for a caller. It belongs to the caller if the caller owns
// the object. It is reused until a call changes it.
func (m *matrix) setting(caller int, name string) servertest.Fixture {
	m.T.Helper()
	user := m.user(caller)
	if m.kept[user+name] == nil {
		m.unchanged()
		m.kept[user+name], m.before = m.Set(user, name), nil
	}
	return m.kept[user+name]
}

// user returns the owner of the fixtures for a caller.
func (m *matrix) user(caller int) string {
	if caller == suspended {
		return "sue"
	}
	return "ada"
}

// scopeOf returns the scope that the schema requires for the field of a row or, if it has no
// directive, for the root field of the query.
func (m *matrix) scopeOf(p permission) auth.Scope {
	m.T.Helper()
	name, _, _ := strings.Cut(p.field, ",")
	of, field, _ := strings.Cut(name, ".")
	definition := m.schema.Types[of].Fields.ForName(field)
	if directive := definition.Directives.ForName("auth"); directive != nil {
		return auth.Scope(strings.ToLower(directive.ArgumentMap(nil)["scope"].(string)))
	}
	if strings.Contains(p.ask, "moderationLog") || strings.Contains(p.ask, "reports(") {
		return auth.Admin
	}
	return auth.Read
}

// cell returns the outcome of a cell by GraphQL, and checks that each equivalent REST operation has
// the same outcome.
func (m *matrix) cell(p permission, in string, caller int) outcome {
	m.T.Helper()
	c := m.clients[caller][m.scopeOf(p)]
	document := m.filled(p.ask, m.setting(caller, in), caller)
	want := m.attempt(p, in, caller, func() outcome { return m.byGraphQL(c, p, document) })
	for _, operation := range strings.Fields(p.routes) {
		r := m.request(operation, p.body, m.setting(caller, in), caller)
		isList := false
		got := m.attempt(p, in, caller, func() (v outcome) { v, isList = m.byREST(c, r); return v })
		if !isList || !strings.Contains(p.ask, "is:") {
			got.shown = want.shown
		}
		if operation == "get_things_thing_id_images_image_id" && columns[caller] == "anonymous" &&
			in == "thing "+servertest.Published && got.status == http.StatusOK {
			continue // the URL of a public image returns its content without a token
		}
		if got.String() != want.String() {
			m.T.Errorf("%s, %s, %s: by GraphQL %s, by %s %s", p.field, in, columns[caller], want, operation, got)
		}
	}
	return want
}

// attempt makes a call. It checks that a rejected call changes nothing. After a successful call,
// the fixture is not reused. Calls that must be rejected are checked together, before the next call
// that may succeed, because reading the rows takes longer than most calls.
func (m *matrix) attempt(p permission, in string, caller int, call func() outcome) outcome {
	m.T.Helper()
	if !strings.HasPrefix(p.ask, "mutation") {
		return call()
	}
	_, mustFail := m.rejection(p, caller)
	if !mustFail {
		m.unchanged()
	}
	if m.before == nil {
		m.before = m.rows()
	}
	v := call()
	if v.status == http.StatusOK {
		delete(m.kept, m.user(caller)+in)
		m.before = nil
		return v
	}
	m.rejected = append(m.rejected, fmt.Sprintf("%s, %s, %s (%s)", p.field, in, columns[caller], v))
	if !mustFail {
		m.unchanged()
	}
	return v
}

// unchanged checks that the calls that were rejected since the last check have changed nothing.
func (m *matrix) unchanged() {
	m.T.Helper()
	if len(m.rejected) == 0 {
		return
	}
	if after := m.rows(); !slices.Equal(after, m.before) {
		without := func(a, b []string) []string {
			return slices.DeleteFunc(slices.Clone(a), func(row string) bool { return slices.Contains(b, row) })
		}
		m.T.Errorf("one of the rejected calls %q changed %q to %q", m.rejected, without(m.before, after),
			without(after, m.before))
		m.before = after
	}
	m.rejected = nil
}

// rows returns the relevant columns of the latest rows and the number of rows of each table that
// calls can change. It uses one statement.
func (m *matrix) rows() []string {
	m.T.Helper()
	rows := servertest.Must(m.latest.Query())(m.T)
	var seen []string
	for rows.Next() {
		var row string
		if err := rows.Scan(&row); err != nil {
			m.T.Fatal(err)
		}
		seen = append(seen, row)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		m.T.Fatal(err)
	}
	return seen
}

// latestRows returns the SQL statement for rows.
func latestRows() string {
	var all []string
	for _, row := range []string{
		"things id state instructions featured_at taken_down_at takedown_reason modified_at",
		"files id state target_type target_id rank note kind", "makes id state description", "comments id body deleted_at",
		"collections id description visibility modified_at", "collection_things id position", "likes id", "follows id",
		"users id bio is_admin is_moderator suspended_at", "tokens id revoked_at", "sessions id", "applications id",
		"invitations id",
		"moderation_log id", "reports id state", "downloads id", "watches id", "notifications id read_at",
		"webhooks id url secret disabled_at", "webhook_deliveries id", "printers id name", "print_jobs id state",
	} {
		table, columns, _ := strings.Cut(row, " ")
		text := "'" + table + " of ' || (SELECT count(*) FROM " + table + ")"
		for column := range strings.FieldsSeq(columns) {
			text += " || ' ' || coalesce(CAST(" + column + " AS text), '')"
		}
		all = append(all, "SELECT "+text+" AS row FROM (SELECT * FROM "+table+" ORDER BY id DESC LIMIT 50) AS latest")
	}
	return strings.Join(all, " UNION ALL ") + " ORDER BY 1"
}
