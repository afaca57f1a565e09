package reference

import (
	"html"
	"html/template"
	"regexp"
	"strings"
)

// HTML is a text of the document as HTML. It knows a part of CommonMark: paragraphs, code spans, strong text,
// links, lists of one level, indented code and headings of the second level. Descriptions of an API need no more.
// Everything else, and all HTML, is text. A test compares it with a complete implementation on every text of the
// document.
func HTML(text string) template.HTML {
	var b strings.Builder
	blocks(&b, strings.Split(strings.TrimSpace(text), "\n"))
	return template.HTML(b.String()) // #nosec G203 -- inline escapes every text
}

// Inline is a text of one paragraph, without the paragraph around it.
func Inline(text string) template.HTML {
	return template.HTML(inline(strings.Join(strings.Fields(text), " "))) // #nosec G203 -- inline escapes every text
}

var listItem = regexp.MustCompile(`^(- |\d+\. )(.*)$`)

// blocks writes the blocks of lines that are indented by nothing.
func blocks(b *strings.Builder, lines []string) {
	for len(lines) > 0 {
		switch m := listItem.FindStringSubmatch(lines[0]); {
		case strings.TrimSpace(lines[0]) == "":
			lines = lines[1:]
		case strings.HasPrefix(lines[0], "## "):
			b.WriteString("<h2>" + inline(lines[0][3:]) + "</h2>\n")
			lines = lines[1:]
		case strings.HasPrefix(lines[0], "    "):
			lines = code(b, lines)
		case m != nil:
			lines = list(b, lines, len(m[1]))
		default:
			n := 1
			for n < len(lines) && strings.TrimSpace(lines[n]) != "" && !strings.HasPrefix(lines[n], "## ") && listItem.FindString(lines[n]) == "" {
				n++
			}
			b.WriteString("<p>" + inline(strings.Join(lines[:n], "\n")) + "</p>\n")
			lines = lines[n:]
		}
	}
}

// code writes a block of code, which is indented by four spaces.
func code(b *strings.Builder, lines []string) []string {
	n := 0
	for i, line := range lines {
		if strings.HasPrefix(line, "    ") {
			n = i + 1
		} else if strings.TrimSpace(line) != "" {
			break
		}
	}
	b.WriteString("<pre><code>")
	for _, line := range lines[:n] {
		b.WriteString(html.EscapeString(strings.TrimPrefix(line, "    ")) + "\n")
	}
	b.WriteString("</code></pre>\n")
	return lines[n:]
}

// list writes a list whose text begins after width bytes. An item with an empty line in it, or before
// the next item, makes its paragraphs paragraphs.
func list(b *strings.Builder, lines []string, width int) []string {
	tag := "ul"
	if lines[0][0] != '-' {
		tag = "ol"
	}
	var items [][]string
	loose := false
	indent := strings.Repeat(" ", width)
	for len(lines) > 0 {
		m := listItem.FindStringSubmatch(lines[0])
		switch {
		case m != nil && (m[1][0] == '-') == (tag == "ul"):
			items = append(items, []string{m[2]})
		case strings.HasPrefix(lines[0], indent):
			items[len(items)-1] = append(items[len(items)-1], lines[0][width:])
		case strings.TrimSpace(lines[0]) == "" && len(lines) > 1 && (strings.HasPrefix(lines[1], indent) || listItem.MatchString(lines[1])):
			items[len(items)-1] = append(items[len(items)-1], "")
			loose = true
		default:
			writeItems(b, tag, items, loose)
			return lines
		}
		lines = lines[1:]
	}
	writeItems(b, tag, items, loose)
	return nil
}

func writeItems(b *strings.Builder, tag string, items [][]string, loose bool) {
	b.WriteString("<" + tag + ">\n")
	for _, item := range items {
		if loose {
			b.WriteString("<li>\n")
			blocks(b, item)
			b.WriteString("</li>\n")
		} else {
			b.WriteString("<li>" + inline(strings.Join(item, "\n")) + "</li>\n")
		}
	}
	b.WriteString("</" + tag + ">\n")
}

var inlines = regexp.MustCompile("`([^`]+)`" + `|\*\*([^*]+)\*\*|\[([^\]]+)\]\(((?:https?:/)?/[^()\s]+)\)`)

// inline writes the text of a paragraph: code spans, strong text and links to this origin or the web.
func inline(text string) string {
	var b strings.Builder
	for {
		at := inlines.FindStringSubmatchIndex(text)
		if at == nil {
			b.WriteString(html.EscapeString(text))
			return b.String()
		}
		b.WriteString(html.EscapeString(text[:at[0]]))
		switch {
		case at[2] >= 0:
			b.WriteString("<code>" + html.EscapeString(text[at[2]:at[3]]) + "</code>")
		case at[4] >= 0:
			b.WriteString("<strong>" + inline(text[at[4]:at[5]]) + "</strong>")
		default:
			b.WriteString(`<a href="` + html.EscapeString(text[at[8]:at[9]]) + `">` + inline(text[at[6]:at[7]]) + "</a>")
		}
		text = text[at[1]:]
	}
}
