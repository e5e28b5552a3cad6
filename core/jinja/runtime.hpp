// The state of one rendering: its memory and limits, and the Python operations that operators and builtins need.
//
// A function that returns a Value may return one for which failed() is true; the Runtime then holds the error. A
// function that returns an Answer may return kFailed. Callers must return at once in both cases.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "base/sentence.hpp"
#include "jinja/arena.hpp"
#include "jinja/ast.hpp"
#include "jinja/value.hpp"
#include "jinja/writer.hpp"

namespace ggufscope::jinja {

/// Text that is made or compared, for one step.
constexpr size_t kBytesPerStep = 16;

struct Limits {
  uint64_t steps = 20'000'000;      ///< each node, each element and each kBytesPerStep of text count as one
  size_t output_bytes = 16 << 20;   ///< for the rendering, and for each intermediate text
  size_t memory_bytes = 256 << 20;  ///< for all values
  uint32_t depth = 500;             ///< of nested nodes, macros and values
};

/// The time that strftime_now uses.
struct Moment {
  int64_t year = 1970;
  uint32_t month = 1, day = 1, hour = 0, minute = 0, second = 0, microsecond = 0;
  int64_t epoch_seconds = 0;
};

/// The template's variables and its top-level assignments, which blocks can read.
struct Context {
  Dict variables;
  const Dict* parent = nullptr;
};

struct Activation {
  const FunctionLayout* layout = nullptr;
  Activation* outer = nullptr;
  Value* slots = nullptr;
  Context* context = nullptr;
  class Runtime* runtime = nullptr;
};

struct Macro {
  const Node* node = nullptr;
  Activation* outer = nullptr;
};

/// An iterator. Copies advance independently.
struct Iter {
  enum class Kind : uint8_t {
    kSeq,
    kReversed,
    kString,
    kDict,
    kRange,
    kEmpty,
    kMap,
    kSelect,
    kBatch,
    kSlices,
    kUnique,
    kItems,
    kCondition,
    kMissing
  } kind = Kind::kEmpty;
  Value source;           ///< the iterated value
  Iter* inner = nullptr;  ///< a generator's source
  int64_t at = 0;         ///< index of the next element, or byte offset in a text
  bool done = false;
  // For generators: the arguments of the filter that made them.
  const Value* a = nullptr;
  Args args;
  bool reject = false, by_attribute = false;
  const Builtin* builtin = nullptr;
  Dict* seen = nullptr;
  const Node* node = nullptr;  ///< kCondition: the loop
  Activation* activation = nullptr;
};

struct Loop {
  Iter* iter = nullptr;
  Value source;
  int64_t index0 = -1, length = -1;
  Value after, current, before;
  Seq* changed = nullptr;
  uint32_t depth0 = 0;
  const Node* node = nullptr;  ///< the node of a recursive loop
  Activation* outer = nullptr;
};

enum class Answer : uint8_t { kNo, kYes, kFailed };
inline Answer answer(bool yes) { return yes ? Answer::kYes : Answer::kNo; }
inline Value value_of(Answer a) { return a == Answer::kFailed ? Value::fail() : Value::of(a == Answer::kYes); }

class Runtime {
 public:
  Runtime(Arena& memory, const Limits& bounds) : arena(memory), limits(bounds) {}

  Arena& arena;
  const Limits& limits;
  Problem problem;
  uint64_t steps = 0;
  uint32_t depth = 0;
  bool autoescape = false;
  Moment now;
  const Dict* variables = nullptr;
  const std::vector<Node*>* blocks = nullptr;
  Writer* out = nullptr;
  uint32_t seed = 0;
  Value filter_body;  ///< the input of the innermost filter of a filter block
  Value caller;       ///< passed to the next call, which a call block makes

  /// Sets the template's error. Only the first one is kept.
  Value fail(std::initializer_list<Part> parts);
  /// Reports an exceeded limit.
  Value limit(std::string_view what);
  Value out_of_memory() { return limit("it takes too much memory"); }
  /// Counts steps. Returns false and sets an error if none are left.
  [[nodiscard]] bool spend(uint64_t n = 1) {
    steps += n;
    if (steps <= limits.steps) return true;
    limit("it takes too long");
    return false;
  }
  /// Sets the position of an error that has none yet.
  void place_error(uint32_t at) {
    if (problem.placed) return;
    problem.at = at;
    problem.placed = true;
  }

