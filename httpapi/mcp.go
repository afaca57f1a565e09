package httpapi

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"modeldex/httpapi/headers"
	"modeldex/httpapi/mcp"
	"modeldex/quota"

	"github.com/gofiber/fiber/v2"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/valyala/fasthttp"
)

// agents answers the Model Context Protocol. It is made at the first request.
type agents struct {
	once    sync.Once
	server  *sdk.Server
	handler http.Handler
}

// agent is who calls tools by one request. Calls of a batch run at the same time.
type agent struct {
	ask  func(method, target string, body []byte) *fasthttp.Response
	base string

	mu     sync.Mutex
	limits headers.Lines // of the last call
}

type agentKey struct{}

func (s *Server) startAgents() {
	s.agents.once.Do(func() {
		server, err := mcp.New(mcp.Config{
			OpenAPI: openapiJSON(), Version: s.cfg.Version,
			Base: func(ctx context.Context) string { return ctx.Value(agentKey{}).(*agent).base },
			Ask: func(ctx context.Context, method, target string, body []byte) (int, []byte, string) {
				return ctx.Value(agentKey{}).(*agent).call(method, target, body)
			},
		})
		if err != nil {
			panic(err) // the document is part of the program
		}
		s.agents.server = server
		s.agents.handler = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server },
			&sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxNames, Logger: s.cfg.Log})
	})
}

// call asks the API and keeps what is left of the caller's quota.
func (a *agent) call(method, target string, body []byte) (status int, answer []byte, retryAfter string) {
	resp := a.ask(method, target, body)
	var limits headers.Lines
	for line := range strings.Lines(resp.Header.String()) {
		name, value, _ := strings.Cut(line, ":")
		if strings.EqualFold(name, fiber.HeaderRetryAfter) {
			retryAfter = strings.TrimSpace(value)
		} else if !strings.Contains(strings.ToLower(name), "ratelimit") {
			continue
		}
		limits = append(limits, line...)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.limits = limits
	return resp.StatusCode(), resp.Body(), retryAfter
}

// callerHeaders are the headers of a request that say who sent it.
var callerHeaders = []string{
	fiber.HeaderHost, fiber.HeaderAuthorization, "Forwarded", fiber.HeaderXForwardedFor, fiber.HeaderXForwardedProto, fiber.HeaderXForwardedHost, "Via", "X-Real-Ip",
}

// onBehalf sends requests through the pipeline as if the sender of a request had sent them.
func (s *Server) onBehalf(from *fasthttp.RequestHeader, remote net.Addr) func(method, target string, body []byte) *fasthttp.Response {
	var who fasthttp.RequestHeader
	for _, name := range callerHeaders {
		for _, value := range from.PeekAll(name) {
			who.AddBytesV(name, value)
		}
	}
	return func(method, target string, body []byte) *fasthttp.Response {
		var r fasthttp.Request
		who.CopyTo(&r.Header)
		r.Header.SetMethod(method)
		r.SetRequestURI(target)
		if body != nil {
			r.Header.SetContentType(jsonType)
			r.SetBodyRaw(body)
		}
		var ctx fasthttp.RequestCtx
		ctx.Init(&r, remote, nil)
		s.handle(&ctx)
		return &ctx.Response
	}
}

// answerMCP answers POST /mcp: JSON-RPC messages of an agent, each request by itself. Tools are charged as the API
// they call is, other messages are free.
func answerMCP(s *Server, req *request) (*response, *failure) {
	base := s.base(req.ctx)
	if origin := req.peek(fiber.HeaderOrigin); len(origin) > 0 && hostOf(string(origin)) != hostOf(base) {
		return uncached(http.StatusForbidden, []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Requests from web pages of other origins are not allowed; agents must not send an Origin header."}}`)), nil
	}
	if f := req.noParameters(); f != nil {
		return nil, f
	}
	if f := checkMediaType(req.c, jsonType); f != nil {
		return nil, f
	}
	known := s.identify(req) == nil && s.keeper.CheckCurrent(req.digest) == quota.Admitted
	if !known {
		if f := s.spendPage(req, 1); f != nil {
			return nil, f
		}
	}
	s.startAgents()
	who := &agent{ask: s.onBehalf(&req.ctx.Request.Header, req.ctx.RemoteAddr()), base: base}
	message, err := http.NewRequestWithContext(context.WithValue(context.Background(), agentKey{}, who), http.MethodPost, "/mcp", bytes.NewReader(bytes.Clone(req.ctx.PostBody())))
	if err != nil {
		return nil, &failure{code: internal, cause: err}
	}
	for name, value := range req.ctx.Request.Header.All() {
		if headers.EqualFold(name[:min(len(name), len("mcp-"))], "mcp-") {
			message.Header.Add(string(name), string(value))
		}
	}
	message.Header.Set(fiber.HeaderContentType, jsonType)
	message.Header.Set(fiber.HeaderAccept, jsonType+", text/event-stream") // the answer is JSON, whatever is accepted beside it
	out := recorder{header: http.Header{}, status: http.StatusOK}
	s.agents.handler.ServeHTTP(&out, message)
	if kind := out.header.Get(fiber.HeaderContentType); out.status >= http.StatusBadRequest && !strings.HasPrefix(kind, jsonType) {
		return nil, &failure{code: badRequest, detail: strings.TrimSpace(out.body.String())}
	}
	resp := uncached(out.status, out.body.Bytes())
	if out.body.Len() == 0 {
		resp.set(fiber.HeaderContentType, "")
	}
	switch {
	case who.limits != nil:
		resp.lines = append(resp.lines, who.limits...)
	case known:
		call := s.keeper.AdmitFree(req.digest)
		resp.lines = resp.lines.AddLimits(call.Release(), req.started.Unix())
	default:
		resp.lines = resp.lines.AddLimits(s.trialStanding(req), req.started.Unix())
	}
	return resp, nil
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}

// recorder keeps what a handler of net/http answers.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header             { return r.header }
func (r *recorder) WriteHeader(status int)          { r.status = status }
func (r *recorder) Write(b []byte) (n int, _ error) { return r.body.Write(b) }

// ServeMCP answers one agent that runs this program, until it closes in or ctx ends. Links lead to base.
func (s *Server) ServeMCP(ctx context.Context, in io.ReadCloser, out io.WriteCloser, base string) error {
	s.startAgents()
	who := &agent{ask: s.onBehalf(&fasthttp.RequestHeader{}, &net.TCPAddr{IP: net.IPv6loopback}), base: base}
	return s.agents.server.Run(context.WithValue(ctx, agentKey{}, who), &sdk.IOTransport{Reader: in, Writer: out})
}
