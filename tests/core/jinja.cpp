// Chat templates: tables of constructs, Python's results if the shared data exists, hostile templates, limits.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <string>

#include "data.hpp"
#include "jinja/template.hpp"
#include "json.hpp"

using namespace ggufscope;
using namespace ggufscope::jinja;
using ggufscope::test::kSanitized;
using ggufscope::test::needs_shared;
using Code = Problem::Code;

namespace {

// The time of the reference: 2026-07-04 09:05:03.
constexpr Moment kNow = {2026, 7, 4, 9, 5, 3, 0, 1783155903};
constexpr const char* kVariables =
    R"({"messages":[{"role":"user","content":"Hi \u00fcn\u00ef \ud83d\ude00 <b>&'\"</b>"}],"d":{"b":1,"a":[1,null,true,1.5]},"n":7,"s":"a b c"})";

Rendering render(const std::string& source, const std::string& variables = kVariables, const Limits& limits = {}) {
  return Template(source).render(variables, kNow, false, limits);
}

struct Case {
  const char* source;
  const char* expected;  // nullptr: an error
};

void check(const Case& one) {
  const Rendering got = render(one.source);
  BOOST_TEST_CONTEXT(one.source << " " << got.error.message) {
    if (one.expected == nullptr) {
      BOOST_TEST((got.error.code == Code::kTemplate));
      BOOST_TEST(got.error.line >= 1u);
    } else {
      BOOST_TEST((got.error.code == Code::kNone));
      BOOST_TEST(got.text == one.expected);
    }
  }
}

constexpr Case kExpressions[] = {
    {"{{ 1 }} {{ 1.0 }} {{ 1e16 }} {{ 1e-5 }} {{ true }} {{ none }}", "1 1.0 1e+16 1e-05 True None"},
    {"{{ 7 // 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 2 ** 10 }} {{ 2 ** -1 }}", "3 -4 2 3.5 1024 0.5"},
    {"{{ 10 ** 20 + 1 }} {{ 99999999999999999999 // 7 }} {{ -(10 ** 20) % 7 }}",
     "100000000000000000001 14285714285714285714 5"},
    {"{{ 'a' ~ 1 ~ none }} {{ 'ab' * 2 }} {{ [1] + [2] }} {{ (1,) + (2,) }}", "a1None abab [1, 2] (1, 2)"},
    {"{{ 1 < 2 < 3 }} {{ 1 < 3 < 2 }} {{ 'a' in 'abc' }} {{ 2 not in [1] }}", "True False True True"},
    {"{{ 1 == 1.0 }} {{ true == 1 }} {{ [1] == (1,) }} {{ {'a': 1} == {'a': 1.0} }}", "True True False True"},
    {"{{ s[1] }}{{ s[-1] }} {{ s[::-1] }} {{ s[1:3] }} {{ messages[0].content[7] }}", " c c b a  b 😀"},
    {"{{ d.b }} {{ d['a'][3] }} {{ d.a.2 }} {{ d.missing }}|", "1 1.5 True |"},
    {"{{ 'it\\'s' }} {{ [\"it's\", 'a\"b', '\\n\\x01é'] }}", "it's [\"it's\", 'a\"b', '\\n\\x01é']"},
    {"{{ 'x' if n > 3 else 'y' }} {{ 'x' if false }}|", "x |"},
    {"{{ '%s|%5.2f|%-4d|%04x|%r' % ('a', 1.5, 3, 255, 'q') }}", "a| 1.50|3   |00ff|'q'"},
    {"{{ '{0:>5}|{1:,}|{k!r:^7}'.format('a', 1234567, k='z') }}", "    a|1,234,567|  'z'  "},
    {"{{ '{:#.3}|{:z.0f}|{:5c}|{:05}|{:#}|{:+.2}'.format(2.5, -0.3, 65, 'é', 1e22, 25.0) }}",
     "2.50|0|    A|é0000|1.e+22|+2.5e+01"},
    {"{{ '{0.real}{}{0[0]}'.format('ab') }}", "aba"},
    {"{{ '%%%(k)s' % {'k': 1} }} {{ '\\x7f'|tojson(ensure_ascii=true) }} {{ '\\x7f'|tojson }}",
     "%1 \"\\u007f\" \"\x7f\""},
    {"{{ '{0}{}'.format(1) }}", nullptr},
    {"{{ '{!s:+}'.format(1) }}", nullptr},
    {"{{ '{:z}'.format(1) }}", nullptr},
    {"{{ '{:,x}'.format(1) }}", nullptr},
    {"{{ '{:=5}'.format('a') }}", nullptr},
    {"{{ '{:+c}'.format(65) }}", nullptr},
    {"{{ '%5%' % () }}", nullptr},
    {"{{ '%(k)s%s' % {'k': 1} }}", nullptr},
    {"{{ {'k': 1, 2: 3, none: 4, 1.5: 5} | pprint }}", "{None: 4, 1.5: 5, 2: 3, 'k': 1}"},
    {"{{ d.update({'x': 1}) }}", nullptr},
    {"{{ [1].append(2) }}", nullptr},
    {"{{ s.__class__ }}|{{ undefined_name }}|", "||"},
    {"{{ undefined_name.attribute }}", nullptr},
    {"{{ 1 + 'a' }}", nullptr},
    {"{{ 1 / 0 }}", nullptr},
    {"{{ s|nofilter }}", nullptr},
    {"{% if false %}{{ s|nofilter }}{% endif %}ok", "ok"},
};

constexpr Case kStatements[] = {
    {"{% for i in [1, 2, 3] %}{{ loop.index }}{{ loop.revindex0 }}{{ loop.previtem }}{{ loop.nextitem }},{% endfor %}",
     "122,2113,302,"},
    {"{% for a, b in {'x': 1}.items() %}{{ a }}{{ b }}{% endfor %}", "x1"},
    {"{% for i in [1, 2, 3, 4] if i is even %}{{ i }}/{{ loop.length }} {% endfor %}", "2/2 4/2 "},
    {"{% for i in [] %}x{% else %}none{% endfor %}", "none"},
    {"{% for i in [1, 2, 3] %}{% if i == 2 %}{% continue %}{% endif %}{{ i }}{% if i == 3 %}{% break %}{% endif %}{% "
     "endfor %}",
     "13"},
    {"{% for i in [[1, [2]]] recursive %}{{ loop(i) if i is iterable else i }}{{ loop.depth }}{% endfor %}", "122321"},
    {"{% set x = 1 %}{% for i in [1] %}{% set x = 2 %}{{ x }}{% endfor %}{{ x }}", "21"},
    {"{% set n = namespace(x=1) %}{% for i in [1, 2] %}{% set n.x = n.x + i %}{% endfor %}{{ n.x }} {{ n }}",
     "4 <Namespace {'x': 4}>"},
    {"{% set x | upper | trim %} a {% endset %}[{{ x }}]", "[A]"},
    {"{% macro m(a, b=2) %}{{ a }}{{ b }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1) }} {{ m(1, 3, 4, c=5) }}",
     "12(){} 13(4,){'c': 5}"},
    {"{% macro m() %}{{ x }}{% endmacro %}{% set x = 1 %}{{ m() }}{% for x in [2] %}{{ m() }}{% endfor %}", "11"},
    {"{% macro m(t) %}<{{ caller(t) }}>{% endmacro %}{% call(v) m('q') %}{{ v }}{% endcall %}", "<q>"},
    {"{% with a = 1, b = 2 %}{{ a + b }}{% endwith %}{{ a }}", "3"},
    {"{% filter upper %}a{{ s }}{% endfilter %}", "AA B C"},
    {"{% block x %}b{% endblock %}{{ self.x() }}", "bb"},
    {"{% generation %}g{{ n }}{% endgeneration %}", "g7"},
    {"{% autoescape true %}{{ '<' }}{{ '<'|safe }}{% endautoescape %}{{ '<' }}", "&lt;<<"},
    {"{% include 'x' %}", nullptr},
    {"{% extends 'x' %}", nullptr},
    {"{% break %}", nullptr},
    {"{% unknown %}", nullptr},
    {"{% if true %}", nullptr},
    {"{{ 'a }}", nullptr},
    {"{# no end", nullptr},
    {"a{#", "a"},
    {"a{% raw %}\n", "a"},
    {"a{% raw %} ", nullptr},
    {"{% for i in [1], recursive %}{{ i }};{% endfor %}", "[1];;"},
    {"{% for a, in [[1]] %}{{ a }}{% endfor %}", nullptr},
    {"{{ raise_exception('no') }}", nullptr},
};

constexpr Case kWhiteSpace[] = {
    {"a\n{% if true %}\nb\n{% endif %}\nc\n", "a\nb\nc"},
    {"  {% if true %}x{% endif %}", "x"},
    {"  {%+ if true %}x{% endif %}", "  x"},
    {"a {{- 1 -}} b", "a1b"},
    {"a \n {%- set x = 1 -%} \n b", "ab"},
    {"{% raw %}{{ x }}{% endraw %}", "{{ x }}"},
    {"a{# c #}\nb{#- c -#}\n c", "abc"},
    {"a\r\nb\rc", "a\nb\nc"},
};

// Special cases of each filter, test and method.
constexpr Case kBuiltins[] = {
    {"{{ 'aB c-d'|capitalize }}|{{ 'aB c-d'|title }}|{{ 'aB'|upper }}|{{ 'ÀB'|lower }}", "Ab c-d|Ab C-D|AB|àb"},
    {"{{ 'straße'|upper }} {{ 'ΑΣ'|lower }} {{ 'ß'.casefold() }} {{ 'ǆ'.title() }}", "STRASSE ας ss ǅ"},
    {"{{ ' a '|trim }}|{{ 'xax'|trim('x') }}|{{ 'a'|center(5) }}|{{ 'a\nb'|indent(2, true) }}", "a|a|  a  |  a\n  b"},
    {"{{ [1, 2, 3]|batch(2, 0)|list }} {{ [1, 2, 3]|slice(2)|list }}", "[[1, 2], [3, 0]] [[1, 2], [3]]"},
    {"{{ d|dictsort }} {{ d|items|list|length }} {{ d|length }}", "[('a', [1, None, True, 1.5]), ('b', 1)] 2 2"},
    {"{{ x|default('y') }} {{ ''|d('z', true) }} {{ none|default('q') }}", "y z None"},
    {"{{ '<&\"'|e }} {{ '<'|escape|e }} {{ '<'|e|forceescape }} {{ '<b>a</b> &amp;'|striptags }}",
     "&lt;&amp;&#34; &lt; &amp;lt; a &"},
    {"{{ 1|filesizeformat }} {{ 1500|filesizeformat }} {{ 2048|filesizeformat(true) }}", "1 Byte 1.5 kB 2.0 KiB"},
    {"{{ [3, 1]|first }} {{ [3, 1]|last }} {{ []|first }}|{{ [3, 1]|min }} {{ [3, 1]|max }} {{ [3, 1]|sum }}",
     "3 1 |1 3 4"},
    {"{{ '3.7'|int }} {{ 'x'|int(5) }} {{ '0x1f'|int(0, 16) }} {{ '2.5'|float }} {{ -3|abs }}", "3 5 31 2.5 3"},
    {"{{ '١٢'|int }} {{ ' -१_२.५e१ '|float }} {{ '𝟗𝟘𝟭'|int }} {{ '0x１f'|int(0, 16) }} {{ '²'|int }}",
     "12 -125.0 901 31 0"},
    {"{{ 2.5|round }} {{ 2.567|round(2) }} {{ 2.1|round(0, 'ceil') }} {{ 42|round }}", "2.0 2.57 3.0 42"},
    {"{{ [1, 'a', none]|join('-') }} {{ [{'k': 1}, {'k': 2}]|join(',', 'k') }}", "1-a-None 1,2"},
    {"{{ ['b', 'A']|sort }} {{ ['a', 'A', 'b']|unique|list }} {{ [2, 1]|sort(reverse=true) }}",
     "['A', 'b'] ['a', 'b'] [2, 1]"},
    {"{{ [{'k': 'b'}, {'k': 'a'}]|sort(attribute='k')|map(attribute='k')|join }}", "ab"},
    {"{% for g, l in [{'k': 1}, {'k': 2}, {'k': 1}]|groupby('k') %}{{ g }}{{ l|length }}{% endfor %}", "1221"},
    {"{{ [1, 2, 3]|select('odd')|list }} {{ [1, none]|reject('none')|list }} {{ ['a']|map('upper')|list }}",
     "[1, 3] [1] ['A']"},
    {"{{ [{'a': 1}, {'a': 0}]|selectattr('a')|list }} {{ [{'a': 1}, {}]|rejectattr('a', 'defined')|list }}",
     "[{'a': 1}] [{}]"},
    {"{% set g = [1]|map('string') %}{{ g|list }}{{ g|list }}{{ 'yes' if g }}", "['1'][]yes"},
    {"{{ 'a-b'|replace('-', '+') }} {{ 'aaa'|replace('a', 'b', 2) }} {{ 'abc'|reverse }} {{ [1, 2]|reverse|list }}",
     "a+b bba cba [2, 1]"},
    {"{{ {'b': 1, 'a': [1, 'é', none, true, 1.5]}|tojson }}", R"({"b": 1, "a": [1, "é", null, true, 1.5]})"},
    {"{{ {'b': 1, 'a': 'é'}|tojson(indent=1, sort_keys=true, ensure_ascii=true) }}",
     "{\n \"a\": \"\\u00e9\",\n \"b\": 1\n}"},
    {"{{ {'a': 1, 2: 3}|tojson(separators=(',', ':')) }}", R"({"a":1,"2":3})"},
    {"{{ 'one two three four'|truncate(8) }} {{ 'one two three'|truncate(8, true, '.', 0) }}", "one... one two."},
    {"{{ 'a b'|urlencode }} {{ {'a': 'b c'}|urlencode }} {{ {'a': 1, 'b': none}|xmlattr }}", "a%20b a=b+c  a=\"1\""},
    {"{{ 'see http://a.com/x.'|urlize }}", "see <a href=\"http://a.com/x\" rel=\"noopener\">http://a.com/x</a>."},
    {"{{ 'a b c'|wordcount }} {{ 'aaa bbb ccc'|wordwrap(7) }} {{ [1, 'a']|pprint }} {{ 'a'|string|list }}",
     "3 aaa bbb\nccc [1, 'a'] ['a']"},
    {"{{ 3 is odd }} {{ 4 is divisibleby 2 }} {{ x is undefined }} {{ 'a' is string }} {{ d is mapping }} {{ 1.0 is "
     "float }}",
     "True True True True True True"},
    {"{{ true is boolean }} {{ true is integer }} {{ 'A' is upper }} {{ [] is sequence }} {{ range is callable }} {{ 1 "
     "is in [1] }}",
     "True False True True True True"},
    {"{{ 'a,b,c'.split(',', 1) }} {{ ' a  b '.split() }} {{ 'a-b-c'.rsplit('-', 1) }} {{ 'a\nb'.splitlines() }}",
     "['a', 'b,c'] ['a', 'b'] ['a-b', 'c'] ['a', 'b']"},
    {"{{ 'abc'.startswith(('x', 'a')) }} {{ 'abc'.find('c') }} {{ 'abab'.rfind('ab') }} {{ 'aa'.count('a') }}",
     "True 2 2 2"},
    {"{{ 'a=b'.partition('=') }} {{ 'a.b'.rpartition('.') }} {{ '7'.zfill(3) }} {{ 'x'.ljust(3, '.') }} {{ "
     "','.join(['a', 'b']) }}",
     "('a', '=', 'b') ('a', '.', 'b') 007 x.. a,b"},
    {"{{ d.get('b') }} {{ d.get('z', 3) }} {{ d.keys()|list }} {{ d.values()|list|length }} {{ [1, 2].index(2) }}",
     "1 3 ['b', 'a'] 2 1"},
    {"{{ range(3)|list }} {{ range(5, 0, -2)|list }} {{ range(2) }} {{ dict(a=1) }}",
     "[0, 1, 2] [5, 3, 1] range(0, 2) {'a': 1}"},
    {"{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.next() }}{{ c.current }}{% set j = joiner('|') %}{{ j() }}{{ "
     "j() }}",
     "aba|"},
    {"{{ strftime_now('%d %b %Y %H:%M:%S %A %j %U %V %p %I %e %-d %F') }}",
     "04 Jul 2026 09:05:03 Saturday 185 26 27 AM 09  4 4 2026-07-04"},
};

}  // namespace

