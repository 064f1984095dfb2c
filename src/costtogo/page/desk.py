"""Short questions to a worker process of their own, one after another."""

import asyncio

from costtogo.page.processes import Worker
from costtogo.page.searches import Full
from costtogo.types import UserError

MOST_ASKING = 16  # questions at once, the one that is being answered among them
ANSWER_SECONDS = 60.0


class Failed(Exception):
    """The program made an error, told in one sentence."""


class Desk:
    """Asks its worker; used from the event loop of the server alone."""

    def __init__(self, worker: Worker):
        self.worker = worker
        self.asking = 0
        self._turn = asyncio.Lock()

    async def ask(self, call: str, **fields) -> dict:
        """The answer of the worker. Raises Full, UserError, Failed, and processes.Ended where its process ended."""
        if self.asking >= MOST_ASKING:
            raise Full
        self.asking += 1
        try:
            async with self._turn:
                message = await self.worker.run(call, ANSWER_SECONDS, lambda progress: None, **fields)
        finally:
            self.asking -= 1
        if "refused" in message:
            raise UserError(message["refused"])
        if "failed" in message:
            raise Failed(message["failed"])
        return message["done"]

    async def stop(self) -> None:
        """End the process."""
        await self.worker.stop()
