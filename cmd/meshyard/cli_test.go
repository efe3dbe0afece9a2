package main_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/pgtest"
)

var tokenLine = regexp.MustCompile(`^meshyard_[0-9A-Za-z]{49}\n$`)

// TestCommands runs the administration commands on the database of a running server.
func TestCommands(t *testing.T) {
	binary := buildBinary(t)
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			c := newCatalogue(t, binary, databaseOn(t, engine))
			if out := c.run("migrate"); !strings.Contains(out, "applied 0001_baseline") {
				t.Errorf("migrate: got %q, want the names of all migrations", out)
			}
			if out := c.run("migrate"); strings.Contains(out, "applied") {
				t.Errorf("a second migrate: got %q, want no migrations", out)
			}
			server := c.serve()
			if out := c.run("user", "create", "ada"); !strings.Contains(out, "user ada has the id ") {
				t.Errorf("user create: got %q, want the ID of ada", out)
			}
			c.checkTokens(server)
			c.checkApplications()
			c.checkWebhooks()
			c.refuses(map[string]string{
				"user create ada": "taken", "user create ADA": "taken", "user create a/b": "letters", "user create me": "username",
				"documents get_nothing":         "no registered document",
				"documents --documents nowhere": "--documents",
			})
			for command, want := range map[string]int{"user create a/b": 2, "user rename ada b/c": 2,
				"webhook create ada ftp://x": 2, "user create ada": 1, "token list nobody": 1} {
				if _, _, err := c.try(strings.Fields(command)...); exitStatus(err) != want {
					t.Errorf("meshyard %s: got %v, want exit status %d", command, err, want)
				}
			}
			c.checkPasswords()
			c.checkDamage()
		})
	}
	c := newCatalogue(t, binary, "")
	if out := c.run("schema"); !strings.Contains(out, "type Query") || strings.Contains(out, "goField") {
		t.Errorf("schema: got %.200q, want the public schema", out)
	}
	if out := c.run("openapi"); !json.Valid([]byte(out)) {
		t.Errorf("openapi: got %.200q, want JSON", out)
	}
	if _, stderr, err := newCatalogue(t, binary, "mysql://x").try("fsck"); err == nil ||
		!strings.Contains(stderr, "sqlite:PATH or postgres://") {
		t.Errorf("with a database of another kind: got %v, %q, want an error that names both kinds", err, stderr)
	}
}

// refuses runs commands that must fail. commands maps each of them to a part of its error message.
func (c *catalogue) refuses(commands map[string]string) {
	c.t.Helper()
	for command, want := range commands {
		if _, stderr, err := c.try(strings.Fields(command)...); err == nil || !strings.Contains(stderr, want) {
			c.t.Errorf("meshyard %s: got %v, %q, want an error that says %q", command, err, stderr, want)
		}
	}
}

// checkTokens creates a token, uses it at the server, lists it and revokes it.
func (c *catalogue) checkTokens(server *server) {
	c.t.Helper()
	token := c.run("token", "create", "ada", "--scope", "read", "--expires", "90d")
	if !tokenLine.MatchString(token) {
		c.t.Errorf("token create: got %q, want a token alone", token)
	}
	a, err := (&client{server.url, http.DefaultClient}).send(&user{token: strings.TrimSpace(token)}, http.MethodGet,
		"/users/me/downloads", "", nil)
	if err != nil || a.status != http.StatusOK {
		c.t.Errorf("with the new token: got %+v, %v, want 200", a, err)
	}
	list := c.run("token", "list", "ada")
	id := regexp.MustCompile(`(?m)^(\d+) .*read +\d{4}-.*  \d{4}-`).FindStringSubmatch(list)
	if id == nil || strings.Contains(list, strings.TrimSpace(token)) {
		c.t.Fatalf("token list: got %q, want the ID, scope and times of the token, without the token", list)
	}
	if out := c.run("token", "revoke", id[1]); out != "revoked token "+id[1]+"\n" {
		c.t.Errorf("token revoke: got %q, want that token %s is revoked", out, id[1])
	}
	if out := c.run("token", "list", "ada"); strings.Contains(out, "\n"+id[1]+" ") {
		c.t.Errorf("token list: got %q, want no revoked token", out)
	}
	c.refuses(map[string]string{
		"token create bob": "does not exist", "token create ada --scope everything": "must be read, write or admin",
		"token create ada --scope admin": "not an administrator", "token create ada --expires never": "lifetime",
		"token list bob": "does not exist", "token revoke 999": "does not exist",
	})
}