BOOST_AUTO_TEST_SUITE(jinja_templates)

BOOST_AUTO_TEST_CASE(every_construct_renders) {
  for (const Case& one : kExpressions) check(one);
  for (const Case& one : kStatements) check(one);
  for (const Case& one : kWhiteSpace) check(one);
  for (const Case& one : kBuiltins) check(one);
}

BOOST_AUTO_TEST_CASE(errors_name_line_and_column) {
  struct Place {
    const char* source;
    uint32_t line, column;
  };
  constexpr Place kPlaces[] = {{"{{ a b }}", 1, 6},        {"x\n  {{ 1 + 'a' }}", 2, 8},
                               {"é{{ none.x.y }}", 1, 12}, {"\n\n{% for %}", 3, 8},
                               {"{{ x|nofilter }}", 1, 6}, {"a\n{% if x %}\n{{ raise_exception('q') }}", 3, 19}};
  for (const Place& place : kPlaces) {
    const Rendering got =
        render(std::string(place.source) +
                   (std::string_view(place.source).find("if x") != std::string_view::npos ? "{% endif %}" : ""),
               R"({"x": 1})");
    BOOST_TEST_CONTEXT(place.source << ": " << got.error.message) {
      BOOST_TEST((got.error.code == Code::kTemplate));
      BOOST_TEST(got.error.line == place.line);
      BOOST_TEST(got.error.column == place.column);
    }
  }
}

