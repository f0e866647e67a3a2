package plugin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"scanhost/shared/contract"
	"scanhost/shared/contract/kernelv1"
	"scanhost/shared/op"
	"scanhost/shared/plugin/registry"
)

// beatEvery is the period of the heartbeat.
const beatEvery = 250 * time.Millisecond

// server answers the kernel service. One call works at a time; heartbeats go on beside it.
type server struct {
	kernelv1.UnimplementedKernelServer
	manifest    contract.Manifest
	hash        string
	descriptors *descriptors

	work      sync.Mutex // held while a call uses the kernel; guards what follows
	prepared  map[uint64]*prepared
	last      uint64
	workspace map[string]*workspace // by op

	beat    sync.Mutex // guards what follows
	phase   kernelv1.Beat_Phase
	handle  uint64
	calls   uint64
	entered time.Time
}

// prepared is one problem, ready to launch.
type prepared struct {
	op             op.Op
	kernel         registry.Kernel
	problem        registry.Problem
	roles          []string
	sets           registry.Sets
	mappings       []mapping
	workspaceBytes uint64
}

func newServer(m contract.Manifest, hash string, d *descriptors) *server {
	return &server{manifest: m, hash: hash, descriptors: d,
		prepared: map[uint64]*prepared{}, workspace: map[string]*workspace{}, entered: time.Now()}
}

func backend() kernelv1.Backend {
	if isCUDA() {
		return kernelv1.Backend_BACKEND_CUDA
	}
	return kernelv1.Backend_BACKEND_SIMT
}

func (s *server) Describe(context.Context, *kernelv1.DescribeRequest) (*kernelv1.DescribeResponse, error) {
	r := contract.Describe(s.manifest)
	r.Backend, r.SourceHash = backend(), s.hash
	if isCUDA() {
		r.Capabilities = append(r.Capabilities, contract.CapabilityGraph, contract.CapabilityCopied)
	}
	return r, nil
}

// enter marks a phase for the heartbeat; the returned function ends it.
func (s *server) enter(phase kernelv1.Beat_Phase, handle uint64) (leave func()) {
	set := func(p kernelv1.Beat_Phase, h, finished uint64) {
		s.beat.Lock()
		defer s.beat.Unlock()
		s.phase, s.handle, s.entered = p, h, time.Now()
		s.calls += finished
	}
	s.work.Lock()
	set(phase, handle, 0)
	return func() {
		set(kernelv1.Beat_IDLE, 0, 1)
		s.work.Unlock()
	}
}

func (s *server) Heartbeat(_ *kernelv1.HeartbeatRequest, stream kernelv1.Kernel_HeartbeatServer) error {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		s.beat.Lock()
		b := &kernelv1.Beat{Phase: s.phase, Handle: s.handle, Calls: s.calls, PhaseMs: uint64(time.Since(s.entered).Milliseconds())}
		s.beat.Unlock()
		if err := stream.Send(b); err != nil {
			return err
		}
		select {
		case <-stream.Context().Done():
			return nil
		case <-tick.C:
		}
	}
}

