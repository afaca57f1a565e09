// Package compare has the test that compares imported measurements with the files they cite.
//
// It needs copies of the cited repositories, bare or not, as DIR/<owner>+<name>/repo or
// DIR/<owner>/<name>, and git:
//
//	MODELDEX_SOURCES_DIR=DIR go test ./dataset/importer/compare -v
//
// For each source it draws 40 measurements, reads the file at the cited commit, and looks for the
// figures in it. It looks for a speed as printed. For a speed worked out from others it looks for
// the figures its notes quote. Sources whose copy or commit is missing, and sources that are
// threads or pages instead of files of a repository, are listed with their number of measurements
// and skipped.
package compare
