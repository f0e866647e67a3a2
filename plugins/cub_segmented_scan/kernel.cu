// CUB's segmented scan of pairs, a row a segment: a block takes a segment and walks it tile by tile.
#include "cub_rows.cuh"

#include <cub/device/device_segmented_scan.cuh>

struct CubSegmentedScan {
  static const char* unsupported(const AffineProblem& p) { return too_many_for_cub(p); }

  static size_t workspace_bytes(const AffineProblem& p) {
    size_t bytes = 0;
    scan<float>(nullptr, bytes, p, {}, nullptr);
    return bytes;
  }

  template <class T>
  static void enqueue(const AffineProblem& p, const StoredArrays<T>& arrays, void* workspace, Stream stream) {
    size_t bytes = STORAGE_AS_ASKED;
    scan(workspace, bytes, p, arrays, stream);
  }

 private:
  template <class T>
  static void scan(void* storage, size_t& bytes, const AffineProblem& p, const StoredArrays<T>& arrays, Stream stream) {
    const CubRows<T> rows(p, arrays);
    const auto starts = counted(StartOf{int(p.length)});
    cub::DeviceSegmentedScan::InclusiveSegmentedScan(storage, bytes, maps_of(rows), states_of(rows), starts, starts + 1,
                                                     p.rows, Compose{}, stream);
  }
};

EXPORT_STORED_AFFINE_SCAN(CubSegmentedScan, float, fp16, bf16)