// checkApplications creates, lists and deletes applications.
func (c *catalogue) checkApplications() {
	c.t.Helper()
	out := c.run("app", "create", "Slicer", "--redirect", "https://app.example/cb?a,b", "--redirect",
		"http://127.0.0.1/cb")
	created := regexp.MustCompile(`^client_id ([0-9a-f]{20})\nclient_secret [\w-]{43}\n$`).FindStringSubmatch(out)
	if created == nil {
		c.t.Fatalf("app create: got %q, want an ID and a secret", out)
	}
	id := created[1]
	if out := c.run("app", "create", "Phone", "--redirect", "org.example.app:/cb", "--public"); strings.Contains(out,
		"secret") {
		c.t.Errorf("app create --public: got %q, want no secret", out)
	}
	if out := c.run("app", "list"); !strings.Contains(out,
		id+"  confidential  Slicer  https://app.example/cb?a,b http://127.0.0.1/cb\n") ||
		!strings.Contains(out, "  public        Phone ") {
		c.t.Errorf("app list: got %q, want Slicer, which is confidential, and Phone, which is public", out)
	}
	c.run("app", "delete", id)
	c.refuses(map[string]string{
		"app delete " + id: "does not exist", "app create X --redirect http://app.example/": "use https",
		"app create X --public": "redirect",
	})
}

// checkWebhooks creates, lists, disables, enables and deletes a webhook.
func (c *catalogue) checkWebhooks() {
	c.t.Helper()
	out := c.run("webhook", "create", "ada", "https://hook.invalid/", "--event", "make.created")
	created := regexp.MustCompile(`^id (\d+)\nsecret whsec_[\w+/]{43}=\n$`).FindStringSubmatch(out)
	if created == nil {
		c.t.Fatalf("webhook create: got %q, want an ID and a secret", out)
	}
	id := created[1]
	if out := c.run("webhook", "list"); !regexp.MustCompile(`(?m)^` + id +
		` +ada +enabled +https://hook.invalid/ +make.created$`).MatchString(out) {
		c.t.Errorf("webhook list: got %q, want webhook %s of ada", out, id)
	}
	if out := c.run("webhook", "deliveries", id); !strings.HasPrefix(out, "ID ") || strings.Count(out, "\n") != 1 {
		c.t.Errorf("webhook deliveries: got %q, want the head of an empty table", out)
	}
	for _, state := range []struct{ command, list string }{{"disable", "disabled: disabled by the operator"},
		{"enable", "enabled"}} {
		if out, want := c.run("webhook", state.command, id), state.command+"d webhook "+id+"\n"; out != want {
			c.t.Errorf("webhook %s: got %q, want %q", state.command, out, want)
		}
		if out := c.run("webhook", "list"); !strings.Contains(out, " "+state.list+"  ") {
			c.t.Errorf("webhook list after webhook %s: got %q, want %q", state.command, out, state.list)
		}
	}
	c.run("webhook", "delete", id)
	c.refuses(map[string]string{
		"webhook delete " + id: "does not exist", "webhook deliveries 999": "does not exist",
		"webhook enable 999":                    "does not exist",
		"webhook create bob https://a.example/": "does not exist", "webhook create ada http://a.example/": "https",
		"webhook create ada https://a.example/ --global":    "not an administrator",
		"webhook create ada https://a.example/ --event all": "thing.published",
	})
}

// checkPasswords sets passwords, which are read from standard input and must not be printed.
func (c *catalogue) checkPasswords() {
	c.t.Helper()
	for input, valid := range map[string]bool{"correct horse battery\n": true, "correct horse battery": true,
		"short\n": false, "two lines of\nwords\n": false, "": false, strings.Repeat("x", 5000): false} {
		set := c.command("user", "password", "ada")
		set.Stdin = strings.NewReader(input)
		out, err := set.CombinedOutput()
		if (err == nil) != valid {
			c.t.Errorf("user password of %.30q: got %v, %q; want that it is accepted: %t", input, err, out, valid)
		}
		if input != "" && strings.Contains(string(out), strings.TrimSpace(input)) {
			c.t.Errorf("user password of %.30q: got %q, want no password in it", input, out)
		}
	}
}

