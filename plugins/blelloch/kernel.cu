// Level 1: Blelloch's work-efficient scan, one block for each row.
//
// The row is laid out in shared memory as the leaves of a binary tree. The up-sweep leaves in each inner node
// the composition of its leaves; the down-sweep hands each node the composition of everything to its left: the
// left child takes its parent's, the right child the parent's followed by the left child's own. Each element
// then applies its prefix to the initial state. Global memory sees a and b read once and h written once.
#include "affine.cuh"

constexpr int MAX_LENGTH = 2048;
constexpr int BANKS = 32;

// One unused word after every 32 keeps the strides of the sweeps, all powers of two, on different banks.
__device__ inline int padded(int i) { return i + i / BANKS; }
inline int padded_words(int leaves) { return leaves + leaves / BANKS; }

// Leaves of the tree: the next power of two, and two at least, since each thread holds a pair.
inline int leaves_for(int64_t length) {
  int leaves = 2;
  while (leaves < length) leaves *= 2;
  return leaves;
}

// The tree's two words for each node. Nodes are named by their last leaf.
struct Tree {
  float *a, *b;

  __device__ Affine get(int leaf) const { return {a[padded(leaf)], b[padded(leaf)]}; }
  __device__ void set(int leaf, Affine map) const {
    a[padded(leaf)] = map.a;
    b[padded(leaf)] = map.b;
  }
};

// Replaces every leaf by the composition of the leaves before it. Every thread of the block must call, after
// it has written its leaves and with no barrier in between; the result is valid after a barrier.
__device__ void exclusive_scan(const Tree& tree, int leaves) {
  int span = 1;  // leaves under each child
  for (int parents = leaves / 2; parents > 0; parents /= 2, span *= 2) {
    __syncthreads();
    if (threadIdx.x >= parents) continue;
    const int right = (2 * int(threadIdx.x) + 2) * span - 1;
    tree.set(right, combine(tree.get(right - span), tree.get(right)));
  }
  __syncthreads();
  if (threadIdx.x == 0) tree.set(leaves - 1, identity());
  for (int parents = 1; parents < leaves; parents *= 2) {
    span /= 2;
    __syncthreads();
    if (threadIdx.x >= parents) continue;
    const int right = (2 * int(threadIdx.x) + 2) * span - 1;
    const Affine left = tree.get(right - span), before = tree.get(right);
    tree.set(right - span, before);
    tree.set(right, combine(before, left));
  }
}

__global__ void __launch_bounds__(MAX_LENGTH / 2) blelloch(AffineRows rows, int leaves) {
  DYNAMIC_SHARED(float, nodes);
  const Tree tree = {nodes, nodes + leaves + leaves / BANKS};
  const int64_t row = blockIdx.x;
  // The block is a whole number of warps: when the tree has fewer than 64 leaves, the threads beyond half of
  // them have no pair, and would write past the tree.
  const bool has_pair = threadIdx.x < leaves / 2;
  const int leaf[2] = {int(threadIdx.x), int(threadIdx.x) + leaves / 2};
  Affine step[2];
  for (int i = 0; i < 2; i++) {
    step[i] = identity();
    if (!has_pair) continue;
    if (leaf[i] < rows.length) {
      const int64_t at = rows.at(row, leaf[i]);
      step[i] = {rows.arrays.a[at], rows.arrays.b[at]};
    }
    tree.set(leaf[i], step[i]);
  }
  exclusive_scan(tree, leaves);
  __syncthreads();
  const float initial = rows.initial(row);
  for (int i = 0; i < 2; i++) {
    if (!has_pair || leaf[i] >= rows.length) continue;
    const float h = apply(step[i], apply(tree.get(leaf[i]), initial));
    rows.arrays.h[rows.at(row, leaf[i])] = h;
    if (rows.ends_row(leaf[i])) rows.arrays.last[row] = h;
  }
}

struct Blelloch {
  static const char* unsupported(const AffineProblem& p) {
    if (p.length <= MAX_LENGTH) return nullptr;
    return refusal("length %lld is over %d, the most that one block of this kernel scans", (long long)p.length,
                   MAX_LENGTH);
  }

  static size_t workspace_bytes(const AffineProblem&) { return 0; }

  static void enqueue(const AffineProblem& p, const AffineArrays& arrays, void*, Stream stream) {
    const int leaves = leaves_for(p.length);
    const unsigned threads = leaves / 2 < 32 ? 32 : leaves / 2;
    const size_t shared = 2 * padded_words(leaves) * sizeof(float);
    for_each_grid(p, arrays, 1, [&](const AffineRows& rows) {
      launch(blelloch, dim3(unsigned(rows.rows)), dim3(threads), shared, stream, rows, leaves);
    });
  }
};

EXPORT_AFFINE_SCAN(Blelloch)
