package pages

import (
	"net/url"
	"strings"

	"modeldex/dataset/text"
	"modeldex/httpapi/contribute"
)

// A Proposal is the way into the repository of the dataset.
type Proposal struct {
	Link
	// Filled says that the lines are in the link; without that the reader pastes them.
	Filled bool
	// Text says what happens behind the link.
	Note string
}

// longestAddress is how long a prefilled link may be. GitHub answers 414 to addresses of more than
// about 8 KiB.
const longestAddress = 7500

// propose makes the link under which a reader proposes lines. On github.com it leads to the form of a
// new file of benchmarks. Elsewhere it leads to the form of an issue, whose address GitHub, Gitea,
// Forgejo and GitLab spell in two ways. A link that would be too long is left without the lines.
func propose(repository string, lines []contribute.Line, page string) *Proposal {
	base, branch, folder := splitRepository(repository)
	host := hostOf(base)
	filled := ""
	for _, l := range lines {
		filled += l.Text + "\n"
	}
	title := "Add " + text.Count(len(lines), "benchmark", "benchmarks")
	if len(lines) == 1 {
		title += " of " + string(lines[0].Model) + " on " + string(lines[0].Hardware)
	}
	var address string
	query := url.Values{}
	out := &Proposal{Link: Link{Text: "Propose as an issue"}, Note: "The issue is filled in with the line; look at it and send it."}
	body := title + ", made and checked at " + page + ".\n\n```json\n" + filled + "```\n"
	switch {
	case host == "github.com":
		out.Text, out.Note = "Propose on GitHub", "GitHub opens a new file with what is above and makes a pull request of it. An account there is needed."
		address = base + "/new/" + url.PathEscape(branch)
		query.Set("filename", folder+"benchmarks/"+string(lines[0].ID)+".ndjson")
		query.Set("message", title)
		query.Set("value", filled)
	case strings.HasPrefix(host, "gitlab."):
		address = base + "/-/issues/new"
		query.Set("issue[title]", title)
		query.Set("issue[description]", body)
	default:
		address = base + "/issues/new"
		query.Set("title", title)
		query.Set("body", body)
	}
	out.Filled = true
	out.Href = address + "?" + query.Encode()
	if len(out.Href) > longestAddress {
		for _, name := range []string{"value", "body", "issue[description]"} {
			query.Del(name)
		}
		out.Filled, out.Href = false, address+"?"+query.Encode()
		out.Note = "What is above is too long for a link: copy it first, then paste it there."
	}
	return out
}

// splitRepository takes branch and folder off the address of a repository, which may end in
// /tree/BRANCH/FOLDER as GitHub writes it. They are main and data where it does not.
func splitRepository(address string) (base, branch, folder string) {
	base, tree, found := strings.Cut(strings.TrimSuffix(strings.TrimRight(address, "/"), ".git"), "/tree/")
	if !found {
		return base, "main", "data/"
	}
	branch, folder, _ = strings.Cut(tree, "/")
	if folder != "" {
		folder += "/"
	}
	return base, branch, folder
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}
