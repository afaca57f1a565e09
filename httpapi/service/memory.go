package service

import (
	"runtime"
	"runtime/debug"
)

// giveBack returns to the system all memory that is not in use, after work in the background.
func giveBack() {
	runtime.GC() // the second collection, of FreeOSMemory, empties pools
	debug.FreeOSMemory()
	forgetProgram()
}
