"""SIMD intrinsics that read and write 16 or 64 bytes of an array as one vector; scratch arrays and views of a kernel.

Each SIMD intrinsic is a few instructions on machines with wide registers, and a plain loop on others. The compiler does not
vectorize the loops of the rules like this, because their sizes are known only at run time.

With NUMBA_BOUNDSCHECK=1, and with NUMBA_DISABLE_JIT=1, a vector that is not wholly inside its array is an IndexError.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np import arrayobj

from momagames.kernels.jit.settings import INTERPRETED

if INTERPRETED:

    def local_array(size: int) -> Any:
        """Return a scratch array for one kernel call, int64[size], on the stack, with arbitrary contents."""
        return np.empty(size, np.int64)

    def view_as(array: Any, dtype: Any) -> Any:
        """Return the memory of a contiguous array of one dimension as elements of another type; a rest is left out."""
        count = array.nbytes // np.dtype(dtype).itemsize
        return array.view(np.uint8)[: count * np.dtype(dtype).itemsize].view(dtype)

else:

    @intrinsic(prefer_literal=True)  # type: ignore[misc, untyped-decorator]
    def local_array(typing: Any, size: Any) -> Any:
        """Return a scratch array for one kernel call, int64[size], on the stack, with arbitrary contents."""
        if not isinstance(size, types.IntegerLiteral):  # the size must be a constant: a literal or a global
            return None
        array = types.Array(types.int64, 1, "C")
        length = size.literal_value

        def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            word = context.get_value_type(types.int64)
            data = cgutils.alloca_once(builder, word, size=context.get_constant(types.intp, length))
            out = arrayobj.make_array(array)(context, builder)
            bytes_each = context.get_constant(types.intp, 8)
            arrayobj.populate_array(out, data=data, shape=[args[0]], strides=[bytes_each], itemsize=bytes_each, meminfo=None)
            return out._getvalue()

        return array(size), lower

    @intrinsic  # type: ignore[misc, untyped-decorator]
    def view_as(typing: Any, array: Any, dtype: Any) -> Any:
        """Return the memory of a contiguous array of one dimension as elements of another type; a rest is left out.

        Unlike `array.view(dtype)` it checks nothing when it runs, and compiles ten times faster.
        """
        if not (isinstance(array, types.Array) and array.ndim == 1 and array.is_c_contig):
            return None
        # wider elements need not be aligned in the array, which cards refuse, unlike processors
        is_wider = getattr(dtype.dtype, "bitwidth", 8) > getattr(array.dtype, "bitwidth", 8)
        view = types.Array(dtype.dtype, 1, "C", aligned=array.aligned and not is_wider)

        def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            given, out = arrayobj.make_array(array)(context, builder, args[0]), arrayobj.make_array(view)(context, builder)
            size_of = [context.get_abi_sizeof(context.get_data_type(kind.dtype)) for kind in (array, view)]
            old, new = (context.get_constant(types.intp, size) for size in size_of)
            count = builder.sdiv(builder.mul(given.nitems, old), new)
            data = builder.bitcast(given.data, context.get_data_type(view.dtype).as_pointer())
            arrayobj.populate_array(out, data=data, shape=[count], strides=[new], itemsize=new, meminfo=None)
            return out._getvalue()

        return view(array, dtype), lower


if INTERPRETED:

    def _bits(word: Any) -> Any:
        return np.unpackbits(np.array([word], "<u8").view(np.uint8), bitorder="little")

    def _word(bits: Any) -> Any:
        return np.packbits(bits, bitorder="little").view("<u8")[0]

    def _vector(array: Any, at: Any, count: Any) -> Any:
        """Return array[at : at + count]. Raises IndexError if an entry is missing."""
        start, stop = int(at), int(at) + int(count)
        if not 0 <= start <= stop <= len(array):
            raise IndexError(f"entries {start}..{stop - 1} are out of bounds for an array of length {len(array)}")
        return array[start:stop]

    def unpack_bits64(word: Any, out: Any, at: Any) -> None:
        """Write the 64 bits of a word, lowest first, as bytes 0 and 1 to out[at : at + 64]; out uint8[n] or int8[n]."""
        _vector(out, at, 64)[:] = _bits(word)

    def unpack_bit_triples64(first: Any, second: Any, third: Any, out: Any, at: Any) -> None:
        """Write the bits of three words in turn (first, second, third, first, ...) as bytes to out[at : at + 192]."""
        for k, word in enumerate((first, second, third)):
            _vector(out, at, 192)[k::3] = _bits(word)

    def equal_mask64(bytes: Any, at: Any, flip: Any, to: Any) -> Any:
        """Return 64 bits: bit i is whether bytes[at + i] ^ flip equals bytes[to + i]; bytes uint8[n]."""
        return _word((_vector(bytes, at, 64) ^ flip) == _vector(bytes, to, 64))

    def value_mask64(bytes: Any, at: Any, part: Any, value: Any) -> Any:
        """Return 64 bits: bit i is whether bytes[at + i] & part equals `value`; bytes uint8[n]."""
        return _word((_vector(bytes, at, 64) & part) == value)

    def copy_padded16(bytes: Any, at: Any, count: Any, rest: Any, out: Any, to: Any) -> None:
        """Set out[to : to + 16] to bytes[at : at + count], count 0..16, and `rest` after them; both uint8[n].

        Compiled, it reads 16 bytes for any count: they may be outside the array, but not outside its record.
        """
        part = np.full(16, rest, np.uint8)
        part[: int(count)] = _vector(bytes, at, count)
        _vector(out, to, 16)[:] = part

else:
    BYTES, BITS = ir.VectorType(ir.IntType(8), 64), ir.VectorType(ir.IntType(1), 64)
    WORD = ir.IntType(64)
    BYTES16 = ir.VectorType(ir.IntType(8), 16)

    def _widen_bits(builder: Any, word: Any) -> Any:
        return builder.zext(builder.bitcast(word, BITS), BYTES)

    def _broadcast(builder: Any, byte: Any, kind: Any = BYTES) -> Any:
        one = builder.insert_element(ir.Constant(kind, ir.Undefined), byte, ir.Constant(ir.IntType(32), 0))
        return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), kind.count), [0] * kind.count))

    def _pointer(context: Any, builder: Any, kind: Any, array: Any, at: Any, vector: Any, count: Any = None) -> Any:
        """Return a pointer to a vector; with bounds checks, its first `count` entries (default: all) must be in the array."""
        given = arrayobj.make_array(kind)(context, builder, array)
        if context.enable_boundscheck:
            stop = builder.add(at, at.type(vector.count) if count is None else count)
            is_outside = builder.or_(builder.icmp_signed("<", at, at.type(0)), builder.icmp_signed(">", stop, given.nitems))
            with cgutils.if_unlikely(builder, is_outside):
                context.call_conv.return_user_exc(builder, IndexError, ("a vector is out of bounds",))
        return builder.bitcast(builder.gep(given.data, [at]), vector.as_pointer())

    def _store(context: Any, builder: Any, kind: Any, array: Any, at: Any, value: Any) -> None:
        builder.store(value, _pointer(context, builder, kind, array, at, value.type)).align = 1

    def _load(context: Any, builder: Any, kind: Any, array: Any, at: Any, vector: Any = BYTES, count: Any = None) -> Any:
        loaded = builder.load(_pointer(context, builder, kind, array, at, vector, count))
        loaded.align = 1
        return loaded

    @intrinsic  # type: ignore[misc, untyped-decorator]
    def unpack_bits64(typing: Any, word: Any, out: Any, at: Any) -> Any:
        """Write the 64 bits of a word, lowest first, as bytes 0 and 1 to out[at : at + 64]; out uint8[n] or int8[n]."""

        def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            _store(context, builder, out, args[1], args[2], _widen_bits(builder, args[0]))
            return context.get_dummy_value()

        return types.void(types.uint64, out, types.int64), lower

    @intrinsic  # type: ignore[misc, untyped-decorator]
    def unpack_bit_triples64(typing: Any, first: Any, second: Any, third: Any, out: Any, at: Any) -> Any:
        """Write the bits of three words in turn (first, second, third, first, ...) as bytes to out[at : at + 192]."""

        def order(places: Any) -> Any:
            return ir.Constant(ir.VectorType(ir.IntType(32), len(places)), places)

        def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            a, b, c = (_widen_bits(builder, word) for word in args[:3])
            two = builder.shuffle_vector(a, b, order(list(range(128))))
            rest = builder.shuffle_vector(c, c, order(list(range(64)) * 2))
            mixed = builder.shuffle_vector(two, rest, order([64 * k + i for i in range(64) for k in range(3)]))
            _store(context, builder, out, args[3], args[4], mixed)
            return context.get_dummy_value()

        return types.void(types.uint64, types.uint64, types.uint64, out, types.int64), lower

    @intrinsic  # type: ignore[misc, untyped-decorator]
    def equal_mask64(typing: Any, bytes: Any, at: Any, flip: Any, to: Any) -> Any:
        """Return 64 bits: bit i is whether bytes[at + i] ^ flip equals bytes[to + i]; bytes uint8[n]."""

        def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            left, right = (_load(context, builder, bytes, args[0], args[k]) for k in (1, 3))
            left = builder.xor(left, _broadcast(builder, args[2]))
            return builder.bitcast(builder.icmp_unsigned("==", left, right), WORD)

        return types.uint64(bytes, types.int64, types.uint8, types.int64), lower

    @intrinsic  # type: ignore[misc, untyped-decorator]
    def value_mask64(typing: Any, bytes: Any, at: Any, part: Any, value: Any) -> Any:
        """Return 64 bits: bit i is whether bytes[at + i] & part equals `value`; bytes uint8[n]."""

        def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            found = builder.and_(_load(context, builder, bytes, args[0], args[1]), _broadcast(builder, args[2]))
            return builder.bitcast(builder.icmp_unsigned("==", found, _broadcast(builder, args[3])), WORD)

        return types.uint64(bytes, types.int64, types.uint8, types.uint8), lower

    @intrinsic  # type: ignore[misc, untyped-decorator]
    def copy_padded16(typing: Any, bytes: Any, at: Any, count: Any, rest: Any, out: Any, to: Any) -> Any:
        """Set out[to : to + 16] to bytes[at : at + count], count 0..16, and `rest` after them; both uint8[n].

        It reads 16 bytes for any count: they may be outside the array, but not outside its record.
        """

        def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            given = _load(context, builder, bytes, args[0], args[1], BYTES16, args[2])
            count = _broadcast(builder, builder.trunc(args[2], ir.IntType(8)), BYTES16)
            wanted = builder.icmp_unsigned("<", ir.Constant(BYTES16, list(range(16))), count)
            mixed = builder.select(wanted, given, _broadcast(builder, args[3], BYTES16))
            _store(context, builder, out, args[4], args[5], mixed)
            return context.get_dummy_value()

        return types.void(bytes, types.int64, types.int64, types.uint8, out, types.int64), lower
