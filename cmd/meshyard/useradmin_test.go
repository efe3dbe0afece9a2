package main_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestUserCommands checks the commands that administer the users of a running server. Each step
// uses the users as the steps before it leave them.
func TestUserCommands(t *testing.T) {
	t.Parallel()
	binary := buildBinary(t)
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			u := &userCommands{catalogue: newCatalogue(t, binary, databaseOn(t, engine))}
			u.server = u.serve() // creates the user admin
			for _, name := range []string{"ada", "bob"} {
				u.run("user", "create", name)
			}
			u.client = newClient(u.server.url)
			u.ada = &user{name: "ada", token: strings.TrimSpace(u.run("token", "create", "ada"))}
			if _, err := u.client.thing(u.ada, "Gear"); err != nil {
				t.Fatal(err)
			}
			u.invite()
			u.list()
			u.rename()
			u.role()
			u.suspend()
			u.refuse()
			u.remove()
			u.checkModerationLog()
		})
	}
}

// userCommands is the state of TestUserCommands.
type userCommands struct {
	*catalogue
	server *server
	client *client
	ada    *user // renamed to Lovelace by rename
}

// userRecord is the output of a command about one user.
type userRecord struct {
	ID          int64
	Username    string
	Role        string
	SuspendedAt *string `json:"suspended_at"`
	Reason      string
	Things      int
}

// show runs a command about a user and returns its output.
func (u *userCommands) show(args ...string) (r userRecord) {
	u.t.Helper()
	out := u.run(append(append([]string{"user"}, args...), "--json")...)
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		u.t.Fatalf("user %v: %v: %s", args, err, out)
	}
	return r
}

// invite creates, lists and revokes an invitation.
func (u *userCommands) invite() {
	link := strings.TrimSpace(u.run("invitation", "create", "--email", "grace@example.org", "--expires", "2d"))
	if page, err := http.Get(u.server.url + "/login/invitation" + link[strings.IndexByte(link, '?'):]); err != nil ||
		page.StatusCode != http.StatusOK {
		u.t.Errorf("the invitation %s: %v", link, err)
	}
	if list := u.run("invitation", "list"); !strings.Contains(list, "grace@example.org") {
		u.t.Errorf("the invitations are %s", list)
	}
	u.run("invitation", "revoke", "1")
	if list := u.run("invitation", "list"); strings.Contains(list, "grace@example.org") {
		u.t.Errorf("the invitations are %s", list)
	}
}

// list lists the users and shows one of them.
func (u *userCommands) list() {
	var all []userRecord
	if err := json.Unmarshal([]byte(u.run("user", "list", "--json")), &all); err != nil || len(all) != 3 ||
		all[0].Username != "admin" || all[0].Role != "administrator" {
		u.t.Errorf("user list --json: %v, %+v", err, all)
	}
	if out := u.run("user", "list"); !strings.Contains(out, "ada       member         active") {
		u.t.Errorf("user list: %s", out)
	}
	if out := u.run("user", "show", "ADA"); !strings.Contains(out, "USERNAME     ada\n") ||
		strings.Contains(out, "REASON") {
		u.t.Errorf("user show: %s", out)
	}
}

// rename renames ada, whose token stays valid.
func (u *userCommands) rename() {
	if r := u.show("rename", "ada", "Lovelace"); r.Username != "Lovelace" || r.ID != 2 {
		u.t.Errorf("user rename: %+v", r)
	}
	a, err := u.client.send(u.ada, http.MethodGet, "/users/lovelace", "", nil)
	if err != nil {
		u.t.Fatal(err)
	}
	if a.status != http.StatusOK {
		u.t.Errorf("the renamed user, with their token: got %d, want 200", a.status)
	}
}

// role makes lovelace a moderator and a member again, and does not remove the last administrator.
func (u *userCommands) role() {
	if r := u.show("role", "lovelace", "moderator"); r.Role != "moderator" {
		u.t.Errorf("user role: %+v", r)
	}
	if out := u.run("user", "role", "lovelace", "member"); out != "user lovelace was given the role member\n" {
		u.t.Errorf("user role printed %q", out)
	}
	for _, c := range []struct{ name, role, want string }{
		{"admin", "member", "username: admin is the last administrator"},
		{"lovelace", "owner", `must be one of "member","moderator","administrator" but got "owner"`},
		{"nobody", "member", "does not exist"},
	} {
		if out, err := u.command("user", "role", c.name, c.role).CombinedOutput(); err == nil ||
			!strings.Contains(string(out), c.want) {
			u.t.Errorf("user role %s %s: got %v: %s, want %q", c.name, c.role, err, out, c.want)
		}
	}
	if r := u.show("show", "admin"); r.Role != "administrator" {
		u.t.Errorf("the last administrator is now %+v", r)
	}
}

