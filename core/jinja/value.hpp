// Values of templates, as Python has them. All lie in an arena, are plain data, and are copied by copying.
#pragma once

#include <cstdint>
#include <string_view>

namespace ggufscope::jinja {

struct Node;
struct Value;
class Runtime;

/// A text: UTF-8 that it does not own. Each byte may be marked as content, that is, of a message and not of the
/// template.
struct Str {
  const char* data = nullptr;
  uint32_t size = 0;
  mutable uint32_t chars = kUncounted;  ///< code points, once counted
  const uint8_t* marks = nullptr;       ///< nullptr: no byte is content; kAllContent: each is; else a byte for a byte
  bool markup = false;                  ///< markupsafe.Markup

  static constexpr uint32_t kUncounted = UINT32_MAX;
  [[nodiscard]] std::string_view view() const { return {data, size}; }
  [[nodiscard]] bool is_content(size_t byte) const;
};
inline constexpr uint8_t kContentMark = 1;
inline constexpr const uint8_t* kAllContent = &kContentMark;
inline bool Str::is_content(size_t byte) const {
  return marks == kAllContent || (marks != nullptr && marks[byte] != 0);
}

/// An integer beyond 64 bits: limbs of 32 bits, least first.
struct Big {
  bool negative = false;
  uint32_t n = 0;
  const uint32_t* limbs = nullptr;
};

enum class Type : uint8_t {
  kMissing,  ///< no value at all: an argument that was not given, the end of an iteration
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
  kView,  ///< of a dict: keys, values or items
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
  static Value of(bool b) {
    Value v = of(Type::kBool);
    v.integer = 0;
    v.boolean = b;
    return v;
  }
  static Value of(int64_t i) {
    Value v = of(Type::kInt);
    v.integer = i;
    return v;
  }
  static Value of(double d) {
    Value v = of(Type::kFloat);
    v.real = d;
    return v;
  }
  static Value of(const Str* s) {
    Value v = of(Type::kString);
    v.str = s;
    return v;
  }
  static Value of(Type t, Seq* s) {
    Value v = of(t);
    v.seq = s;
    return v;
  }
  static Value of(Dict* d) {
    Value v = of(Type::kDict);
    v.dict = d;
    return v;
  }
};

/// A list or a tuple. Templates cannot change one that they hold.
struct Seq {
  Value* items = nullptr;
  uint32_t n = 0;
  bool group = false;  ///< a tuple of groupby: has the attributes grouper and list
};

struct Entry {
  Value key, value;
};

/// In order of insertion. Beyond a few entries an index by hash, open addressing.
struct Dict {
  Entry* entries = nullptr;
  uint32_t n = 0, capacity = 0;
  uint32_t* index = nullptr;  ///< 0: free; else the entry's place + 1
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

/// What an undefined value knows of why it is one.
struct Absent {
  const Str* hint = nullptr;  ///< the whole message, or
  Value object;               ///< what has no such attribute (missing: a variable) and
  Value name;                 ///< the name that was asked for
};

struct BlockReference {
  const Node* block = nullptr;
  struct Context* context = nullptr;
};

/// Arguments of a call.
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
  /// Names of the parameters: "value width?" (? may be left out, and is missing then). With "/" first they are taken by
  /// position alone. "*": the function looks at the arguments itself, and a[0] is its object, if it has one.
  const char* parameters;
  Value (*call)(Runtime& r, const Value* a, const Args& args);
};

struct Function {
  const Builtin* builtin = nullptr;
  Value self;  ///< missing: a global
  const char* text = "";
};

}  // namespace ggufscope::jinja
