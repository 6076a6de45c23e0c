"""The least a Python relay can do: takes gRPC requests as raw bytes and sends them on by gRPC; also a sink.

python -m bench.relay sink PORT
python -m bench.relay relay PORT SINK_PORT
"""

from __future__ import annotations

import sys

import grpc
import uvloop

METHOD = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
_UNLIMITED = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]


class _Handler(grpc.GenericRpcHandler):  # type: ignore[misc]
    def __init__(self, forward: grpc.aio.UnaryUnaryMultiCallable | None) -> None:
        self._forward = forward

    def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler | None:
        return grpc.unary_unary_rpc_method_handler(self._export) if details.method == METHOD else None

    async def _export(self, request: bytes, _: grpc.aio.ServicerContext) -> bytes:
        return b"" if self._forward is None else await self._forward(request)


async def serve(port: int, sink_port: int | None) -> None:
    forward = None
    if sink_port is not None:
        channel = grpc.aio.insecure_channel(f"127.0.0.1:{sink_port}", options=_UNLIMITED)
        forward = channel.unary_unary(METHOD)
    server = grpc.aio.server(options=_UNLIMITED)
    server.add_generic_rpc_handlers([_Handler(forward)])
    server.add_insecure_port(f"127.0.0.1:{port}")
    await server.start()
    await server.wait_for_termination()


if __name__ == "__main__":
    uvloop.run(serve(int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else None))
