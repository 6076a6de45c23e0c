"""The judge beside the evaluators of other libraries: same cases, same model, same counting proxy.

`python -m bench.judges --help` says how to run it.  The others run in an environment of their own, which is made on the
first run; nothing of them is installed beside the product.
"""