  template <class T>
  [[nodiscard]] T* create(size_t n = 1) {
    T* const objects = arena.create<T>(n);
    if (objects == nullptr) out_of_memory();
    return objects;
  }
  /// A value of an object that lies in the arena from now on: make(Type::kRange, &Value::range, Range{...}).
  template <class T, class Pointer>
  Value make(Type type, Pointer* Value::*member, const T& object) {
    T* const made = create<T>();
    if (made == nullptr) return Value::fail();
    *made = object;
    return Value::of(type, member, made);
  }
  [[nodiscard]] Writer writer() const { return Writer(limits.output_bytes); }
  Value string(std::string_view bytes, bool content = false, bool markup = false);
  Value string(const Writer& text, bool markup = false);
  /// A substring that shares the text's bytes.
  Value part(const Str& text, size_t begin, size_t end);
  Value constant(const char* text);  ///< the text must have static storage duration
  Value sequence(Type type, const std::vector<Value>& items);
  Value sequence(Type type, const Value* items, size_t n);
  Value integer(Value v) { return v.failed() ? limit("a number has too many digits") : v; }
  Value undefined(std::string_view hint);
  Value undefined_attribute(const Value& object, const Value& name);
  Value undefined_name(const Str* name);
  Value undefined_error(const Value& undefined);
  Value iterator(Iter* iter);
};

/// Counts the nesting depth of values and nodes. over() reports an error if it is too deep.
class Nesting {
 public:
  explicit Nesting(Runtime& r) : r_(r) { ++r_.depth; }
  ~Nesting() { --r_.depth; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;
  [[nodiscard]] bool over() const {
    if (r_.depth <= r_.limits.depth) return false;
    r_.limit("it nests too deep");
    return true;
  }

 private:
  Runtime& r_;
};

[[nodiscard]] std::string_view type_name(const Value& value);

// print.cpp: str() and repr(). They return false on an error.
[[nodiscard]] bool write_text(Runtime& r, const Value& value, Writer& out);
[[nodiscard]] bool write_repr(Runtime& r, const Value& value, Writer& out);
void write_repr(const Str& text, Writer& out);
[[nodiscard]] Value to_text(Runtime& r, const Value& value);  ///< kString
[[nodiscard]] std::string float_text(double value);
/// Writes the prefix and the value with the given number of hexadecimal digits.
void put_hex(Writer& out, std::string_view prefix, uint32_t value, uint32_t digits, bool content);
void write_escaped(const Str& text, Writer& out);  ///< for HTML
[[nodiscard]] Value escape(Runtime& r, const Value& value);

// compare.cpp
[[nodiscard]] bool truth(const Value& value);
[[nodiscard]] Answer equal(Runtime& r, const Value& a, const Value& b);
[[nodiscard]] Answer less(Runtime& r, const Value& a, const Value& b);
[[nodiscard]] Answer compare(Runtime& r, Op op, const Value& a, const Value& b);
[[nodiscard]] Answer contains(Runtime& r, const Value& container, const Value& item);
[[nodiscard]] bool same(const Value& a, const Value& b);  ///< Python's "is"
/// Sorts stably. Returns false on an error.
[[nodiscard]] bool sort_values(Runtime& r, std::vector<Value>& keys, std::vector<Value>& values, bool reverse);

// dict.cpp
[[nodiscard]] bool hashable(Runtime& r, const Value& key);  ///< false: an error
[[nodiscard]] const Value* find(const Dict& dict, const Value& key);
[[nodiscard]] const Value* find(const Dict& dict, std::string_view key);
[[nodiscard]] bool insert(Runtime& r, Dict& dict, const Value& key, const Value& value);  ///< false: an error
[[nodiscard]] Dict* copy_dict(Runtime& r, const Dict& dict);
[[nodiscard]] uint64_t hash_of(const Value& value);

// arithmetic.cpp
[[nodiscard]] Value binary(Runtime& r, Op op, const Value& a, const Value& b);
[[nodiscard]] Value negate(Runtime& r, const Value& a, bool minus);
[[nodiscard]] double number(const Value& value);          ///< the value must be a number
[[nodiscard]] int64_t clamp_integer(const Value& value);  ///< the value must be an integer; it is clamped to 64 bits
[[nodiscard]] Value parse_python_integer(Runtime& r, std::string_view text,
                                         uint32_t base);  ///< kMissing if it is not an integer
[[nodiscard]] bool parse_python_float(std::string_view text, double& out);
[[nodiscard]] Value round_half_even(Runtime& r, const Value& number, int64_t digits);

// format.cpp
[[nodiscard]] Value percent_format(Runtime& r, const Str& format, const Value& values);
[[nodiscard]] Value brace_format(Runtime& r, const Str& format, const Args& args);
[[nodiscard]] std::string format_float(double value, char type, int precision, bool alternate);

// access.cpp
[[nodiscard]] Value get_attribute(Runtime& r, const Value& object, const Str& name);
[[nodiscard]] Value get_attribute_only(Runtime& r, const Value& object,
                                       const Str& name);  ///< never falls back to items
[[nodiscard]] Value get_item(Runtime& r, const Value& object, const Value& key);
[[nodiscard]] Value get_slice(Runtime& r, const Value& object, const Value& start, const Value& stop,
                              const Value& step);
/// Looks up "a.b.0" as the filters' attribute= does: items before attributes.
[[nodiscard]] Value get_path(Runtime& r, const Value& object, const Value& path, const Value& fallback);
[[nodiscard]] Value element_at(Runtime& r, const Value& sequence, int64_t index);  ///< 0 <= index < length
[[nodiscard]] int64_t length_of(const Value& value);                               ///< -1 if the value has no length
[[nodiscard]] Value length_value(Runtime& r, const Value& value);

// iterate.cpp
[[nodiscard]] Iter* iterate(Runtime& r, const Value& value);  ///< nullptr: an error
[[nodiscard]] bool can_iterate(const Value& value);
[[nodiscard]] Value next(Runtime& r, Iter& iter);  ///< kMissing at the end
[[nodiscard]] bool collect(Runtime& r, const Value& iterable, std::vector<Value>& out);
[[nodiscard]] Value loop_attribute(Runtime& r, Loop& loop, const Str& name);
[[nodiscard]] Value advance_loop(Runtime& r, Loop& loop);  ///< kMissing at the end
[[nodiscard]] Value loop_length(Runtime& r, Loop& loop);

// call.cpp
[[nodiscard]] Value call(Runtime& r, const Value& callee, const Args& args);
/// self: the input of a filter or the object of a method; kMissing if there is none.
[[nodiscard]] Value call_builtin(Runtime& r, const Builtin& builtin, const Value& self, const Args& args);
[[nodiscard]] Value call_macro(Runtime& r, const Macro& macro, const Args& args);
[[nodiscard]] Value take_keyword(Args& args, std::string_view name, Keyword* room);

// execute.cpp
[[nodiscard]] Value evaluate(Runtime& r, Activation& in, const Node& node);
enum class Flow : uint8_t { kOn, kBreak, kContinue, kFailed };
[[nodiscard]] Flow execute(Runtime& r, Activation& in, const Nodes& body);
[[nodiscard]] Value run_block(Runtime& r, const BlockReference& block);
[[nodiscard]] Value blocks_value(Runtime& r, Context* context);  ///< self
[[nodiscard]] Value run_recursive(Runtime& r, const Node& node, Activation& outer, const Value& iterable,
                                  uint32_t depth);
[[nodiscard]] Activation* activate(Runtime& r, const FunctionLayout* layout, Activation* outer, Context* context);
void enter(Activation& in, const Scope& scope);
[[nodiscard]] bool assign(Runtime& r, Activation& in, const Node& target, const Value& value);

}  // namespace ggufscope::jinja
