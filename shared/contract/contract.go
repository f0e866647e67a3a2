// Package contract is what host and plugins share: the gRPC service of kernel.proto, the handshake that
// starts it, and the passing of buffers by descriptor. docs/protocol.md says the same without Go.
package contract

import (
	"context"
	"strings"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"scanhost/shared/contract/keeperv1"
	"scanhost/shared/contract/kernelv1"
)

// ProtocolVersion is the major version of the contract: of the package name, of go-plugin's version map
// and of plugin.toml's protocol list.
const ProtocolVersion = 1

// SocketFD is the descriptor on which a plugin receives its buffers. Its end of file means that the host
// is gone.
const SocketFD = 3

// CapabilityGraph is said by plugins that know LaunchRequest.graph.
const CapabilityGraph = "graph"

// CapabilityCopied is said by plugins that take buffers of host memory also where they run on a GPU, and copy them to
// the device and back by themselves.
const CapabilityCopied = "copied_memory"

// MaxMessageBytes bounds a gRPC message in both directions; arrays never travel in one.
const MaxMessageBytes = 4 << 20

// Handshake is printed in docs/protocol.md and never changes within a protocol version. The cookie only
// keeps people from starting a plugin by hand; it is no protection.
var Handshake = goplugin.HandshakeConfig{
	ProtocolVersion:  ProtocolVersion,
	MagicCookieKey:   "SCANHOST_PLUGIN",
	MagicCookieValue: "affine-scan-h-t-equals-a-h-plus-b",
}

// TooLarge says whether a call failed because a message was over the limit, not for want of memory: gRPC
// has one code for both.
func TooLarge(err error) bool {
	s := status.Convert(err)
	return s.Code() == codes.ResourceExhausted && strings.Contains(s.Message(), "message larger than max")
}

// Names under which the two services are dispensed.
const (
	KernelService = "kernel"
	KeeperService = "keeper"
)

// KernelPlugin adapts the kernel service to go-plugin.
type KernelPlugin struct {
	goplugin.NetRPCUnsupportedPlugin
	Service kernelv1.KernelServer // nil on the host
}

func (p *KernelPlugin) GRPCServer(_ *goplugin.GRPCBroker, s *grpc.Server) error {
	kernelv1.RegisterKernelServer(s, p.Service)
	return nil
}

func (p *KernelPlugin) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, c *grpc.ClientConn) (any, error) {
	return kernelv1.NewKernelClient(c), nil
}

// KeeperPlugin adapts the keeper service to go-plugin.
type KeeperPlugin struct {
	goplugin.NetRPCUnsupportedPlugin
	Service keeperv1.KeeperServer // nil on the host
}

func (p *KeeperPlugin) GRPCServer(_ *goplugin.GRPCBroker, s *grpc.Server) error {
	keeperv1.RegisterKeeperServer(s, p.Service)
	return nil
}

func (p *KeeperPlugin) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, c *grpc.ClientConn) (any, error) {
	return keeperv1.NewKeeperClient(c), nil
}