func (s *server) Prepare(_ context.Context, r *kernelv1.PrepareRequest) (*kernelv1.PrepareResponse, error) {
	defer s.enter(kernelv1.Beat_PREPARE, 0)()
	p, err := s.plan(r)
	if err != nil {
		s.discard(r)
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	bytes, outcome, text := p.kernel.Prepare(p.problem)
	if outcome == registry.Unsupported {
		s.discard(r)
		return &kernelv1.PrepareResponse{Outcome: &kernelv1.PrepareResponse_Unsupported{Unsupported: &kernelv1.Unsupported{Reason: text}}}, nil
	}
	if outcome != registry.OK {
		s.discard(r)
		return nil, status.Errorf(codes.Internal, "prepare: %s", text)
	}
	p.workspaceBytes = bytes
	if err := s.attach(p, r); err != nil {
		p.unmap()
		code := codes.Internal
		if errors.As(err, &errOutOfMemory{}) {
			code = codes.ResourceExhausted
		}
		return nil, status.Error(code, err.Error())
	}
	s.last++
	s.prepared[s.last] = p
	return &kernelv1.PrepareResponse{Outcome: &kernelv1.PrepareResponse_Prepared{
		Prepared: &kernelv1.Prepared{Handle: s.last, WorkspaceBytes: bytes}}}, nil
}

// plan turns the request into ABI order and refuses what does not add up.
func (s *server) plan(r *kernelv1.PrepareRequest) (*prepared, error) {
	problem := contract.ProblemFromProto(r.Problem)
	o, err := op.Lookup(problem.Op)
	if err != nil {
		return nil, err
	}
	if err := o.Validate(problem); err != nil {
		return nil, err
	}
	if _, ok := s.manifest.Op(problem.Op); !ok {
		return nil, fmt.Errorf("operation %q is not one of this plugin's", problem.Op)
	}
	if r.Backend != backend() {
		return nil, fmt.Errorf("backend %v was asked for; this executable was built for %v", r.Backend, backend())
	}
	if len(r.Sets) == 0 {
		return nil, errors.New("the request has no buffer set; at least one is needed")
	}
	kind := registry.SimtFast
	if isCUDA() {
		kind = registry.CUDA
	}
	kernel, err := registry.Find(problem.Op, kind)
	if err != nil {
		return nil, err
	}
	p := &prepared{op: o, kernel: kernel, problem: registry.Problem{DType: int32(r.Problem.Dtype)}}
	for _, d := range o.Dims() {
		p.problem.Dims = append(p.problem.Dims, problem.Dims[d])
	}
	for i, name := range o.Options() {
		if problem.Has(name) {
			p.problem.Options |= 1 << i
		}
	}
	for _, a := range o.Arrays(problem) {
		p.roles = append(p.roles, a.Role)
	}
	p.problem.Tuning, err = s.tuning(r.Tuning)
	return p, err
}

func (s *server) tuning(asked map[string]int64) ([]int64, error) {
	var out []int64
	known := map[string]bool{}
	for _, t := range s.manifest.Tunables {
		v, ok := asked[t.Name]
		if !ok {
			v = t.Default
		}
		if !slices.Contains(t.Values, v) {
			return nil, fmt.Errorf("tunable %s is %d; accepted are %v", t.Name, v, t.Values)
		}
		known[t.Name] = true
		out = append(out, v)
	}
	for name := range asked {
		if !known[name] {
			return nil, fmt.Errorf("tunable %q is not one of this plugin's", name)
		}
	}
	return out, nil
}

// attach maps the buffers of every set and reserves the workspace. Each descriptor is claimed by the one
// Prepare that names it and closed once mapped.
func (s *server) attach(p *prepared, r *kernelv1.PrepareRequest) error {
	mapped := map[uint64]mapping{}
	var sets [][]registry.Array
	for _, set := range r.Sets {
		arrays := make([]registry.Array, len(p.roles))
		for _, b := range set.Buffers {
			m, ok := mapped[b.Id]
			if !ok {
				fd, err := s.descriptors.claim(b.Id)
				if err != nil {
					return err
				}
				m, err = mapBuffer(p.kernel, fd, b)
				closeDescriptor(fd)
				if err != nil {
					return err
				}
				mapped[b.Id] = m
				p.mappings = append(p.mappings, m)
			}
			i := slices.Index(p.roles, b.Role)
			if i < 0 {
				return fmt.Errorf("buffer %d has role %q; this problem's are %v", b.Id, b.Role, p.roles)
			}
			a, err := m.array(b)
			if err != nil {
				return err
			}
			arrays[i] = a
		}
		sets = append(sets, arrays)
	}
	p.sets = registry.NewSets(sets)
	w := s.workspace[p.op.Name()]
	if w == nil {
		w = &workspace{}
		s.workspace[p.op.Name()] = w
	}
	return w.reserve(p.kernel, p.workspaceBytes)
}

// discard closes the descriptors of a request that is not going to use them.
func (s *server) discard(r *kernelv1.PrepareRequest) {
	seen := map[uint64]bool{}
	for _, set := range r.Sets {
		for _, b := range set.Buffers {
			if seen[b.Id] {
				continue
			}
			seen[b.Id] = true
			if fd, err := s.descriptors.claim(b.Id); err == nil {
				closeDescriptor(fd)
			}
		}
	}
}

func (p *prepared) unmap() error {
	p.sets.Free()
	p.sets = registry.Sets{}
	var first error
	for _, m := range p.mappings {
		if err := m.unmap(p.kernel); err != nil && first == nil {
			first = err
		}
	}
	p.mappings = nil
	return first
}

func (s *server) Release(_ context.Context, r *kernelv1.ReleaseRequest) (*kernelv1.ReleaseResponse, error) {
	defer s.enter(kernelv1.Beat_RELEASE, r.Handle)()
	p, ok := s.prepared[r.Handle]
	if !ok {
		return nil, status.Errorf(codes.NotFound, "handle %d is not prepared", r.Handle)
	}
	delete(s.prepared, r.Handle)
	if err := p.unmap(); err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	return &kernelv1.ReleaseResponse{}, nil
}
