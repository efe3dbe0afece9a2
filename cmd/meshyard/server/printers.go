package server

import (
	"github.com/meshyard/meshyard/internal/printer/client"
	"github.com/meshyard/meshyard/models/printer"
)

// printers returns the options for reaching the printers of users.
func (a *Server) printers() printer.Options {
	if len(a.Settings.PrinterNetworks) == 0 {
		return printer.Options{}
	}
	network := client.NewNetwork(a.Settings.PrinterNetworks, a.Settings.Version, client.Timeouts{})
	return printer.Options{Check: network.Check, Connect: network.Printer}
}
