// Python values. They are allocated in an arena and trivially copyable.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace ggufscope::jinja {

struct Node;
struct Value;
class Runtime;

/// A view of UTF-8 text. Each byte may be marked as content, which means that it comes from a message and not from the
/// template.
struct Str {
  const char* data = nullptr;
  uint32_t size = 0;
  mutable uint32_t chars = kUncounted;  ///< number of code points, once counted
  const uint8_t* marks =
      nullptr;          ///< nullptr: no byte is content; kAllContent: all are; otherwise one mark for each byte
  bool markup = false;  ///< markupsafe.Markup

  static constexpr uint32_t kUncounted = UINT32_MAX;
  [[nodiscard]] std::string_view view() const { return {data, size}; }
  [[nodiscard]] bool is_content(size_t byte) const;
};
inline constexpr uint8_t kContentMark = 1;
inline constexpr const uint8_t* kAllContent = &kContentMark;
inline bool Str::is_content(size_t byte) const {
  return marks == kAllContent || (marks != nullptr && marks[byte] != 0);
}

/// An integer of more than 64 bits: 32-bit limbs, least significant first.
struct Big {
  bool negative = false;
  uint32_t n = 0;
  const uint32_t* limbs = nullptr;
};

enum class Type : uint8_t {
  kMissing,  ///< no value: an omitted argument, or the end of an iteration
  kFail,     ///< an error, which the Runtime holds
  kUndefined,
  kNone,
  kBool,
  kInt,
  kBig,
  kFloat,
  kString,
  kList,
  kTuple,
  kDict,
  kView,  ///< keys, values or items of a dict
  kRange,
  kIterator,
  kNamespace,
  kLoop,
  kMacro,
  kFunction,  ///< a global, or a method bound to its object
  kCycler,
  kJoiner,
  kBlocks,  ///< self
  kBlock    ///< self.name
};

struct Seq;
struct Dict;
struct View;
struct Range;
struct Iter;
struct Loop;
struct Macro;
struct Function;
struct Cycler;
struct Joiner;
struct Absent;
struct BlockReference;

struct Value {
  Type type = Type::kMissing;
  union {
    int64_t integer = 0;
    bool boolean;
    double real;
    const Str* str;
    const Big* big;
    Seq* seq;
    Dict* dict;
    const View* view;
    const Range* range;
    Iter* iter;
    Loop* loop;
    const Macro* macro;
    const Function* function;
    Cycler* cycler;
    Joiner* joiner;
    const Absent* absent;
    const BlockReference* block;
  };

  [[nodiscard]] bool is(Type t) const { return type == t; }
  [[nodiscard]] bool missing() const { return type == Type::kMissing; }
  [[nodiscard]] bool failed() const { return type == Type::kFail; }
  [[nodiscard]] bool is_int() const { return type == Type::kInt || type == Type::kBool || type == Type::kBig; }
  [[nodiscard]] bool is_number() const { return is_int() || type == Type::kFloat; }
  [[nodiscard]] bool is_seq() const { return type == Type::kList || type == Type::kTuple; }
  [[nodiscard]] bool is_none() const { return type == Type::kNone; }

  static Value fail() { return of(Type::kFail); }
  static Value none() { return of(Type::kNone); }
  static Value of(Type t) {
    Value v;
    v.type = t;
    return v;
  }
  /// A value of type t whose member is the object: of(Type::kDict, &Value::dict, dict).
  template <class T>
  static Value of(Type t, T Value::*member, std::type_identity_t<T> object) {
    Value v = of(t);
    v.*member = object;
    return v;
  }
  static Value of(bool b) { return of(Type::kBool, &Value::boolean, b); }
  static Value of(int64_t i) { return of(Type::kInt, &Value::integer, i); }
  static Value of(double d) { return of(Type::kFloat, &Value::real, d); }
  static Value of(const Str* s) { return of(Type::kString, &Value::str, s); }
  static Value of(Type t, Seq* s) { return of(t, &Value::seq, s); }
  static Value of(Dict* d) { return of(Type::kDict, &Value::dict, d); }
};

/// A list or a tuple. Templates cannot modify it.
struct Seq {
  Value* items = nullptr;
  uint32_t n = 0;
  bool group = false;  ///< a tuple from groupby, with the attributes grouper and list
};

struct Entry {
  Value key, value;
};

/// Keeps insertion order. If it has more than a few entries, it has a hash index with open addressing.
struct Dict {
  Entry* entries = nullptr;
  uint32_t n = 0, capacity = 0;
  uint32_t* index = nullptr;  ///< 0: free; otherwise the entry's index + 1
  uint32_t index_size = 0;    ///< a power of two
};

struct View {
  enum class Kind : uint8_t { kKeys, kValues, kItems } kind = Kind::kKeys;
  const Dict* dict = nullptr;
};

struct Range {
  int64_t start = 0, stop = 0, step = 1;
  int64_t n = 0;
};

struct Cycler {
  Seq* items = nullptr;
  uint32_t position = 0;
};

struct Joiner {
  Value separator;
  bool used = false;
};

/// Why a value is undefined.
struct Absent {
  const Str* hint = nullptr;  ///< the whole message; otherwise it is built from:
  Value object = {};          ///< the object without such an attribute (kMissing: a variable)
  Value name = {};            ///< the requested name
};

struct BlockReference {
  const Node* block = nullptr;
  struct Context* context = nullptr;
};

/// A keyword argument of a call.
struct Keyword {
  const Str* name = nullptr;
  Value value;
};
struct Args {
  const Value* positional = nullptr;
  uint32_t n = 0;
  const Keyword* keywords = nullptr;
  uint32_t n_keywords = 0;
};

/// A filter, test, method or global function: one row of a table.
struct Builtin {
  const char* name;
  /// The names of the parameters: "value width?"; "?" marks an optional one, which may be kMissing. If "/" comes first,
  /// all are positional-only. "*": the function reads the arguments itself, and a[0] is its object, if it has one.
  const char* parameters;
  Value (*call)(Runtime& r, const Value* a, const Args& args);
};

struct Function {
  const Builtin* builtin = nullptr;
  Value self = {};  ///< kMissing: a global function
  const char* text = "";
};

}  // namespace ggufscope::jinja
