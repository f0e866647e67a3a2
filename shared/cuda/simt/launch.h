// Kernel launches as host code writes them. They're synchronous here, so a stream is only a word.
#pragma once

struct Stream {};

namespace simt {
namespace {

// The arguments of a launch. std::tuple would do, but its accessors are instrumented in the checked copy and
// every thread's reading of its own parameters would look like a wild access.
template <size_t I, class T>
struct Parameter {
  T value;
};
template <class Sequence, class... P>
struct Parameters;
template <size_t... I, class... P>
struct Parameters<std::index_sequence<I...>, P...> : Parameter<I, P>... {
  void (*kernel)(P...);
  Parameters(void (*kernel)(P...), P... values) : Parameter<I, P>{values}..., kernel(kernel) {}

  __attribute__((no_sanitize_thread)) static void call(void* self) {
    auto* p = static_cast<Parameters*>(self);
    p->kernel(static_cast<Parameter<I, P>*>(p)->value...);
  }
};

template <class... P, class... A>
void start(Residency residency, void (*kernel)(P...), dim3 grid, dim3 block, size_t shared_bytes, A... args) {
  Parameters<std::index_sequence_for<P...>, P...> parameters(kernel, static_cast<P>(args)...);
  Launch description{grid, block, shared_bytes, &decltype(parameters)::call, &parameters, residency};
#ifdef SIMT_FAST
  run_fast(description);
#else
  run_checked(description);
#endif
}
}  // namespace

// memset in stream order; does nothing once the batch has a finding.
void fill(void* pointer, int byte, size_t bytes);
}  // namespace simt

namespace {
template <class... P, class... A>
void launch(void (*kernel)(P...), dim3 grid, dim3 block, size_t shared_bytes, Stream, A... args) {
  simt::start(simt::Residency::independent, kernel, grid, block, shared_bytes, args...);
}

// Refused if the grid has more than simt::kCooperativeLimit blocks; up to there all of them are resident together.
template <class... P, class... A>
void launch_cooperative(void (*kernel)(P...), dim3 grid, dim3 block, size_t shared_bytes, Stream, A... args) {
  simt::start(simt::Residency::cooperative, kernel, grid, block, shared_bytes, args...);
}

inline void fill_bytes(void* pointer, int byte, size_t bytes, Stream) { simt::fill(pointer, byte, bytes); }

// What an allocation holds is anybody's guess; a kernel that takes it for zeros is found out.
inline void* allocate_on_stream(void* prepared, size_t bytes, Stream) {
  simt::fill(prepared, 0xa5, bytes);
  return prepared;
}
inline void free_on_stream(void*, Stream) {}
}  // namespace
