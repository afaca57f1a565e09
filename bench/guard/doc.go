// Package guard counts what fixed paths take in instructions, so that a change that makes one of them
// dearer is seen on any machine: callgrind counts the same whatever else runs. Allocations, copies and
// system calls are counted beside the code, in the tests called Guard of index and httpapi.
package guard
