package mail_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/mail"
	"github.com/meshyard/meshyard/internal/mail/mailtest"
)

const from = "Models <no-reply@example.org>"

var certificate *tls.Config

// TestMain makes the system trust the certificate of the test servers, like an operator with a
// certificate authority of their own.
func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "meshyard-mail-")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		var trusted []byte
		certificate, trusted = mailtest.Certificate()
		path := filepath.Join(dir, "trusted.pem")
		if err := os.WriteFile(path, trusted, 0o600); err != nil {
			panic(err)
		}
		os.Setenv("SSL_CERT_FILE", path)
		return m.Run()
	}())
}

func send(t *testing.T, url string, m mail.Message) error {
	t.Helper()
	sender, err := mail.New(url, from)
	if err != nil {
		t.Fatal(err)
	}
	return sender.Send(t.Context(), m)
}

var message = mail.Message{To: "ada@example.org", Subject: "Schön", Text: "Hello.\n\nhttps://example.org/?token=a=b\n"}

// TestEncryptedAndAuthenticated sends mails to servers that require TLS and a password, with each
// authentication mechanism, and with TLS from the start of the connection or by STARTTLS. It checks
// that neither the mail nor the password is sent without TLS.
func TestEncryptedAndAuthenticated(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]mailtest.Options{
		"STARTTLS PLAIN": {Mechanisms: []string{"PLAIN"}},
		"STARTTLS LOGIN": {Mechanisms: []string{"LOGIN"}},
		"STARTTLS both":  {Mechanisms: []string{"LOGIN", "PLAIN"}},
		"TLS PLAIN":      {Mechanisms: []string{"PLAIN"}, Implicit: true},
		"TLS LOGIN":      {Mechanisms: []string{"LOGIN"}, Implicit: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options.TLS, options.Username, options.Password = certificate, "meshyard", "p@ss:w/rd"
			box := mailtest.New(t, options)
			if err := send(t, box.URL, message); err != nil {
				t.Fatal(err)
			}
			got := box.Next()
			want := mailtest.Mail{From: from, To: message.To, Subject: message.Subject, Text: strings.ReplaceAll(message.Text,
				"\n", "\r\n"), Encrypted: true, User: "meshyard"}
			if got.Text = strings.ReplaceAll(strings.ReplaceAll(got.Text, "\r\n", "\n"), "\n", "\r\n"); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
			if sent := box.Unencrypted(); strings.Contains(sent, "AUTH") || strings.Contains(sent, "MAIL") {
				t.Errorf("without TLS it sent %q", sent)
			}
		})
	}
}

// TestNothingWithoutTLS checks that neither the mail nor the password is sent if the server has no
// TLS, or has a certificate that is not trusted or belongs to another host.
func TestNothingWithoutTLS(t *testing.T) {
	t.Parallel()
	const password = "a secret"
	account := mailtest.Options{Mechanisms: []string{"PLAIN", "LOGIN"}, Username: "meshyard", Password: password}
	offers := func(c *tls.Config) mailtest.Options {
		o := account
		o.TLS = c
		return o
	}
	for name, c := range map[string]struct {
		options mailtest.Options
		url     func(string) string
	}{
		"no STARTTLS": {account,
			func(u string) string { return strings.Replace(u, "optional", "required", 1) }},
		"no STARTTLS, by default": {account, func(u string) string {
			return strings.Replace(u, "?starttls=optional",
				"", 1)
		}},
		"no STARTTLS and no password": {mailtest.Options{},
			func(u string) string { return strings.Replace(u, "?starttls=optional", "", 1) }},
		"STARTTLS is optional": {account, func(u string) string { return u }},
		"the certificate of another host": {offers(certificate),
			func(u string) string { return strings.Replace(u, "127.0.0.1", "localhost", 1) }},
		"the same where TLS is optional": {offers(certificate),
			func(u string) string { return strings.Replace(u, "127.0.0.1", "localhost", 1) + "?starttls=optional" }},
		"a server that has no TLS on smtps": {account,
			func(u string) string { return strings.Replace(u, "smtp:", "smtps:", 1) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			box := mailtest.New(t, c.options)
			err := send(t, c.url(box.URL), message)
			if err == nil || errors.Is(err, mail.ErrPermanent) || strings.Contains(err.Error(), password) {
				t.Errorf("got %v, want an error that is worth another attempt and has no password", err)
			}
			box.None()
			sent := box.Unencrypted()
			for _, secret := range []string{password, base64.StdEncoding.EncodeToString([]byte(password)),
				base64.StdEncoding.EncodeToString([]byte("\x00meshyard\x00" + password)), message.Text} {
				if strings.Contains(sent, secret) {
					t.Errorf("it sent %q without TLS", sent)
				}
			}
		})
	}
}

