//go:build pgbouncer && unix

package pgtest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// pooler is a running PgBouncer. Like the private server, it ends with the process.
type pooler struct {
	port string
	stop func()
}

// startPooler starts PgBouncer in front of the server of the process.
func startPooler(s *session, mode string, connections int) (*pooler, error) {
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		return nil, fmt.Errorf("run \"sudo apt-get install pgbouncer\": %w", err)
	}
	who, err := unprivileged() // PgBouncer does not run as root either
	if err != nil {
		return nil, err
	}
	folder, lock, err := newFolder(os.TempDir(), who)
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	serverPort := s.address.Port()
	if serverPort == "" {
		serverPort = "5432"
	}
	password, _ := s.address.User.Password()
	for name, content := range map[string]string{
		"users": strconv.Quote(s.address.User.Username()) + " " + strconv.Quote(password) + "\n",
		// server_round_robin: consecutive transactions get different connections.
		"pgbouncer.ini": fmt.Sprintf(
			"[databases]\n* = host=%s port=%s\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %s\nunix_socket_dir =\n"+
				"auth_type = trust\nauth_file = %s/users\npool_mode = %s\ndefault_pool_size = %d\nserver_round_robin = 1\nmax_client_conn = 2000\n",
			s.address.Hostname(), serverPort, port, folder, mode, connections),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644); err != nil {
			return nil, err
		}
	}
	var output bytes.Buffer
	// PgBouncer does not handle SIGQUIT, and newer versions wait for clients after SIGTERM.
	script := strings.Replace(supervise, "kill -QUIT", "kill -KILL", 1)
	server := command(context.Background(), who, "/bin/sh", "-c", script, "sh", folder, program,
		filepath.Join(folder, "pgbouncer.ini"))
	server.SysProcAttr.Setpgid = true
	server.Stdout, server.Stderr = &output, &output
	leash, err := server.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := server.Start(); err != nil {
		return nil, err
	}
	p := &pooler{port, sync.OnceFunc(func() {
		_ = leash.Close()
		_ = server.Wait() // the status of the shell means nothing
		removeFolder(folder, lock)
	})}
	for late := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			return p, conn.Close()
		}
		if time.Now().After(late) {
			p.stop()
			return nil, fmt.Errorf("PgBouncer does not listen: %w\n%s", err, output.String())
		}
	}
}

// addressOf returns the URL of a database behind the pooler.
func (p *pooler) addressOf(s *session, database string, query url.Values) string {
	u := s.address
	u.Host, u.Path, u.RawPath, u.RawQuery = "127.0.0.1:"+p.port, "/"+database, "", "sslmode=disable"
	if len(query) > 0 {
		u.RawQuery += "&" + query.Encode()
	}
	return u.String()
}

var transactionPooler = sync.OnceValues(func() (*pooler, error) {
	s, err := shared()
	if err != nil {
		return nil, err
	}
	return startPooler(s, "transaction", 20)
})

// clientAddress returns the URL of a database for a test: that of a PgBouncer in transaction mode.
func (s *session) clientAddress(database string) (string, error) {
	p, err := transactionPooler()
	if err != nil {
		return "", err
	}
	return p.addressOf(s, database, url.Values{"pool_mode": {"transaction"}}), nil
}

// Direct returns the URL of a database without PgBouncer.
func Direct(t testing.TB, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	s, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return s.addressOf(u.Path[1:])
}

// Pooled creates an empty database, and starts a PgBouncer in a mode and with a number of
// connections. It returns the URL of the database behind PgBouncer, without pool_mode, and the URL
// of the database itself.
func Pooled(t testing.TB, mode string, connections int) (pooled, direct string) {
	t.Helper()
	u, err := url.Parse(Database(t))
	if err != nil {
		t.Fatal(err)
	}
	s, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	p, err := startPooler(s, mode, connections)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.stop)
	return p.addressOf(s, u.Path[1:], nil), s.addressOf(u.Path[1:])
}
