package rowjson

import (
	"bytes"
	"strings"
	"testing"

	"github.com/goccy/go-json/jsontext"
)

// TestEnd: values end where a decoder ends them, whatever is behind; what is cut has no end.
func TestEnd(t *testing.T) {
	for _, value := range []string{
		`null`, `true`, `false`, `0`, `-1.5e+9`, `""`, `"a"`, `"\""`, `"\\"`, `"\\\""`, `"a\\\\"`, `"é \u00e9 漢"`, `"]}"`,
		`[]`, `{}`, `[[],[1,"]"],{"a":"}","b":[{}]}]`, `{"a":{"b\"}":[]},"c":null}`, `["\\",1]`,
	} {
		for _, behind := range []string{"", ",", "}", "]", `,"x":1}`, `""`} {
			if got := end([]byte(value + behind)); got != len(value) {
				t.Errorf("End of %s%s is %d, want %d", value, behind, got, len(value))
			}
		}
		number := strings.ContainsAny(value[:1], "-0") // the start of a number is one
		for n := range value {
			if got := end([]byte(value[:n])); got != 0 && !number {
				t.Errorf("End of %s, cut to %d bytes, is %d, want 0", value, n, got)
			}
		}
	}
	for _, none := range []string{" 1", "\n{}", "nul", "nulL", "True", "x", ",", ":", "}", "]"} {
		if got := end([]byte(none)); got != 0 {
			t.Errorf("End of %q is %d, want 0", none, got)
		}
	}
}

func TestPlain(t *testing.T) {
	for quoted, want := range map[string]string{`""`: "", `"a b"`: "a b", `"漢"`: "漢"} {
		if got, ok := plain([]byte(quoted)); !ok || string(got) != want {
			t.Errorf("plain(%s) is %q, %t, want %q", quoted, got, ok, want)
		}
	}
	if got, ok := plain([]byte(`"a\n"`)); ok {
		t.Errorf("a text with an escape is plain: %q", got)
	}
}

func TestMember(t *testing.T) {
	object := `{"a":1,"b\"c":{"d":[1,2]},"e":"f"}x`
	var got []string
	rest := []byte(object[1:])
	for {
		name, value, left, ok := member(rest)
		if !ok {
			break
		}
		got, rest = append(got, string(name)+"="+string(value)), left
	}
	if want := `"a"=1 "b\"c"={"d":[1,2]} "e"="f"`; strings.Join(got, " ") != want || string(rest) != "}x" {
		t.Errorf("members %q and %q behind them, want %q", got, rest, want)
	}
}

// FuzzEnd: nothing is read behind the end, and valid JSON without white space before it ends where a decoder ends it.
func FuzzEnd(f *testing.F) {
	for _, seed := range []string{`{"a":[1,"\\\"]"],"b":null}`, `"\\"`, `-1.5e9,`, `[[[{}]]`, `{"a" : 1 }x`, `tru`, `"\u00e9"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got := end(b)
		if got < 0 || got > len(b) {
			t.Fatalf("End of %q is %d", b, got)
		}
		rest := b
		for range len(b) + 1 {
			_, _, left, ok := member(rest)
			if !ok {
				break
			}
			if len(left) >= len(rest) {
				t.Fatalf("the member of %q leaves %q", rest, left)
			}
			rest = left
		}
		d := jsontext.NewDecoder(bytes.NewBuffer(bytes.Clone(b)), jsontext.AllowDuplicateNames(true))
		value, err := d.ReadValue()
		if err != nil || !bytes.HasPrefix(b, value) || len(value) < len(b) && !strings.Contains(",]}", string(b[len(value)])) {
			return // no JSON, or not as this program writes it
		}
		if got != len(value) {
			t.Errorf("End of %q is %d, a decoder says %d", b, got, len(value))
		}
	})
}

func TestText(t *testing.T) {
	row := []byte(`{"slug":"a","name":"A \"b\"","none":null,"list":["x"]}`)
	for member, want := range map[string]string{"slug": "a", "name": `A "b"`, "none": "", "other": "", "x": ""} {
		if got := Text(row, member); got != want {
			t.Errorf("%s is %q, want %q", member, got, want)
		}
	}
}

func TestUnquote(t *testing.T) {
	for value, want := range map[string]string{
		`"a b"`: "a b", `""`: "", `"\"\u00e9\\"`: "\"é\\", `null`: "", `1`: "", ``: "", `"a`: "", `"\x"`: "",
	} {
		if got := Unquote([]byte(value)); got != want {
			t.Errorf("Unquote of %s is %q, want %q", value, got, want)
		}
	}
}
