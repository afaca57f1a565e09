// Package browsertest opens the pages of a running server in a real browser: they must load
// nothing from elsewhere, raise no error, be readable in both colour schemes and at every
// width, and do what they offer. It is a module of its own, so that the library that drives
// the browser stays out of the server's.
//
// Without a browser the tests are skipped; MODELDEX_REQUIRE_BROWSER=1 makes that a failure.
// MODELDEX_SCREENSHOTS=DIR keeps a picture of every page in every form.
package browsertest
