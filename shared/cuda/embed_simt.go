//go:build !cuda

package cuda

// The simulated GPU itself is compiled once, in its own package, and linked into each plugin.
import _ "scanhost/shared/cuda/simt"