// checkDamage adds an object to the bucket that the database does not refer to: fsck must report
// it, and gc must remove it.
func (c *catalogue) checkDamage() {
	c.t.Helper()
	const agrees = "database and bucket agree\n"
	if out := c.run("fsck"); out != agrees {
		c.t.Errorf("fsck: got %q, want %q", out, agrees)
	}
	name := strings.Repeat("ab", 32)
	if err := os.WriteFile(filepath.Join(c.data, "bucket", "files", name), []byte("stray"), 0o600); err != nil {
		c.t.Fatal(err)
	}
	if out := c.run("fsck"); out != agrees {
		c.t.Errorf("fsck of an object younger than its grace: got %q, want %q", out, agrees)
	}
	if out, stderr, err := c.try("fsck", "--grace", "0s"); exitStatus(err) != 1 || !strings.Contains(out, name) ||
		!strings.Contains(stderr, "disagree in 1 place\n") {
		c.t.Errorf("fsck of a stray object: got %v, %q, %q, want exit status 1 and the object", err, out, stderr)
	}
	if out := c.run("gc", "--grace", "0s", "--dry-run"); !strings.Contains(out, "would remove files/"+name) {
		c.t.Errorf("gc --dry-run: got %q, want the object", out)
	}
	if out := c.run("gc", "--grace", "0s"); !strings.Contains(out, "removed 0 expired uploads and 1 object (5 bytes)") {
		c.t.Errorf("gc: got %q, want that one object of 5 bytes is removed", out)
	}
	c.run("fsck", "--grace", "0s", "--rehash")
}

// exitStatus returns the exit status of a command that returned err: 0 for nil, -1 if it has none.
func exitStatus(err error) int {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	if err != nil {
		return -1
	}
	return 0
}

// TestUsageErrors checks that an invalid command line or setting is reported in one line on
// standard error, with exit status 2.
func TestUsageErrors(t *testing.T) {
	t.Parallel()
	c := newCatalogue(t, buildBinary(t), "")
	for wrong, want := range map[string]string{
		"frobnicate":                   "unexpected argument frobnicate",
		"tokn":                         `unexpected argument tokn, did you mean "token"?`,
		"token lst":                    `unexpected argument lst, did you mean "list"?`,
		"serve --lisen :80":            `unknown flag --lisen, did you mean "--listen"?`,
		"user":                         `expected one of "list", "show", "create"`,
		"serve --listen nowhere":       `--listen "nowhere": must be HOST:PORT`,
		"serve --listen :99999":        `--listen ":99999": must be HOST:PORT`,
		"serve --metrics-listen :":     `--metrics-listen ":": must be HOST:PORT`,
		"serve --rate-limit -1":        "--rate-limit -1: must be at least 0",
		"serve --rate-limit many":      `--rate-limit: must be a whole number (got "many")`,
		"serve --trace-ratio nan":      `--trace-ratio: must be a number (got "nan")`,
		"serve --quota-bytes -1":       `--quota-bytes: size "-1": must be a number with a unit, such as 250MiB or 5MB`,
		"serve --sunset -1":            `--sunset: date "-1": must be one such as 2027-06-30`,
		"serve --webhook-timeout 0s":   "--webhook-timeout 0s: must be from 1 second to 1 minute",
		"serve --site-name --hardened": "--site-name: requires a value, after an equals sign if it begins with a hyphen (got --hardened)\n",
		"token revoke x":               `<id>: must be a whole number (got "x")`,
		"serve --drain -1s":            `--drain: duration "-1s": must be a number with a unit`,
		"serve --bucket-url s3://m":    "--bucket-url s3://m: the region is missing",
		"gc --bucket-url file://a/b":   "--bucket-url file://a/b: a directory must be file:///absolute/path",
		"fsck --database-url sqlite:":  "--database-url: must be sqlite:PATH with the path of a file",
		"migrate --database-url postgres://a:secret@h/d?sslmode=x": "--database-url postgres://a:xxxxx@h/d?sslmode=x: cannot parse",
		"gc --upload-limit much":                                   `size "much"`,
		"token create a --scope all":                               `scope "all": must be read, write or admin`,
		"token create a --expires now":                             `lifetime "now"`,
		"serve --log-level loud":                                   `--log-level: must be debug, info, warn or error (got "loud")`,
		"serve --log-format xml":                                   `--log-format: must be json or text (got "xml")`,
		"derive --again some":                                      `--again: must be missing, failed or all (got "some")`,
		"gc --grace 5":                                             `--grace: duration "5": must be a number with a unit`,
		// Durations may have days: the error is about another setting.
		"serve --drain 1d --wait 1d12h --pending-ttl 2d --listen nowhere": `--listen "nowhere": must be HOST:PORT`,
	} {
		stdout, stderr, err := c.try(strings.Fields(wrong)...)
		if exitStatus(err) != 2 || stdout != "" || !strings.HasPrefix(stderr, "meshyard: ") ||
			!strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 || strings.Contains(stderr, "secret") {
			t.Errorf("meshyard %s: %v, standard output %q, standard error %q; want exit status 2 and the line %q", wrong, err,
				stdout, stderr, want)
		}
	}
}

