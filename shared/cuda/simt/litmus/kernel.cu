// Small kernels in pairs: one with a planted bug that the simulated GPU must name, and its correct twin.
#include "affine.cuh"

__host__ __device__ constexpr int padded(int i) { return i + (i >> 5); }

template <int N> __global__ void tree(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ h, int length) {
  __shared__ float sa[padded(N)], sb[padded(N)];
  const int t = threadIdx.x, threads = N / 2;
  const int64_t row = static_cast<int64_t>(blockIdx.x) * length;
  const int i0 = t, i1 = t + threads;
  const Affine x0 = {i0 < length ? a[row + i0] : 1.f, i0 < length ? b[row + i0] : 0.f};
  const Affine x1 = {i1 < length ? a[row + i1] : 1.f, i1 < length ? b[row + i1] : 0.f};
  sa[padded(i0)] = x0.a; sb[padded(i0)] = x0.b;
  sa[padded(i1)] = x1.a; sb[padded(i1)] = x1.b;
  int offset = 1;
  for (int d = threads; d > 0; d >>= 1, offset <<= 1) {
    __syncthreads();
    if (t < d) {
      const int l = padded(offset * (2 * t + 1) - 1), r = padded(offset * (2 * t + 2) - 1);
      const Affine x = combine({sa[l], sb[l]}, {sa[r], sb[r]});
      sa[r] = x.a; sb[r] = x.b;
    }
  }
  if (t == 0) { sa[padded(N - 1)] = 1.f; sb[padded(N - 1)] = 0.f; }
  for (int d = 1; d <= threads; d <<= 1) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      const int l = padded(offset * (2 * t + 1) - 1), r = padded(offset * (2 * t + 2) - 1);
      const Affine left = {sa[l], sb[l]}, parent = {sa[r], sb[r]};
      sa[l] = parent.a; sb[l] = parent.b;
      const Affine x = combine(parent, left);
      sa[r] = x.a; sb[r] = x.b;
    }
  }
  __syncthreads();
  if (i0 < length) h[row + i0] = fmaf(x0.a, sb[padded(i0)], x0.b);
  if (i1 < length) h[row + i1] = fmaf(x1.a, sb[padded(i1)], x1.b);
}
