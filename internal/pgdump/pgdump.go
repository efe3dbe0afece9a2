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
)

// ErrNoProgram matches the error if a program is not installed.
var ErrNoProgram = errors.New("is not in the PATH: install the client programs of PostgreSQL, in a version that is not older than the server")

// Dump writes the database at a postgres:// URL, as an exported snapshot sees it, to a file in the
// custom format of pg_dump.
func Dump(ctx context.Context, address, snapshot, file string) error {
	return run(ctx, address, "pg_dump", "--format=custom", "--no-owner", "--no-privileges", "--snapshot="+snapshot, "--file="+file)
}

// Restore restores a file that Dump wrote into an empty database: all of it or nothing.
func Restore(ctx context.Context, address, file string) error {
	return run(ctx, address, "pg_restore", "--no-owner", "--no-privileges", "--single-transaction", "--exit-on-error", file)
}

// Available returns an error that matches [ErrNoProgram] if a program is not installed.
func Available(program string) error {
	if _, err := exec.LookPath(program); err != nil {
		return fmt.Errorf("%s %w", program, ErrNoProgram)
	}
	return nil
}

func run(ctx context.Context, address, program string, args ...string) error {
	if err := Available(program); err != nil {
		return err
	}
	target, environment, err := connection(address)
	if err != nil {
		return err
	}
	args = slices.Insert(args, 0, "--no-password", "--dbname="+target)
	command := exec.CommandContext(ctx, program, args...)
	command.Env = append(os.Environ(), environment...)
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", program, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// drivers lists the parameters of our database driver that pg_dump and pg_restore do not support.
var drivers = []string{"default_query_exec_mode", "statement_cache_capacity", "description_cache_capacity"}

// programs lists the parameters that pg_dump and pg_restore accept in a URL: those of libpq.
var programs = strings.Fields(`host hostaddr port dbname user passfile require_auth channel_binding connect_timeout client_encoding
	options application_name keepalives keepalives_idle keepalives_interval keepalives_count tcp_user_timeout gssencmode sslmode
	sslcompression sslcert sslkey sslpassword sslrootcert sslcrl sslcrldir sslsni requirepeer krbsrvname gsslib service target_session_attrs
	load_balance_hosts`)

// connection returns a URL for pg_dump and pg_restore, and environment variables with the values
// that are not in it. The password is a variable, because other users can see the arguments of
// processes. Parameters of the server, such as search_path, become options.
func connection(address string) (target string, environment []string, err error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", nil, errors.New("the URL of the database is invalid") // the error contains the URL
	}
	password, has := u.User.Password()
	q := u.Query()
	if p := q.Get("password"); p != "" {
		password, has = p, true
		q.Del("password")
	}
	if has {
		environment = append(environment, "PGPASSWORD="+password)
		if u.User != nil {
			u.User = url.User(u.User.Username())
		}
	}
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
		environment = append(environment, "PGOPTIONS="+all)
	}
	u.RawQuery = q.Encode()
	return u.String(), environment, nil
}
