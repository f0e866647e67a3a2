package launch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"scanhost/shared/contract"
	"scanhost/shared/contract/kernelv1"
)

const (
	shutdownMethod = "/plugin.GRPCController/Shutdown"
	stdioMethod    = "/plugin.GRPCStdio/StreamStdio"
)

func (p *Process) dialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithDefaultCallOptions(
			grpc.MaxCallRecvMsgSize(contract.MaxMessageBytes),
			grpc.MaxCallSendMsgSize(contract.MaxMessageBytes)),
		grpc.WithChainUnaryInterceptor(p.unary),
		grpc.WithChainStreamInterceptor(p.stream),
	}
}

// unary refuses a call without a deadline. go-plugin's Shutdown has none of its own and gets one here.
func (p *Process) unary(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn,
	invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	if method == shutdownMethod {
		bounded, cancel := context.WithTimeout(ctx, p.limits.scaled(p.limits.Shutdown))
		defer cancel()
		return invoke(bounded, method, request, reply, conn, options...)
	}
	if _, ok := ctx.Deadline(); !ok {
		return status.Errorf(codes.FailedPrecondition, "call %s has no deadline; every call needs one", method)
	}
	p.calls.Add(1)
	defer p.calls.Add(-1)
	return invoke(ctx, method, request, reply, conn, options...)
}

// stream lets two streams live as long as the connection: the heartbeat, which has a watchdog, and
// go-plugin's copy of standard output. go-plugin's broker is refused: nothing here uses it.
func (p *Process) stream(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string,
	open grpc.Streamer, options ...grpc.CallOption) (grpc.ClientStream, error) {
	if strings.HasPrefix(method, "/plugin.") && method != stdioMethod {
		return nil, status.Errorf(codes.Unimplemented, "%s is not used by this host", method)
	}
	_, bounded := ctx.Deadline()
	if !bounded && method != stdioMethod && method != kernelv1.Kernel_Heartbeat_FullMethodName {
		return nil, status.Errorf(codes.FailedPrecondition, "stream %s has no deadline; every call needs one", method)
	}
	return open(ctx, desc, conn, method, options...)
}

// settleTime is how long a broken connection waits for the death that broke it.
const settleTime = time.Second

// Call runs rpc within limit (scaled) and turns what goes wrong into a *Failure: a child that does not
// answer is killed and Hung, one that died is Crashed, one that broke the contract is BadPlugin and alive.
// phase names the call in the text.
func (p *Process) Call(ctx context.Context, phase string, limit time.Duration, rpc func(context.Context) error) error {
	limit = p.limits.scaled(limit)
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := rpc(bounded)
	if err == nil {
		return nil
	}
	f := p.diagnose(ctx, phase, limit, err)
	f.Evidence, f.Cause = p.Evidence(), err
	return f
}

func (p *Process) diagnose(ctx context.Context, phase string, limit time.Duration, err error) *Failure {
	code := status.Code(err)
	late := code == codes.DeadlineExceeded || errors.Is(err, context.DeadlineExceeded)
	switch {
	case ctx.Err() != nil:
		return p.end(Interrupted, "interrupted in "+phase)
	case late:
		return p.end(Hung, fmt.Sprintf("no answer to %s within %v", phase, limit))
	case code == codes.Unavailable || code == codes.Canceled || p.isDone():
		return p.lost(phase)
	case contract.TooLarge(err):
		return p.end(BadPlugin, fmt.Sprintf("%s: a message over %d bytes: %s", phase, contract.MaxMessageBytes, status.Convert(err).Message()))
	}
	return &Failure{Kind: BadPlugin, Text: fmt.Sprintf("%s was answered with %s: %s", phase, code, printable(short(status.Convert(err).Message())))}
}

// end kills the child for the failure.
func (p *Process) end(kind Kind, text string) *Failure {
	if err := p.Kill(text); err != nil {
		return &Failure{Kind: Unkillable, Text: text + "; then " + err.Error()}
	}
	return &Failure{Kind: kind, Text: text}
}

// lost is for a connection that broke: the child is dying, or closed it and lives.
func (p *Process) lost(phase string) *Failure {
	select {
	case <-p.done:
	case <-time.After(settleTime):
		if f := p.end(BadPlugin, "closed its connection in "+phase); f.Kind == Unkillable || p.Evidence().Killed {
			return f
		}
	}
	e := p.Evidence()
	kind := Crashed
	if e.Killed {
		kind = Hung
	}
	return &Failure{Kind: kind, Text: phase + ": " + e.String()}
}
