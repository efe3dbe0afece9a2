package markdown

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

// unsafe matches tags and attributes that sanitized HTML must not contain. Escaped text contains no
// "<", so it cannot match.
var unsafe = regexp.MustCompile(
	`(?i)<(script|style|iframe|object|embed|form|svg)|<[^>]*\s(on[a-z]+\s*=|style\s*=|(href|src)\s*=\s*"?\s*(javascript|vbscript|data):)`)

// check returns what is wrong with the HTML of a text, or "".
func check(text, html string) string {
	if most := max(longestHTML(len(text)), 5*len(text)+len("<p></p>")); len(html) > most {
		return fmt.Sprintf("%d characters of HTML, want at most %d", len(html), most)
	}
	if found := unsafe.FindString(html); found != "" {
		return fmt.Sprintf("HTML holds %q", found)
	}
	return ""
}

func isPlain(text string) bool { return HTML(text) == Plain(text) }

func TestHostileTexts(t *testing.T) {
	t.Parallel()
	looked := 0
	for name, text := range hostile() {
		if looked++; testing.Short() && looked > 100 {
			break
		}
		text = text[:min(len(text), 2_048)]
		if wrong := check(text, HTML(text)); wrong != "" {
			t.Errorf("%q: %s", name, wrong)
		}
	}
}

// TestTextsShownAsWritten checks that texts that take a parser quadratic time are not rendered.
func TestTextsShownAsWritten(t *testing.T) {
	t.Parallel()
	texts := hostile()
	for _, name := range []string{
		"[a](", "- ", "-  a", "> ", ">", "1. ", "[ before closers", "![ before closers", "[a][", "[a](b \"", "a***", "*a_b",
		"``a", "`a", "<!--", "<?", "<![CDATA[",
		"staircase of > ", "indented staircase of - ", "160 deep - ", "160 deep -  with blank lines",
		"lists in a quotation with empty lines", "code of growing length",
		"definitions without an end", "reference to 10000 characters", "spaced reference to 1000 characters",
		"table of 1000 columns", "escaped pipes in code", "1000 links in brackets", "10000 links over emphasis",
	} {
		text, ok := texts[name]
		if !ok {
			t.Errorf("no hostile text is named %q", name)
			continue
		}
		if html := HTML(text); html != Plain(text) {
			t.Errorf("%q: %d characters of Markdown, want it as it was written: %.80s", name, len(html), html)
		} else if wrong := check(text, html); wrong != "" {
			t.Errorf("%q: %s", name, wrong)
		}
	}
}

func TestOrdinaryTextsAreMarkdown(t *testing.T) {
	t.Parallel()
	links := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i, i)
		}
		return b.String()
	}
	prose := strings.Repeat(
		"The *arm* holds the **lamp**; print it with `0.2 mm` layers, see [the guide](https://example.org/guide_1) (or don't), it's ~~easy~~ <b>easy</b>.\n", 10) + "\n"
	for name, c := range map[string]struct {
		text, part string
		count      int
	}{
		"headings":          {"# One\n\n## Two\n\nThree\n=====\n", "<h", 3},
		"a list five deep":  {"- a\n  - b\n    - c\n      - d\n        - e\n", "<ul>", 5},
		"numbers five deep": {"1. a\n   1. b\n      1. c\n         1. d\n            1. e\n", "<ol>", 5},
		"quotes in lists":   {"- a\n  > b\n  > - c\n  >   > d\n", "<blockquote>", 2},
		"a table":           {"|a|b|\n|-|:-:|\n" + strings.Repeat("|1|2|\n", 300), "<tr>", 301},
		"a wide table": {strings.Repeat("|a", 30) + "|\n" + strings.Repeat("|-", 30) + "|\n" +
			strings.Repeat(strings.Repeat("|1.5", 30)+"|\n", 200), "<tr>", 201},
		"code": {"- a\n\n```go\n" + strings.Repeat("a[i](b[j])(c[k] < `d`)\n", 2000) + "```\n",
			"<code", 1},
		"200 links in one paragraph": {links(200, "[part %d](https://example.org/parts/%d) "), "<a href", 200},
		"200 links in lines":         {links(200, "[part %d](https://example.org/parts/%d)\n"), "<a href", 200},
		"1000 links in a list":       {links(1000, "- [part %d](https://example.org/parts/%d)\n"), "<a href", 1000},
		"200 addresses":              {links(200, "https://example.org/%d/some_long_name_%d\n"), "<a href", 200},
		"200 definitions": {links(200, "[part %d] ") + "\n\n" +
			links(200, "[part %d]: https://example.org/%d 'A title'\n"), "", 0},
		"prose of the longest length": {strings.Repeat(prose, longest/len(prose)), "<strong>", 10 * (longest / len(prose))},
		"one paragraph of 10,000": {strings.Repeat(strings.TrimSpace(prose)+"\n", 10_000/len(prose)), "<strong>",
			10 * (10_000 / len(prose))},
		"words of the longest length": {strings.Repeat("word ", longest/5), "<p>word", 1},
		"tasks":                       {strings.Repeat("- [ ] sand\n- [x] paint\n", 500), "<li>", 1000},
		"a rule":                      {"a\n\n" + strings.Repeat("-", 200) + "\n\nb\n", "<hr", 1},
	} {
		html := HTML(c.text)
		if isPlain(c.text) {
			t.Errorf("%s: shown as it was written, want Markdown", name)
		}
		if c.part != "" && strings.Count(html, c.part) != c.count {
			t.Errorf("%s: %d times %q, want %d", name, strings.Count(html, c.part), c.part, c.count)
		}
		if wrong := check(c.text, html); wrong != "" {
			t.Errorf("%s: %s", name, wrong)
		}
	}
}

