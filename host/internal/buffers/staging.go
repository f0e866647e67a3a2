package buffers

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc"

	"scanhost/shared/contract/keeperv1"
)

// copyCall is the keeper's Write or Read.
type copyCall = func(context.Context, *keeperv1.CopyRequest, ...grpc.CallOption) (*keeperv1.CopyResponse, error)

// staging is the file through which contents go to and from the keeper. It only grows: touching the pages of a
// new one for every array costs more than the copies.
type staging struct {
	fd     int // -1: none yet
	mapped []byte
}

// view is the file's first n bytes.
func (s *staging) view(n int64) ([]byte, error) {
	if n <= int64(len(s.mapped)) {
		return s.mapped[:n], nil
	}
	if err := s.close(); err != nil {
		return nil, err
	}
	fd, err := unix.MemfdCreate("scanhost-staging", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("creating the staging file: %w", err)
	}
	s.fd = fd
	if err := unix.Ftruncate(fd, n); err != nil {
		return nil, errors.Join(fmt.Errorf("sizing the staging file to %d bytes: %w", n, err), s.close())
	}
	mapped, err := unix.Mmap(fd, 0, int(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("mapping the staging file, %d bytes: %w", n, err), s.close())
	}
	s.mapped = mapped
	return mapped, nil
}

func (s *staging) close() error {
	var err error
	if s.mapped != nil {
		err = unix.Munmap(s.mapped)
		s.mapped = nil
	}
	if s.fd >= 0 {
		err = errors.Join(err, unix.Close(s.fd))
		s.fd = -1
	}
	return err
}
