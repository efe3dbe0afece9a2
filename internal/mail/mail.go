// Package mail sends plain-text mails, each to one recipient, through the SMTP server of the
// operator. Each mail opens a connection. The package does not retry: the caller does, unless the
// error matches [ErrPermanent].
package mail

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"time"

	"github.com/wneessen/go-mail"
)

// ErrPermanent matches the errors of mails that the mail server rejected permanently, so a retry is
// useless.
var ErrPermanent = errors.New("rejected by the mail server")

// Message is a plain-text mail.
type Message struct {
	To      string // an address without a name
	Subject string
	Text    string
}

// Sender sends mails. It opens a connection for each mail.
type Sender struct {
	host    string
	from    string
	options []mail.Option
}

const timeout = 30 * time.Second

// maxReplies is how many bytes the mail server may send on one connection, including those of TLS.
// Replies are short, but the client holds a whole line in memory.
const maxReplies = 1 << 20

// connection is a connection to the mail server.
type connection struct {
	net.Conn
	left int // how many bytes the server may still send
}

// Read implements [net.Conn].
func (c *connection) Read(p []byte) (int, error) {
	if c.left == 0 {
		return 0, fmt.Errorf("the mail server sent more than %d bytes", maxReplies)
	}
	n, err := c.Conn.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}

func dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &connection{c, maxReplies}, nil
}

// dialTLS is like dial, with TLS from the start.
func (s *Sender) dialTLS(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	encrypted := tls.Client(c, &tls.Config{ServerName: s.host, MinVersion: tls.VersionTLS12})
	if err := encrypted.HandshakeContext(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return encrypted, nil
}

// authenticationRequired is a reply code that is not treated as permanent, because the operator can
// fix the cause (RFC 4954, section 6).
const authenticationRequired = 530

// New returns a sender for a URL such as smtp://user:password@mail.example.org:587, which requires
// STARTTLS unless its query has starttls=optional, or smtps://mail.example.org:465. from is the
// address of the sender, optionally with a name.
func New(rawURL, from string) (*Sender, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, errors.New("mail: the URL of the mail server is invalid") // err contains the password
	}
	s := &Sender{host: u.Hostname(), from: from, options: []mail.Option{mail.WithTimeout(timeout),
		mail.WithDialContextFunc(dial)}}
	port := 587
	switch {
	case u.Scheme == "smtps":
		port = 465
		// Not WithSSL: with a dial function of its own, the client then considers the connection
		// unencrypted and does not authenticate.
		s.options = append(s.options, mail.WithTLSPolicy(mail.TLSOpportunistic), mail.WithDialContextFunc(s.dialTLS))
	case u.Query().Get("starttls") == "optional":
		s.options = append(s.options, mail.WithTLSPolicy(mail.TLSOpportunistic))
	default:
		s.options = append(s.options, mail.WithTLSPolicy(mail.TLSMandatory))
	}
	if text := u.Port(); text != "" {
		if port, err = strconv.Atoi(text); err != nil {
			return nil, fmt.Errorf("mail: port %q: must be a number", text)
		}
	}
	s.options = append(s.options, mail.WithPort(port))
	if password, ok := u.User.Password(); ok {
		s.options = append(s.options, mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover), mail.WithUsername(u.User.Username()),
			mail.WithPassword(password))
	}
	if _, err := mail.NewClient(s.host, s.options...); err != nil {
		return nil, fmt.Errorf("mail: %w", err)
	}
	return s, nil
}

// Send sends a mail. If the server rejects it permanently, the error matches ErrPermanent.
func (s *Sender) Send(ctx context.Context, m Message) error {
	message := mail.NewMsg()
	if err := errors.Join(message.From(s.from), message.To(m.To)); err != nil {
		return fmt.Errorf("mail: %w: %w", ErrPermanent, err)
	}
	message.Subject(m.Subject)
	message.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: no automatic replies
	message.SetBodyString(mail.TypeTextPlain, m.Text)
	client, err := mail.NewClient(s.host, s.options...)
	if err != nil {
		return fmt.Errorf("mail: %w", err)
	}
	err = client.DialAndSendWithContext(ctx, message)
	var refused *mail.SendError
	if errors.As(err, &refused) && !refused.IsTemp() && refused.ErrorCode() >= 500 &&
		refused.ErrorCode() != authenticationRequired {
		return fmt.Errorf("mail: %w: %w", ErrPermanent, err)
	}
	if err != nil {
		return fmt.Errorf("mail: %w", err)
	}
	return nil
}
