"""The same first program in Python, with nothing but its standard library: Bollinger bands of a
made-up price series, on every device of the machine. NumPy's arrays of float64 do as well as those
of `array`: whatever is writable, contiguous and of doubles.

    python3 first.py [path of libsteelyard.so.0]
"""
import array
import ctypes
import math
import sys

PERIOD = 20


class Param(ctypes.Structure):  # sy_param
    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_double), ("text", ctypes.c_char_p)]


class Work(ctypes.Structure):  # sy_work
    _fields_ = [("struct_size", ctypes.c_size_t), ("workload", ctypes.c_char_p),
                ("rows", ctypes.c_int64), ("columns", ctypes.c_int64),
                ("inputs", ctypes.POINTER(ctypes.c_void_p)),
                ("outputs", ctypes.POINTER(ctypes.c_void_p)),
                ("params", ctypes.POINTER(Param)), ("n_params", ctypes.c_int),
                ("dtype", ctypes.c_int)]


class Error(ctypes.Structure):  # sy_error
    _fields_ = [("status", ctypes.c_int), ("device", ctypes.c_int), ("native_code", ctypes.c_int),
                ("text", ctypes.c_char * 512)]


library = ctypes.CDLL(sys.argv[1] if len(sys.argv) > 1 else "libsteelyard.so.0")
library.sy_last_error.restype = ctypes.POINTER(Error)


def check(status):
    if status != 0:
        raise RuntimeError(library.sy_last_error().contents.text.decode())


def pointers(arrays, columns):
    """Their addresses, once it is sure that they are `columns` doubles each."""
    for each in arrays:
        view = memoryview(each)
        if view.format != "d" or view.nbytes != 8 * columns:
            raise ValueError(f"an array is not {columns} doubles")
    return (ctypes.c_void_p * len(arrays))(
        *[ctypes.addressof(ctypes.c_char.from_buffer(each)) for each in arrays])


def distribute(context, workload, inputs, outputs, **numbers):
    """One row, of a workload that gives rows; parameters by their names. Other threads of Python
    run meanwhile."""
    columns = len(inputs[0])
    params = (Param * len(numbers))(*[Param(k.encode(), v, None) for k, v in numbers.items()])
    work = Work(ctypes.sizeof(Work), workload.encode(), 1, columns, pointers(inputs, columns),
                pointers(outputs, columns), params, len(params), 0)
    check(library.distribute_workload(context, ctypes.byref(work), None, None))


price = array.array("d", [100 + i * 7919 % 1000 / 100 for i in range(1000)])
upper, middle, lower = (array.array("d", bytes(8 * len(price))) for _ in range(3))

context = ctypes.c_void_p()
check(library.sy_context_create(None, ctypes.byref(context)))
distribute(context, "bollinger", [price], [upper, middle, lower], period=PERIOD, width=2)
library.sy_context_destroy(ctypes.byref(context))

# The columns before the first whole window hold NaN.
if not math.isnan(middle[PERIOD - 2]) or not lower[PERIOD - 1] < middle[PERIOD - 1]:
    sys.exit("first.py: these are no bands")
for i in range(PERIOD - 1, PERIOD + 4):
    print(f"column {i}: {lower[i]:.3f} to {upper[i]:.3f} around {middle[i]:.3f}")
