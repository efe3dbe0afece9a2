// Package mailtest provides an SMTP server for tests.
package mailtest

import (
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Mailbox is an SMTP server that stores the mails that it receives.
type Mailbox struct {
	URL string // for --smtp-url

	t       testing.TB
	options Options
	refused atomic.Int32 // number of mails that are still to be rejected temporarily
	mails   chan Mail

	mu          sync.Mutex
	unencrypted strings.Builder // what clients sent without TLS
}

// Mail is a mail that a Mailbox received.
type Mail struct {
	From, To, Subject, Text string
	Encrypted               bool   // received over TLS
	User                    string // the authenticated user; empty: none
}

// New starts an SMTP server that runs until the end of the test. It rejects mails to unknown@
// permanently, and mails to later@ temporarily.
func New(t testing.TB, options Options) *Mailbox {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	m := &Mailbox{t: t, options: options, mails: make(chan Mail, 100)}
	m.URL = options.url(listener.Addr().String())
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go m.serve(conn)
		}
	}()
	return m
}

// Unencrypted returns what clients have sent without TLS.
func (m *Mailbox) Unencrypted() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.unencrypted.String()
}

// Refuse makes the server reject the next n mails temporarily.
func (m *Mailbox) Refuse(n int32) { m.refused.Store(n) }

// mailTimeout is the maximum time for the delivery of a mail. It is long, because tests run many
// servers at once.
const mailTimeout = time.Minute

// Next waits for the next mail and returns it. It fails the test if none arrives in time.
func (m *Mailbox) Next() Mail {
	m.t.Helper()
	select {
	case mail := <-m.mails:
		return mail
	case <-time.After(mailTimeout):
		m.t.Fatal("no mail arrived")
		return Mail{}
	}
}

// None fails the test if a mail has arrived.
func (m *Mailbox) None() {
	m.t.Helper()
	select {
	case mail := <-m.mails:
		m.t.Errorf("a mail arrived: %+v", mail)
	default:
	}
}

// Link returns the first line of a mail that is a URL, or "".
func (m Mail) Link() string {
	for line := range strings.Lines(m.Text) {
		if strings.HasPrefix(line, "http") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// keep parses a mail and stores it.
func (m *Mailbox) keep(got Mail, text string) {
	message, err := mail.ReadMessage(strings.NewReader(text))
	if err != nil {
		m.t.Errorf("a mail cannot be read: %v: %s", err, text)
		return
	}
	body := message.Body
	if message.Header.Get("Content-Transfer-Encoding") == "quoted-printable" {
		body = quotedprintable.NewReader(body)
	}
	content, err := io.ReadAll(body)
	if err != nil {
		m.t.Errorf("a mail cannot be read: %v: %s", err, text)
		return
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(message.Header.Get("Subject"))
	if err != nil {
		m.t.Errorf("a mail cannot be read: %v: %s", err, text)
	}
	from, err := mail.ParseAddress(message.Header.Get("From"))
	if err != nil {
		m.t.Errorf("a mail cannot be read: %v: %s", err, text)
		return
	}
	got.From, got.Subject, got.Text = from.Name+" <"+from.Address+">", subject, string(content)
	m.mails <- got
}
