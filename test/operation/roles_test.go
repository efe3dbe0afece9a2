package operation_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/mail/mailtest"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestMailsOfTwoServers checks that a server without a mail server leaves mails to one that has it.
func TestMailsOfTwoServers(t *testing.T) {
	t.Parallel()
	const mails = 60
	settings := servertest.Settings(t, string(database.Postgres))
	settings.DatabaseConnections = 4
	withoutMail := servertest.Run(t, settings)
	box := mailtest.New(t, mailtest.Options{})
	settings.SMTPURL, settings.SMTPFrom = box.URL, "no-reply@example.org"
	admin := servertest.Run(t, settings).Administrator()
	for i := range mails {
		admin.Query(`mutation ($email: String) { createInvitation(input: {email: $email}) { url } }`,
			servertest.Object{"email": fmt.Sprintf("user%d@example.org", i)}, new(any))
	}
	// As a server of an earlier version queues them.
	db := servertest.OpenDB(t, withoutMail).SQL()
	if _, err := db.Exec(
		"UPDATE river_job SET queue = 'default' WHERE kind = 'send_mail' AND state = 'available' AND id % 2 = 0"); err != nil {
		t.Fatal(err)
	}
	sent := make(map[string]bool)
	for len(sent) < mails {
		sent[box.Next().To] = true // Next fails if no mail arrives
	}
	box.None()
}

// TestRoles checks that a server without the role mail keeps mails, that operators see them in the
// metrics and in the findings of meshyard doctor, and that a server with that role sends them.
func TestRoles(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		settings, box := s.Settings, mailtest.New(t, mailtest.Options{})
		admin := s.Administrator()
		admin.Query(`mutation { createInvitation(input: {email: "ada@example.org"}) { url } }`, nil, new(any))
		before := time.Now().Add(-10 * time.Minute).UTC().Format("2006-01-02 15:04:05")
		if _, err := servertest.OpenDB(t, s).SQL().Exec("UPDATE river_job SET scheduled_at = '" + before +
			"' WHERE kind = 'send_mail'"); err != nil {
			t.Fatal(err)
		}
		findings, err := s.Diagnose(t.Context())
		if text := strings.Join(findings, "\n"); err != nil || !strings.Contains(text, "1 mails wait, the oldest for 10m") {
			t.Errorf("doctor: got %q, %v", text, err)
		}
		for _, want := range []string{`meshyard_queue_entries{queue="mail",state="waiting"} 1`,
			`meshyard_queue_oldest_seconds{queue="mail"} 6`} {
			if text := servertest.Scrape(t, s); !strings.Contains(text, want) {
				t.Errorf("the metrics do not contain %s", want)
			}
		}

		settings.Roles, settings.SMTPURL = config.Roles{config.RoleMail}, box.URL
		worker := servertest.Run(t, settings)
		if mail := box.Next(); mail.Link() == "" {
			t.Errorf("got the mail %+v, want one with a link", mail)
		}
		for path, want := range map[string]int{"/healthz": http.StatusOK, "/readyz": http.StatusOK, "/": http.StatusNotFound,
			"/graphql": http.StatusNotFound} {
			worker.Client("").Get(path).Want(t, want)
		}
	}, servertest.WithMetrics, func(c *config.Settings) {
		c.Roles, c.SMTPURL, c.SMTPFrom = config.Roles{config.RoleWeb, config.RoleJobs}, "smtp://127.0.0.1:1",
			"no-reply@example.org"
	})
}
