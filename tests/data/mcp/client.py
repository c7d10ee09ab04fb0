"""A host made of the Python SDK (PyPI mcp 2.x): the same conversation in both eras, over stdio and over HTTP.

usage: client.py stdio TIRO | client.py http URL (the token in TIRO_MCP_TOKEN)
"""

import asyncio
import os
import sys

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import Implementation

TOOLS = ["recall", "context", "remember", "get", "update", "forget", "list", "undo"]


def target(kind, place):
    if kind == "stdio":
        return StdioServerParameters(command=place, args=["mcp", "serve"], env=dict(os.environ))
    headers = {"Authorization": f"Bearer {os.environ['TIRO_MCP_TOKEN']}"}
    return streamable_http_client(place, http_client=httpx2.AsyncClient(headers=headers, timeout=60))


async def changed(client, updates, uri, change):
    """Subscribes in the way of the era, makes the change, and waits until it is told."""
    if client.protocol_version == "2026-07-28":
        async with client.listen(resource_subscriptions=[uri]) as subscription:
            await asyncio.sleep(0.3)
            await change()
            async with asyncio.timeout(20):
                async for event in subscription:
                    assert str(event.uri) == uri, event
                    return
        raise AssertionError("the stream ended")
    await client.subscribe_resource(uri)
    await change()
    async with asyncio.timeout(20):
        assert await updates.get() == uri
    await client.unsubscribe_resource(uri)


async def converse(kind, place, mode):
    updates = asyncio.Queue()

    async def told(message):
        if getattr(message, "method", None) == "notifications/resources/updated":
            await updates.put(str(message.params.uri))

    name = f"python-{kind}-{mode}"
    options = {"mode": mode, "client_info": Implementation(name=name, version="1.0"), "message_handler": told}
    async with Client(target(kind, place), read_timeout_seconds=60, cache=None, **options) as client:
        expected = "2025-11-25" if mode == "legacy" else "2026-07-28"
        assert client.protocol_version == expected, client.protocol_version
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == [f"memory_{tool}" for tool in TOOLS], tools

        kept = await client.call_tool("memory_remember", {"text": f"The host {name} likes oolong.", "category": "preference"})
        assert not kept.is_error and kept.structured_content["outcome"] == "created", kept
        memory = kept.structured_content["id"]
        found = await client.call_tool("memory_recall", {"query": f"what does the host {name} like?"})
        assert found.structured_content["hits"][0]["id"] == memory, found
        wrong = await client.call_tool("memory_recall", {"query": "x", "limit": "many"})
        assert wrong.is_error and wrong.content[0].text.startswith("limit: "), wrong
        try:
            await client.call_tool("memory_explode", {})
            raise AssertionError("there is no such tool")
        except MCPError as error:
            assert error.error.code == -32602, error

        uri = f"memory://item/{memory}"
        assert uri in [str(resource.uri) for resource in (await client.list_resources()).resources]
        read = await client.read_resource(uri)
        assert "likes oolong" in read.contents[0].text, read
        prompt = await client.get_prompt("begin_from_memory", {"topic": "oolong"})
        assert "likes oolong" in prompt.messages[0].content.text, prompt
        await changed(client, updates, uri, lambda: client.call_tool("memory_update", {"id": memory, "importance": 0.9}))
        forgotten = await client.call_tool("memory_forget", {"ids": [memory]})
        assert forgotten.structured_content["count"] == 1, forgotten
    print(f"{kind} {mode}: {expected}")


async def main():
    for mode in ["legacy", "auto", "2026-07-28"]:
        async with asyncio.timeout(90):
            await converse(sys.argv[1], sys.argv[2], mode)


asyncio.run(main())
