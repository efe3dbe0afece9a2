package mailtest

import (
	"bufio"
	"crypto/tls"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Options configure a Mailbox. The zero value has neither TLS nor authentication.
type Options struct {
	TLS      *tls.Config // offers STARTTLS
	Implicit bool        // TLS from the start of the connection, instead of STARTTLS
	// Mechanisms lists the offered mechanisms of AUTH: PLAIN, LOGIN or both. If it is not empty,
	// clients must authenticate as Username with Password, over TLS.
	Mechanisms         []string
	Username, Password string
}

// url returns the URL of the server for clients, including the user name and the password.
func (o Options) url(address string) string {
	u := url.URL{Scheme: "smtp", Host: address}
	if o.Implicit {
		u.Scheme = "smtps"
	}
	if o.TLS == nil {
		u.RawQuery = "starttls=optional"
	}
	if o.Username != "" {
		u.User = url.UserPassword(o.Username, o.Password)
	}
	return u.String()
}

// Certificate returns a TLS configuration for 127.0.0.1, and the certificate that clients must
// trust, in PEM.
func Certificate() (*tls.Config, []byte) {
	s := httptest.NewUnstartedServer(nil)
	s.StartTLS()
	defer s.Close()
	return &tls.Config{Certificates: s.TLS.Certificates},
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}

// session is an SMTP session with a client.
type session struct {
	*Mailbox
	conn net.Conn
	in   *textproto.Reader
	mail Mail // the current mail; Encrypted and User are kept for the next one
}

// serve implements as much of RFC 5321, 3207 (STARTTLS) and 4954 (AUTH) as a client needs to send
// mail.
func (m *Mailbox) serve(conn net.Conn) {
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(mailTimeout))
	s := &session{Mailbox: m}
	if m.options.Implicit {
		conn = tls.Server(conn, m.options.TLS)
	}
	s.use(conn, m.options.Implicit)
	s.reply("220 test ESMTP")
	for {
		line, err := s.in.ReadLine()
		if err != nil {
			return
		}
		verb, rest, _ := strings.Cut(line, " ")
		if !s.command(strings.ToUpper(verb), rest) {
			return
		}
	}
}

func (s *session) use(conn net.Conn, encrypted bool) {
	s.conn, s.mail.Encrypted = conn, encrypted
	var in io.Reader = conn
	if !encrypted {
		in = io.TeeReader(conn, (*unencrypted)(s.Mailbox))
	}
	s.in = textproto.NewReader(bufio.NewReader(in))
}

// unencrypted is an io.Writer that records what clients send without TLS.
type unencrypted Mailbox

func (m *unencrypted) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.unencrypted.Write(p)
}

func (s *session) reply(lines ...string) { fmt.Fprint(s.conn, strings.Join(lines, "\r\n")+"\r\n") }

// command executes a command and reports whether the session continues.
func (s *session) command(verb, rest string) bool {
	switch verb {
	case "EHLO", "HELO":
		lines := []string{"250-test"}
		if s.options.TLS != nil && !s.mail.Encrypted {
			lines = append(lines, "250-STARTTLS")
		}
		if len(s.options.Mechanisms) > 0 {
			lines = append(lines, "250-AUTH "+strings.Join(s.options.Mechanisms, " "))
		}
		s.reply(append(lines, "250 8BITMIME")...)
	case "STARTTLS":
		s.reply("220 go on")
		s.use(tls.Server(s.conn, s.options.TLS), true)
	case "AUTH":
		s.authenticate(rest)
	case "MAIL":
		if len(s.options.Mechanisms) > 0 && s.mail.User == "" {
			s.reply("530 authenticate first")
			break
		}
		s.reply("250 ok")
	case "RCPT":
		to, _, _ := strings.Cut(strings.TrimPrefix(rest, "TO:<"), ">")
		switch s.mail.To = to; {
		case strings.HasPrefix(to, "unknown@"):
			s.reply("550 no such user")
		case strings.HasPrefix(to, "later@"):
			s.reply("451 try again later")
		default:
			s.reply("250 ok")
		}
	case "DATA":
		s.reply("354 go on")
		text, err := io.ReadAll(s.in.DotReader())
		if err != nil {
			return false
		}
		if s.refused.Add(-1) >= 0 {
			s.reply("451 try again later")
			break
		}
		s.keep(s.mail, string(text))
		s.reply("250 ok")
	case "QUIT":
		s.reply("221 bye")
		return false
	default:
		s.reply("250 ok")
	}
	return true
}

// authenticate handles AUTH, whose first argument is the mechanism.
func (s *session) authenticate(rest string) {
	mechanism, first, _ := strings.Cut(rest, " ")
	if !s.mail.Encrypted || !slices.Contains(s.options.Mechanisms, mechanism) {
		s.reply("504 this is not offered")
		return
	}
	decode := func(text string) string {
		b, _ := base64.StdEncoding.DecodeString(text) // invalid base64 becomes a wrong password
		return string(b)
	}
	ask := func(what string) string {
		s.reply("334 " + base64.StdEncoding.EncodeToString([]byte(what)))
		line, _ := s.in.ReadLine() // an error also makes the next command fail
		return decode(line)
	}
	var user, password string
	if mechanism == "PLAIN" {
		parts := append(strings.Split(decode(first), "\x00"), "", "")
		user, password = parts[1], parts[2]
	} else {
		user, password = ask("Username:"), ask("Password:")
	}
	if user != s.options.Username || password != s.options.Password {
		s.reply("535 wrong user name or password")
		return
	}
	s.mail.User = user
	s.reply("235 welcome")
}
