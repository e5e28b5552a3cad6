// The syntax tree of a template. Each kind of node uses only the members named in its comment.
#pragma once

#include <cstdint>
#include <string>

#include "jinja/arena.hpp"
#include "jinja/value.hpp"

namespace ggufscope::jinja {

enum class Kind : uint8_t {
  // statements
  kOutput,       // items: kData or expressions
  kFor,          // a target, b iterable, c condition or none, d copy of the target for the condition, body, rest (else)
  kIf,           // a condition, body, items (elif: kIf), rest (else)
  kMacro,        // text name, items parameters, rest defaults of the last of them, body
  kCallBlock,    // a call (none: generation), items and rest as kMacro, body
  kFilterBlock,  // a the outermost filter, body
  kSet,          // a target, b value
  kSetBlock,     // a target, b the outermost filter or none, body
  kWith,         // items targets, rest values, body
  kAutoescape,   // a whether, body
  kBlock,        // text name, flags, body
  kExtends,      // a template
  kInclude,      // a template, flags
  kImport,       // a template, items names that it would set
  kBreak,
  kContinue,
  // expressions
  kData,     // value: text of the template
  kConst,    // value
  kName,     // text
  kNsRef,    // text namespace, value attribute: only a target
  kTuple,    // items
  kList,     // items
  kDict,     // items: key, value, key, ...
  kCond,     // a condition, b then, c else or none
  kAnd,      // a, b
  kOr,       // items: key, value, key, ...
  kNot,      // a
  kNegate,   // a
  kPlus,     // a
  kBinary,   // op, a, b
  kConcat,   // items
  kCompare,  // a, items: kOperand
  kOperand,  // op, a
  kGetattr,  // a, value name
  kGetitem,  // a, b
  kSlice,    // a, b, c or none: start, stop, step
  kCall,     // a, call
  kFilter,   // a (none: the body of a filter block), text, call
  kTest      // a, text, call
};

enum class Op : uint8_t { kAdd, kSub, kMul, kDiv, kFloorDiv, kMod, kPow, kEq, kNe, kLt, kLe, kGt, kGe, kIn, kNotIn };

inline constexpr uint8_t kRecursive = 1;      // kFor
inline constexpr uint8_t kUsesLoop = 2;       // kFor: has a loop variable
inline constexpr uint8_t kScoped = 1;         // kBlock
inline constexpr uint8_t kRequired = 2;       // kBlock
inline constexpr uint8_t kIgnoreMissing = 1;  // kInclude
inline constexpr uint8_t kTopLevel = 4;       // kSet, kSetBlock, kMacro: blocks see the variables that they set
inline constexpr uint8_t kEscape = 8;         // kOutput, kConcat: within {% autoescape true %}
inline constexpr uint8_t kVolatile = 16;      // kOutput, kConcat: within {% autoescape EXPRESSION %}

struct Nodes {
  Node** items = nullptr;
  uint32_t n = 0;
  Node** begin() const { return items; }
  Node** end() const { return items + n; }
};

struct KeywordNode {
  const Str* name = nullptr;
  Node* value = nullptr;
};
struct CallNode {
  Nodes args;
  KeywordNode* keywords = nullptr;
  uint32_t n_keywords = 0;
  Node* more_args = nullptr;
  Node* more_keywords = nullptr;
};

/// The location of a variable: how many functions outward, and its slot there.
struct Place {
  uint32_t hops = 0, slot = 0;
};

/// What a scope does with one of its variables on entry.
struct Load {
  enum class Kind : uint8_t { kParameter, kResolve, kAlias, kUndefined } kind = Kind::kUndefined;
  uint32_t slot = 0;
  const Str* name = nullptr;
  Place from;  ///< kAlias
};
struct Scope {
  const Load* loads = nullptr;
  uint32_t n = 0;
};

/// The variables of one activation record: the template, a block, a macro, the body of a recursive loop, a loop's
/// condition.
struct FunctionLayout {
  FunctionLayout* outer = nullptr;
  uint32_t n_slots = 0;
};

struct Node {
  Kind kind = Kind::kConst;
  Op op = Op::kAdd;
  uint8_t flags = 0;
  uint32_t at = 0;  ///< byte offset in the source
  const Str* text = nullptr;
  Value value;
  Node *a = nullptr, *b = nullptr, *c = nullptr, *d = nullptr;
  Nodes items, body, rest;
  CallNode* call = nullptr;
  // Set by the scope analysis:
  const Builtin* builtin = nullptr;  ///< kFilter, kTest
  Place place;                       ///< kName, kNsRef; kMacro, kCallBlock: the name's or nothing
  Scope scope, scope2;               ///< of the body; kFor: of else
  Scope test_scope;                  ///< kFor
  FunctionLayout* layout = nullptr;  ///< kMacro, kCallBlock, kBlock, recursive kFor
  FunctionLayout* test_layout = nullptr;
  Place loop, caller, kwargs, varargs, self, super;  ///< slots of special variables; kNoSlot: not used
};
inline constexpr uint32_t kNoSlot = UINT32_MAX;

/// An error message and its byte offset in the source.
struct Problem {
  enum class Code : uint8_t { kNone, kTemplate, kLimit } code = Code::kNone;
  std::string message;
  uint32_t at = 0;
  bool placed = false;
};

}  // namespace ggufscope::jinja
