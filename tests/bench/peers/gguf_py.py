"""Measures gguf-py's dequantizers (numpy). Prints a JSON line per type and size; rate is in GB/s of floats. Exits with 3 if
gguf-py is not installed."""
import json
import statistics
import sys
import time

try:
    import numpy
    from gguf import GGML_QUANT_SIZES, GGMLQuantizationType
    from gguf.quants import _type_traits as traits
    from gguf.quants import dequantize
except ImportError as problem:
    print(problem, file=sys.stderr)
    sys.exit(3)

# Runs on one thread: dequantization does not use numpy's linear algebra.
for n_floats in (1 << 16, 1 << 22):
    for kind in (GGMLQuantizationType.F16, *traits):
        block_size, block_bytes = GGML_QUANT_SIZES[kind]
        blocks = numpy.random.default_rng(1).integers(0, 60, n_floats // block_size * block_bytes, numpy.uint8)
        seconds = []
        started = time.perf_counter()
        while len(seconds) < 3 or (time.perf_counter() - started < 0.2 and len(seconds) < 25):
            before = time.perf_counter()
            dequantize(blocks, kind)
            seconds.append(time.perf_counter() - before)
        rate = n_floats * 4 / statistics.median(seconds) / 1e9
        print(json.dumps({"type": kind.name, "bytes": n_floats * 4, "rate": rate}), flush=True)
