package pages

import (
	"bytes"
	"html/template"
	"regexp"
	"strings"
	"unicode/utf8"
)

// What pages have many of, rows of tables above all, took most of their time in templates: 9 of the 20 ms of a page of
// 200 rows. It is written here, as html/template would write it.

// appendOutside appends a text with a link that leaves this site, if there is an address.
func appendOutside(b []byte, address, text string) []byte {
	if address == "" {
		return appendEscaped(b, text)
	}
	b = appendAddress(append(b, `<a href="`...), address)
	return append(appendEscaped(append(b, `" rel="noopener external">`...), text), "</a>"...)
}

// appendAttribute appends an attribute, nothing without a value.
func appendAttribute(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	return append(appendEscaped(append(append(append(b, ' '), name...), `="`...), value), '"')
}

// together are dates and figures with their unit, of which no part begins a line.
var together = regexp.MustCompile(`\b\d{4}-\d\d(-\d\d)?\b|\b\d[\d.,]* (GB/s|GB|GiB|W|tok/s)\b`)

// unbroken is a text whose dates and figures are not broken at the end of a line, and in which no line begins with a dot.
func unbroken(text string) template.HTML {
	var b []byte
	for at := together.FindStringIndex(text); at != nil; at = together.FindStringIndex(text) {
		b = append(appendEscaped(b, text[:at[0]]), `<span class="d">`...)
		b = append(appendEscaped(b, text[at[0]:at[1]]), "</span>"...)
		text = text[at[1]:]
	}
	b = appendEscaped(b, text)
	return template.HTML(bytes.ReplaceAll(b, []byte(" · "), []byte("&nbsp;· "))) //nolint:gosec // texts are escaped
}

// inParts cuts what is finished into parts of 32 KB. Package fmt copies what html/template writes, and makes a new
// buffer for each value above 64 KB, growing from nothing: 300 KB for the drawings of a model.
func inParts(whole template.HTML) (parts []template.HTML) {
	const size = 32 << 10
	for len(whole) > size {
		parts, whole = append(parts, whole[:size]), whole[size:]
	}
	return append(parts, whole)
}

// escapes are the characters that html/template escapes in texts and in values between quotes.
var escapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;", "+", "&#43;", "\x00", "\uFFFD")

func appendEscaped(b []byte, text string) []byte {
	if !strings.ContainsAny(text, "&<>\"'+\x00") {
		return append(b, text...)
	}
	return append(b, escapes.Replace(text)...)
}

// addressTemplate writes an address as html/template does, which leaves out what a browser would execute.
var addressTemplate = template.Must(template.New("address").Parse(`<a href="{{.}}"></a>`))

// appendAddress appends an address of this site or of the web with plain characters only; others are
// written by html/template.
func appendAddress(b []byte, address string) []byte {
	if (strings.HasPrefix(address, "/") || strings.HasPrefix(address, "#") || strings.HasPrefix(address, "https://")) && isPlainAddress(address) {
		return appendEscaped(b, address)
	}
	var out strings.Builder
	must(addressTemplate.Execute(&out, address))
	return append(b, strings.TrimSuffix(strings.TrimPrefix(out.String(), `<a href="`), `"></a>`)...)
}

// isPlainAddress reports whether html/template leaves an address as it is: all its characters are those of addresses,
// and every percent sign begins an escape.
func isPlainAddress(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= utf8.RuneSelf || !plainInAddress[c]:
			return false
		case c == '%' && (i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2])):
			return false
		}
	}
	return true
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' }

var plainInAddress = func() (is [utf8.RuneSelf]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/:?#=&%+,") {
		is[c] = true
	}
	return is
}()
