"""How hard a judge may be worked: places, rates, budgets, pauses and deadlines, as state machines without a clock."""
