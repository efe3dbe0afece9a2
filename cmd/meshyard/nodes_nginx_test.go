//go:build nginx

package main_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// nodes are servers that share a PostgreSQL database and an S3 bucket, behind nginx.
type nodes struct {
	*catalogue
	url         string // of nginx
	certificate string // path of the certificate that clients must trust
	http        *http.Client
	addresses   []string
	processes   []*process
}

// shutdownDelay is longer than keepalive_timeout in the configuration of nginx.
const shutdownDelay = "3s"

// newNodes starts servers and nginx with the configuration in deploy.
func newNodes(t *testing.T, binary, database string, n int) *nodes {
	t.Helper()
	s := &nodes{catalogue: newCatalogue(t, binary, database)}
	front, err := freeAddress()
	if err != nil {
		t.Fatal(err)
	}
	s.url = "https://" + front
	s.env = []string{"AWS_ACCESS_KEY_ID=" + accessKey, "AWS_SECRET_ACCESS_KEY=" + secretKey}
	s.settings = []string{
		"--bucket-url", "s3://meshyard?region=us-east-1&use_path_style=true&endpoint=" + url.QueryEscape(startS3(t)),
		"--base-url", s.url, "--trusted-proxies", "127.0.0.0/8", "--upload-limit", "2GiB", "--quota-pending", "0",
	}
	for range n {
		address, err := freeAddress()
		if err != nil {
			t.Fatal(err)
		}
		s.addresses = append(s.addresses, address)
		s.processes = append(s.processes, nil)
	}
	s.run("user", "create", "admin", "--admin") // also creates the database
	for i := range n {
		s.restart(i)
	}
	s.startNginx(front)
	return s
}

// restart starts server i and waits until it is ready.
func (s *nodes) restart(i int) {
	s.t.Helper()
	log, err := os.OpenFile(s.log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	defer log.Close()
	p := &process{Cmd: s.command("serve", "--listen", s.addresses[i], "--rate-limit", "0", "--preview-workers", "1",
		"--shutdown-delay", shutdownDelay)}
	p.Stdout, p.Stderr = io.Discard, log
	if err := s.launch(p); err != nil {
		s.t.Fatal(err)
	}
	s.processes[i] = p
	await(s.t, "the server to be ready", func() bool {
		select {
		case <-p.ended:
			s.t.Fatalf("the server ended: %v", p.err)
		default:
		}
		return ready(s.t.Context(), "http://"+s.addresses[i])
	})
}

// await waits until holds returns true. It fails the test after two minutes.
func await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for late := time.Now().Add(2 * time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("waited two minutes for %s", what)
		}
	}
}

// refuses reports whether connections to an address are refused.
func refuses(address string) bool {
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err == nil {
		conn.Close()
	}
	return err != nil && strings.Contains(err.Error(), syscall.ECONNREFUSED.Error())
}

const accessKey, secretKey = "meshyard", "meshyard-secret"

// startS3 starts an S3 server with the bucket meshyard and returns its URL. It is versitygw if
// MESHYARD_TEST_VERSITYGW is the path of that program, and otherwise a fake in this process.
func startS3(t testing.TB) string {
	t.Helper()
	program := os.Getenv("MESHYARD_TEST_VERSITYGW")
	if program == "" {
		backend := s3mem.New()
		if err := backend.CreateBucket("meshyard"); err != nil {
			t.Fatal(err)
		}
		fake := httptest.NewServer(gofakes3.New(backend).Server())
		t.Cleanup(fake.Close)
		return fake.URL
	}
	address, err := freeAddress()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "meshyard"), 0o700); err != nil { // a bucket is a folder
		t.Fatal(err)
	}
	run(t, program, "--access", accessKey, "--secret", secretKey, "--port", address, "--quiet", "posix", root)
	await(t, "versitygw to listen", func() bool { return !refuses(address) })
	return "http://" + address
}

// startNginx runs nginx with the configuration in deploy, with other addresses and certificate
// paths.
func (s *nodes) startNginx(front string) {
	s.t.Helper()
	dir := s.t.TempDir()
	certificate, key := newCertificate(s.t)
	plain, err := freeAddress() // of the server that redirects to HTTPS
	if err != nil {
		s.t.Fatal(err)
	}
	write := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			s.t.Fatal(err)
		}
		return path
	}
	sample, err := os.ReadFile("../../deploy/nginx/meshyard.conf")
	if err != nil {
		s.t.Fatal(err)
	}
	s.certificate = write("certificate", certificate)
	text := string(sample)
	for _, change := range [][2]string{
		{"/etc/ssl/certs/models.example.org.pem", s.certificate},
		{"/etc/ssl/private/models.example.org.key", write("key", key)},
		{"listen 80;", "listen " + plain + ";"},
		{"listen 443 ssl", "listen " + front + " ssl"},
		{"listen [::]:80;", ""},
		{"listen [::]:443 ssl;", ""},
		{"server 127.0.0.1:8080", "server " + s.addresses[0]},
		{"# server 10.0.0.2:8080", "server " + s.addresses[1]},
	} {
		if !strings.Contains(text, change[0]) {
			s.t.Fatalf("deploy/nginx/meshyard.conf has no %q", change[0])
		}
		text = strings.Replace(text, change[0], change[1], 1)
	}
	user := ""
	if os.Getuid() == 0 {
		user = "user root;"
	}
	main := write("nginx.conf", fmt.Appendf(nil, `%[1]s daemon off; worker_processes 2; pid %[2]s/pid; error_log stderr warn; events {}
		http { access_log off; client_body_temp_path %[2]s/body; proxy_temp_path %[2]s/proxy; fastcgi_temp_path %[2]s/f; uwsgi_temp_path %[2]s/u; scgi_temp_path %[2]s/s; include %[3]s; }`,
		user, dir, write("meshyard.conf", []byte(text))))
	run(s.t, "nginx", "-p", dir, "-c", main)
	await(s.t, "nginx to listen", func() bool { return !refuses(front) })

	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(certificate)
	s.http = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted},
		MaxIdleConnsPerHost: 32}}
}

// run runs a program until the end of the test, and logs its output if the test fails.
func run(t testing.TB, program string, args ...string) {
	t.Helper()
	var output bytes.Buffer
	command := exec.Command(program, args...)
	command.Stdout, command.Stderr, command.SysProcAttr = &output, &output, dieWithParent
	failed := make(chan error)
	launcher() <- func() { failed <- command.Start() }
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		_ = command.Wait()
		if t.Failed() {
			text := output.String()
			t.Logf("the end of the output of %s:\n%s", program, text[max(0, len(text)-4000):])
		}
	})
}

// newCertificate returns a self-signed certificate for 127.0.0.1 and its key.
func newCertificate(t testing.TB) (certificate, key []byte) {
	t.Helper()
	pair, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true,
		BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &pair.PublicKey, pair)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(pair)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
}
