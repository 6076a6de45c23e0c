"""A DSPy ReAct module, instrumented as DESK_INSTRUMENTATION says: openinference or genai."""

from __future__ import annotations

import os

import desk
import telemetry


def instrument() -> None:
    if os.environ.get("DESK_INSTRUMENTATION") == "genai":
        from opentelemetry.instrumentation.genai.dspy import DSPyInstrumentor as Instrumentor
    else:
        from openinference.instrumentation.dspy import DSPyInstrumentor as Instrumentor
    Instrumentor().instrument()


def main() -> None:
    import dspy

    model = dspy.LM(f"openai/{desk.MODEL}", api_base=os.environ["OPENAI_BASE_URL"], cache=False, num_retries=0)
    signature = dspy.Signature("question -> answer", desk.system())
    with dspy.context(lm=model):
        for user in desk.users():
            dspy.ReAct(signature, tools=desk.functions(), max_iters=5)(question=user)


with telemetry.recorded(logs=True):
    instrument()
    main()
