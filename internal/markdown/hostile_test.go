package markdown

import (
	"fmt"
	"strings"
)

const longest = 65_535

// hostile returns texts of the maximum length, by name. Each consists of a construct that may take
// a parser more than linear time.
func hostile() map[string]string {
	texts := map[string]string{}
	add := func(name, text string) { texts[name] = text[:min(len(text), longest)] }
	units := []string{
		"[a](", "- ", "> ", "1. ", "* ", "+ ", ">", "*", "_", "`", "~", "<", "![", "[", "]", "[^", "[]", "[a]", "![a](",
		"[a](<", "[a](b \"", "[a](b '", "[a](b (", "[a][", "[a][b", "[a](b)", "[[a](b)", "![a](b)",
		"www.a", " www.a", " www.a.b", "(www.a", "http://", " http://", " http://a", " http://a.b/", " http://a.b;",
		"(http://a.b)", "a@b.c", " a@b.c", "a@", " a@", " a", "a", "a.", "*a", "&", "&a", "&amp;", "&#", "\\", "\\a", "\"",
		"*a_ ", "**x*", "*a ", " *a", "a*", "a_", "_a ", "*a_b", "~a ", "~~a", "a~~", "~~a ", "a**b", "*_", "*~_", "**a *a ",
		"*a **a ", "a***", " ***a", "*_~a ", "*a*", "**a**", "*a*_b_", "_*a*_",
		"<a", "<a ", "<a b=\"", "<a b='", "<!--", "<!-", "<?", "<!A", "<![CDATA[", "</a", "<http:", "<a@", "<a@b.", "<a>",
		"<b>", "<b>a</b>", "<a href=\"b\">", "<div>", "<!", "</", "<a b=c ", "<table>", "<td>", "<script>", "<x:",
		"``a", "`a", "`` ", "` ``", "(", ")", "[a](b(", "[a](\\", "|", "a|", "|-", "- - ", "-", "=", "#", "# ", "1)", "\t",
		" ", "\x00", "\xff", "\r", "é", "☃ ", "[☃", "*☃",
	}
	for _, u := range units {
		add(u, strings.Repeat(u, longest/len(u)))
		add(u+" a", strings.Repeat(u, (longest-1)/len(u))+"a")
		add(u+" in lines", strings.Repeat(u+"\n", longest/(len(u)+1)))
		add(u+" in paragraphs", strings.Repeat(u+"\n\n", longest/(len(u)+2)))
		add(u+" in short lines", strings.Repeat(strings.Repeat(u, 80/len(u)+1)+"\n", longest/80+1))
		add(u+" in short paragraphs", strings.Repeat(strings.Repeat(u, 80/len(u)+1)+"\n\n", longest/80+1))
		add(u+" in items", strings.Repeat("- "+u+"\n", longest/(len(u)+3)))
		add(u+" in half a text of letters", strings.Repeat(u, longest/2/len(u))+strings.Repeat("a", longest/2))
		add(u+" before closers", strings.Repeat(u, longest/3/len(u))+strings.Repeat("a)", longest/6)+strings.Repeat("]",
			longest/3))
		add(u+" in a table", "|a|b|\n|-|-|\n"+strings.Repeat("|"+u+"|\n", longest/(len(u)+3)))
	}
	// Nesting that grows with each line.
	for _, unit := range []string{"- ", "> ", "1. ", "> - ", "- > ", "  "} {
		var b strings.Builder
		for i := 1; b.Len() < longest; i++ {
			b.WriteString(strings.Repeat(unit, i) + "a\n")
		}
		add("staircase of "+unit, b.String())
		b.Reset()
		for i := 0; b.Len() < longest; i++ {
			b.WriteString(strings.Repeat("  ", i) + unit + "a\n")
		}
		add("indented staircase of "+unit, b.String())
		b.Reset()
		for i := 0; b.Len() < longest; i++ {
			b.WriteString(strings.Repeat(unit, i%100) + strings.Repeat("  ", i%50) + "- a\n")
		}
		add("saw of "+unit, b.String())
		for _, depth := range []int{5, 10, 20, 40, 80, 160} {
			add(fmt.Sprintf("%d deep %s", depth, unit), strings.Repeat(strings.Repeat(unit, depth)+"a\n", longest/depth/2))
			add(fmt.Sprintf("%d deep %s with short lines", depth, unit), strings.Repeat(unit, depth)+"a\n"+strings.Repeat("a\n",
				longest/2))
			add(fmt.Sprintf("%d deep %s with blank lines", depth, unit), strings.Repeat(unit, depth)+"a\n"+strings.Repeat("\n",
				longest))
			add(fmt.Sprintf("%d deep %s with empty quotes", depth, unit), strings.Repeat(unit, depth)+"a\n"+strings.Repeat(">\n",
				longest/2))
			add(fmt.Sprintf("%d deep %s again and again", depth, unit), strings.Repeat(strings.Repeat(unit, depth)+"a\n\n",
				longest/depth/2))
			add(fmt.Sprintf("%d deep %s under indentation", depth, unit),
				strings.Repeat(unit, depth)+"a\n"+strings.Repeat(strings.Repeat(" ", 2*depth)+"- a\n", longest/(2*depth+4)))
		}
	}
	for _, marks := range [][2]string{{"- a\n", "* a\n"}, {"-\n", "*\n"}, {"1. a\n", "1) a\n"}, {"#\n", "-\n"},
		{"> a\n", "- a\n"}, {"a\n", "-\n"}, {"a\n", "=\n"}, {"a|b\n", "-|-\n"}, {"```\n", "~~~\n"}} {
		add("turns of "+marks[0]+marks[1], strings.Repeat(marks[0]+marks[1], longest/2))
	}
	add("lists in a quotation with empty lines", "> "+strings.Repeat("- ", 160)+"a\n"+strings.Repeat(">\n", longest/2))
	add("paragraph of vertical tabs", strings.Repeat("[a](\n\v\n", longest/7))
	// Definitions.
	for _, n := range []int{1, 10, 100, 1000, 10_000, 30_000} {
		add(fmt.Sprintf("reference to %d characters", n), "[a]: "+strings.Repeat("b", n)+"\n\n"+strings.Repeat("[a]",
			longest/3))
		add(fmt.Sprintf("spaced reference to %d characters", n),
			"[a]: "+strings.Repeat("b", n)+"\n\n"+strings.Repeat("[a]\n\n", longest/5))
		add(fmt.Sprintf("reference with a title of %d characters", n),
			"[a]: b '"+strings.Repeat("&", n)+"'\n\n"+strings.Repeat("[a] ", longest/4))
	}
	var numbered, used strings.Builder
	for i := 0; i < 8000; i++ {
		fmt.Fprintf(&numbered, "[%d]: b\n", i)
		fmt.Fprintf(&used, "[%d]\n", i)
	}
	add("definitions", numbered.String())
	add("definitions and uses", numbered.String()[:longest/2]+"\n\n"+used.String())
	add("definitions of one name", strings.Repeat("[a]: b\n", longest/7))
	add("definitions without an end", strings.Repeat("[a]: b '\n", longest/9))
	add("definitions on two lines", strings.Repeat("[a]:\nb\n", longest/7))
	add("definitions of long names", strings.Repeat("["+strings.Repeat("a", 990)+"]: b\n", 64))
	// Code spans and raw HTML that never close, of every length.
	var runs strings.Builder
	for i := 1; runs.Len() < longest; i++ {
		runs.WriteString(strings.Repeat("`", i) + "a")
	}
	add("code of growing length", runs.String())
	for _, c := range []string{"*", "_", "~"} {
		runs.Reset()
		for i := 1; runs.Len() < longest; i++ {
			runs.WriteString(strings.Repeat(c, i) + "a ")
		}
		add("runs of growing length of "+c, runs.String())
		for _, n := range []int{3, 10, 100, 1000} {
			add(fmt.Sprintf("runs of %d of %s", n, c), strings.Repeat(strings.Repeat(c, n)+"a ", longest/(n+2)))
			add(fmt.Sprintf("runs of %d of %s inside words", n, c), strings.Repeat(strings.Repeat(c, n)+"a", longest/(n+1)))
			add(fmt.Sprintf("opening runs of %d of %s", n, c), strings.Repeat(" "+strings.Repeat(c, n)+"a", longest/(n+2)))
		}
	}
	for _, n := range []int{10, 100, 300, 1000, 3000, 10_000} {
		add(fmt.Sprintf("table of %d columns", n), strings.Repeat("|a", n)+"|\n"+strings.Repeat("|-",
			n)+"|\n"+strings.Repeat("|\n", longest/2))
		add(fmt.Sprintf("full table of %d columns", n), strings.Repeat("|a", n)+"|\n"+strings.Repeat("|-",
			n)+"|\n"+strings.Repeat(strings.Repeat("|a", n)+"|\n", longest/n/2))
		add(fmt.Sprintf("emphasis over %d links", n), strings.Repeat("*a", longest/4)+strings.Repeat("[a](b)", n))
		add(fmt.Sprintf("%d links over emphasis", n), strings.Repeat("[a](b)", n)+strings.Repeat("*a", longest/4))
		add(fmt.Sprintf("%d links in brackets", n), strings.Repeat("[", n)+strings.Repeat("[a](b)", n)+strings.Repeat("]", n))
		add(fmt.Sprintf("%d pictures in pictures", n), strings.Repeat("![", n)+"a"+strings.Repeat("](b)", n))
	}
	add("escaped pipes in code", "|a|\n|-|\n"+strings.Repeat("|`\\|`|\n", longest/7))
	add("escaped pipes in one code", "|a|\n|-|\n|`"+strings.Repeat("\\|", longest/3)+"`|\n")
	add("tables of one column", strings.Repeat("|a|\n|-|\n", longest/8))
	add("delimiters without a table", strings.Repeat("-|-\n", longest/4))
	add("headers without a table", strings.Repeat("|a|b|\n|-|\n", longest/10))
	return texts
}
