package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"scanhost/shared/contract/keeperv1"
)

const (
	guardBytes = 64 << 10 // least width of a guard band, wider than one tile of any kernel here
	maxBytes   = 1 << 44  // of one array; a larger request is a mistake, and would overflow sizes made from it
)

// A new array and its guards hold this until the host poisons them: a NaN in fp32, fp16 and bf16.
const firstPattern = 0xFFA5FFA5

// errOutOfMemory tells a request that is too large from a broken device.
var errOutOfMemory = errors.New("out of memory")

// buffer is one allocation, as keeper.h's keeper_buffer.
type buffer struct {
	address, mapBytes uint64
	offset, bytes     uint64
	pattern           uint32
}

// part is a piece of a buffer's array and the piece of a file that it is copied from or to.
type part struct {
	offset, bytes uint64
	fd            int
	fdOffset      uint64
}

// inspection is what a look at a buffer found.
type inspection struct {
	intact   bool
	firstBad int64
	hash     uint64
}

// device is the CUDA part. The server makes one call at a time.
type device interface {
	info() (*keeperv1.InfoResponse, error)
	allocate(bytes, guard uint64, pattern uint32) (b buffer, fd int, err error)
	free(b buffer) error
	write(b buffer, p part) error
	read(b buffer, p part) error
	poison(b *buffer, pattern uint32) error
	inspect(b buffer) (inspection, error)
	canary() error
	poisonSlots(s slots) error
	inspectSlots(s slots) (slotsInspection, error)
	stream(s stream, r *keeperv1.StreamRequest) (deviceMS float64, err error)
	spin(r *keeperv1.SpinRequest) (deviceMS float64, err error)
}

type server struct {
	keeperv1.UnimplementedKeeperServer
	files *files
	send  func(id uint64, fd int) error

	mu      sync.Mutex // held while the device works; guards what follows
	device  device
	buffers map[uint64]*buffer
	stream  stream
}

func newServer(d device, f *files, send func(uint64, int) error) *server {
	return &server{device: d, files: f, send: send, buffers: map[uint64]*buffer{}}
}

// wire gives an error of the device its gRPC code.
func wire(err error) error {
	if errors.Is(err, errOutOfMemory) {
		return status.Error(codes.ResourceExhausted, err.Error())
	}
	return status.Error(codes.Internal, err.Error())
}

func (s *server) find(id uint64) (*buffer, error) {
	if b, ok := s.buffers[id]; ok {
		return b, nil
	}
	return nil, status.Errorf(codes.NotFound, "buffer %d is not allocated", id)
}

func (s *server) Info(context.Context, *keeperv1.InfoRequest) (*keeperv1.InfoResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	info, err := s.device.info()
	if err != nil {
		return nil, wire(err)
	}
	return info, nil
}

func (s *server) Allocate(_ context.Context, r *keeperv1.AllocateRequest) (*keeperv1.AllocateResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.buffers[r.Id]; ok {
		return nil, status.Errorf(codes.AlreadyExists, "buffer %d is allocated already", r.Id)
	}
	if r.Bytes > maxBytes {
		return nil, status.Errorf(codes.ResourceExhausted, "buffer %d: %d bytes; %d is the most", r.Id, r.Bytes, uint64(maxBytes))
	}
	b, fd, err := s.device.allocate(r.Bytes, guardBytes, firstPattern)
	if err != nil {
		return nil, wire(fmt.Errorf("buffer %d of %d bytes: %w", r.Id, r.Bytes, err))
	}
	err = s.send(r.Id, fd)
	unix.Close(fd)
	if err != nil {
		return nil, wire(errors.Join(fmt.Errorf("sending the descriptor of buffer %d: %w", r.Id, err), s.device.free(b)))
	}
	s.buffers[r.Id] = &b
	return &keeperv1.AllocateResponse{Offset: b.offset, MapBytes: b.mapBytes}, nil
}

func (s *server) Free(_ context.Context, r *keeperv1.FreeRequest) (*keeperv1.FreeResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.find(r.Id)
	if err != nil {
		return nil, err
	}
	delete(s.buffers, r.Id)
	if err := s.device.free(*b); err != nil {
		return nil, wire(fmt.Errorf("freeing buffer %d: %w", r.Id, err))
	}
	return &keeperv1.FreeResponse{}, nil
}

func (s *server) Write(ctx context.Context, r *keeperv1.CopyRequest) (*keeperv1.CopyResponse, error) {
	return s.copy(ctx, r, s.device.write)
}

func (s *server) Read(ctx context.Context, r *keeperv1.CopyRequest) (*keeperv1.CopyResponse, error) {
	return s.copy(ctx, r, s.device.read)
}

func (s *server) copy(ctx context.Context, r *keeperv1.CopyRequest, move func(buffer, part) error) (*keeperv1.CopyResponse, error) {
	fd, err := s.files.take(ctx, r.Memfd)
	if err != nil {
		return nil, status.Error(codes.FailedPrecondition, err.Error())
	}
	defer unix.Close(fd)
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.find(r.Id)
	if err != nil {
		return nil, err
	}
	if r.Offset > b.bytes || r.Bytes > b.bytes-r.Offset {
		return nil, status.Errorf(codes.OutOfRange, "buffer %d: %d bytes at %d are outside its %d", r.Id, r.Bytes, r.Offset, b.bytes)
	}
	if err := move(*b, part{r.Offset, r.Bytes, fd, r.MemfdOffset}); err != nil {
		return nil, wire(fmt.Errorf("copying %d bytes of buffer %d: %w", r.Bytes, r.Id, err))
	}
	return &keeperv1.CopyResponse{}, nil
}

func (s *server) Poison(_ context.Context, r *keeperv1.PoisonRequest) (*keeperv1.PoisonResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.find(r.Id)
	if err != nil {
		return nil, err
	}
	if err := s.device.poison(b, r.Pattern); err != nil {
		return nil, wire(fmt.Errorf("poisoning buffer %d: %w", r.Id, err))
	}
	return &keeperv1.PoisonResponse{}, nil
}

func (s *server) Inspect(_ context.Context, r *keeperv1.InspectRequest) (*keeperv1.InspectResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.find(r.Id)
	if err != nil {
		return nil, err
	}
	got, err := s.device.inspect(*b)
	if err != nil {
		return nil, wire(fmt.Errorf("inspecting buffer %d: %w", r.Id, err))
	}
	return &keeperv1.InspectResponse{GuardsIntact: got.intact, FirstBad: got.firstBad, Hash: got.hash}, nil
}

// Canary answers also when the device does not: that is its answer.
func (s *server) Canary(context.Context, *keeperv1.CanaryRequest) (*keeperv1.CanaryResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.device.canary(); err != nil {
		return &keeperv1.CanaryResponse{Text: err.Error()}, nil
	}
	return &keeperv1.CanaryResponse{Ok: true}, nil
}
