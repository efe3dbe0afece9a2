package servertest

import (
	"bufio"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"net/textproto"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Mailbox is an SMTP server that keeps the mails that it gets.
type Mailbox struct {
	URL string // for --smtp-url

	t       testing.TB
	refused atomic.Int32 // mails to be refused for the time being
	mails   chan Mail
}

// Mail is a mail that a Mailbox got.
type Mail struct{ From, To, Subject, Text string }

// NewMailbox starts an SMTP server until the end of the test.
func NewMailbox(t testing.TB) *Mailbox {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	m := &Mailbox{URL: "smtp://" + listener.Addr().String() + "?starttls=optional", t: t, mails: make(chan Mail, 100)}
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

// Refuse makes the server refuse the next n mails for the time being.
func (m *Mailbox) Refuse(n int32) { m.refused.Store(n) }

// mailTimeout is how long a mail may take. It is long, because tests run many servers at once.
const mailTimeout = time.Minute

// Next returns the next mail.
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

// None fails the test if there is a mail.
func (m *Mailbox) None() {
	m.t.Helper()
	select {
	case mail := <-m.mails:
		m.t.Errorf("a mail arrived: %+v", mail)
	default:
	}
}

// Link returns the link in a mail.
func (m Mail) Link() string {
	for line := range strings.Lines(m.Text) {
		if strings.HasPrefix(line, "http") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// serve speaks as much of RFC 5321 as a client needs to send mail.
func (m *Mailbox) serve(conn net.Conn) {
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(mailTimeout))
	in := textproto.NewReader(bufio.NewReader(conn))
	answer := func(text string) { fmt.Fprint(conn, text+"\r\n") }
	answer("220 test ESMTP")
	var to string
	for {
		line, err := in.ReadLine()
		if err != nil {
			return
		}
		switch verb, rest, _ := strings.Cut(line, " "); strings.ToUpper(verb) {
		case "EHLO", "HELO":
			answer("250 test")
		case "RCPT":
			to = strings.Trim(strings.TrimPrefix(rest, "TO:"), "<>")
			answer("250 ok")
		case "DATA":
			answer("354 go on")
			text, err := io.ReadAll(in.DotReader())
			if err != nil {
				return
			}
			if m.refused.Add(-1) >= 0 {
				answer("451 try again later")
				continue
			}
			m.keep(to, string(text))
			answer("250 ok")
		case "QUIT":
			answer("221 bye")
			return
		default:
			answer("250 ok")
		}
	}
}

// keep decodes a mail.
func (m *Mailbox) keep(to, text string) {
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
	m.mails <- Mail{From: from.Name + " <" + from.Address + ">", To: to, Subject: subject, Text: string(content)}
}
