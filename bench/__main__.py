"""All measurements in turn: bytes, holding and judging, large traces, small ones beside them, rules."""

from __future__ import annotations

import sys

from bench import giant, hot_path, rule_checks, sizes, wire


def main() -> int:
    """Measure everything, and print; 1 if the rules cost more than promised."""
    wire.main()
    print(flush=True)
    hot_path.main()
    print(flush=True)
    sizes.main()
    print(flush=True)
    giant.main()
    print(flush=True)
    return rule_checks.main()


if __name__ == "__main__":
    sys.exit(main())
