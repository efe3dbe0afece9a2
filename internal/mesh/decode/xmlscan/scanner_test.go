package xmlscan

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/decodetest"
)

// tags lists what the scanner reads: names with namespaces, attributes and text.
func tags(r io.Reader) (string, error) {
	s := NewScanner(r, "the test", 9)
	var b strings.Builder
	for {
		if err := s.Next(); err == io.EOF {
			return b.String(), nil
		} else if err != nil {
			return b.String(), err
		}
		if text := strings.TrimSpace(string(s.text)); text != "" {
			fmt.Fprintf(&b, "%q ", text)
		}
		if !s.Tag.start {
			fmt.Fprint(&b, "end ")
			continue
		}
		fmt.Fprintf(&b, "%s %s ", s.Namespace(), s.LocalName())
		for _, a := range s.Tag.Attrs {
			fmt.Fprintf(&b, "%s=%q ", a.Name, a.Value)
		}
	}
}

func TestXML(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`<a/>`, ` a end `},
		{"\uFEFF<?xml version=\"1.0\"?>\n<!-- < & > --><a\n>x<b c = '\"' d=\">\"/></a >\n<!---->\n",
			` a "x"  b c="\"" d=">" end end `},
		{`<a b="&lt;&gt;&amp;&quot;&apos;&#65;&#x42;"></a>`, ` a b="<>&\"'AB" end `},
		{`<a>1<!-- 2 -->3<![CDATA[<4>]]>5</a>`, ` a "13<4>5" end `},
		{`<a xmlns="u" xmlns:p="v"><p:b/><c xmlns="w"><p:d xmlns:p="x"/><p:e/></c><f/></a>`,
			`u a xmlns="u" xmlns:p="v" v b end w c xmlns="w" x d xmlns:p="x" end v e end end u f end end `},
		{"<a><x:b/></a>", ` a  b end end `},
		{"<ä ö='ü'/>", ` ä ö="ü" end `},
		{"<a>" + strings.Repeat(" ", 200<<10) + "<b c='" + strings.Repeat("x", 200<<10) + "'/></a>", ` a  b c="` +
			strings.Repeat("x", 200<<10) + `" end end `},
	} {
		got, err := tags(strings.NewReader(c.text))
		if err != nil || got != c.want {
			t.Errorf("%.99q: got %.99s and the error %v, want %.99s", c.text, got, err, c.want)
		}
		if slow, err := tags(iotest.OneByteReader(strings.NewReader(c.text))); slow != got {
			t.Errorf("%.99q: byte by byte got %.99s and the error %v, want %.99s", c.text, slow, err, c.want)
		}
	}
}

func TestXMLMalformed(t *testing.T) {
	for _, c := range []struct {
		text    string
		reason  mesh.Reason
		message string
	}{
		{"", mesh.Malformed, "Line 1 of the test ends before"},
		{"<a>\n<b>\n</b>\n", mesh.Malformed, "Line 4 of the test ends before"},
		{"x<a/>", mesh.Malformed, "text before"},
		{"<a/><b/>", mesh.Malformed, "second root"},
		{"<a></b>", mesh.Malformed, `ends an element "b"`},
		{"</a>", mesh.Malformed, `ends an element "a"`},
		{"<", mesh.Malformed, "ends inside"},
		{"<a", mesh.Malformed, "ends inside"},
		{"<a b", mesh.Malformed, "ends inside"},
		{"<a b='", mesh.Malformed, "ends inside"},
		{"<a></a", mesh.Malformed, "ends inside"},
		{"<!-- ", mesh.Malformed, "ends inside"},
		{"< a/>", mesh.Malformed, "no name"},
		{"<a b/>", mesh.Malformed, "something else than"},
		{"<a b=1/>", mesh.Malformed, "without quotation"},
		{"<a 'b'/>", mesh.Malformed, "something else than"},
		{"<a b='&x;'/>", mesh.Malformed, `unknown entity "x"`},
		{"<a b='&#xFFFFFFFF;'/>", mesh.Malformed, "unknown entity"},
		{"<a b='&'/>", mesh.Malformed, "starts no entity"},
		{"\n<!DOCTYPE a><a/>", mesh.Malformed, "Line 2 of the test has a document type"},
		{"<a><!ENTITY b 'c'></a>", mesh.Malformed, "document type"},
		{strings.Repeat("<a>", 10), mesh.TooLarge, "more than 9 deep"},
		{"<a b='" + strings.Repeat("x", maxTag) + "'/>", mesh.TooLarge, "tag of more than"},
		{"<a " + strings.Repeat("xmlns:a='' ", maxNamespaces+1) + "/>", mesh.TooLarge, "namespaces"},
	} {
		_, err := tags(strings.NewReader(c.text))
		decodetest.CheckError(t, err, c.reason, c.message)
	}
}

// TestXMLBuffer reads markup that crosses the end of the buffer at every position.
func TestXMLBuffer(t *testing.T) {
	for n := 64<<10 - 20; n < 64<<10+20; n++ {
		text := strings.Repeat("x", n)
		got, err := tags(strings.NewReader("<!--" + text + "--><a><![CDATA[" + text + "]]><b c='" + text[:n/2] + "'/></a>"))
		if err != nil || !strings.HasSuffix(got, `b c="`+text[:n/2]+`" end end `) {
			t.Fatalf("%d: got the error %v", n, err)
		}
	}
}

// TestXMLUTF16 reads a document in UTF-16.
func TestXMLUTF16(t *testing.T) {
	text := "\xFF\xFE"
	for _, c := range `<?xml version="1.0" encoding="utf-16"?><a b="c"/>` {
		text += string(c) + "\x00"
	}
	if got, err := tags(strings.NewReader(text)); got != ` a b="c" end ` || err != nil {
		t.Errorf("got %s and the error %v", got, err)
	}
}

// TestXMLText checks that long text does not use memory.
func TestXMLText(t *testing.T) {
	s := NewScanner(strings.NewReader("<a>"+strings.Repeat("x", 9<<20)+"</a>"), "the test", 9)
	if err := s.Next(); err != nil {
		t.Fatal(err)
	}
	_, err := s.Text()
	decodetest.CheckError(t, err, mesh.Malformed, "long text")
	if len(s.buf) > 64<<10 || len(s.text) > maxText {
		t.Errorf("the buffer grew to %d, the text to %d", len(s.buf), len(s.text))
	}
}

// BenchmarkXML reads the same document with the scanner and with encoding/xml.
func BenchmarkXML(b *testing.B) {
	v, f := decodetest.Grid(100, 0, "     <vertex x=\"%.6f\" y=\"%.6f\" z=\"%.6f\" />\n",
		"     <triangle v1=\"%d\" v2=\"%d\" v3=\"%d\" />\n")
	text := `<model xmlns="http://schemas.microsoft.com/3dmanufacturing/core/2015/02"><resources>` + v + f +
		`</resources></model>`
	b.Run("own", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			s := NewScanner(strings.NewReader(text), "the test", 9)
			if err := s.Next(); err != nil {
				b.Fatal(err)
			}
			if err := s.Finish(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			d := xml.NewDecoder(strings.NewReader(text))
			for {
				if _, err := d.Token(); err == io.EOF {
					break
				} else if err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
