// Package plugin is the Go SDK: a plugin's main embeds its files and makes one call.
//
//	//go:embed plugin.toml
//	var manifest string
//
//	//go:embed kernel.cu
//	var kernel string
//
//	func main() {
//		plugin.Serve(plugin.Source{Manifest: manifest, Kernel: kernel, Headers: cuda.Sources})
//	}
//
// The kernel itself is C++ and reaches the SDK through shared/cuda/abi.h. Embedding the sources is what
// makes the go tool rebuild the plugin when they change, and gives Describe their hash.
//
// stdout belongs to the handshake: a plugin that wants to say something writes to stderr.
package plugin

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"scanhost/shared/contract"
	"scanhost/shared/plugin/registry"
)

// Source is what a plugin embeds of itself.
type Source struct {
	Manifest string // plugin.toml
	Kernel   string // kernel.cu
	Headers  fs.FS  // shared/cuda
}

// Serve answers the host until the host ends it. It does not return.
func Serve(s Source) {
	if os.Getenv(contract.Handshake.MagicCookieKey) != contract.Handshake.MagicCookieValue {
		fmt.Fprintln(os.Stderr, "this is a scanhost plugin; the host starts it: go tool host run-all")
		os.Exit(2)
	}
	manifest, err := contract.ParseManifest(s.Manifest)
	if err != nil {
		fmt.Fprintf(os.Stderr, "plugin.toml: %v\n", err)
		os.Exit(2)
	}
	hash, err := s.hash()
	if err != nil {
		fmt.Fprintf(os.Stderr, "hashing the embedded sources: %v\n", err)
		os.Exit(2)
	}
	descriptors := newDescriptors()
	go descriptors.receive(contract.SocketFD, func() { os.Exit(0) })
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig: contract.Handshake,
		VersionedPlugins: map[int]goplugin.PluginSet{
			contract.ProtocolVersion: {contract.KernelService: &contract.KernelPlugin{Service: newServer(manifest, hash, descriptors)}},
		},
		GRPCServer: func(options []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(options,
				grpc.MaxRecvMsgSize(contract.MaxMessageBytes), grpc.MaxSendMsgSize(contract.MaxMessageBytes))...)
		},
		Logger: hclog.New(&hclog.LoggerOptions{Level: hclog.Off}),
	})
	os.Exit(0)
}

// hash covers everything the kernel's machine code depends on, file by file with names and lengths, so
// that moving text from one file to the next changes it.
func (s Source) hash() (string, error) {
	h := sha256.New()
	add := func(name string, text []byte) { fmt.Fprintf(h, "%s %d\n%s", name, len(text), text) }
	add("kernel.cu", []byte(s.Kernel))
	if s.Headers != nil {
		err := fs.WalkDir(s.Headers, ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := fs.ReadFile(s.Headers, path)
			add(path, text)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// isCUDA says which backend this executable was built for.
func isCUDA() bool { return registry.Has(registry.CUDA) }
