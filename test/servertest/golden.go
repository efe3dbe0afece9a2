package servertest

import (
	"flag"
)

var Update = flag.Bool("update", false, "update the golden files: go test ./test/rest -run Parity -update")
