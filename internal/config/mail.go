package config

import (
	"errors"
	"fmt"
	"net/mail"
	"net/url"
)

// checkMail checks the mail settings. Errors do not contain the URL, because it contains a
// password.
func (s *Settings) checkMail() error {
	if s.SMTPURL == "" {
		if s.SMTPFrom != "" {
			return errors.New("--smtp-from: requires --smtp-url")
		}
		return nil
	}
	u, err := url.Parse(s.SMTPURL)
	if err != nil || u.Scheme != "smtp" && u.Scheme != "smtps" || u.Hostname() == "" || u.Path != "" && u.Path != "/" {
		return fmt.Errorf("--smtp-url: must be smtp://USER:PASSWORD@HOST:587 or smtps://USER:PASSWORD@HOST:465")
	}
	if starttls := u.Query().Get("starttls"); starttls != "" && starttls != "optional" && starttls != "required" {
		return fmt.Errorf("--smtp-url: starttls must be required or optional")
	}
	if _, err := mail.ParseAddress(s.SMTPFrom); err != nil {
		return fmt.Errorf("--smtp-from %q: must be an address such as Meshyard <no-reply@example.org>", s.SMTPFrom)
	}
	if s.BaseURLIsDefault {
		return errors.New("--smtp-url: requires --base-url, with which the links in mails begin")
	}
	return nil
}
