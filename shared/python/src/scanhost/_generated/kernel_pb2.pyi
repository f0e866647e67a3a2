from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DTYPE_UNSPECIFIED: _ClassVar[DType]
    DTYPE_FP32: _ClassVar[DType]
    DTYPE_FP16: _ClassVar[DType]
    DTYPE_BF16: _ClassVar[DType]

class Backend(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    BACKEND_UNSPECIFIED: _ClassVar[Backend]
    BACKEND_CUDA: _ClassVar[Backend]
    BACKEND_SIMT: _ClassVar[Backend]
    BACKEND_CPU: _ClassVar[Backend]

class BufferKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    BUFFER_KIND_UNSPECIFIED: _ClassVar[BufferKind]
    BUFFER_KIND_MEMFD: _ClassVar[BufferKind]
    BUFFER_KIND_CUDA_VMM: _ClassVar[BufferKind]
DTYPE_UNSPECIFIED: DType
DTYPE_FP32: DType
DTYPE_FP16: DType
DTYPE_BF16: DType
BACKEND_UNSPECIFIED: Backend
BACKEND_CUDA: Backend
BACKEND_SIMT: Backend
BACKEND_CPU: Backend
BUFFER_KIND_UNSPECIFIED: BufferKind
BUFFER_KIND_MEMFD: BufferKind
BUFFER_KIND_CUDA_VMM: BufferKind

class DescribeRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DescribeResponse(_message.Message):
    __slots__ = ("name", "version", "protocol", "capabilities", "ops", "backend", "tunables", "improves_on", "source_hash", "run_to_run")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_FIELD_NUMBER: _ClassVar[int]
    CAPABILITIES_FIELD_NUMBER: _ClassVar[int]
    OPS_FIELD_NUMBER: _ClassVar[int]
    BACKEND_FIELD_NUMBER: _ClassVar[int]
    TUNABLES_FIELD_NUMBER: _ClassVar[int]
    IMPROVES_ON_FIELD_NUMBER: _ClassVar[int]
    SOURCE_HASH_FIELD_NUMBER: _ClassVar[int]
    RUN_TO_RUN_FIELD_NUMBER: _ClassVar[int]
    name: str
    version: str
    protocol: int
    capabilities: _containers.RepeatedScalarFieldContainer[str]
    ops: _containers.RepeatedCompositeFieldContainer[OpSupport]
    backend: Backend
    tunables: _containers.RepeatedCompositeFieldContainer[Tunable]
    improves_on: str
    source_hash: str
    run_to_run: bool
    def __init__(self, name: _Optional[str] = ..., version: _Optional[str] = ..., protocol: _Optional[int] = ..., capabilities: _Optional[_Iterable[str]] = ..., ops: _Optional[_Iterable[_Union[OpSupport, _Mapping]]] = ..., backend: _Optional[_Union[Backend, str]] = ..., tunables: _Optional[_Iterable[_Union[Tunable, _Mapping]]] = ..., improves_on: _Optional[str] = ..., source_hash: _Optional[str] = ..., run_to_run: bool = ...) -> None: ...

class OpSupport(_message.Message):
    __slots__ = ("op", "dtypes", "max_length", "options", "arrays_read", "arrays_written", "workspace_bytes_per_element")
    OP_FIELD_NUMBER: _ClassVar[int]
    DTYPES_FIELD_NUMBER: _ClassVar[int]
    MAX_LENGTH_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    ARRAYS_READ_FIELD_NUMBER: _ClassVar[int]
    ARRAYS_WRITTEN_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_BYTES_PER_ELEMENT_FIELD_NUMBER: _ClassVar[int]
    op: str
    dtypes: _containers.RepeatedScalarFieldContainer[DType]
    max_length: int
    options: _containers.RepeatedScalarFieldContainer[str]
    arrays_read: float
    arrays_written: float
    workspace_bytes_per_element: float
    def __init__(self, op: _Optional[str] = ..., dtypes: _Optional[_Iterable[_Union[DType, str]]] = ..., max_length: _Optional[int] = ..., options: _Optional[_Iterable[str]] = ..., arrays_read: _Optional[float] = ..., arrays_written: _Optional[float] = ..., workspace_bytes_per_element: _Optional[float] = ...) -> None: ...

class Tunable(_message.Message):
    __slots__ = ("name", "values", "default")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_FIELD_NUMBER: _ClassVar[int]
    name: str
    values: _containers.RepeatedScalarFieldContainer[int]
    default: int
    def __init__(self, name: _Optional[str] = ..., values: _Optional[_Iterable[int]] = ..., default: _Optional[int] = ...) -> None: ...

class Problem(_message.Message):
    __slots__ = ("op", "dtype", "dims", "options")
    class DimsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    OP_FIELD_NUMBER: _ClassVar[int]
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    DIMS_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    op: str
    dtype: DType
    dims: _containers.ScalarMap[str, int]
    options: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, op: _Optional[str] = ..., dtype: _Optional[_Union[DType, str]] = ..., dims: _Optional[_Mapping[str, int]] = ..., options: _Optional[_Iterable[str]] = ...) -> None: ...