// TestRefused checks which rejections are permanent. A wrong password is not, because the operator
// can change it.
func TestRefused(t *testing.T) {
	t.Parallel()
	box := mailtest.New(t, mailtest.Options{TLS: certificate, Mechanisms: []string{"PLAIN"}, Username: "meshyard",
		Password: "right"})
	open := mailtest.New(t, mailtest.Options{})
	for name, c := range map[string]struct {
		url, to   string
		permanent bool
	}{
		"a wrong password":      {strings.Replace(box.URL, "right", "wrong", 1), message.To, false},
		"no password":           {strings.Replace(box.URL, "meshyard:right@", "", 1), message.To, false},
		"an unknown recipient":  {box.URL, "unknown@example.org", true},
		"for the time being":    {box.URL, "later@example.org", false},
		"no address":            {box.URL, "ada", true},
		"a second header":       {open.URL, "ada@example.org\r\nBcc: eve@example.org", true},
		"a second recipient":    {open.URL, "ada@example.org, eve@example.org", true},
		"a server that is away": {"smtp://127.0.0.1:1?starttls=optional", message.To, false},
	} {
		t.Run(name, func(t *testing.T) {
			err := send(t, c.url, mail.Message{To: c.to, Subject: "x", Text: "x"})
			if err == nil || errors.Is(err, mail.ErrPermanent) != c.permanent || strings.Contains(err.Error(), "wrong@") {
				t.Errorf("got %v, want an error that is permanent: %v", err, c.permanent)
			}
		})
	}
	box.None()
	open.None()
}

// TestSendEnds checks that Send returns when its context is done, even if the server does not
// answer.
func TestSendEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	box := mailtest.New(t, mailtest.Options{})
	sender, err := mail.New(box.URL, from)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := sender.Send(ctx, message); err == nil || errors.Is(err, mail.ErrPermanent) {
		t.Errorf("after the job was stopped: got %v, want an error that is worth another attempt", err)
	}
}

// TestEndlessReply checks that a mail server cannot make the client hold an endless reply in
// memory.
func TestEndlessReply(t *testing.T) {
	t.Parallel()
	const most = 64 << 20
	for scheme, wrap := range map[string]func(net.Conn) net.Conn{
		"smtp":  func(c net.Conn) net.Conn { return c },
		"smtps": func(c net.Conn) net.Conn { return tls.Server(c, certificate) },
	} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			sent := make(chan int, 1)
			go func() {
				defer close(sent)
				c, err := l.Accept()
				if err != nil {
					return
				}
				defer c.Close()
				n, to := 0, wrap(c)
				for part := bytes.Repeat([]byte("x"), 1<<16); n < most && err == nil; n += len(part) {
					_, err = to.Write(part)
				}
				sent <- n
			}()
			if err := send(t, scheme+"://"+l.Addr().String(), message); err == nil || errors.Is(err, mail.ErrPermanent) {
				t.Errorf("got %v, want an error that is worth another attempt", err)
			}
			if n := <-sent; n >= most {
				t.Errorf("the client read %d bytes of a reply", n)
			}
		})
	}
}