// TestCostAfterInvalidFence checks that the cost of text after something that only looks like the
// start of a code block is counted, because goldmark parses it as text.
func TestCostAfterInvalidFence(t *testing.T) {
	t.Parallel()
	hostile := strings.Repeat("[a](", 5000)
	for name, before := range map[string]string{
		"closed": "```\n```\n", "closed by a longer one": "```\n  ````  \n", "in HTML": "<div>\n```\n\n",
		"in a comment in a list": "- <!--\n```\n-->\n\n", "in a list": "- ```\n\n",
		"opened under an indentation": "  ```\na\n```\n", "with a backtick behind it": "``` `\n", "too short": "``\n",
		"of tildes": "~~~ a~`\n~~~\n",
	} {
		if text := before + hostile; !isPlain(text) {
			t.Errorf("%s: rendered as Markdown, want it as it was written", name)
		}
	}
	for name, before := range map[string]string{"open": "```\n", "closed by other marks": "```\n~~~\n",
		"closed by a shorter one": "````\n```\n", "closed under an indentation": "~~~\n    ~~~\n",
		"behind a list": "- a\n```\n"} {
		if text := before + hostile; isPlain(text) || strings.Count(HTML(text), "[a](") != 5000 {
			t.Errorf("%s: want the rest as code", name)
		}
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	if got, want := Plain("a <b>\r\n&amp;\n\"c\""), `<p>a &lt;b&gt;<br>&amp;amp;<br>"c"</p>`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := HTML(""); got != "" {
		t.Errorf("empty text gives %q", got)
	}
}

func TestHTMLIsSafe(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"<script>alert(1)</script>", "[a](javascript:alert(1))", "[a](JaVaScRiPt:alert(1))", "![a](javascript:alert(1))",
		"<javascript:alert(1)>", "<img src=x onerror=alert(1)>",
		"[a]: javascript:alert(1)\n\n[a]", "[a](data:text/html;base64,PHNjcmlwdD4=)", "[a](b \"c\" onclick=\"d\")",
		"<a href=\"b\" onclick=\"c\">d</a>", "[a](\"onmouseover=\"alert(1))",
	} {
		if wrong := check(text, HTML(text)); wrong != "" {
			t.Errorf("%s: %s: %s", text, wrong, HTML(text))
		}
	}
}

func FuzzHTML(f *testing.F) {
	for _, text := range hostile() {
		if len(text)%7 == 0 {
			f.Add(text[:min(len(text), 512)])
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = text[:min(len(text), longest)]
		if wrong := check(text, HTML(text)); wrong != "" {
			t.Errorf("%q: %s", text, wrong)
		}
	})
}

// BenchmarkHostileTexts renders every hostile text at full length, and logs the slowest one.
func BenchmarkHostileTexts(b *testing.B) {
	texts := hostile()
	for b.Loop() {
		var slowest time.Duration
		var of string
		for name, text := range texts {
			start := time.Now()
			_, _ = render([]byte(text))
			if took := time.Since(start); took > slowest {
				slowest, of = took, name
			}
		}
		b.ReportMetric(float64(slowest.Milliseconds()), "ms-slowest")
		b.Logf("slowest: %q, %s", of, slowest)
	}
}