class Buffer(_message.Message):
    __slots__ = ("id", "kind", "role", "writable", "dtype", "shape", "offset", "map_bytes")
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    WRITABLE_FIELD_NUMBER: _ClassVar[int]
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    MAP_BYTES_FIELD_NUMBER: _ClassVar[int]
    id: int
    kind: BufferKind
    role: str
    writable: bool
    dtype: DType
    shape: _containers.RepeatedScalarFieldContainer[int]
    offset: int
    map_bytes: int
    def __init__(self, id: _Optional[int] = ..., kind: _Optional[_Union[BufferKind, str]] = ..., role: _Optional[str] = ..., writable: bool = ..., dtype: _Optional[_Union[DType, str]] = ..., shape: _Optional[_Iterable[int]] = ..., offset: _Optional[int] = ..., map_bytes: _Optional[int] = ...) -> None: ...

class BufferSet(_message.Message):
    __slots__ = ("buffers",)
    BUFFERS_FIELD_NUMBER: _ClassVar[int]
    buffers: _containers.RepeatedCompositeFieldContainer[Buffer]
    def __init__(self, buffers: _Optional[_Iterable[_Union[Buffer, _Mapping]]] = ...) -> None: ...

class PrepareRequest(_message.Message):
    __slots__ = ("problem", "sets", "tuning", "backend")
    class TuningEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    PROBLEM_FIELD_NUMBER: _ClassVar[int]
    SETS_FIELD_NUMBER: _ClassVar[int]
    TUNING_FIELD_NUMBER: _ClassVar[int]
    BACKEND_FIELD_NUMBER: _ClassVar[int]
    problem: Problem
    sets: _containers.RepeatedCompositeFieldContainer[BufferSet]
    tuning: _containers.ScalarMap[str, int]
    backend: Backend
    def __init__(self, problem: _Optional[_Union[Problem, _Mapping]] = ..., sets: _Optional[_Iterable[_Union[BufferSet, _Mapping]]] = ..., tuning: _Optional[_Mapping[str, int]] = ..., backend: _Optional[_Union[Backend, str]] = ...) -> None: ...

class PrepareResponse(_message.Message):
    __slots__ = ("prepared", "unsupported")
    PREPARED_FIELD_NUMBER: _ClassVar[int]
    UNSUPPORTED_FIELD_NUMBER: _ClassVar[int]
    prepared: Prepared
    unsupported: Unsupported
    def __init__(self, prepared: _Optional[_Union[Prepared, _Mapping]] = ..., unsupported: _Optional[_Union[Unsupported, _Mapping]] = ...) -> None: ...

class Prepared(_message.Message):
    __slots__ = ("handle", "workspace_bytes")
    HANDLE_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_BYTES_FIELD_NUMBER: _ClassVar[int]
    handle: int
    workspace_bytes: int
    def __init__(self, handle: _Optional[int] = ..., workspace_bytes: _Optional[int] = ...) -> None: ...

class Unsupported(_message.Message):
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    def __init__(self, reason: _Optional[str] = ...) -> None: ...

class LaunchRequest(_message.Message):
    __slots__ = ("handle", "launches", "first_set", "simt", "graph")
    HANDLE_FIELD_NUMBER: _ClassVar[int]
    LAUNCHES_FIELD_NUMBER: _ClassVar[int]
    FIRST_SET_FIELD_NUMBER: _ClassVar[int]
    SIMT_FIELD_NUMBER: _ClassVar[int]
    GRAPH_FIELD_NUMBER: _ClassVar[int]
    handle: int
    launches: int
    first_set: int
    simt: SimtOptions
    graph: bool
    def __init__(self, handle: _Optional[int] = ..., launches: _Optional[int] = ..., first_set: _Optional[int] = ..., simt: _Optional[_Union[SimtOptions, _Mapping]] = ..., graph: bool = ...) -> None: ...

class SimtOptions(_message.Message):
    __slots__ = ("mode", "seed", "resident_blocks", "workers")
    class Mode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        FAST: _ClassVar[SimtOptions.Mode]
        COUNT: _ClassVar[SimtOptions.Mode]
        EXPLORE: _ClassVar[SimtOptions.Mode]
    FAST: SimtOptions.Mode
    COUNT: SimtOptions.Mode
    EXPLORE: SimtOptions.Mode
    MODE_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    RESIDENT_BLOCKS_FIELD_NUMBER: _ClassVar[int]
    WORKERS_FIELD_NUMBER: _ClassVar[int]
    mode: SimtOptions.Mode
    seed: int
    resident_blocks: int
    workers: int
    def __init__(self, mode: _Optional[_Union[SimtOptions.Mode, str]] = ..., seed: _Optional[int] = ..., resident_blocks: _Optional[int] = ..., workers: _Optional[int] = ...) -> None: ...

