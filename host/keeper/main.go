// The keeper is the trusted process that owns one GPU's buffers. It allocates them with guard bands, hands
// their descriptors to the host, fills inputs, poisons outputs, and says after a launch whether the guards
// still hold and what the contents hash to. Plugins map its memory; none of their code runs here.
//
// The host starts it like a plugin, with the service of shared/contract/keeper.proto. File descriptor 3
// carries descriptors both ways: memory of the GPU to the host, and files to copy from or to the keeper. A
// file belongs to the one Write or Read that names it and is closed after it.
//
// Built without the tag cuda it only says so.
package main

import (
	"fmt"
	"os"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"scanhost/shared/contract"
)

func main() {
	if !withCUDA {
		refuse("built without CUDA; the host builds the keeper with -tags cuda where it finds nvcc")
	}
	if os.Getenv(contract.Handshake.MagicCookieKey) != contract.Handshake.MagicCookieValue {
		refuse("this is started by the host: go tool host run-all")
	}
	files := newFiles()
	// First of all, since creating the context may hang. os.Exit leaves at once, without C's exit handlers, which
	// may wait for the device.
	go files.receive(contract.SocketFD, func() { os.Exit(0) })
	device, err := openDevice()
	if err != nil {
		refuse(err.Error())
	}
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig: contract.Handshake,
		VersionedPlugins: map[int]goplugin.PluginSet{
			contract.ProtocolVersion: {contract.KeeperService: &contract.KeeperPlugin{Service: newServer(device, files, sendOnSocket)}},
		},
		GRPCServer: func(options []grpc.ServerOption) *grpc.Server { return grpc.NewServer(options...) },
		Logger:     hclog.New(&hclog.LoggerOptions{Level: hclog.Off}),
	})
	os.Exit(0)
}

func refuse(why string) {
	fmt.Fprintln(os.Stderr, "keeper: "+why)
	os.Exit(2)
}

func sendOnSocket(id uint64, fd int) error { return contract.SendDescriptor(contract.SocketFD, id, fd) }
