// Python's dict: hashed, in order of insertion.
#include <algorithm>
#include <bit>
#include <cmath>

#include "jinja/big_int.hpp"
#include "jinja/runtime.hpp"

namespace ggufscope::jinja {
namespace {

constexpr uint32_t kLinear = 8;  // up to this many entries, search without an index

uint64_t mix(uint64_t x) {
  x ^= x >> 31;
  x *= 0x9E3779B97F4A7C15u;
  return x ^ x >> 29;
}

uint64_t hash_bytes(std::string_view bytes) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (const char c : bytes) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001B3u;
  return hash;
}

// Both values must be hashable.
bool equal_keys(const Value& a, const Value& b) {
  if (a.is(Type::kString) || b.is(Type::kString)) return a.type == b.type && a.str->view() == b.str->view();
  if (a.is_int() && b.is_int()) return compare_integers(a, b) == 0;
  if (a.is_number() && b.is_number()) return number(a) == number(b);
  if (a.type != b.type) return false;
  if (a.is(Type::kNone) || a.is(Type::kUndefined)) return true;
  if (!a.is(Type::kTuple)) return a.dict == b.dict;
  return a.seq->n == b.seq->n && std::equal(a.seq->items, a.seq->items + a.seq->n, b.seq->items, equal_keys);
}

void put_index(Dict& dict, uint32_t place) {
  const uint32_t mask = dict.index_size - 1;
  for (auto i = static_cast<uint32_t>(hash_of(dict.entries[place].key)) & mask;; i = (i + 1) & mask) {
    if (dict.index[i] != 0) continue;
    dict.index[i] = place + 1;
    return;
  }
}

template <class Equal>
const Entry* search(const Dict& dict, uint64_t hash, const Equal& is_key) {
  if (dict.index == nullptr) {
    for (uint32_t i = 0; i < dict.n; ++i)
      if (is_key(dict.entries[i].key)) return &dict.entries[i];
    return nullptr;
  }
  const uint32_t mask = dict.index_size - 1;
  for (auto i = static_cast<uint32_t>(hash) & mask; dict.index[i] != 0; i = (i + 1) & mask)
    if (is_key(dict.entries[dict.index[i] - 1].key)) return &dict.entries[dict.index[i] - 1];
  return nullptr;
}

bool grow(Runtime& r, Dict& dict) {
  const uint32_t capacity = dict.capacity == 0 ? 4 : dict.capacity * 2;
  Entry* entries = r.create<Entry>(capacity);
  if (entries == nullptr) return false;
  std::copy(dict.entries, dict.entries + dict.n, entries);
  dict.entries = entries;
  dict.capacity = capacity;
  if (capacity <= kLinear) return true;
  dict.index_size = capacity * 2;
  dict.index = r.create<uint32_t>(dict.index_size);
  if (dict.index == nullptr) return false;
  for (uint32_t i = 0; i < dict.n; ++i) put_index(dict, i);
  return true;
}

}  // namespace

uint64_t hash_of(const Value& value) {
  if (value.is(Type::kString)) return hash_bytes(value.str->view());
  if (value.is_number()) {
    const double d = number(value);
    return mix(std::bit_cast<uint64_t>(d == 0 ? 0.0 : d) >> 3);
  }
  if (value.is(Type::kTuple)) {
    uint64_t hash = 0x345678;
    for (uint32_t i = 0; i < value.seq->n; ++i) hash = mix(hash ^ hash_of(value.seq->items[i]));
    return hash;
  }
  if (value.is(Type::kNone) || value.is(Type::kUndefined)) return 77 + static_cast<uint64_t>(value.type);
  return mix(reinterpret_cast<uintptr_t>(value.dict));
}

bool hashable(Runtime& r, const Value& key) {
  const Nesting nesting(r);
  if (nesting.over()) return false;
  if (key.is(Type::kTuple))
    return std::all_of(key.seq->items, key.seq->items + key.seq->n,
                       [&](const Value& item) { return hashable(r, item); });
  if (!key.is(Type::kList) && !key.is(Type::kDict) && !key.is(Type::kView)) return true;
  r.fail({type_name(key), " cannot be a key: it is not hashable"});
  return false;
}

const Value* find(const Dict& dict, const Value& key) {
  const Entry* entry = search(dict, dict.index != nullptr ? hash_of(key) : 0,
                              [&](const Value& other) { return equal_keys(other, key); });
  return entry != nullptr ? &entry->value : nullptr;
}

const Value* find(const Dict& dict, std::string_view key) {
  const Entry* entry = search(dict, dict.index != nullptr ? hash_bytes(key) : 0,
                              [&](const Value& other) { return other.is(Type::kString) && other.str->view() == key; });
  return entry != nullptr ? &entry->value : nullptr;
}

bool insert(Runtime& r, Dict& dict, const Value& key, const Value& value) {
  if (!r.spend()) return false;
  if (const Value* old = find(dict, key)) {
    *const_cast<Value*>(old) = value;
    return true;
  }
  if (dict.n == dict.capacity && !grow(r, dict)) return false;
  dict.entries[dict.n++] = {key, value};
  if (dict.index != nullptr) put_index(dict, dict.n - 1);
  return true;
}

Dict* copy_dict(Runtime& r, const Dict& dict) {
  Dict* copy = r.create<Dict>();
  for (uint32_t i = 0; copy != nullptr && i < dict.n; ++i)
    if (!insert(r, *copy, dict.entries[i].key, dict.entries[i].value)) return nullptr;
  return copy;
}

}  // namespace ggufscope::jinja