BOOST_AUTO_TEST_CASE(hostile_templates_stop_at_a_limit) {
  const std::string deep(5000, '('), lists(3000, '[');
  std::string chain = "{{ 1";
  for (int i = 0; i < 5000; ++i) chain += "+1";
  const std::string cases[] = {
      "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
      "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
      "{{ 'a' * 999999999 }}",
      "{{ [0] * 999999999 }}",
      "{% set n = namespace(s='aaaaaaaaaa') %}{% for i in range(100) %}{% set n.s = n.s + n.s %}{% endfor %}",
      "{% set n = namespace(s='aaaaaaaaaa') %}{% for i in range(100) %}{{ n.s * 1000000 }}{% endfor %}",
      "{{ 10 ** 100000 }}",
      "{{ 'x'|center(999999999) }}",
      "{{ '%999999999d' % 1 }}",
      "{{ '{:999999999}'.format(1) }}",
      "{{ strftime_now('%999999999Y') }}",
      "{% set n = namespace() %}{% set n.n = n %}{{ n }}",
      "{% set n = namespace(l=[]) %}{% for i in range(5000) %}{% set n.l = [n.l] %}{% endfor %}{{ n.l }}",
      "{{ " + deep,
      "{{ " + lists,
      chain + " }}",
      // Each of 45,000 comparisons would be as long.
      "{{ 'a' * 45000 ~ 'b' in 'a' * 90000 }}",
  };
  for (const std::string& source : cases) {
    const Rendering got = render(source);
    BOOST_TEST_CONTEXT(source.substr(0, 80) << ": " << got.error.message) BOOST_TEST((got.error.code == Code::kLimit));
  }
  BOOST_TEST((render("{{ 1 }}", "[1]").error.code == Code::kTemplate));
  BOOST_TEST((render("{{ 1 }}", "{\"a\": ").error.code == Code::kTemplate));
}

