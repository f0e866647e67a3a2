// CUB's scan of pairs, with the number of the row as key: one launch of decoupled look-back over all rows. One row
// needs no keys and is CUB's plain scan.
#include "cub_rows.cuh"

#include <cub/device/device_scan.cuh>

struct CubScanByKey {
  static const char* unsupported(const AffineProblem& p) { return too_many_for_cub(p); }

  // CUB's tiles are of maps, whatever the arrays hold.
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
    if (p.rows == 1) {
      cub::DeviceScan::InclusiveScan(storage, bytes, maps_of(rows), states_of(rows), Compose{}, rows.elements, stream);
      return;
    }
    cub::DeviceScan::InclusiveScanByKey(storage, bytes, counted(RowOf{rows.length}), maps_of(rows), states_of(rows),
                                        Compose{}, rows.elements, cuda::std::equal_to<>{}, stream);
  }
};

EXPORT_STORED_AFFINE_SCAN(CubScanByKey, float, fp16, bf16)
