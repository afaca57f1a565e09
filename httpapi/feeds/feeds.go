// Package feeds writes a list of news as Atom (RFC 4287) or as a JSON Feed (version 1.1).
//
// It knows neither the dataset nor HTTP. Ids must be the same for ever: ID makes them from names
// that do not change, so that they depend on no host and no time. Everything in it is safe for
// concurrent use.
package feeds

import (
	"encoding/xml"
	"time"

	"github.com/google/uuid"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
)

// A Feed is news, newest first.
type Feed struct {
	ID    string // an absolute IRI, see ID
	Title string
	// Self is the address of the feed in the form being written, Page that of a page for people.
	Self, Page string
	// Author is the name of the publisher, who is the author of all entries.
	Author string
	// Updated is the time of the newest entry, or when the feed began.
	Updated time.Time
	Entries []Entry
}

// An Entry is one piece of news.
type Entry struct {
	ID      string // an absolute IRI, see ID
	Title   string
	Page    string // address for people
	Text    string // plain text
	Updated time.Time
	Tags    []string
}

// space is the name space of all ids. It must never change.
var space = uuid.MustParse("c6f5d3f4-8a0e-5d0c-9a53-6d0b7c1f2a10")

// ID is the id of a thing with a name: a version 5 UUID (RFC 9562) as a URN.
func ID(name string) string { return uuid.NewSHA1(space, []byte(name)).URN() }

type atomFeed struct {
	XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string      `xml:"id"`
	Title   string      `xml:"title"`
	Updated string      `xml:"updated"`
	Author  atomAuthor  `xml:"author"`
	Links   []atomLink  `xml:"link"`
	Entries []atomEntry `xml:"entry"`
}

type atomAuthor struct {
	Name string `xml:"name"`
}

type atomLink struct {
	Rel  string `xml:"rel,attr"`
	Type string `xml:"type,attr"`
	Href string `xml:"href,attr"`
}

type atomEntry struct {
	ID         string         `xml:"id"`
	Title      string         `xml:"title"`
	Published  string         `xml:"published"`
	Updated    string         `xml:"updated"`
	Link       atomLink       `xml:"link"`
	Categories []atomCategory `xml:"category"`
	Content    atomText       `xml:"content"`
}

type atomCategory struct {
	Term string `xml:"term,attr"`
}

type atomText struct {
	Type string `xml:"type,attr"`
	Text string `xml:",chardata"`
}

// Atom writes the feed as RFC 4287 describes. Characters that XML cannot hold become U+FFFD.
func (f *Feed) Atom() ([]byte, error) {
	out := atomFeed{
		ID: f.ID, Title: f.Title, Updated: stamp(f.Updated), Author: atomAuthor{f.Author},
		Links: []atomLink{{"self", "application/atom+xml", f.Self}, {"alternate", "text/html", f.Page}},
	}
	for i := range f.Entries {
		e := &f.Entries[i]
		entry := atomEntry{
			ID: e.ID, Title: e.Title, Published: stamp(e.Updated), Updated: stamp(e.Updated),
			Link: atomLink{"alternate", "text/html", e.Page}, Content: atomText{"text", e.Text},
		}
		for _, tag := range e.Tags {
			entry.Categories = append(entry.Categories, atomCategory{tag})
		}
		out.Entries = append(out.Entries, entry)
	}
	b, err := xml.MarshalIndent(out, "", " ")
	return append([]byte(xml.Header), append(b, '\n')...), err
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

type jsonFeed struct {
	Version string       `json:"version"`
	Title   string       `json:"title"`
	Home    string       `json:"home_page_url"`
	Self    string       `json:"feed_url"`
	Authors []jsonAuthor `json:"authors"`
	Lang    string       `json:"language"`
	Items   []jsonItem   `json:"items"`
}

type jsonAuthor struct {
	Name string `json:"name"`
}

type jsonItem struct {
	ID        string   `json:"id"`
	URL       string   `json:"url"`
	Title     string   `json:"title"`
	Text      string   `json:"content_text"`
	Published string   `json:"date_published"`
	Modified  string   `json:"date_modified"`
	Tags      []string `json:"tags,omitempty"`
}

// JSON writes the feed as version 1.1 of JSON Feed describes. Bytes that are not UTF-8 become U+FFFD.
func (f *Feed) JSON() ([]byte, error) {
	out := jsonFeed{
		Version: "https://jsonfeed.org/version/1.1", Title: f.Title, Home: f.Page, Self: f.Self,
		Authors: []jsonAuthor{{f.Author}}, Lang: "en", Items: []jsonItem{},
	}
	for i := range f.Entries {
		e := &f.Entries[i]
		out.Items = append(out.Items, jsonItem{ID: e.ID, URL: e.Page, Title: e.Title, Text: e.Text, Published: stamp(e.Updated), Modified: stamp(e.Updated), Tags: e.Tags})
	}
	b, err := jsonv2.Marshal(out, jsontext.EscapeForHTML(true), jsontext.EscapeForJS(true), jsontext.AllowInvalidUTF8(true))
	return append(b, '\n'), err
}
