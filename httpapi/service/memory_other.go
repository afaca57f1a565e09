//go:build !linux

package service

func forgetProgram() {}