class LaunchResponse(_message.Message):
    __slots__ = ("device_ms", "completed", "finding", "counters")
    DEVICE_MS_FIELD_NUMBER: _ClassVar[int]
    COMPLETED_FIELD_NUMBER: _ClassVar[int]
    FINDING_FIELD_NUMBER: _ClassVar[int]
    COUNTERS_FIELD_NUMBER: _ClassVar[int]
    device_ms: float
    completed: int
    finding: Finding
    counters: Counters
    def __init__(self, device_ms: _Optional[float] = ..., completed: _Optional[int] = ..., finding: _Optional[_Union[Finding, _Mapping]] = ..., counters: _Optional[_Union[Counters, _Mapping]] = ...) -> None: ...

class Finding(_message.Message):
    __slots__ = ("kind", "text", "launch", "seed")
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        KIND_UNSPECIFIED: _ClassVar[Finding.Kind]
        DEADLOCK: _ClassVar[Finding.Kind]
        DIVERGENCE: _ClassVar[Finding.Kind]
        RACE: _ClassVar[Finding.Kind]
        UNINITIALISED: _ClassVar[Finding.Kind]
        UNORDERED: _ClassVar[Finding.Kind]
        OUT_OF_BOUNDS: _ClassVar[Finding.Kind]
        INPUT_WRITE: _ClassVar[Finding.Kind]
        FAULT: _ClassVar[Finding.Kind]
        DEVICE_ERROR: _ClassVar[Finding.Kind]
        REFUSED: _ClassVar[Finding.Kind]
        OUT_OF_MEMORY: _ClassVar[Finding.Kind]
    KIND_UNSPECIFIED: Finding.Kind
    DEADLOCK: Finding.Kind
    DIVERGENCE: Finding.Kind
    RACE: Finding.Kind
    UNINITIALISED: Finding.Kind
    UNORDERED: Finding.Kind
    OUT_OF_BOUNDS: Finding.Kind
    INPUT_WRITE: Finding.Kind
    FAULT: Finding.Kind
    DEVICE_ERROR: Finding.Kind
    REFUSED: Finding.Kind
    OUT_OF_MEMORY: Finding.Kind
    KIND_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    LAUNCH_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    kind: Finding.Kind
    text: str
    launch: int
    seed: int
    def __init__(self, kind: _Optional[_Union[Finding.Kind, str]] = ..., text: _Optional[str] = ..., launch: _Optional[int] = ..., seed: _Optional[int] = ...) -> None: ...

class Counters(_message.Message):
    __slots__ = ("bytes_read", "bytes_written", "barriers", "shuffles", "atomics", "lookback_steps", "steps")
    class BytesReadEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    class BytesWrittenEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    BYTES_READ_FIELD_NUMBER: _ClassVar[int]
    BYTES_WRITTEN_FIELD_NUMBER: _ClassVar[int]
    BARRIERS_FIELD_NUMBER: _ClassVar[int]
    SHUFFLES_FIELD_NUMBER: _ClassVar[int]
    ATOMICS_FIELD_NUMBER: _ClassVar[int]
    LOOKBACK_STEPS_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    bytes_read: _containers.ScalarMap[str, int]
    bytes_written: _containers.ScalarMap[str, int]
    barriers: int
    shuffles: int
    atomics: int
    lookback_steps: int
    steps: int
    def __init__(self, bytes_read: _Optional[_Mapping[str, int]] = ..., bytes_written: _Optional[_Mapping[str, int]] = ..., barriers: _Optional[int] = ..., shuffles: _Optional[int] = ..., atomics: _Optional[int] = ..., lookback_steps: _Optional[int] = ..., steps: _Optional[int] = ...) -> None: ...

class ReleaseRequest(_message.Message):
    __slots__ = ("handle",)
    HANDLE_FIELD_NUMBER: _ClassVar[int]
    handle: int
    def __init__(self, handle: _Optional[int] = ...) -> None: ...

class ReleaseResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class HeartbeatRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Beat(_message.Message):
    __slots__ = ("phase", "handle", "calls", "phase_ms")
    class Phase(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        IDLE: _ClassVar[Beat.Phase]
        PREPARE: _ClassVar[Beat.Phase]
        LAUNCH: _ClassVar[Beat.Phase]
        RELEASE: _ClassVar[Beat.Phase]
    IDLE: Beat.Phase
    PREPARE: Beat.Phase
    LAUNCH: Beat.Phase
    RELEASE: Beat.Phase
    PHASE_FIELD_NUMBER: _ClassVar[int]
    HANDLE_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    PHASE_MS_FIELD_NUMBER: _ClassVar[int]
    phase: Beat.Phase
    handle: int
    calls: int
    phase_ms: int
    def __init__(self, phase: _Optional[_Union[Beat.Phase, str]] = ..., handle: _Optional[int] = ..., calls: _Optional[int] = ..., phase_ms: _Optional[int] = ...) -> None: ...