// suspend suspends lovelace, who cannot sign in until the suspension ends.
func (u *userCommands) suspend() {
	if r := u.show("suspend", "lovelace", "--reason", "Spam."); r.SuspendedAt == nil || r.Reason != "Spam." {
		u.t.Errorf("user suspend: %+v", r)
	}
	if out := u.run("user", "list"); !strings.Contains(out, "Lovelace  member         suspended") {
		u.t.Errorf("user list: %s", out)
	}
	if out := u.run("token", "list", "lovelace"); strings.Count(out, "\n") != 1 {
		u.t.Errorf("tokens of a suspended user: %s", out)
	}
	set := u.command("user", "password", "lovelace")
	set.Stdin = strings.NewReader("correct horse battery\n")
	if out, err := set.CombinedOutput(); err != nil {
		u.t.Fatalf("user password: %v: %s", err, out)
	}
	if got := u.signIn(); got != http.StatusForbidden {
		u.t.Errorf("a suspended user signs in: got %d, want 403", got)
	}
	if out := u.run("user", "suspend", "--help"); !strings.Contains(strings.Join(strings.Fields(out), " "),
		"They cannot sign in") {
		u.t.Errorf("user suspend --help does not say that the user cannot sign in: %s", out)
	}
	if r := u.show("enable", "lovelace"); r.SuspendedAt != nil || r.Reason != "" {
		u.t.Errorf("user enable, another name of unsuspend: %+v", r)
	}
	if out := u.run("user", "unsuspend", "lovelace"); out != "user lovelace was unsuspended\n" {
		u.t.Errorf("user unsuspend printed %q, want the name", out)
	}
	if got := u.signIn(); got != http.StatusSeeOther {
		u.t.Errorf("a user whose suspension ended signs in: got %d, want 303", got)
	}
}

// signIn signs in with a password and returns the status of the response.
func (u *userCommands) signIn() int {
	u.t.Helper()
	form := url.Values{"username": {"lovelace"}, "password": {"correct horse battery"}}
	r, err := http.NewRequest(http.MethodPost, u.server.url+"/login", strings.NewReader(form.Encode()))
	if err != nil {
		u.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", u.server.url)
	response, err := http.DefaultTransport.RoundTrip(r) // follows no redirect
	if err != nil {
		u.t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

// refuse runs commands that must fail.
func (u *userCommands) refuse() {
	u.run("user", "link", "bob", "sub-1", "--issuer", "https://id.example")
	for wrong, want := range map[string]struct {
		status int
		says   string
	}{
		"user rename lovelace BOB":                             {1, "taken"},
		"user rename lovelace me":                              {2, "reserved"},
		"user rename lovelace 7":                               {2, "must be 1 to 64"},
		"user rename nobody x":                                 {1, "does not exist"},
		"user suspend admin":                                   {2, "last administrator"},
		"user delete admin --yes":                              {2, "last administrator"},
		"user show nobody":                                     {1, "does not exist"},
		"user link lovelace sub-1":                             {1, "--issuer: is required"},
		"user link lovelace sub-1 --issuer https://id.example": {1, "belongs to the user bob"},
		"user delete lovelace":                                 {1, "has 0 things, 0 makes and 0 bytes of files: add --yes"},
	} {
		if _, stderr, err := u.try(strings.Fields(wrong)...); exitStatus(err) != want.status ||
			!strings.Contains(stderr, want.says) {
			u.t.Errorf("meshyard %s: %v, %q; want %+v", wrong, err, stderr, want)
		}
	}
	u.run("user", "link", "lovelace", "sub-1", "--issuer", "https://id.example", "--move")
	if _, stderr, err := u.try("user", "link", "bob", "sub-1", "--issuer", "https://id.example"); exitStatus(err) != 1 ||
		!strings.Contains(stderr, "belongs to the user Lovelace") {
		u.t.Errorf("user link after --move: %v, %q; want that it belongs to Lovelace", err, stderr)
	}
}

// remove deletes lovelace.
func (u *userCommands) remove() {
	u.ada.token = strings.TrimSpace(u.run("token", "create", "lovelace"))
	if out := u.run("user", "delete", "lovelace", "--yes"); !strings.HasPrefix(out, "deleted user Lovelace; ") {
		u.t.Errorf("user delete: %s", out)
	}
	if _, stderr, err := u.try("user", "show", "lovelace"); exitStatus(err) != 1 ||
		!strings.Contains(stderr, "does not exist") {
		u.t.Errorf("show a deleted user: %v, %q", err, stderr)
	}
}

// checkModerationLog checks the entries for the commands of the steps before.
func (u *userCommands) checkModerationLog() {
	admin := &user{name: "admin", token: strings.TrimSpace(u.run("token", "create", "admin", "--scope", "read", "--scope",
		"admin"))}
	log, err := u.client.send(admin, http.MethodPost, "/graphql", "application/json",
		strings.NewReader(`{"query": "{ moderationLog { nodes { action reason actor { username } } } }"}`))
	want := `[{"action":"DELETE_USER","reason":"By the operator, on the command line.","actor":null},{"action":"UNSUSPEND_USER","reason":"By the operator, on the command line.","actor":null},` +
		`{"action":"SET_PASSWORD","reason":"By the operator, on the command line.","actor":null},{"action":"SUSPEND_USER","reason":"Spam.","actor":null},` +
		`{"action":"SET_USER_ROLE","reason":"By the operator, on the command line.","actor":null},{"action":"SET_USER_ROLE","reason":"By the operator, on the command line.","actor":null},{"action":"RENAME_USER","reason":"The name was ada.","actor":null}`
	if err != nil || !strings.Contains(string(log.body), want) {
		u.t.Errorf("the moderation log is %s (%v), want %s", log.body, err, want)
	}
}
