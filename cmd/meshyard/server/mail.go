package server

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/jobs"
	"github.com/meshyard/meshyard/internal/mail"
	"github.com/meshyard/meshyard/internal/web/language"
	"github.com/meshyard/meshyard/internal/web/signin"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/account"
)

// enqueue inserts a job in the transaction of the change that causes it.
func (a *Server) enqueue(ctx context.Context, tx bun.Tx, work models.Work) error {
	switch {
	case work.PurgeAccount != 0:
		return a.queue.PurgeAccount(ctx, tx.Tx, work.PurgeAccount, work.At)
	case work.DeliverWebhook != 0:
		return a.queue.DeliverWebhook(ctx, tx.Tx, work.DeliverWebhook, work.At)
	case work.DrivePrinter != 0:
		return a.queue.DrivePrinter(ctx, tx.Tx, work.DrivePrinter, work.At)
	case work.FinishUpdate != 0:
		return a.queue.FinishUpdate(ctx, tx.Tx, work.FinishUpdate, work.At)
	case work.Mail != nil:
		m := work.Mail
		return a.queue.SendMail(ctx, tx.Tx, jobs.Mail{Purpose: string(m.Purpose), Name: m.Name, Email: m.Email,
			UserID: m.UserID, InvitationID: m.InvitationID, Language: language.From(ctx).Code})
	}
	return a.queue.ExpireUpload(ctx, tx.Tx, work.ExpireUpload, work.At)
}

// sendMail sends the mail of a job with a new link. It deletes the link of a mail that could not be
// sent, and returns an error if the job is to be retried. A permanent failure is logged and not
// retried.
func (a *Server) sendMail(ctx context.Context, m jobs.Mail) error {
	sender, err := mail.New(a.Settings.SMTPURL, a.Settings.SMTPFrom)
	if err != nil {
		return err
	}
	ctx = language.With(ctx, m.Language) // also for the jobs that WriteEmails enqueues
	emails, err := a.Store.Account.WriteEmails(ctx, models.Mail{Purpose: models.LinkPurpose(m.Purpose), Name: m.Name,
		Email: m.Email, UserID: m.UserID, InvitationID: m.InvitationID})
	if err != nil {
		return err
	}
	var failed error
	for _, email := range emails {
		subject, text := a.emailText(language.From(ctx), email)
		err := sender.Send(ctx, mail.Message{To: email.To, Subject: subject, Text: text})
		if err == nil {
			continue
		}
		if err := a.Store.Account.DeleteLink(ctx, email.Secret); err != nil {
			return err
		}
		if errors.Is(err, mail.ErrPermanent) {
			a.Logger.WarnContext(ctx, "the mail server rejected a mail", "purpose", m.Purpose, "error", err.Error())
			continue
		}
		failed = err
	}
	return failed
}

// emailText returns the subject and the text of a mail.
func (a *Server) emailText(in *language.Texts, e account.Email) (subject, text string) {
	t := in.Mails
	page := map[models.LinkPurpose]struct{ path, subject, text string }{
		models.InvitationLink:   {signin.InvitationPath, t.Invitation, t.InvitationText},
		models.SignUpLink:       {signin.InvitationPath, t.SignUp, t.SignUpText},
		models.ConfirmationLink: {signin.ConfirmPath, t.Confirmation, t.ConfirmationText},
		models.ResetLink:        {signin.ResetPath, t.Reset, t.ResetText},
	}[e.Purpose]
	text = page.text
	if strings.Contains(text, "%[2]s") {
		text = fmt.Sprintf(text, a.Settings.SiteName, e.Username)
	} else {
		text = fmt.Sprintf(text, a.Settings.SiteName)
	}
	link := a.Settings.BaseURL + page.path + "?" + url.Values{"token": {e.Secret}}.Encode()
	lines := []string{text, "", link, "", fmt.Sprintf(t.Expires, e.ExpiresAt.UTC().Format(in.Date+", 15:04")), t.Ignore}
	return fmt.Sprintf(page.subject, a.Settings.SiteName), strings.Join(lines, "\n") + "\n"
}

// opensRegistration reports whether visitors may create an account without a link. If the server
// sends mail, they get a link by e-mail first.
func (a *Server) opensRegistration() bool {
	return a.Settings.Registration && a.Settings.SMTPURL == ""
}