BOOST_AUTO_TEST_CASE(limits_are_enforced) {
  BOOST_TEST((render("{% for i in range(100) %}{{ i }}{% endfor %}", "{}", {.steps = 100}).error.code == Code::kLimit));
  BOOST_TEST((render("{{ 'ab' * 100 }}", "{}", {.output_bytes = 199}).error.code == Code::kLimit));
  BOOST_TEST((render("{{ 'ab' * 100 }}", "{}", {.output_bytes = 200}).error.code == Code::kNone));
  BOOST_TEST((render("{% set x = range(5000)|list %}", "{}", {.memory_bytes = 50'000}).error.code == Code::kLimit));
}

BOOST_AUTO_TEST_CASE(runs_mark_message_content) {
  const std::string source =
      "{% for m in messages %}<|{{ m.role }}|>{{ m.content|trim|upper }}<|end|>{{ (m.content ~ '!')[1:] }}{{ "
      "[m.content] }}{{ m|tojson }}{% endfor %}";
  const Rendering got = Template(source).render(R"({"messages":[{"role":"user","content":" a<|x|>\n"}]})", kNow, true);
  BOOST_REQUIRE((got.error.code == Code::kNone));
  std::string shown;
  size_t at = 0;
  for (const Run& run : got.runs) {
    const std::string part = got.text.substr(at, run.bytes);
    shown += run.content ? "«" + part + "»" : part;
    at += run.bytes;
  }
  BOOST_TEST(at == got.text.size());
  BOOST_TEST(
      shown ==
      "<|user|>«A<|X|>»<|end|>«a<|x|>\n»!['« a<|x|>\\n»']{\"«role»\": \"user\", \"«content»\": \"« a<|x|>\\n»\"}");
}

// Renders every template of the shared data with every conversation, and compares with Python's text.
BOOST_AUTO_TEST_CASE(templates_render_as_in_python,
                     *boost::unit_test::precondition(needs_shared("vectors/jinja/rendered.json"))) {
  const auto read = [](const std::string& name) {
    const std::vector<uint8_t> bytes = test::read_file(test::shared(name));
    return std::string(bytes.begin(), bytes.end());
  };
  const std::string conversations = read("vectors/jinja/conversations.json");
  const std::string rendered = read("vectors/jinja/rendered.json"), constructs = read("vectors/jinja/constructs.json");
  // The conversations stay JSON text. A reader that records where values begin cuts each of them out.
  std::map<std::string, std::string> variables;
  for (const auto& [name, text] : test::JsonReader(conversations).raw_fields()) {
    std::string fields = text.substr(1, text.size() - 2);
    if (const size_t at = fields.find("\"variables\": {"); at != std::string::npos) {
      fields.erase(fields.rfind('}'), 1);
      fields.replace(at, 14, "");
    }
    variables[name] =
        "{" + fields + R"(, "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "add_generation_prompt": )";
    if (fields.find("\"tools\":") == std::string::npos)
      variables[name] = R"({"tools": null, )" + variables[name].substr(1);
    if (fields.find("\"documents\":") == std::string::npos)
      variables[name] = R"({"documents": null, )" + variables[name].substr(1);
  }
  const auto agrees = [&](const Rendering& got, const test::Json& wanted) {
    const auto ok = wanted.fields.find("ok");
    return ok != wanted.fields.end() ? got.error.code == Code::kNone && got.text == ok->second.text
                                     : got.error.code == Code::kTemplate;
  };
  std::map<std::string, std::unique_ptr<Template>> templates;
  size_t n = 0;
  for (const auto& [key, wanted] : test::JsonReader(rendered).value().fields) {
    const size_t first = key.find('|'), second = key.rfind('|');
    auto& made = templates[key.substr(0, first)];
    if (!made) made = std::make_unique<Template>(read("data/templates/" + key.substr(0, first)));
    const std::string generation = key.substr(second + 1) == "True" ? "true}" : "false}";
    const Rendering got =
        made->render(variables[key.substr(first + 1, second - first - 1)] + generation, kNow, n % 2 == 0);
    BOOST_TEST_CONTEXT(key << ": " << got.error.message) BOOST_TEST(agrees(got, wanted));
    ++n;
  }
  BOOST_TEST(n >= 612u);
  for (const auto& [name, one] : test::JsonReader(constructs).value().fields) {
    const Rendering got = Template(one["template"].text).render(variables["simple"] + "true}", kNow, false);
    BOOST_TEST_CONTEXT(name << ": " << got.error.message) BOOST_TEST(agrees(got, one["expected"]));
  }
}

BOOST_AUTO_TEST_SUITE_END()
