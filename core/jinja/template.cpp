// Compiles a chat template and renders it.
#include "jinja/template.hpp"

#include <algorithm>

#include "jinja/json.hpp"
#include "jinja/parser.hpp"

namespace ggufscope::jinja {
namespace {

constexpr size_t kMaxSource = 1 << 20;
constexpr size_t kMaxTreeBytes = 256 << 20;

std::vector<Run> runs_of(const Writer& out) {
  std::vector<Run> runs;
  const std::string& marks = out.marks();
  if (marks.empty()) {
    if (out.size() > 0) runs.push_back({static_cast<uint32_t>(out.size()), false});
    return runs;
  }
  for (size_t i = 0; i < marks.size(); ++i) {
    const bool content = marks[i] != 0;
    if (runs.empty() || runs.back().content != content) runs.push_back({0, content});
    ++runs.back().bytes;
  }
  return runs;
}

}  // namespace

Template::Template(std::string_view source) : arena_(std::make_unique<Arena>(kMaxTreeBytes)) {
  Problem problem;
  if (source.size() > kMaxSource) {
    error_ = {Problem::Code::kLimit, sentence({"it is ", source.size(), " bytes long itself"}), 0, 0};
    return;
  }
  source_ = normalize_newlines(source);
  if (!parse(source_, *arena_, program_.body, problem) || !analyze(*arena_, program_, problem))
    error_ = located(problem);
}

TemplateError Template::located(const Problem& problem) const {
  TemplateError error = {problem.code, problem.message, 0, 0};
  if (!problem.placed) return error;
  const std::string_view before = std::string_view(source_).substr(0, problem.at);
  const size_t newline = before.rfind('\n');
  error.line = static_cast<uint32_t>(std::count(before.begin(), before.end(), '\n')) + 1;
  error.column = count_code_points(newline == before.npos ? before : before.substr(newline + 1)) + 1;
  return error;
}

Rendering Template::render(std::string_view variables, const Moment& now, bool marks, const Limits& limits) const {
  Rendering out;
  out.error = error_;
  if (error_.code != Problem::Code::kNone) return out;
  Arena arena(limits.memory_bytes);
  Runtime r(arena, limits);
  Writer text = r.writer();
  r.out = &text;
  r.now = now;
  r.blocks = &program_.blocks;
  const Value all = read_json(r, variables, marks);
  if (!all.failed() && !all.is(Type::kDict)) r.fail({"the variables are no JSON object"});
  Context context;
  if (all.is(Type::kDict)) context.parent = all.dict;
  Activation* in = r.problem.code == Problem::Code::kNone ? activate(r, program_.layout, nullptr, &context) : nullptr;
  if (in != nullptr) {
    if (program_.self.slot != kNoSlot) in->slots[program_.self.slot] = blocks_value(r, &context);
    enter(*in, program_.scope);
    (void)!static_cast<bool>(execute(r, *in, program_.body) == Flow::kOn);
  }
  if (r.problem.code != Problem::Code::kNone) {
    out.error = located(r.problem);
    return out;
  }
  out.text = text.bytes();
  if (marks) out.runs = runs_of(text);
  return out;
}

}  // namespace ggufscope::jinja
