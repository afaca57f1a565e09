//go:build !linux

package service

// forgetProgram does nothing where the system has no /proc.
func forgetProgram() {}
