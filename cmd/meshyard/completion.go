package main

import (
	"os"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// completions are shell scripts that call the binary with the line typed so far in COMP_LINE, which
// is the protocol of bash's complete -C. %[1]q is the path of the binary.
var completions = map[string]string{
	"bash": "complete -C %[1]q meshyard\n",
	"zsh":  "autoload -U +X bashcompinit && bashcompinit\ncomplete -C %[1]q meshyard\n",
	"fish": `function __complete_meshyard
    set -lx COMP_LINE (commandline -cp)
    test -z (commandline -ct); and set COMP_LINE "$COMP_LINE "
    %[1]q
end
complete -f -c meshyard -a "(__complete_meshyard)"
`,
}

func (c *completionCmd) Run() error {
	binary, err := os.Executable()
	if err != nil {
		return err
	}
	stdout.printf(completions[c.Shell], binary)
	return nil
}
