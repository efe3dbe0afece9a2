package main_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestUserCommands checks the commands that administer the users of a running server.
func TestUserCommands(t *testing.T) {
	t.Parallel()
	binary := buildBinary(t)
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			c := newCatalogue(t, binary, databaseOn(t, engine))
			server := c.serve() // creates the user admin
			for _, name := range []string{"ada", "bob"} {
				c.run("user", "create", name)
			}
			ada := &user{name: "ada", token: strings.TrimSpace(c.run("token", "create", "ada"))}
			client := newClient(server.url)
			if _, err := client.thing(ada, "Gear"); err != nil {
				t.Fatal(err)
			}

			type record struct {
				ID          int64
				Username    string
				Role        string
				SuspendedAt *string `json:"suspended_at"`
				Reason      string
				Things      int
			}
			show := func(args ...string) (r record) {
				t.Helper()
				out := c.run(append(append([]string{"user"}, args...), "--json")...)
				if err := json.Unmarshal([]byte(out), &r); err != nil {
					t.Fatalf("user %v: %v: %s", args, err, out)
				}
				return r
			}
			status := func(path string) int {
				t.Helper()
				a, err := client.send(ada, http.MethodGet, path, "", nil)
				if err != nil {
					t.Fatal(err)
				}
				return a.status
			}

			link := strings.TrimSpace(c.run("invitation", "create", "--email", "grace@example.org", "--expires", "2d"))
			if page, err := http.Get(server.url + "/login/invitation" + link[strings.IndexByte(link, '?'):]); err != nil || page.StatusCode != http.StatusOK {
				t.Errorf("the invitation %s: %v", link, err)
			}
			if list := c.run("invitation", "list"); !strings.Contains(list, "grace@example.org") {
				t.Errorf("the invitations are %s", list)
			}
			c.run("invitation", "revoke", "1")
			if list := c.run("invitation", "list"); strings.Contains(list, "grace@example.org") {
				t.Errorf("the invitations are %s", list)
			}

			var all []record
			if err := json.Unmarshal([]byte(c.run("user", "list", "--json")), &all); err != nil || len(all) != 3 || all[0].Username != "admin" || all[0].Role != "administrator" {
				t.Errorf("user list --json: %v, %+v", err, all)
			}
			if out := c.run("user", "list"); !strings.Contains(out, "ada       member         active") {
				t.Errorf("user list: %s", out)
			}
			if out := c.run("user", "show", "ADA"); !strings.Contains(out, "USERNAME     ada\n") || strings.Contains(out, "REASON") {
				t.Errorf("user show: %s", out)
			}
			if r := show("rename", "ada", "Lovelace"); r.Username != "Lovelace" || r.ID != 2 {
				t.Errorf("user rename: %+v", r)
			}
			if got := status("/users/lovelace"); got != http.StatusOK {
				t.Errorf("the renamed user, with their token: got %d, want 200", got)
			}
			if r := show("suspend", "lovelace", "--reason", "Spam."); r.SuspendedAt == nil || r.Reason != "Spam." {
				t.Errorf("user suspend: %+v", r)
			}
			if out := c.run("user", "list"); !strings.Contains(out, "Lovelace  member         suspended") {
				t.Errorf("user list: %s", out)
			}
			if out := c.run("token", "list", "lovelace"); strings.Count(out, "\n") != 1 {
				t.Errorf("tokens of a suspended user: %s", out)
			}
			set := c.command("user", "password", "lovelace")
			set.Stdin = strings.NewReader("correct horse battery\n")
			if out, err := set.CombinedOutput(); err != nil {
				t.Fatalf("user password: %v: %s", err, out)
			}
			signIn := func() int {
				t.Helper()
				form := url.Values{"username": {"lovelace"}, "password": {"correct horse battery"}}
				r, err := http.NewRequest(http.MethodPost, server.url+"/login", strings.NewReader(form.Encode()))
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				r.Header.Set("Origin", server.url)
				response, err := http.DefaultTransport.RoundTrip(r) // follows no redirect
				if err != nil {
					t.Fatal(err)
				}
				response.Body.Close()
				return response.StatusCode
			}
			if got := signIn(); got != http.StatusForbidden {
				t.Errorf("a suspended user signs in: got %d, want 403", got)
			}
			if out := c.run("user", "suspend", "--help"); !strings.Contains(strings.Join(strings.Fields(out), " "), "They cannot sign in") {
				t.Errorf("user suspend --help does not say that the user cannot sign in: %s", out)
			}
			if r := show("enable", "lovelace"); r.SuspendedAt != nil || r.Reason != "" {
				t.Errorf("user enable, another name of unsuspend: %+v", r)
			}
			if out := c.run("user", "unsuspend", "lovelace"); out != "user lovelace was unsuspended\n" {
				t.Errorf("user unsuspend printed %q, want the name", out)
			}
			if got := signIn(); got != http.StatusSeeOther {
				t.Errorf("a user whose suspension ended signs in: got %d, want 303", got)
			}
			for wrong, says := range map[string]string{
				"user rename lovelace BOB": "taken", "user rename lovelace me": "reserved", "user rename lovelace 7": "must be 1 to 64", "user rename nobody x": "does not exist",
				"user suspend admin": "last administrator", "user delete admin --yes": "last administrator", "user show nobody": "does not exist",
				"user delete lovelace": "has 0 things, 0 makes and 0 bytes of files: add --yes",
			} {
				if _, stderr, err := c.try(strings.Fields(wrong)...); exitStatus(err) != 1 || !strings.Contains(stderr, says) {
					t.Errorf("meshyard %s: %v, %q; want an error that says %q", wrong, err, stderr, says)
				}
			}
			ada.token = strings.TrimSpace(c.run("token", "create", "lovelace"))
			if out := c.run("user", "delete", "lovelace", "--yes"); !strings.HasPrefix(out, "deleted user Lovelace; ") {
				t.Errorf("user delete: %s", out)
			}
			if _, stderr, err := c.try("user", "show", "lovelace"); exitStatus(err) != 1 || !strings.Contains(stderr, "does not exist") {
				t.Errorf("show a deleted user: %v, %q", err, stderr)
			}
			admin := &user{name: "admin", token: strings.TrimSpace(c.run("token", "create", "admin", "--scope", "read", "--scope", "admin"))}
			log, err := client.send(admin, http.MethodPost, "/graphql", "application/json", strings.NewReader(`{"query": "{ moderationLog { nodes { action reason actor { username } } } }"}`))
			want := `[{"action":"DELETE_USER","reason":"By the operator, on the command line.","actor":null},{"action":"UNSUSPEND_USER","reason":"By the operator, on the command line.","actor":null},` +
				`{"action":"SET_PASSWORD","reason":"By the operator, on the command line.","actor":null},{"action":"SUSPEND_USER","reason":"Spam.","actor":null},{"action":"RENAME_USER","reason":"The name was ada.","actor":null}`
			if err != nil || !strings.Contains(string(log.body), want) {
				t.Errorf("the moderation log is %s (%v), want %s", log.body, err, want)
			}
		})
	}
}
