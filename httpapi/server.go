package httpapi

import (
	"net"
	"sync"
	"sync/atomic"

	"modeldex/httpapi/fairuse"
	"modeldex/httpapi/headers"
	"modeldex/httpapi/metrics"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// Server answers the public API. It is made by New, serves until Shutdown and is not reused.
type Server struct {
	cfg      Config
	app      *fiber.App
	router   fasthttp.RequestHandler // fiber's: it finds the route of a request and calls serve
	cache    *responseCache
	limit    *connectionLimit
	fairUse  *fairuse.Limiter // requests for pages without a key, by address
	metrics  *metrics.Registry
	measured map[*route]*metrics.Route
	plans    headers.Plans
	streams  streams
	dumps    *dumps
	pages    *pageSet
	routes   []route // the table of routes
	// idPrefix and idCount make request ids, see appendRequestID.
	idPrefix string
	idCount  atomic.Uint64

	undeclared sync.Once   // the warning about a proxy that is not trusted
	unready    atomic.Bool // /readyz said last that the ledger does not answer

	mu      sync.Mutex
	ln      net.Listener // what Serve listens on; nil before
	stopped bool
}
