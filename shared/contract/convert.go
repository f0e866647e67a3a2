package contract

import (
	"slices"
	"strings"

	"scanhost/shared/contract/kernelv1"
	"scanhost/shared/op"
)

// Describe is the manifest as Describe answers it. Backend and SourceHash are the executable's to add.
func Describe(m Manifest) *kernelv1.DescribeResponse {
	r := &kernelv1.DescribeResponse{Name: m.Name, Version: m.Version, Protocol: ProtocolVersion,
		ImprovesOn: m.ImprovesOn, RunToRun: m.RunToRun}
	for _, o := range m.Ops {
		support := &kernelv1.OpSupport{Op: o.Name, MaxLength: o.MaxLength, Options: o.Options,
			ArraysRead: o.ArraysRead, ArraysWritten: o.ArraysWritten, WorkspaceBytesPerElement: o.WorkspacePerElem}
		for _, d := range o.DTypes {
			support.Dtypes = append(support.Dtypes, DTypeToProto(op.DType(d)))
		}
		r.Ops = append(r.Ops, support)
	}
	for _, t := range m.Tunables {
		r.Tunables = append(r.Tunables, &kernelv1.Tunable{Name: t.Name, Values: t.Values, Default: t.Default})
	}
	return r
}

// Disagreement says where what a plugin answers differs from its manifest, or "" where it does not.
func Disagreement(m Manifest, d *kernelv1.DescribeResponse) string {
	want := Describe(m)
	switch {
	case d.Name != want.Name:
		return "name is " + d.Name + ", plugin.toml says " + want.Name
	case d.Version != want.Version:
		return "version is " + d.Version + ", plugin.toml says " + want.Version
	case d.Protocol != want.Protocol:
		return "protocol differs from plugin.toml's"
	case d.RunToRun != want.RunToRun:
		return "run_to_run differs from plugin.toml's"
	case ops(d) != ops(want):
		return "operations are " + ops(d) + ", plugin.toml says " + ops(want)
	}
	return ""
}

func ops(d *kernelv1.DescribeResponse) string {
	var names []string
	for _, o := range d.Ops {
		names = append(names, o.Op)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// DTypeToProto is the wire form of a storage type.
func DTypeToProto(d op.DType) kernelv1.DType {
	switch d {
	case op.FP32:
		return kernelv1.DType_DTYPE_FP32
	case op.FP16:
		return kernelv1.DType_DTYPE_FP16
	case op.BF16:
		return kernelv1.DType_DTYPE_BF16
	}
	return kernelv1.DType_DTYPE_UNSPECIFIED
}

// DTypeFromProto undoes DTypeToProto; unknown values give "".
func DTypeFromProto(d kernelv1.DType) op.DType {
	for _, t := range []op.DType{op.FP32, op.FP16, op.BF16} {
		if DTypeToProto(t) == d {
			return t
		}
	}
	return ""
}

// ProblemToProto is the wire form of a problem.
func ProblemToProto(p op.Problem) *kernelv1.Problem {
	return &kernelv1.Problem{Op: p.Op, Dtype: DTypeToProto(p.DType), Dims: p.Dims, Options: p.Options}
}

// ProblemFromProto undoes ProblemToProto.
func ProblemFromProto(p *kernelv1.Problem) op.Problem {
	if p == nil {
		return op.Problem{}
	}
	return op.Problem{Op: p.Op, DType: DTypeFromProto(p.Dtype), Dims: p.Dims, Options: p.Options}
}
