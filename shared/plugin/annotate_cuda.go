//go:build cuda

package plugin

// sourceLines has nothing to replace: CUDA's errors name no place in the kernel.
func sourceLines(text string) string { return text }
