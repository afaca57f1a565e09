// Package browsertest opens the pages of a running server in a real browser: they must load nothing from elsewhere,
// raise no error, be readable in both colour schemes and at every width, and do what they offer. It is a module of its
// own, so that the library that drives the browser stays out of the server's.
//
// Without a browser the tests are skipped; MODELDEX_REQUIRE_BROWSER=1 makes that a failure. The checks of accessibility
// need axe-core: MODELDEX_AXE names its axe.min.js, as .ci/run installs it. Without it they are skipped;
// MODELDEX_REQUIRE_AXE=1 makes that a failure. BROWSERTEST_PROGRAM=FILE tests a program that is built already.
// MODELDEX_SCREENSHOTS=DIR keeps a picture of every page in every form.
package browsertest
