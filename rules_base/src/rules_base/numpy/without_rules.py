"""What of NumPy's public namespace has no rule here, and why."""

from rulescore import RuleSet

rule = RuleSet("rules_base")

REASONS = {
    "it writes into its argument, which an AD has to follow itself": (
        "copyto fill_diagonal place put put_along_axis putmask ndarray.fill ndarray.partition"
        " ndarray.put ndarray.resize ndarray.setfield ndarray.sort"
    ),
    "it takes functions, and is differentiated through its own source": (
        "apply_along_axis apply_over_axes fromfunction piecewise vectorize"
    ),
    "it makes a function out of a function, which works on objects": "frompyfunc",
    "it is differentiated through its own source": (
        "histogramdd intersect1d kaiser poly polydiv require roots"
    ),
    "it holds its argument, or shows its memory to others": (
        "bmat broadcast flatiter from_dlpack frombuffer fromiter memmap ndarray ndenumerate ndindex"
        " nditer nested_iters asmatrix matrix poly1d recarray record ndarray.base ndarray.ctypes"
        " ndarray.data ndarray.getfield ndarray.to_device ndarray.view"
    ),
    "it changes the meaning of the memory of its argument": "ndarray.byteswap",
    "it writes numbers where no AD sees them": (
        "save savetxt savez savez_compressed ndarray.dump ndarray.tofile"
    ),
    "it reads numbers from where no AD sees who wrote them": (
        "fromfile fromregex fromstring genfromtxt load loadtxt"
    ),
    "NumPy is about to drop it": "in1d row_stack trapz",
    "it is a class or a context, no function of numbers": (
        "busdaycalendar character complexfloating datetime64 errstate flexible floating generic"
        " inexact integer number object_ printoptions signedinteger timedelta64 ufunc"
        " unsignedinteger void test longlong ulonglong"
    ),
}
WITHOUT_RULES = {name: reason for reason, names in REASONS.items() for name in names.split()}
for name, reason in WITHOUT_RULES.items():
    rule.without_rule(reason, f"numpy.{name}")
