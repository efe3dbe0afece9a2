package main

import (
	"fmt"
	"go/scanner"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"
)

// maxColumns is the maximum length of a line of prose or of a comment. A tab counts as one column.
const maxColumns = 100

// word is a pattern that is not used, and what to write instead.
type word struct {
	pattern *regexp.Regexp
	instead string
}

// words lists the words that are not used.
var words = []word{
	not(`whoever|whomever|whosoever`, "the user who, anyone who"),
	not(`somebody|somebody's|anybody|anybody's|everybody|everybody's`, "a user, anyone, everyone"),
	not(`he|him|his|himself`, "they, or the noun again"),
	not(`anew`, "again"),
	not(`shelf|shelves`, "category, categories"),
	not(`hangs? on|hung on|hanging on`, "is attached to"),
	{regexp.MustCompile(`^// \w+ (gives|tells)\b`), "returns, reports, holds"},
	not(`tells whether`, "reports whether"),
	not(`tells|is told|are told|was told`, "returns, reports, shows, receives"),
	not(`holds? against`, "compare with"),
	not(`(REST|GraphQL|old|both|either) faces?`, "API"),
	not(`the staff|for staff|of the staff`, "moderators and administrators"),
	not(`for ever`, "forever"),
	not(`at most %d are taken|are taken at most`, "must be at most, are allowed"),
	not(`upon|thereof|whence|thence|lest|naught|nought`, "on, of it, from which"),
	not(`sees that|sees to it`, "checks that"),
	not(`takes? along|took along`, "also removes"),
	not(`who(ever)? runs the server`, "the operator"),
	not(`\w*colour\w*|behaviours?|centred?|centres|neighbour\w*|cancelled|grey|favour|recognised?`,
		"the American spelling"),
	not(`labelled|modelled|modelling|organisation|(milli|centi)metres?`, "the American spelling"),
}

// not returns a word that matches the alternatives as whole words, ignoring case.
func not(alternatives, instead string) word {
	return word{regexp.MustCompile(`(?i)\b(` + alternatives + `)\b`), instead}
}

// check returns the problems of a file.
func check(name string, text []byte) []string {
	switch path.Ext(name) {
	case ".go":
		return checkGo(name, text)
	case ".md":
		return checkMarkdown(name, string(text))
	case ".graphqls":
		return checkGraphQL(name, string(text))
	case ".graphql":
		return checkDocuments(name, string(text))
	}
	return nil
}

var (
	directive = regexp.MustCompile(`^//(go:|nolint|export )`)
	codeSpan  = regexp.MustCompile("`[^`]*`")
	// fileLink matches a link to a file of the repository: neither a URL nor a path of the server.
	fileLink = regexp.MustCompile(`\]\(([^)\s:#/][^)\s:#]*)(#[^)\s]*)?\)`)
)

func checkGo(name string, text []byte) (problems []string) {
	files := token.NewFileSet()
	file := files.AddFile(name, -1, len(text))
	lines := strings.Split(string(text), "\n")
	var s scanner.Scanner
	s.Init(file, text, nil, scanner.ScanComments)
	for {
		pos, tok, literal := s.Scan()
		line := file.PositionFor(pos, false).Line
		switch {
		case tok == token.EOF:
			return problems
		case tok == token.COMMENT && !directive.MatchString(literal):
			for i, part := range strings.Split(literal, "\n") {
				problems = append(problems, checkWords(name, line+i, part)...)
				problems = append(problems, checkLength(name, line+i, lines[line+i-1])...)
			}
		case tok == token.STRING && strings.Contains(literal, " "):
			for i, part := range strings.Split(literal, "\n") {
				problems = append(problems, checkWords(name, line+i, part)...)
			}
		}
	}
}

// checkDocuments checks the comments of GraphQL documents. Those of stored documents describe REST
// operations.
func checkDocuments(name, text string) (problems []string) {
	for i, line := range strings.Split(text, "\n") {
		if comment, ok := strings.CutPrefix(strings.TrimSpace(line), "#"); ok {
			problems = append(problems, checkWords(name, i+1, comment)...)
			problems = append(problems, checkLength(name, i+1, line)...)
		}
	}
	return problems
}

// checkMarkdown ignores code, tables and headings that are too long, and links.
func checkMarkdown(name, text string) (problems []string) {
	fenced := false
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			continue
		}
		if fenced {
			continue
		}
		prose := codeSpan.ReplaceAllString(line, "")
		problems = append(problems, checkWords(name, i+1, prose)...)
		for _, link := range fileLink.FindAllStringSubmatch(prose, -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(name), link[1])); err != nil {
				problems = append(problems, fmt.Sprintf("%s:%d: there is no file %s", name, i+1, link[1]))
			}
		}
		if !strings.HasPrefix(strings.TrimSpace(line), "|") && !strings.HasPrefix(line, "#") &&
			!strings.Contains(line, "](") && !strings.Contains(line, "://") {
			problems = append(problems, checkLength(name, i+1, line)...)
		}
	}
	return problems
}

// checkGraphQL checks descriptions and comments.
func checkGraphQL(name, text string) (problems []string) {
	block := false
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		quotes := strings.Count(line, `"""`)
		if block || quotes > 0 || strings.HasPrefix(trimmed, `"`) || strings.HasPrefix(trimmed, "#") ||
			strings.Contains(line, "reason:") {
			problems = append(problems, checkWords(name, i+1, line)...)
			if !strings.Contains(line, "reason:") {
				problems = append(problems, checkLength(name, i+1, line)...)
			}
		}
		if quotes%2 == 1 {
			block = !block
		}
	}
	return problems
}

func checkWords(name string, line int, text string) (problems []string) {
	for _, w := range words {
		if found := w.pattern.FindString(text); found != "" {
			problems = append(problems, fmt.Sprintf("%s:%d: %q: write %s", name, line, found, w.instead))
		}
	}
	return problems
}

func checkLength(name string, line int, text string) []string {
	if n := utf8.RuneCountInString(text); n > maxColumns && !strings.Contains(text, "://") {
		return []string{fmt.Sprintf("%s:%d: %d columns: wrap at %d", name, line, n, maxColumns)}
	}
	return nil
}