// TestServeChecksFiles checks that serve reports an invalid file of a setting with exit status 2,
// before it creates or prints anything.
func TestServeChecksFiles(t *testing.T) {
	t.Parallel()
	c := newCatalogue(t, buildBinary(t), "")
	documents := t.TempDir()
	if err := os.WriteFile(filepath.Join(documents, "wrong.graphql"), []byte("{ nothing }"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ flag, value, says string }{
		{"--documents", documents, "wrong.graphql"},
		{"--documents", "/nowhere", ""},
		{"--documents", t.TempDir(), "ends in .graphql"},
		{"--site-logo", "/nowhere.png", ""},
		{"--site-folder", "/nowhere", ""},
	} {
		flag, value := test.flag, test.value
		stdout, stderr, err := c.try("serve", "--listen", "127.0.0.1:0", flag, value)
		if exitStatus(err) != 2 || stdout != "" || !strings.HasPrefix(stderr, "meshyard: "+flag) ||
			!strings.Contains(stderr, test.says) {
			t.Errorf("serve %s %s: %v, %q, %q; want exit status 2 and an error that names the setting and %q", flag, value, err,
				stdout, stderr, test.says)
		}
		if _, err := os.Stat(c.data); err == nil {
			t.Errorf("serve %s %s created %s", flag, value, c.data)
		}
	}
}

// TestUnknownVariables checks that commands warn of unknown environment variables, and run.
func TestUnknownVariables(t *testing.T) {
	t.Parallel()
	c := newCatalogue(t, buildBinary(t), "")
	c.env = []string{"MESHYARD_HARDENE=true", "MESHYARD_NO_ANONYMOUS_READ=true", "MESHYARD_DRAIN=1d",
		"MESHYARD_IMPORT_TOKEN=x", "MESHYARD_TEST_POSTGRES=x"}
	_, stderr, err := c.try("migrate")
	if err != nil || strings.Count(stderr, "is unknown") != 2 || !strings.Contains(stderr, `"level":"WARN"`) ||
		!strings.Contains(stderr, "MESHYARD_HARDENE is unknown and has no effect: did you mean MESHYARD_HARDENED?") ||
		!strings.Contains(stderr, "MESHYARD_ANONYMOUS_READ=false") {
		t.Errorf("migrate: %v, %q; want warnings of two variables", err, stderr)
	}
}

// TestVariables checks that an empty variable counts as not set, and that a variable with _FILE
// reads the value from a file.
func TestVariables(t *testing.T) {
	t.Parallel()
	c := newCatalogue(t, buildBinary(t), "")
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	empty, limit, wrong := write("empty", "\n"), write("limit", "90\r\n"), write("url", "https://mail.example.org\n")
	for _, test := range []struct {
		env    []string
		args   string
		status int
		says   string
	}{
		// Settings of all types. The flag is wrong, so the command reports it unless a variable is.
		{[]string{"MESHYARD_UPLOAD_LIMIT=", "MESHYARD_PENDING_TTL=", "MESHYARD_RATE_LIMIT=", "MESHYARD_SUNSET=",
			"MESHYARD_ANONYMOUS_READ=",
			"MESHYARD_HARDENED=", "MESHYARD_SITE_COLOR=", "MESHYARD_LOG_LEVEL=", "MESHYARD_TRACE_RATIO=", "MESHYARD_LISTEN=",
			"MESHYARD_OIDC_SCOPES=",
			"MESHYARD_DRAIN="}, "serve --preview-workers 99", 2, "--preview-workers 99: must be"},
		{[]string{"MESHYARD_HARDENE="}, "migrate", 0, "did you mean MESHYARD_HARDENED?"},
		{[]string{"MESHYARD_IMPORT_TOKEN="}, "import account --from http://127.0.0.1:1", 2, "missing flags: --token"},

		{[]string{"MESHYARD_RATE_LIMIT=many"}, "version", 2,
			`--rate-limit: must be a whole number (got "many") (from the environment variable MESHYARD_RATE_LIMIT)` + "\n"},
		{[]string{"MESHYARD_LISTEN=x"}, "version", 2,
			"missing port in address (from the environment variable MESHYARD_LISTEN)\n"},
		{[]string{"MESHYARD_LISTEN=:1"}, "version --listen x", 2, "missing port in address\n"},
		{[]string{"MESHYARD_SITE_LOGO=/nowhere"}, "serve", 2, "(from the environment variable MESHYARD_SITE_LOGO)\n"},
		{[]string{"MESHYARD_RATE_LIMIT_FILE=" + wrong}, "version", 2,
			"(from the environment variable MESHYARD_RATE_LIMIT_FILE)\n"},
		{[]string{"MESHYARD_SMTP_URL_FILE=" + wrong}, "version", 2, "--smtp-url: must be smtp://"},
		{[]string{"MESHYARD_SMTP_URL_FILE=" + wrong, "MESHYARD_SMTP_URL="}, "version", 2, "--smtp-url: must be smtp://"},
		{[]string{"MESHYARD_SMTP_URL_FILE=" + wrong}, "version --smtp-url=", 0, ""},
		{[]string{"MESHYARD_SMTP_URL_FILE="}, "version", 0, ""},
		{[]string{"MESHYARD_RATE_LIMIT_FILE=" + limit}, "version", 0, ""},
		{[]string{"MESHYARD_RATE_LIMIT_FILE=" + limit, "MESHYARD_RATE_LIMIT=90"}, "version", 2,
			"MESHYARD_RATE_LIMIT and MESHYARD_RATE_LIMIT_FILE are both set"},
		{[]string{"MESHYARD_METRICS_TOKEN_FILE=" + empty}, "version", 2, "MESHYARD_METRICS_TOKEN_FILE: " + empty +
			" is empty"},
		{[]string{"MESHYARD_METRICS_TOKEN_FILE=" + dir + "/none"}, "version", 2, "MESHYARD_METRICS_TOKEN_FILE: open " + dir +
			"/none"},
		{[]string{"MESHYARD_IMPORT_TOKEN_FILE=" + dir}, "import account --from http://127.0.0.1:1", 2,
			"MESHYARD_IMPORT_TOKEN_FILE: read " + dir},
		{[]string{"MESHYARD_IMPORT_TOKEN_FILE=" + limit}, "import account --from nowhere --user ada", 1, "--from"},
		{[]string{"MESHYARD_IMPORT_TOKEN=x"}, "import account --from http://127.0.0.1:1", 1, "--user: required"},
	} {
		c.env = test.env
		_, stderr, err := c.try(strings.Fields(test.args)...)
		if exitStatus(err) != test.status || !strings.Contains(stderr, test.says) || test.says == "" && stderr != "" {
			t.Errorf("%q meshyard %s: %v, %q; want exit status %d and %q", test.env, test.args, err, stderr, test.status,
				test.says)
		}
	}
}

// TestOnlySomeCommandsCreate checks that only the commands that are meant to create a catalogue do
// so, and that the others report what is missing.
func TestOnlySomeCommandsCreate(t *testing.T) {
	t.Parallel()
	binary := buildBinary(t)
	looks := []string{
		"token create ada", "user list", "user show ada", "user rename ada b", "user suspend ada", "user unsuspend ada",
		"user delete ada --yes", "token list ada", "token revoke 1", "user password ada",
		"app create A --redirect https://a.example/", "app list", "app delete x",
		"fsck", "gc", "gc --dry-run", "derive", "recount", "doctor", "backup DIR",
	}
	c := newCatalogue(t, binary, "")
	dir := filepath.Join(t.TempDir(), "backup")
	for _, line := range looks {
		cmd := c.command(strings.Fields(strings.ReplaceAll(line, "DIR", dir))...)
		cmd.Stdin = strings.NewReader("correct horse battery\n")
		out, err := cmd.CombinedOutput()
		if exitStatus(err) != 1 || !strings.Contains(string(out), "there is no database at "+c.data) {
			t.Errorf("meshyard %s without a database: %v, %q", line, err, out)
		}
		for _, created := range []string{c.data, dir} {
			if _, err := os.Stat(created); err == nil {
				t.Fatalf("meshyard %s created %s", line, created)
			}
		}
	}
	_, stderr, err := c.try("user", "create", "no name")
	if _, missing := os.Stat(c.data); exitStatus(err) != 2 || missing == nil ||
		!strings.Contains(stderr, `username "no name": must be 1 to 64 letters`) {
		t.Errorf("creating a user with an invalid name: %v, %q, and the data folder is %v", err, stderr, missing)
	}
	empty := newCatalogue(t, binary, pgtest.Database(t))
	if err := os.MkdirAll(filepath.Join(empty.data, "bucket"), 0o750); err != nil {
		t.Fatal(err)
	}
	if _, stderr, err := empty.try("fsck"); exitStatus(err) != 1 ||
		!strings.Contains(stderr, "migrations 0001_baseline") || !strings.Contains(stderr, "run meshyard migrate") {
		t.Errorf("fsck on an empty PostgreSQL database: %v, %q", err, stderr)
	}
	c.run("migrate")
	if _, stderr, err := c.try("fsck"); exitStatus(err) != 1 ||
		!strings.Contains(stderr, "there is no bucket folder at "+c.data) {
		t.Errorf("fsck without a bucket: %v, %q", err, stderr)
	}
	for _, line := range []string{"user create ada", "import things FILE", "serve"} {
		c := newCatalogue(t, binary, "")
		if line == "serve" {
			c.stop(c.serve())
		} else {
			file := filepath.Join(t.TempDir(), "things.csv")
			if err := os.WriteFile(file, []byte("name,creator\nGear,bob\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			c.run(strings.Fields(strings.ReplaceAll(line, "FILE", file))...)
		}
		c.run("fsck")
	}
}

// TestFirstAdministrator checks that a server without an administrator creates one, also after an
// import and if the name is taken, and that the next start prints how to create a token.
func TestFirstAdministrator(t *testing.T) {
	t.Parallel()
	binary := buildBinary(t)
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			c := newCatalogue(t, binary, databaseOn(t, engine))
			file := filepath.Join(t.TempDir(), "things.csv")
			if err := os.WriteFile(file, []byte("name,creator\nGear,Admin\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			c.run("import", "things", file)
			s := c.serve()
			c.stop(s)
			first := s.stdout.String()
			shown := regexp.MustCompile(`(?m)^ {4}(meshyard_\w+)$`).FindStringSubmatch(first)
			if shown == nil || !strings.Contains(first, "the user admin-2 was created") ||
				!strings.Contains(first, s.url+"/graphiql") {
				t.Fatalf("the first start printed %q", first)
			}
			s = c.serve()
			request, _ := http.NewRequest("POST", s.url+"/graphql", strings.NewReader(`{"query":"{ me { username role } }"}`))
			request.Header.Set("Authorization", "Bearer "+shown[1])
			request.Header.Set("Content-Type", "application/json")
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if body, _ := io.ReadAll(response.Body); !strings.Contains(string(body),
				`"username":"admin-2","role":"ADMINISTRATOR"`) {
				t.Errorf("with the first token: %s", body)
			}
			c.stop(s)
			if second := s.stdout.String(); !strings.Contains(second, s.url+"/graphiql") ||
				!strings.Contains(second, "token create USERNAME\n") ||
				!strings.Contains(second, "token create USERNAME --scope read,write,admin\n") ||
				strings.Contains(second, "meshyard_") {
				t.Errorf("the second start printed %q", second)
			}
		})
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	binary := buildBinary(t)
	help := func(args ...string) string {
		cmd := exec.Command(binary, append(args, "--help")...)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	serve := help("serve")
	if own, settings := strings.Index(serve, "--drain"), strings.Index(serve, "--database-url"); own < 0 ||
		settings < own || !strings.Contains(serve, "MESHYARD_DATABASE_URL") ||
		!strings.Contains(serve, "($MESHYARD_DRAIN)") || strings.Contains(serve, ",...,...") ||
		!strings.Contains(serve, "--oidc-scopes=SCOPE,... ") {
		t.Errorf("serve --help: want its own flag and then the settings, got %s", serve)
	}
	if create := help("token", "create"); !strings.Contains(create, "--scope") ||
		strings.Contains(create, "--rate-limit") || !strings.Contains(create, "MESHYARD_DATABASE_URL") {
		t.Errorf("token create --help: want its own flags and where the settings are, got %s", create)
	}
	if all := help(); !strings.Contains(all, "token ") || !strings.Contains(all, "Exit status: 0") ||
		strings.Contains(all, "--rate-limit") {
		t.Errorf("--help: %s", all)
	}
	for _, args := range [][]string{{"version"}, {"--version"}} {
		out, err := exec.Command(binary, args...).Output()
		if err != nil || !strings.HasPrefix(string(out), "meshyard ") || !strings.Contains(string(out), runtime.Version()) {
			t.Errorf("meshyard %s: %v, %q", args, err, out)
		}
	}
	complete := exec.Command(binary)
	complete.Env = append(os.Environ(), "COMP_LINE=meshyard tok")
	if out, err := complete.Output(); err != nil || string(out) != "token\n" {
		t.Errorf("completion of tok: %v, %q", err, out)
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if out, err := exec.Command(binary, "completion", shell).Output(); err != nil ||
			!strings.Contains(string(out), binary) {
			t.Errorf("completion %s: %v, %q", shell, err, out)
		}
	}
}

// TestImportThings checks that a file is imported completely, or rejected with an error for each
// invalid row.
func TestImportThings(t *testing.T) {
	binary := buildBinary(t)
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			c := newCatalogue(t, binary, databaseOn(t, engine))
			file := func(name, text string) string {
				path := filepath.Join(t.TempDir(), name)
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				return path
			}
			refused := func(path string, says ...string) {
				t.Helper()
				_, stderr, err := c.try("import", "things", path)
				for _, want := range says {
					if err == nil || !strings.Contains(stderr, want) {
						t.Errorf("%v, %s; want an error that says %q", err, stderr, want)
					}
				}
			}
			refused(file("a.txt", "name,creator\n"), "must end in .csv")
			refused(file("a.csv", "name,creator,color\n"), "color")
			refused(file("a.csv", "name,creator,license,category\nGear,bob,cc-sa,Art\nÉtagère,b b,xyz,nowhere\n,ada,,\n"),
				`row 2 (line 3): creator: "b b" is not a username`, `license: "xyz" is not one of`,
				`category: "nowhere" does not exist`, "row 3 (line 4)", "2 of 3 rows are invalid, so nothing was loaded")
			refused(file("a.jsonl",
				`{"name":"A","creator":"bob","id":7}`+"\n"+`{"name":"B","creator":"bob","id":7}`+"\n"+`{"name":"C","creator":"bob"}`+"\n"), "id: 7 is also the id of row 1", "id: either all rows or none must have one")

			good := file("b.jsonl",
				`{"name":"Gear","creator":"bob","license":"cc-sa","tags":["a","b"],"category":"Art"}`+"\n"+`{"name":"Étagère","creator":"Ada","date":"2020-01-02"}`+"\n")
			if out := c.run("import", "things", good); !strings.Contains(out, "imported 2 things and created 2 users in ") {
				t.Errorf("import said %q", out)
			}
			one := file("one.jsonl", `{"name":"Nut","creator":"bob"}`+"\n")
			if out, stderr, err := c.try("import", "things", one); err != nil ||
				!strings.HasPrefix(out, "imported 1 thing and created 0 users in ") ||
				!strings.Contains(stderr, "imported 1 thing;") {
				t.Errorf("import of one thing: %v, %q, %q", err, out, stderr)
			}
			named := file("c.csv", "id,name,creator\n10,Ten,bob\n2,Two,bob\n")
			refused(named, "thing 2 exists already", "nothing is imported")
			named = file("c.csv", "id,name,creator\n10,Ten,bob\n11,Eleven,bob\n")
			if out := c.run("import", "things", named); !strings.Contains(out, "imported 2 things") {
				t.Errorf("import said %q", out)
			}
			server := c.serve()
			token := strings.TrimSpace(c.run("token", "create", "ada", "--scope", "read"))
			request, _ := http.NewRequest("GET", server.url+"/search/?sort=newest", nil)
			request.Header.Set("Authorization", "Bearer "+token)
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			var found struct {
				Total int
				Hits  []struct {
					ID      int64
					Name    string
					Creator struct{ Name string }
				}
			}
			if err := json.NewDecoder(response.Body).Decode(&found); err != nil || found.Total != 5 ||
				found.Hits[4].Name != "Étagère" || found.Hits[4].Creator.Name != "Ada" || found.Hits[0].ID != 11 {
				t.Errorf("found %+v, %v", found, err)
			}
		})
	}
}
