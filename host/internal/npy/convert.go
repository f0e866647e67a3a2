package npy

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"scanhost/shared/op"
)

// convertSpan is how many elements are converted at a time.
const convertSpan = 1 << 14

// convert streams the data into dst. A value that the target type cannot hold is rounded, and counted in the note;
// a finite value that would become infinite is refused, since the result would be another problem than the user's.
func (s *source) convert(dst []byte, dtype op.DType) (string, error) {
	kind := s.info.Kind
	if same := map[Kind]op.DType{FP32: op.FP32, FP16: op.FP16, Words: op.BF16}; same[kind] == dtype {
		_, err := io.ReadFull(s.data, dst)
		return "", s.dataError(err)
	}
	wide, narrow, back := make([]float64, convertSpan), make([]float32, convertSpan), make([]float32, convertSpan)
	raw := make([]byte, convertSpan*kind.Size())
	rounded, total := int64(0), s.info.Elements()
	for done := int64(0); done < total; {
		n := min(convertSpan, total-done)
		if _, err := io.ReadFull(s.data, raw[:n*kind.Size()]); err != nil {
			return "", s.dataError(err)
		}
		widen(wide[:n], raw, kind)
		for i, v := range wide[:n] {
			narrow[i] = nearest(v, dtype)
		}
		out := dst[done*dtype.Size() : (done+n)*dtype.Size()]
		op.Encode(out, narrow[:n], dtype)
		op.Decode(back[:n], out, dtype)
		for i, v := range wide[:n] {
			if math.IsInf(float64(back[i]), 0) && !math.IsInf(v, 0) {
				return "", fmt.Errorf("%s: found %g at element %d, which %s cannot hold; accepted are values up to %g", s.info.Source, v, done+int64(i), dtype, largest(dtype))
			}
			if float64(back[i]) != v && v == v {
				rounded++
			}
		}
		done += n
	}
	if rounded == 0 {
		return "", nil
	}
	return fmt.Sprintf("%s: %s rounded to %s, which changed %d of %d values; convert them beforehand to judge that yourself", s.info.Source, kind, dtype, rounded, total), nil
}

// nearest is v as fp32. On its way to a narrower type fp64 is rounded to odd, so that the second rounding sees on
// which side of its halfway points v lies.
func nearest(v float64, dtype op.DType) float32 {
	f := float32(v)
	if dtype == op.FP32 || float64(f) == v || v != v || math.IsInf(float64(f), 0) {
		return f
	}
	bits := math.Float32bits(f)
	if math.Abs(float64(f)) > math.Abs(v) {
		bits--
	}
	return math.Float32frombits(bits | 1)
}

func widen(dst []float64, raw []byte, kind Kind) {
	if kind == FP64 {
		for i := range dst {
			dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
		}
		return
	}
	narrow := make([]float32, len(dst))
	op.Decode(narrow, raw, map[Kind]op.DType{FP32: op.FP32, FP16: op.FP16, Words: op.BF16}[kind])
	for i, v := range narrow {
		dst[i] = float64(v)
	}
}

func largest(dtype op.DType) float64 {
	switch dtype {
	case op.FP16:
		return 65504
	case op.BF16:
		return 0x1.fep127
	}
	return math.MaxFloat32
}

func (s *source) dataError(err error) error {
	if err == nil {
		return nil
	}
	return s.readError(err, fmt.Errorf("%s: found less data than its header promises; the file is truncated", s.info.Source))
}
