# What Python's Jinja2, set up as transformers does it, makes of templates. Reads JSON from standard input, a list of
# {"template", "variables"}, and writes a list of {"text"} or {"error"}. The time is always NOW.
import datetime
import functools
import json
import sys

import jinja2
import jinja2.ext
from jinja2 import nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment


NOW = datetime.datetime(2026, 7, 4, 9, 5, 3)


class Generation(jinja2.ext.Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return nodes.CallBlock(self.call_method("_caller"), [], [], body).set_lineno(line)

    @jinja2.pass_eval_context
    def _caller(self, context, caller):
        return caller()


def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


class Environment(ImmutableSandboxedEnvironment):
    """Refuses clear() and pop() of lists too, as newer versions do."""

    def is_safe_attribute(self, obj, attr, value):
        return super().is_safe_attribute(obj, attr, value) and not (isinstance(obj, list) and attr in ("clear", "pop"))


@functools.cache
def environment():
    made = Environment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols]
    )
    made.filters["tojson"] = tojson
    made.globals["raise_exception"] = raise_exception
    made.globals["strftime_now"] = NOW.strftime
    return made


@functools.lru_cache(64)
def compiled(source):
    return environment().from_string(source)


def render(case):
    try:
        return {"text": compiled(case["template"]).render(**case["variables"])}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


if __name__ == "__main__":
    # Texts may hold halves of surrogate pairs, which UTF-8 has no form for.
    json.dump([render(case) for case in json.load(sys.stdin)], sys.stdout)
