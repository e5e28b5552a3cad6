// Any template with one conversation must stay within its limits, and give the same text twice, with and without marks.
#include <cstdlib>
#include <iterator>
#include <string>

#include "jinja/template.hpp"

using namespace ggufscope::jinja;

namespace {

// The texts that bytes from 128 on represent. Other bytes represent themselves.
constexpr std::string_view kPieces[] = {"{{ ",
                                        " }}",
                                        "{% ",
                                        " %}",
                                        "{%- if ",
                                        "{% endif %}",
                                        "{% for m in messages %}",
                                        "{% endfor %}",
                                        "{% set x = ",
                                        "m.content",
                                        "messages",
                                        "|tojson(indent=2)",
                                        "|join(',')",
                                        "|map('upper')",
                                        "|list",
                                        "loop.index",
                                        "loop.nextitem",
                                        "namespace(a=1)",
                                        "{% set n.a = ",
                                        "n",
                                        "{% macro f(a, b=2) %}",
                                        "{% endmacro %}",
                                        "{% call(v) f(1) %}",
                                        "{% endcall %}",
                                        "caller(1)",
                                        "f(x)",
                                        "x",
                                        "[1, 'a', none]",
                                        "{'a': [1]}",
                                        "range(9)",
                                        ".split('i')",
                                        ".replace('i', x)",
                                        "[::-1]",
                                        "[1:]",
                                        " + ",
                                        " ~ ",
                                        " % ",
                                        " * 9",
                                        " ** 9",
                                        " == ",
                                        " in ",
                                        " is ",
                                        "defined",
                                        " if ",
                                        " else ",
                                        "'%5s'",
                                        "|sort",
                                        "|groupby('role')",
                                        "|indent(2)",
                                        "|wordwrap(5)",
                                        "|pprint",
                                        "|urlize",
                                        "|batch(2)",
                                        "|e",
                                        "{% raw %}",
                                        "{% block b %}",
                                        "{% endblock %}",
                                        "{% with x = 1 %}",
                                        "{% endwith %}",
                                        "{% filter upper %}",
                                        "{% endfilter %}",
                                        "'{:>9}'.format(x)",
                                        "1.5",
                                        "recursive"};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr std::string_view kVariables =
      R"({"messages":[{"role":"user","content":"Hi ü <|x|>","tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]}],"tools":null,"n":3})";
  const Limits limits = {.steps = 200'000, .output_bytes = 1 << 20, .memory_bytes = 16 << 20};
  std::string source;
  for (size_t i = 0; i < size; ++i)
    data[i] >= 128 && data[i] - 128u < std::size(kPieces) ? source += kPieces[data[i] - 128]
                                                          : source += static_cast<char>(data[i]);
  const Template made(source);
  const Rendering one = made.render(kVariables, {}, false, limits), two = made.render(kVariables, {}, true, limits);
  if (one.text.size() > limits.output_bytes) std::abort();
  if (one.error.code == Problem::Code::kNone && two.error.code == Problem::Code::kNone && one.text != two.text)
    std::abort();
  size_t bytes = 0;
  for (const Run& run : two.runs) bytes += run.bytes;
  if (bytes != two.text.size()) std::abort();
  return 0;
}
