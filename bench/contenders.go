package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// The names of two contenders. The others are peers. limit is the bare handler.
const (
	limit = "limit"
	ours  = "ours"
)

// peersFolder has a folder for each peer, with a script that starts it and the packages that it
// needs.
const peersFolder = "bench/peers"

// peers are the names of the other servers, and their folders.
var peers = []struct{ name, folder string }{
	{"PostGraphile 4", filepath.Join(peersFolder, "postgraphile4")},
	{"PostGraphile 5", filepath.Join(peersFolder, "postgraphile5")},
}

// contender is a server in the table of the peers comparison.
type contender struct {
	name    string
	process *process
}

// contenders are the servers in the table, in the order of the columns.
type contenders struct {
	limit, ours contender
	peers       []contender // empty if they cannot be installed
}

func (c *contenders) all() []contender { return append([]contender{c.limit, c.ours}, c.peers...) }

func (c *contenders) stop() (err error) {
	for _, each := range c.all() {
		if each.process != nil {
			err = errors.Join(err, each.process.stop())
		}
	}
	return err
}

// startContenders starts all servers on a database. It prints the reason for each peer that is left
// out.
func startContenders(ctx context.Context, o options, address string) (_ *contenders, err error) {
	all := &contenders{limit: contender{name: limit}, ours: contender{name: ours}}
	defer func() {
		if err != nil {
			err = errors.Join(err, all.stop())
		}
	}()
	if all.ours.process, err = startServer(ctx, o, "--database-url", address); err != nil {
		return nil, err
	}
	if all.limit.process, err = startBare(ctx, o, "peers", string(postgres), address, "http://"+all.ours.process.address); err != nil {
		return nil, err
	}
	if !o.withPeers {
		return all, nil
	}
	// PostGraphile finds relations by foreign keys. files has no foreign key to things, because
	// pending uploads have no thing.
	if err := execute(ctx, postgres, address, "COMMENT ON TABLE files IS '@foreignKey (thing_id) references things (id)'"); err != nil {
		return nil, err
	}
	for _, p := range peers {
		if err := install(ctx, p.folder); err != nil {
			fmt.Printf("\n%s is left out: %s\n", p.name, err)
			continue
		}
		process, err := startPeer(ctx, o, p.folder, address)
		if err != nil {
			return nil, err
		}
		all.peers = append(all.peers, contender{p.name, process})
	}
	return all, nil
}

// install installs the packages of a peer unless they are already installed.
func install(ctx context.Context, folder string) error {
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%s is not installed", program)
		}
	}
	want, err := os.Stat(filepath.Join(folder, "package-lock.json"))
	if err != nil {
		return err
	}
	if got, err := os.Stat(filepath.Join(folder, "node_modules", ".package-lock.json")); err == nil && got.ModTime().After(want.ModTime()) {
		return nil
	}
	fmt.Printf("\ninstalling the packages in %s, which takes some minutes\n", folder)
	out, err := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", folder).CombinedOutput()
	if err != nil {
		return fmt.Errorf("npm ci: %w\n%s", err, out)
	}
	return nil
}

// startPeer starts the script of a peer, with as many database connections as the server has.
func startPeer(ctx context.Context, o options, folder, address string) (*process, error) {
	listen, err := freeAddress()
	if err != nil {
		return nil, err
	}
	return start(ctx, filepath.Join(o.dir, filepath.Base(folder)+".log"), listen, "env", "NODE_ENV=production", "GRAPHILE_ENV=production",
		"node", filepath.Join(folder, "main.mjs"), listen, address, strconv.Itoa(databaseConns()))
}
