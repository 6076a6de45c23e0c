"""All measurements, one after the other: what bytes cost, what holding and judging them costs, what the rules cost."""

from __future__ import annotations

import sys

from bench import hot_path, rule_checks, wire


def main() -> int:
    """Measure everything, and print; 1 if the rules cost more than promised."""
    wire.main()
    print(flush=True)
    hot_path.main()
    print(flush=True)
    return rule_checks.main()


if __name__ == "__main__":
    sys.exit(main())
