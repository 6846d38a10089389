"""What the names of torch and of the built-ins say about values. Data only.

Sources: the public torch.Tensor and torch namespaces (torch 2.11 to 2.13), PEP 3141 for the number types.
"""

from __future__ import annotations

import re

# Attributes and methods of a tensor that are plain Python values while the shape is known.
PYTHON_ATTRIBUTES = frozenset(
    "shape ndim dtype device layout is_cuda is_sparse is_quantized is_meta is_mps requires_grad is_leaf grad_fn "
    "itemsize nbytes names training __name__ __class__ __module__ __dict__ __doc__ __qualname__ type".split()
)
PYTHON_METHODS = frozenset(
    "dim ndimension size numel nelement stride element_size storage_offset is_contiguous is_floating_point "
    "is_complex is_signed get_device has_names is_inference is_shared is_pinned startswith endswith join split "
    "strip lower upper format replace encode decode isdigit keys named_parameters named_buffers named_modules "
    "named_children".split()
)
# Of those, the ones that depend on data when the tensor's size does.
SIZE_METHODS = frozenset("size numel nelement".split())
SIZE_ATTRIBUTES = frozenset(("shape", "nbytes"))

# Attributes of a tensor that are tensors, and the fields of the named tuples that torch gives.
TENSOR_ATTRIBUTES = frozenset(
    "T mT H mH real imag grad data values indices counts inverse_indices Q R U S V Vh L LU LD P pivots info "
    "sign logabsdet solution residuals rank singular_values eigenvalues eigenvectors mantissa exponent hist "
    "bin_edges".split()
)

# Methods that only tensors have (or arrays, which do no harm): their result is a tensor, and so is their object.
TENSOR_METHODS = frozenset(
    "sum mean std var prod any all max min amax amin argmax argmin norm abs exp log log2 log10 log1p sqrt rsqrt "
    "sin cos tan tanh sigmoid relu softmax log_softmax clamp clip floor ceil round trunc sign pow matmul mm bmm "
    "mv dot t transpose permute view reshape flatten squeeze unsqueeze expand expand_as repeat contiguous clone "
    "detach float double half bfloat16 int long bool short to cpu cuda isnan isinf isfinite isclose eq ne lt le "
    "gt ge logical_and logical_or logical_not logical_xor cumsum cumprod sort argsort topk gather scatter "
    "index_select masked_fill new_zeros new_ones new_tensor new_full new_empty triu tril diag diagonal trace "
    "det inverse add sub mul div add_ sub_ mul_ div_ zero_ fill_ copy_ clamp_ masked_fill_ scatter_ index_add "
    "index_copy squeeze_ unsqueeze_ requires_grad_ backward numpy chunk unbind narrow select roll flip median "
    "quantile logsumexp count_nonzero type_as view_as addmm lerp square reciprocal neg nan_to_num unfold item "
    "tolist".split()
)
# Reductions that, called without arguments, leave one element whatever the size was.
FULL_REDUCTIONS = frozenset(
    "sum mean std var prod any all max min amax amin argmax argmin norm median trace det count_nonzero "
    "logsumexp".split()
)
# Methods without arguments that neither fail nor change anything.
HARMLESS_METHODS = FULL_REDUCTIONS | frozenset(
    "isnan isinf isfinite abs float double long int bool item numel nelement dim ndimension size".split()
)
# Those of them that fail for some sizes, and what tells a size.
SIZED_METHODS = frozenset("max min amax amin argmax argmin aminmax median item".split())
SIZE_QUESTIONS = frozenset("numel nelement len size shape dim ndim".split())
# Results whose size depends on data.
DYNAMIC_FUNCTIONS = frozenset(
    "nonzero masked_select unique unique_consecutive argwhere repeat_interleave bincount flatnonzero".split()
)
# Results whose size is that of an argument, which may be a number that depends on data.
SIZED_BY_ARGUMENTS = frozenset(
    "zeros ones full empty rand randn randint arange linspace new_zeros new_ones new_full new_empty view reshape "
    "expand repeat tile narrow pad interpolate resize_ broadcast_to unflatten".split()
)
# A tuple of tensors, whose sizes may differ when they are given one by one.
PIECES = frozenset("split tensor_split split_with_sizes".split())
# Tensor -> Python number, known only when the program runs.
SYMBOL_METHODS = frozenset("item tolist equal allclose is_nonzero".split())
SYMBOL_FUNCTIONS = frozenset("equal allclose is_nonzero".split())

# torch.* calls whose result is a plain Python value.
PYTHON_TORCH_CALLS = frozenset(
    "is_tensor is_storage is_complex is_floating_point is_conj is_grad_enabled is_inference_mode_enabled numel "
    "device Size finfo iinfo get_default_dtype get_default_device get_num_threads promote_types result_type "
    "can_cast is_autocast_enabled is_available device_count get_rng_state Generator is_compiling is_exporting "
    "is_scripting is_tracing no_grad enable_grad inference_mode set_grad_enabled broadcast_shapes typename "
    "manual_seed seed".split()
)
# What passes have made of operators and questions about tensors.
RUNTIME_QUESTIONS = frozenset(
    "and_ and_then or_ or_else not_ any_ all_ equal allclose is_nonzero in_ is_nothing".split()
)
# Parts of torch whose functions give anything but tensors: constraints, modules, contexts, what a file holds.
OTHER_PARTS = frozenset(
    "utils jit _C backends distributed library distributions overrides fx onnx hub package profiler multiprocessing "
    "optim compiler export serialization testing load".split()
)
# Functions whose first argument is a sequence of tensors.
SEQUENCE_FUNCTIONS = frozenset(
    "stack cat concat concatenate hstack vstack dstack column_stack block_diag meshgrid einsum".split()
)
# How the paths of torch's functions begin that call a function they are given.
CALL_WHAT_THEY_ARE_GIVEN = tuple(
    "utils.checkpoint. func. vmap autograd.functional. autograd.graph. cond while_loop".split()
)
# Top-level names that a module imports as torch or as one of its functional parts.
TORCH_MODULES = ("torch",)

PYTHON_BUILTINS = frozenset(
    "isinstance issubclass hasattr callable type str repr id format print dir vars locals globals super object "
    "open input hash chr ord ascii bin hex oct property staticmethod classmethod compile exec eval "
    "NotImplemented Ellipsis __name__ __file__ __debug__ TYPE_CHECKING".split()
)
CONTAINER_BUILTINS = frozenset(
    "list tuple dict set frozenset sorted reversed range enumerate zip map filter iter bytes bytearray slice".split()
)
NUMBER_BUILTINS = frozenset(("int", "float", "bool", "complex"))
REDUCING_BUILTINS = frozenset("abs max min sum pow divmod round".split())

# Annotations of parameters: parts that say tensor, and whole names that say Python value or container.
TENSOR_ANNOTATIONS = re.compile(r"(?:Tensor|Parameter)\b|\b(?:Float|Int|Bool)\[")  # no `TensorLog`
PYTHON_ANNOTATIONS = frozenset("bool int str bytes None dtype torch.dtype torch.device device".split())
CONTAINER_ANNOTATIONS = (
    "list",
    "tuple",
    "dict",
    "set",
    "List",
    "Tuple",
    "Dict",
    "Set",
    "Sequence",
    "Iterable",
    "Mapping",
)
