"""What of `scipy.sparse.linalg` has no rule, and why."""

from rulescore import RuleSet

rule = RuleSet("rules_scipy")
for name in ("eigs", "expm", "funm_multiply_krylov", "lobpcg", "qmr", "spilu"):
    rule.without_rule("no rule for it is written yet", f"scipy.sparse.linalg.{name}")
rule.without_rule("it draws random numbers", "scipy.sparse.linalg.onenormest")
