// A profile of a model: time, bytes read and multiplications for each kind of operation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

namespace ggufscope {

/// The operations that are timed. kPass is a whole pass over the model; it contains all others except kSampling.
enum class Operation : uint8_t {
  kPass,
  kProducts,     ///< matrix products with weights
  kActivations,  ///< quantization of activations
  kAttention,
  kNorm,
  kPositions,  ///< rotary position embeddings
  kCache,      ///< storing keys and values
  kGate,       ///< activation functions
  kAdd,        ///< residuals
  kRecurrence,
  kSampling,
};
/// In the order of Operation. "other" is the time of a pass without its timed operations.
inline constexpr std::string_view kOperationNames[] = {"other", "products",   "activations", "attention",
                                                       "norm",  "positions",  "cache",       "gate",
                                                       "add",   "recurrence", "sampling"};
static_assert(std::size(kOperationNames) == static_cast<size_t>(Operation::kSampling) + 1);

class Profile {
 public:
  struct Key {
    Operation operation;
    std::array<uint32_t, 3> types = {kNone, kNone, kNone};  ///< of weights that are multiplied together
    size_t n_in = 0, n_out = 0;                             ///< n_out: rows of all of these weights together
    bool one_token = false;                                 ///< set by the pass
    bool operator==(const Key&) const = default;
  };
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Row {
    Key key;
    uint64_t calls = 0;
    double ms = 0;
    double bytes = 0;     ///< bytes of weights, or of cached keys and values, that were read
    double products = 0;  ///< multiply-adds
  };

  /// Starts a pass. What is added until the next call belongs to it.
  void begin_pass(size_t n_tokens) { one_token_ = n_tokens == 1; }
  /// Adds a row's numbers to the row with the same key.
  void add(Row row);
  [[nodiscard]] std::span<const Row> rows() const { return rows_; }
  void clear() { rows_.clear(); }

 private:
  std::vector<Row> rows_;
  bool one_token_ = false;
};

/// Times one call of an operation, from construction to destruction. Does nothing without a profile.
class Timed {
 public:
  Timed(Profile* profile, Operation operation) : Timed(profile, Profile::Row{.key = {.operation = operation}}) {}
  Timed(Profile* profile, const Profile::Row& row) : profile_(profile) {
    if (profile != nullptr) row_ = row, begin_ms_ = now_ms();
  }
  ~Timed() {
    if (profile_ == nullptr) return;
    row_.ms = now_ms() - begin_ms_;
    profile_->add(row_);
  }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

  /// The time of a monotonic clock, in milliseconds.
  static double now_ms();

 private:
  Profile* profile_;
  Profile::Row row_{};
  double begin_ms_ = 0;
};

}  // namespace ggufscope
