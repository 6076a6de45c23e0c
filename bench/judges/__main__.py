"""Our judge and other libraries' evaluators on the same labelled cases, through the same model.

    python -m bench.judges CASES.jsonl… [--model-file MODEL.gguf] [--limit 8]
    python -m bench.judges CASES.jsonl… --base-url URL --model NAME

Printed per evaluator and system: agreement with labels, requests, prompt characters and seconds, counted by a proxy
that all of them ask.  What was said is kept in a file, and what stands there isn't asked again, so a run can be broken
off, and made larger later.  Nothing is tuned to the cases: every system has its defaults, but for temperature 0, time
without end, and one limit of output for all.  A few cases tell what is paid; agreement takes a hundred and a model that
can read.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bench.judges.cases import LabelledCase, balanced_part, labelled_cases
from bench.judges.fields import FIELDS
from bench.judges.model import model_of_tests, served
from bench.judges.ours import OurJudge
from bench.judges.peers import CACHE, PeerWorker
from bench.judges.proxy import CountingProxy
from bench.judges.records import Record, Told, append, read
from bench.judges.table import HEAD, rows

OURS = "spanjudge"
_SPARE_TOKENS = 500
"""Between what a judge may write of a prompt and what the model can read: tokens are estimated."""

Ask = Callable[[LabelledCase], Told]


def main() -> int:
    """Asks what isn't known yet, and prints the table."""
    given = _arguments()
    cases = balanced_part(labelled_cases(given.cases), given.limit)
    if not cases:
        print("no labelled cases in these files", file=sys.stderr)
        return 2
    given.results.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        base_url, model = given.base_url, given.model
        if base_url is None:
            base_url, model = stack.enter_context(served(given.model_file, given.context)), given.model_file.stem
        known = {(one.model, one.system, one.evaluator, one.case_id) for one in read(given.results)}
        proxy = stack.enter_context(CountingProxy(base_url, given.output_tokens, os.environ.get("OPENAI_API_KEY", "")))
        systems = stack.enter_context(_systems(proxy, model, given.context - given.output_tokens - _SPARE_TOKENS))
        for number, case in enumerate(cases, 1):
            evaluator, case_id = case.named.evaluator, case.named.case_id
            for system, ask in systems.items():
                if (model, system, evaluator, case_id) in known:
                    continue
                if system != OURS and (system, evaluator) not in FIELDS:
                    continue
                before = proxy.spent(system)
                told = ask(case)
                spent = proxy.spent(system) - before
                record = Record(
                    model=model,
                    evaluator=evaluator,
                    system=system,
                    case_id=case_id,
                    source=case.source,
                    label_bad=case.bad,
                    told_bad=told.bad,
                    by=told.by,
                    reason=told.reason,
                    requests=spent.requests,
                    chars=spent.chars,
                    seconds=spent.seconds,
                )
                append(given.results, record)
            print(f"{number} of {len(cases)} cases", file=sys.stderr, flush=True)
    wanted = {case.named.case_id for case in cases}
    found = [one for one in read(given.results) if one.model == model and one.case_id in wanted]
    print(f"model {model}, {len(cases)} cases\n\n{HEAD}", *rows(found, open_by=OURS), sep="\n")
    return 0


@contextmanager
def _systems(proxy: CountingProxy, model: str, max_prompt_tokens: int) -> Iterator[Mapping[str, Ask]]:
    """All systems by name, each asking through the proxy under its name."""
    with ExitStack() as stack:
        worker = stack.enter_context(PeerWorker())
        ours = stack.enter_context(OurJudge(proxy.url(OURS), model, max_prompt_tokens=max_prompt_tokens))

        def theirs(library: str) -> Ask:
            def ask(case: LabelledCase) -> Told:
                evaluator = case.named.evaluator
                fields = FIELDS[library, evaluator](case.given)
                return worker.ask(library, evaluator, fields, proxy.url(library), model)

            return ask

        yield {
            OURS: ours.ask,
            **{library: theirs(library) for library in dict.fromkeys(library for library, _ in FIELDS)},
        }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.judges", description=__doc__.partition("\n")[0])
    parser.add_argument("cases", type=Path, nargs="+", help="files of labelled cases, as `spanjudge evaluate` reads")
    parser.add_argument("--limit", type=int, default=8, help="cases of each evaluator, half of them bad (8)")
    parser.add_argument("--model-file", type=Path, help="model in GGUF format (the one of the tests)")
    parser.add_argument("--context", type=int, default=8192, help="tokens that the model can read and write (8192)")
    parser.add_argument("--output-tokens", type=int, default=600, help="most tokens of an answer, for all (600)")
    parser.add_argument("--base-url", help="an endpoint, in the place of a model file; key in OPENAI_API_KEY")
    parser.add_argument("--model", help="its model")
    parser.add_argument(
        "--results",
        type=Path,
        default=CACHE / "judges.jsonl",
        help="what was said, another file for other limits (%(default)s)",
    )
    given = parser.parse_args()
    if (given.base_url is None) is not (given.model is None) or (given.base_url and given.model_file):
        parser.error("give --base-url and --model, or --model-file")
    given.model_file = given.model_file or model_of_tests()
    return given


if __name__ == "__main__":
    sys.exit(main())
