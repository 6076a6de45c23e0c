"""An AG2 assistant and the proxy that runs its tools, instrumented by OpenInference."""

from __future__ import annotations

import os

import autogen
import desk
import telemetry
from openinference.instrumentation.autogen import AutogenInstrumentor


def is_answer(message) -> bool:
    return message.get("name") == "desk" and not message.get("tool_calls")


with telemetry.recorded():
    AutogenInstrumentor().instrument()
    model = {"model": desk.MODEL, "api_key": "not-a-key", "base_url": os.environ["OPENAI_BASE_URL"], "price": [0, 0]}
    clerk = autogen.AssistantAgent(
        "desk", system_message=desk.system(), llm_config={"config_list": [model], "cache_seed": None}
    )
    reader = autogen.UserProxyAgent(
        "reader", human_input_mode="NEVER", code_execution_config=False, is_termination_msg=is_answer
    )
    for function in desk.functions():
        autogen.register_function(
            function, caller=clerk, executor=reader, name=function.__name__, description=function.__doc__
        )
    for number, user in enumerate(desk.users()):
        reader.initiate_chat(clerk, message=user, clear_history=number == 0)
