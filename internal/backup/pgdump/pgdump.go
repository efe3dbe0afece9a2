// Package pgdump runs the programs pg_dump and pg_restore of PostgreSQL.
package pgdump

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/meshyard/meshyard/internal/database"
)

// ErrNoProgram matches the error if a program is not installed.
var ErrNoProgram = errors.New(
	"is not in the PATH: install the client programs of PostgreSQL, in a version that is not older than the server")

// Dump writes a schema of the database at a postgres:// URL, as an exported snapshot sees it, to a
// file in the custom format of pg_dump. Extensions and other schemas are not in the file: the role
// may not be able to read them, or to create them.
func Dump(ctx context.Context, address, snapshot, schema, file string) error {
	pattern := `"` + strings.ReplaceAll(schema, `"`, `""`) + `"`
	return run(ctx, address, "pg_dump", "--format=custom", "--schema="+pattern, "--no-owner", "--no-privileges",
		"--no-comments",
		"--no-security-labels", "--no-publications", "--no-subscriptions", "--snapshot="+snapshot, "--file="+file)
}

// Available returns an error that matches [ErrNoProgram] if a program is not installed.
func Available(program string) error {
	if _, err := exec.LookPath(program); err != nil {
		return fmt.Errorf("%s %w", program, ErrNoProgram)
	}
	return nil
}

// Check returns an error if a program is not installed, or cannot be used with the database at a
// postgres:// URL.
func Check(address, program string) error {
	// The programs set search_path and timeouts for their session. Through the pooler, these settings
	// would apply to statements of other clients.
	if !database.DialectOfURL(address).HasSessions() {
		return fmt.Errorf("%s does not work through a connection pooler in transaction mode: run this command with a --database-url that leads to PostgreSQL itself, without pool_mode=transaction", program)
	}
	return Available(program)
}

func run(ctx context.Context, address, program string, args ...string) error {
	_, err := output(ctx, address, program, args...)
	return err
}

// output runs a program and returns its output.
func output(ctx context.Context, address, program string, args ...string) (string, error) {
	if err := Check(address, program); err != nil {
		return "", err
	}
	c, err := connectionTo(address)
	if err != nil {
		return "", err
	}
	if c.keyPassword != "" {
		file, err := writeService(c.keyPassword)
		if err != nil {
			return "", err
		}
		defer os.Remove(file)
		c.environment = append(c.environment, "PGSERVICEFILE="+file, "PGSERVICE="+service)
	}
	args = slices.Insert(args, 0, "--no-password", "--dbname="+c.target)
	command := exec.CommandContext(ctx, program, args...)
	command.Env = append(os.Environ(), c.environment...)
	out, err := command.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", program, err, strings.TrimSpace(string(out)))
	}
	return string(out), nil
}

// drivers lists the parameters of our database driver that pg_dump and pg_restore do not support.
var drivers = []string{"default_query_exec_mode", "statement_cache_capacity", "description_cache_capacity", "pool_mode"}

// programs lists the parameters that pg_dump and pg_restore accept in a URL: those of libpq.
var programs = strings.Fields(`host hostaddr port dbname user passfile require_auth channel_binding connect_timeout client_encoding
	options application_name keepalives keepalives_idle keepalives_interval keepalives_count tcp_user_timeout gssencmode
	sslmode
	sslcompression sslcert sslkey sslrootcert sslcrl sslcrldir sslsni requirepeer krbsrvname gsslib service
	target_session_attrs
	load_balance_hosts`)

// connection describes how pg_dump and pg_restore connect to a database.
type connection struct {
	target      string   // the URL, without passwords: other users can see the arguments of processes
	environment []string // password, and parameters of the server such as search_path
	keyPassword string   // of the TLS client key; "" if there is none
}

func connectionTo(address string) (c connection, err error) {
	u, err := url.Parse(address)
	if err != nil {
		return c, errors.New("the URL of the database is invalid") // the error contains the URL
	}
	password, has := u.User.Password()
	q := u.Query()
	if p := q.Get("password"); p != "" {
		password, has = p, true
		q.Del("password")
	}
	if has {
		c.environment = append(c.environment, "PGPASSWORD="+password)
		if u.User != nil {
			u.User = url.User(u.User.Username())
		}
	}
	if c.keyPassword = q.Get("sslpassword"); c.keyPassword != "" {
		if q.Has("service") || os.Getenv("PGSERVICE") != "" {
			return c, errors.New("the URL of the database: sslpassword must be in the service file if there is a service")
		}
		if strings.ContainsAny(c.keyPassword, "\r\n") || strings.TrimSpace(c.keyPassword) != c.keyPassword {
			return c, errors.New("the URL of the database: sslpassword must be one line that does not begin or end with a space")
		}
	}
	q.Del("sslpassword")
	var options []string
	for name := range q {
		if slices.Contains(programs, name) {
			continue
		}
		if !slices.Contains(drivers, name) {
			value := strings.NewReplacer(`\`, `\\`, " ", `\ `).Replace(q.Get(name))
			options = append(options, "-c "+name+"="+value)
		}
		q.Del(name)
	}
	if len(options) > 0 {
		slices.Sort(options)
		all := strings.TrimSpace(os.Getenv("PGOPTIONS") + " " + strings.Join(options, " "))
		c.environment = append(c.environment, "PGOPTIONS="+all)
	}
	u.RawQuery = strings.ReplaceAll(q.Encode(), "+", "%20") // libpq does not decode a + as a space
	c.target = u.String()
	return c, nil
}

// service is the name of the service that writeService defines.
const service = "meshyard"

// writeService writes a temporary connection service file
// (https://www.postgresql.org/docs/current/libpq-pgservice.html) that only the current user can
// read, and returns its name. libpq has no environment variable for the password of a client key.
func writeService(keyPassword string) (name string, err error) {
	f, err := os.CreateTemp("", "meshyard-pg-service-")
	if err != nil {
		return "", err
	}
	_, err = fmt.Fprintf(f, "[%s]\nsslpassword=%s\n", service, keyPassword)
	if err := errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}
