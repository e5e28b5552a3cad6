// A set of 64-bit numbers that is filled and cleared many times. It is a flat hash table whose slots store a generation
// number, so clearing is free and inserting allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ggufscope {

class NumberSet {
 public:
  void clear() {
    count_ = 0;
    if (++filling_ != 0) return;
    slots_.assign(slots_.size(), {});  // the counter wrapped around
    filling_ = 1;
  }

  /// Adds a number. Returns false if it is in the set already.
  bool insert(uint64_t number) {
    if ((count_ + 1) * 2 > slots_.size()) grow();
    if (!put(number)) return false;
    ++count_;
    return true;
  }

 private:
  struct Slot {
    uint64_t number = 0;
    uint32_t filling = 0;
  };

  bool put(uint64_t number) {
    const uint64_t hash = number * 0x9E3779B97F4A7C15u;
    const size_t mask = slots_.size() - 1;
    for (size_t i = static_cast<size_t>(hash >> 32) & mask;; i = (i + 1) & mask) {
      Slot& slot = slots_[i];
      if (slot.filling != filling_) {
        slot = {number, filling_};
        return true;
      }
      if (slot.number == number) return false;
    }
  }

  void grow() {
    const std::vector<Slot> old = std::move(slots_);
    slots_.assign(old.empty() ? 64 : 2 * old.size(), {});
    for (const Slot& slot : old)
      if (slot.filling == filling_) put(slot.number);
  }

  std::vector<Slot> slots_;  // the size is a power of two; at most half of the slots are used
  size_t count_ = 0;
  uint32_t filling_ = 1;
};

}  // namespace ggufscope
