"""What of NumPy's public namespace has no rule here, and why."""

from rulescore import RuleSet

rule = RuleSet("rules_base")

REASONS = {
    "it writes into its argument, which an AD has to follow itself: write by an index, as in"
    " `x[...] = values`": (
        "copyto fill_diagonal place put put_along_axis putmask ndarray.fill ndarray.partition"
        " ndarray.put ndarray.setfield ndarray.sort"
    ),
    "it changes the memory of its argument: use `np.resize` or `np.pad`": "ndarray.resize",
    "it takes functions, and is differentiated through its own source": (
        "apply_along_axis apply_over_axes fromfunction piecewise vectorize"
    ),
    "it makes a function out of a function, which works on objects: use `np.vectorize`": (
        "frompyfunc"
    ),
    "it is differentiated through its own source": (
        "histogramdd intersect1d kaiser poly polydiv require roots"
    ),
    "it makes a matrix, which carries no gradient: use arrays, by `np.array` or `np.block`": (
        "asmatrix bmat matrix"
    ),
    "it makes a polynomial: use `np.polyval` of the coefficients": "poly1d",
    "it makes a record, which carries no gradient: use one array for each field": (
        "recarray record"
    ),
    "it shows the numbers in memory as other numbers: convert them by `astype`, and take parts by"
    " an index, by `.real` or `.imag`": "frombuffer ndarray ndarray.getfield ndarray.view",
    "it shows memory to others: use the array itself": (
        "from_dlpack memmap ndarray.base ndarray.data"
    ),
    "it gives an address to compiled code: put the call of that code into a function of your own,"
    " and declare a rule for this function": "ndarray.ctypes",
    "the array is in the memory of the CPU already: leave it out": "ndarray.to_device",
    "it reads entries one by one: loop over `np.ndindex(x.shape)`, and read `x[i]`": (
        "broadcast flatiter fromiter ndenumerate ndindex nditer nested_iters"
    ),
    "it changes the order of the bytes in memory, and makes other numbers of them: to store the"
    " same numbers in the other order use `x.astype(x.dtype.newbyteorder())`": "ndarray.byteswap",
    "it writes numbers to a file, and no rule helps there: write `stop_gradient(x)` instead, which"
    " says that what is read from the file carries no gradient": (
        "save savetxt savez savez_compressed ndarray.dump ndarray.tofile"
    ),
    "it reads numbers from where no AD sees who wrote them: use the numbers that were written": (
        "fromfile fromregex fromstring genfromtxt load loadtxt"
    ),
    "NumPy is about to drop it: use `np.isin`, `np.vstack` or `np.trapezoid`": (
        "in1d row_stack trapz"
    ),
    "no gradient passes through a number of this type: convert by `astype(float)`, or `float(x)`": (
        "character complexfloating datetime64 flexible floating generic inexact integer number"
        " object_ signedinteger timedelta64 unsignedinteger void longlong ulonglong"
    ),
    "it is not a function of numbers: use it outside of what is differentiated": (
        "busdaycalendar errstate printoptions ufunc test"
    ),
}
WITHOUT_RULES = {name: reason for reason, names in REASONS.items() for name in names.split()}
for name, reason in WITHOUT_RULES.items():
    rule.without_rule(reason, f"numpy.{name}")
