// Package slicerlink builds the links that open a file in a slicer on the visitor's computer. Such
// a link has a URL scheme that the program has registered, and contains the URL from which the
// program downloads the file. docs/open-in.md says where each form was found.
package slicerlink

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
)

// OS is an operating system on which a link works.
type OS string

// The operating systems.
const (
	Windows OS = "windows"
	MacOS   OS = "macos"
	Linux   OS = "linux"
)

// placeholder is replaced by the percent-encoded URL of the file.
const placeholder = "{url}"

// Link is a form of the link of a program.
type Link struct {
	Template string // with the placeholder {url}
	OS       []OS
}

// Program is a program that opens files by links.
type Program struct {
	Name  string
	Links []Link
	// Extensions are those of the files that the program accepts, in lower case and without the
	// dot. Nil: all models.
	Extensions []string
	// Hosts are the only domains from which the program downloads, by HTTPS. Nil: all hosts.
	Hosts []string
}

var everywhere = []OS{Windows, MacOS, Linux}

func open(scheme string) []Link { return []Link{{scheme + "://open?file=" + placeholder, everywhere}} }

// known are the programs that the server knows, in the order in which they are offered.
var known = []Program{
	{Name: "OrcaSlicer", Links: open("orcaslicer"), Extensions: []string{"3mf", "stl", "step", "stp", "obj", "amf"}},
	{Name: "Bambu Studio", Links: []Link{
		{"bambustudio://open?file=" + placeholder, []OS{Windows, Linux}},
		{"bambustudioopen://" + placeholder, []OS{MacOS}},
	}, Extensions: []string{"3mf"}},
	{Name: "Cura", Links: open("cura"), Extensions: []string{"3mf", "stl", "obj", "amf", "ply", "gltf", "glb", "dae",
		"x3d", "gcode"}},
	{Name: "ElegooSlicer", Links: open("elegooslicer"), Extensions: []string{"3mf"}},
	{Name: "Creality Print", Links: open("crealityprintlink"), Extensions: []string{"3mf"}},
	{Name: "Lychee Slicer", Links: []Link{{"lycheeslicer://open/" + placeholder, everywhere}},
		Extensions: []string{"3mf", "stl", "obj", "lys"}},
	{
		Name: "PrusaSlicer", Links: open("prusaslicer"), Extensions: []string{"3mf", "stl", "step", "stp", "obj", "amf"},
		Hosts: []string{"printables.com", "thingiverse.com", "cults3d.com"},
	},
	{
		Name: "SuperSlicer", Links: open("prusaslicer"), Extensions: []string{"3mf", "stl", "step", "stp", "obj", "amf"},
		Hosts: []string{"printables.com"},
	},
}

// Opened is a link that opens a file.
type Opened struct {
	App string // the name of the program
	URL string
	OS  []OS
}

// Programs are the programs that a server offers.
type Programs []Program

// With returns the known programs with the changes of the operator. A change with the name of a
// known program replaces it, or removes it if it has no links.
func With(changes []Program) Programs {
	all := slices.Clone(known)
	for _, change := range changes {
		at := slices.IndexFunc(all, func(p Program) bool { return strings.EqualFold(p.Name, change.Name) })
		switch {
		case at >= 0:
			all[at].Links, all[at].Hosts = change.Links, nil
		case len(change.Links) > 0:
			all = append(all, change)
		}
	}
	return slices.DeleteFunc(all, func(p Program) bool { return len(p.Links) == 0 })
}

// For returns the links that open a file, by its name and the URL of its content. Programs that are
// known to refuse the file or its URL are left out.
func (all Programs) For(name, address string) (links []*Opened) {
	extension := strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))
	for _, p := range all {
		if p.Extensions != nil && !slices.Contains(p.Extensions, extension) || !p.downloadsFrom(address) {
			continue
		}
		for _, link := range p.Links {
			links = append(links, &Opened{p.Name, strings.Replace(link.Template, placeholder, escape(address), 1), link.OS})
		}
	}
	return links
}

// downloadsFrom reports whether the program downloads from a URL.
func (p Program) downloadsFrom(address string) bool {
	if p.Hosts == nil {
		return true
	}
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "https" && slices.ContainsFunc(p.Hosts, func(host string) bool {
		return u.Hostname() == host || strings.HasSuffix(u.Hostname(), "."+host)
	})
}

// escape percent-encodes a URL as encodeURIComponent does in browsers: programs do not decode a
// plus sign as a space.
func escape(address string) string {
	return strings.ReplaceAll(url.QueryEscape(address), "+", "%20")
}

// refusedSchemes are those that would run a script in the page or read a file.
var refusedSchemes = []string{"javascript", "data", "vbscript", "blob", "file", "about", "view-source"}

const maxName = 40 // characters

// Parse parses NAME=TEMPLATE of the operator. A template without text removes a known program.
func Parse(text string) (Program, error) {
	name, template, ok := strings.Cut(text, "=")
	name, template = strings.TrimSpace(name), strings.TrimSpace(template)
	if !ok || name == "" || strings.Contains(name, ":") || len([]rune(name)) > maxName {
		return Program{}, fmt.Errorf("%q: must be NAME=TEMPLATE, with a name of at most %d characters", text, maxName)
	}
	if template == "" {
		return Program{Name: name}, nil
	}
	if strings.Count(template, placeholder) != 1 {
		return Program{}, fmt.Errorf("%s: the template must contain %s once, such as %s=program://open?file=%s", name,
			placeholder, name, placeholder)
	}
	u, err := url.Parse(strings.Replace(template, placeholder, "x", 1))
	if err != nil || u.Scheme == "" || strings.ContainsAny(template, " \"<>\\") {
		return Program{}, fmt.Errorf("%s: the template must be a URL with a scheme, such as program://open?file=%s", name,
			placeholder)
	}
	if slices.Contains(refusedSchemes, strings.ToLower(u.Scheme)) {
		return Program{}, fmt.Errorf("%s: the scheme %s is not allowed", name, u.Scheme)
	}
	return Program{Name: name, Links: []Link{{template, everywhere}}}, nil
}
