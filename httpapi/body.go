package httpapi

import (
	"bytes"
	"errors"
	"mime"
	"strings"
	"unicode/utf8"

	"modeldex/httpapi/query"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
	"github.com/gofiber/fiber/v2"
)

// readBody reads the members of the JSON object in the body of a request that takes no parameters beside it. Faults of
// members are in the values, so that the caller can add its own; the failure is that of the body as a whole.
func readBody(req *request, params []query.Param) (*query.Values, *failure) {
	if f := req.noParameters(); f != nil {
		return nil, f
	}
	members, f := bodyMembers(req.c)
	if f != nil {
		return nil, f
	}
	return query.ReadObject(params, members, ""), nil
}

func bodyMembers(c *fiber.Ctx) (map[string]jsontext.Value, *failure) {
	if f := checkMediaType(c, jsonType); f != nil {
		return nil, f
	}
	members := map[string]jsontext.Value{}
	body := bytes.Clone(c.Request().Body()) // as it was sent; the members point into it
	if bytes.HasPrefix(body, []byte("\xef\xbb\xbf")) {
		return nil, &failure{code: invalidJSON, detail: "The body starts with a byte order mark, which JSON does not allow. Remove the first three bytes."}
	}
	if err := jsonv2.Unmarshal(body, &members); err != nil || members == nil {
		detail := "The body must be one JSON object."
		if len(body) == 0 {
			detail = "The body is empty. It must be one JSON object."
		}
		var syntax *jsontext.SyntacticError
		switch place := errors.As(err, &syntax); {
		case len(body) == 0:
		case place && (!utf8.Valid(body) || bytes.IndexByte(body, 0) >= 0): // Latin-1, UTF-16
			detail = "The body is not valid UTF-8 near byte " + string(appendInt(nil, syntax.ByteOffset)) + "."
		case place && errors.Is(err, jsontext.ErrDuplicateName):
			detail = "The body has two members with the same name near byte " + string(appendInt(nil, syntax.ByteOffset)) + "."
		case place: // its own text may show the body, its place may not
			detail = "The body is not valid JSON near byte " + string(appendInt(nil, syntax.ByteOffset)) + "."
		}
		return nil, &failure{code: invalidJSON, detail: detail}
	}
	return members, nil
}

// checkMediaType rejects a body that is not declared as plain text of a type, in UTF-8.
func checkMediaType(c *fiber.Ctx, want string) *failure {
	kind, params, err := mime.ParseMediaType(c.Get(fiber.HeaderContentType))
	charset, given := params["charset"]
	switch coding := strings.ToLower(c.Get(fiber.HeaderContentEncoding)); {
	case err != nil || kind != want:
		return &failure{code: unsupportedType, detail: "Send the body as " + want + "."}
	case given && !strings.EqualFold(charset, "utf-8"):
		return &failure{code: unsupportedType, detail: "Send the body as " + want + ", in UTF-8."}
	case coding != "" && coding != "identity":
		return &failure{code: unsupportedType, detail: "Compressed bodies are not supported. Send the body without a Content-Encoding."}
	}
	return nil
}
