package plugin

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"scanhost/shared/contract"
	"scanhost/shared/contract/kernelv1"
	"scanhost/shared/plugin/registry"
)

func closeDescriptor(fd int) { unix.Close(fd) }

// array is the part of a mapping that a buffer describes.
func (m mapping) array(b *kernelv1.Buffer) (registry.Array, error) {
	bytes, fits := arrayBytes(b, m.bytes)
	if !fits || b.Offset > m.bytes || bytes > m.bytes-b.Offset {
		return registry.Array{}, fmt.Errorf("buffer %d (%s): %v of %v at byte %d is outside its mapping of %d bytes", b.Id, b.Role, b.Shape, b.Dtype, b.Offset, m.bytes)
	}
	return registry.Array{Pointer: unsafe.Add(m.memory(), b.Offset), Bytes: bytes, Writable: b.Writable}, nil
}

// arrayBytes multiplies the shape out, unless the product leaves the limit on the way.
func arrayBytes(b *kernelv1.Buffer, limit uint64) (bytes uint64, fits bool) {
	if slices.Contains(b.Shape, 0) {
		return 0, true
	}
	bytes = uint64(contract.DTypeFromProto(b.Dtype).Size())
	for _, d := range b.Shape {
		if d < 0 || bytes > limit/uint64(d) {
			return 0, false
		}
		bytes *= uint64(d)
	}
	return bytes, true
}

func (s *server) Launch(_ context.Context, r *kernelv1.LaunchRequest) (*kernelv1.LaunchResponse, error) {
	defer s.enter(kernelv1.Beat_LAUNCH, r.Handle)()
	p, ok := s.prepared[r.Handle]
	switch {
	case !ok:
		return nil, status.Errorf(codes.NotFound, "handle %d is not prepared", r.Handle)
	case r.Launches == 0:
		return nil, status.Error(codes.InvalidArgument, "launches is 0; at least 1 is needed")
	}
	kernel, simt := p.kernel, registry.Simt{}
	if o := r.Simt; o != nil && kernel.Copy != registry.CUDA {
		simt = registry.Simt{Mode: int32(o.Mode), ResidentBlocks: o.ResidentBlocks, Workers: o.Workers, Seed: o.Seed}
		if o.Mode != kernelv1.SimtOptions_FAST {
			var err error
			if kernel, err = registry.Find(p.op.Name(), registry.SimtCheck); err != nil {
				return nil, status.Error(codes.FailedPrecondition, err.Error())
			}
		}
	}
	if r.Graph {
		if kernel.Copy != registry.CUDA {
			return nil, status.Error(codes.InvalidArgument, "graph is set; this backend has no graphs to replay")
		}
		simt.Graph = r.Handle
	}
	if err := p.toDevice(); err != nil {
		return p.failedCopy(err), nil
	}
	w := s.workspace[p.op.Name()]
	report := kernel.Run(p.problem, p.sets, registry.Batch{First: r.FirstSet, Launches: r.Launches,
		Workspace: w.pointer, WorkspaceBytes: w.bytes, Simt: simt})
	if report.Status == registry.OK {
		if err := p.toHost(); err != nil {
			return p.failedCopy(err), nil
		}
	}
	return p.response(report), nil
}

func (p *prepared) failedCopy(err error) *kernelv1.LaunchResponse {
	return &kernelv1.LaunchResponse{Finding: &kernelv1.Finding{Kind: kernelv1.Finding_DEVICE_ERROR, Text: err.Error()}}
}

func (p *prepared) response(r registry.Report) *kernelv1.LaunchResponse {
	out := &kernelv1.LaunchResponse{DeviceMs: r.DeviceMS, Completed: r.Completed,
		Counters: &kernelv1.Counters{BytesRead: map[string]uint64{}, BytesWritten: map[string]uint64{},
			Barriers: r.Barriers, Shuffles: r.Shuffles, Atomics: r.Atomics, LookbackSteps: r.Lookback, Steps: r.Steps}}
	for i, role := range p.roles {
		out.Counters.BytesRead[role], out.Counters.BytesWritten[role] = r.Read[i], r.Written[i]
	}
	out.Counters.BytesRead["workspace"], out.Counters.BytesWritten["workspace"] = r.WorkspaceRead, r.WorkspaceWritten
	if r.Status != registry.OK {
		out.Finding = &kernelv1.Finding{Kind: kernelv1.Finding_Kind(r.Status), Text: p.named(sourceLines(r.Text)), Launch: r.BadLaunch, Seed: r.BadSeed}
	}
	return out
}

var arrayNumber = regexp.MustCompile(`\barray (\d+)\b`)

// named puts the roles of arrays, as the host knows them, in place of their numbers in the ABI.
func (p *prepared) named(text string) string {
	return arrayNumber.ReplaceAllStringFunc(text, func(found string) string {
		i, err := strconv.Atoi(arrayNumber.FindStringSubmatch(found)[1])
		if err != nil || i >= len(p.roles) {
			return found
		}
		return p.roles[i]
	})
}
