package config

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"unicode"
)

var update = flag.Bool("update", false, "write docs/configuration.md")

const introduction = `# Configuration

You can set every option with a command line flag or with an environment variable. The flag takes
precedence. There is no configuration file, and a change needs a restart.

- All commands accept all flags, except for --wait and --drain, which only "meshyard serve" has.
- "meshyard serve --help" prints this list too.
- Sizes and durations have a unit: 250MiB, 5MB, 90s, 24h, 2d.
- Write a flag as --listen 127.0.0.1:8080, and a boolean flag as --hardened or --no-anonymous-read.
- The value of a boolean variable is true or false.
- Separate the entries of a list by commas.
- An empty variable counts as not set. To set an empty value, write the flag with nothing after the
  equals sign: --oidc-scopes=.
- At the start, commands log a warning for each unknown variable that begins with MESHYARD_.

The value of a variable can also be in a file, such as a secret of Docker or Kubernetes or a
credential of systemd. Append _FILE to the name of the variable, and set it to the path:
MESHYARD_SMTP_URL_FILE=/run/secrets/smtp_url reads --smtp-url from that file.

- Line breaks at the end of the file are removed.
- An empty file is an error, and so is setting both variables.

These settings are secrets:

- --metrics-token and --oidc-client-secret
- --database-url and --smtp-url, if they have a password
- MESHYARD_IMPORT_TOKEN of "meshyard import account"

The keys of an S3 bucket are not settings of Meshyard. They can be in a file, too: see
[operating.md](operating.md#storage).

`

// subjects are the rows of the table of all settings by subject.
var subjects = []struct{ subject, settings string }{
	{"addresses", "listen base-url trusted-proxies cors-origins"},
	{"database and files",
		"data database-url database-connections database-replica-url bucket-url bucket-public-url bucket-redirect upload-limit pending-ttl keep-deleted"},
	{"start and stop", "roles wait drain shutdown-delay"},
	{"libraries", "library library-owner library-publish library-interval"},
	{"imports from URLs", "link-limit link-allow-private"},
	{"previews", "preview-workers preview-memory cad-converter"},
	{"what clients can do", "anonymous-read hardened documents open-in sunset"},
	{"limits", "rate-limit thing-files quota-bytes quota-pending quota-things quota-makes quota-comments quota-collections quota-collected"},
	{"the look of the gallery", "site-name site-logo site-color site-folder"},
	{"accounts and mail", "registration smtp-url smtp-from"},
	{"printers", "printer-networks"},
	{"webhooks", "webhook-allow-private webhook-timeout"},
	{"logs, metrics and traces", "log-level log-format metrics-listen metrics-token otlp-endpoint trace-ratio"},
	{"OpenID Connect: the provider", "oidc-issuer oidc-client-id oidc-client-secret oidc-scopes"},
	{"OpenID Connect: users", "oidc-username-claim oidc-name-claim oidc-email-claim oidc-allow-unverified-email"},
	{"OpenID Connect: who may sign in", "oidc-groups-claim oidc-allowed-groups oidc-allowed-domains"},
	{"OpenID Connect: roles", "oidc-role-claim oidc-administrators oidc-moderators"},
}

// subjectTable returns the table of subjects in Markdown, and how often it lists each setting.
func subjectTable() (table string, listed map[string]int) {
	table, listed = "| Subject | Settings |\n|---|---|\n", make(map[string]int)
	for _, s := range subjects {
		var links []string
		for _, name := range strings.Fields(s.settings) {
			links = append(links, fmt.Sprintf("[`--%s`](#--%s)", name, name))
			listed[name]++
		}
		table += fmt.Sprintf("| %s | %s |\n", s.subject, strings.Join(links, ", "))
	}
	return table + "\n", listed
}

// TestDocument checks that docs/configuration.md lists exactly the settings of the structs, with
// their help. The flag -update writes the file.
func TestDocument(t *testing.T) {
	const path = "../../docs/configuration.md"
	var b strings.Builder
	b.WriteString(introduction)
	table, listed := subjectTable()
	b.WriteString(table)
	fields := append(reflect.VisibleFields(reflect.TypeFor[Settings]()),
		reflect.VisibleFields(reflect.TypeFor[ServeSettings]())...)
	for _, field := range fields {
		if field.Tag.Get("kong") == "-" {
			continue
		}
		name := field.Tag.Get("name")
		if name == "" {
			name = kebab(field.Name)
		}
		if listed[name] != 1 {
			t.Errorf("subjects lists %s %d times, want once", name, listed[name])
		}
		delete(listed, name)
		help, _, _ := strings.Cut(field.Tag.Get("help"), " Default: ${default}")
		if !strings.HasSuffix(help, ".") || field.Tag.Get("env") != "MESHYARD_"+strings.ToUpper(strings.ReplaceAll(name, "-",
			"_")) {
			t.Errorf("%s: want a help text that ends in a full stop, and the environment variable of its name; got %q and %s",
				name, help, field.Tag.Get("env"))
		}
		fmt.Fprintf(&b, "## `--%s`\n\n`%s`", name, field.Tag.Get("env"))
		if value := field.Tag.Get("default"); value != "" {
			fmt.Fprintf(&b, ", default `%s`", value)
		}
		fmt.Fprintf(&b, "\n\n%s\n\n", wrap(help, 100))
	}
	for name := range listed {
		t.Errorf("subjects lists %s, which is no setting", name)
	}
	want := strings.TrimSuffix(b.String(), "\n")
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/configuration.md is not what the settings say: run go test ./internal/config -run TestDocument -update, and review the difference")
	}
}

// kebab returns the name that kong gives to a field: BaseURL is base-url.
func kebab(field string) string {
	var b strings.Builder
	letters := []rune(field)
	for i, r := range letters {
		startsWord := i > 0 && unicode.IsUpper(r) && (unicode.IsLower(letters[i-1]) || i+1 < len(letters) &&
			unicode.IsLower(letters[i+1]))
		if startsWord {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

func wrap(text string, width int) string {
	var b strings.Builder
	column := 0
	for word := range strings.FieldsSeq(text) {
		switch {
		case column == 0:
		case column+1+len([]rune(word)) > width:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len([]rune(word))
	}
	return b.String()
}
