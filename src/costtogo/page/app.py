"""The addresses of the server: the page's files, and the API below /api."""

import asyncio
import math
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import InitVar, dataclass, field
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from costtogo import notation
from costtogo.notation import STATE
from costtogo.page import catalogue, schemas
from costtogo.page.safety import refusal
from costtogo.page.worker_process import FAILED
from costtogo.page.workers import CANCELLED, KILLED, MEMORY, TIME, Ended, Full, Job, Jobs, Worker
from costtogo.types import UserError, excerpt

KINDS = {  # of files that are served, by suffix; no others are
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".txt": "text/plain; charset=utf-8",
}
MOST_ASKING = 16  # short questions at once, the one that is being answered among them
MOST_LISTENERS = 64  # of all searches
ANSWER_SECONDS = 60.0
OFFERS_SECONDS = 20.0  # until networks are looked for again: a study may have trained one
NO_PROGRESS = {"nodes_expanded": 0, "nodes_generated": 0, "best_length": None}
WAITS, RUNS = ("queued", "The search waits for its turn."), ("running", "Searching …")
ENDED = {  # the status of a search without an answer, and a sentence on it, by why it ended
    TIME: ("unsolved", "Not solved: the search went far beyond its seconds and was ended."),
    MEMORY: ("failed", "Not solved: the search took more memory than it may; try another solver or an easier state."),
    KILLED: ("cancelled", "The search was ended because the server stops."),
    CANCELLED: ("cancelled", "The search was cancelled."),
    "": ("failed", "The process of the search ended unexpectedly; try again."),
}
NO_SEARCH = "There is no such search: it never was, or it ended some time ago and is forgotten."
RETRY = {"retry-after": "2"}  # seconds
REFUSALS = {code: {"model": schemas.Refusal} for code in (403, 413, 415, 422)}
FULL = {429: {"model": schemas.Refusal}}
UNKNOWN = {code: {"model": schemas.Refusal} for code in (403, 404, 422)}
SENTENCES = {  # for what Starlette says
    "Not Found": "There is nothing at this address.",
    "Method Not Allowed": "This address does not take requests of this method.",
    "There was an error parsing the body": "The body cannot be read as JSON.",
}


class Failed(Exception):
    """The program made an error; the argument is one sentence for the user."""


@dataclass
class Service:
    """What answers the API: the queue of searches, and one worker for short questions, one after another.

    offers: the networks and solvers of each puzzle.  asked: when they were last looked for.
    """

    searches: Jobs
    worker: InitVar[Worker]
    offers: dict[str, schemas.Offer] = field(default_factory=dict)
    asked: float = -math.inf
    _looking: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self, worker: Worker) -> None:
        self.questions = Jobs([worker], MOST_ASKING - 1, grace=0)

    @asynccontextmanager
    async def running(self, app: FastAPI) -> AsyncIterator[None]:
        """Run the processes as long as the server runs."""
        self.questions.start()
        beginning = asyncio.create_task(self._begin())
        try:
            yield
        finally:
            beginning.cancel()
            await self.searches.stop()
            await self.questions.stop()

    async def _begin(self) -> None:
        """Answer the page's first question first: processes that start together slow each other down."""
        with suppress(UserError, Failed, Ended):  # the next one who asks gets the error
            await self._look()
        self.searches.start()

    async def ask(self, call: str, **fields) -> dict:
        """The answer of the worker. Raises Full, UserError, Failed, and Ended where its process ended."""
        job = self.questions.submit(call, ANSWER_SECONDS, fields)
        await job.finished.wait()
        self.questions.known.pop(job.id, None)
        match job.answer:
            case {"done": done}:
                return done
            case {"refused": sentence}:
                raise UserError(sentence)
            case {"failed": sentence}:
                raise Failed(sentence)
        raise Ended(job.answer["ended"])

    async def of(self, name: str) -> schemas.Offer:
        """The networks and solvers of a puzzle."""
        await self._look()
        return self.offers[name]

    async def _look(self) -> None:
        """Look for networks again after OFFERS_SECONDS; requests that come together share one question."""
        async with self._looking:
            if time.monotonic() - self.asked > OFFERS_SECONDS:
                found = await self.ask("offers", puzzles=list(catalogue.SCRAMBLES))
                self.offers = {name: schemas.Offer(**offer) for name, offer in found.items()}
                self.asked = time.monotonic()


def build(service: Service, static: Traversable | None = None) -> FastAPI:
    """The application. static: the folder of the page's files, that of the package where none is given."""
    app = FastAPI(
        title="costtogo",
        description="Puzzles solved over learned cost-to-go heuristics.",
        version="1",
        openapi_url="/api/openapi.json",
        docs_url=None,  # these would load scripts from elsewhere
        redoc_url=None,
        lifespan=service.running,
        routes=_pages(static or files("costtogo.page") / "static"),
    )
    _add_errors(app)
    _add_puzzles(app, service)
    _add_searches(app, service)
    return app


def _pages(folder: Traversable) -> list[Route]:
    """A route for each file of the page; files added later cannot be requested."""
    routes = [_page(f"/static/{name}", file) for name, file in _listing(folder, "")]
    index = folder / "index.html"
    return [*routes, _page("/", index)] if index.is_file() else routes


def _listing(folder: Traversable, above: str) -> list[tuple[str, Traversable]]:
    found = []
    for each in sorted(folder.iterdir(), key=lambda file: file.name):
        if each.is_dir():
            found += _listing(each, f"{above}{each.name}/")
        elif f".{each.name.rpartition('.')[2]}" in KINDS:
            found.append((above + each.name, each))
    return found


def _page(path: str, file: Traversable) -> Route:
    """A file, read on each request; a browser asks every time and gets 304 if nothing has changed."""

    def answer(request: Request) -> Response:
        content = file.read_bytes()
        headers = {"etag": f'"{sha256(content).hexdigest()[:32]}"', "cache-control": "no-cache"}
        if request.headers.get("if-none-match") == headers["etag"]:
            return Response(status_code=304, headers=headers)
        return Response(content, headers=headers, media_type=KINDS[f".{file.name.rpartition('.')[2]}"])

    return Route(path, answer, methods=["GET"])


def _add_errors(app: FastAPI) -> None:
    """Every error is {"error": one sentence}."""

    @app.exception_handler(UserError)
    async def refuse(request: Request, error: UserError) -> JSONResponse:
        return refusal(422, str(error))

    @app.exception_handler(RequestValidationError)
    async def refuse_shape(request: Request, error: RequestValidationError) -> JSONResponse:
        return refusal(422, _sentence(error.errors()[0]))

    @app.exception_handler(HTTPException)
    async def refuse_address(request: Request, error: HTTPException) -> JSONResponse:
        return refusal(error.status_code, SENTENCES.get(error.detail, error.detail), error.headers)

    @app.exception_handler(Full)
    async def refuse_more(request: Request, error: Full) -> JSONResponse:
        return refusal(429, "The server has all it can do: wait for a search to end, or cancel one.", RETRY)

    @app.exception_handler(Ended)
    async def tell_end(request: Request, error: Ended) -> JSONResponse:
        return refusal(503, "The answer took too long or too much memory, so it was given up.", RETRY)

    @app.exception_handler(Failed)
    @app.exception_handler(Exception)
    async def tell_fault(request: Request, error: Exception) -> JSONResponse:
        return refusal(500, FAILED)


def _sentence(error: dict) -> str:
    """One sentence on the first error that pydantic found in a body or an address."""
    where = ".".join(str(part) for part in error["loc"] if part not in ("body", "path", "query"))
    if error["type"] == "json_invalid":
        return "The body is not JSON."
    if not where:
        return "The body has to be a JSON object."
    if error["type"] == "missing":
        return f"The field {excerpt(where)} is missing."
    if error["type"] == "extra_forbidden":
        return f"There is no field {excerpt(where)} in this request."
    return f"The field {excerpt(where)} is wrong: {error['msg'][0].lower()}{error['msg'][1:]}."


def _add_puzzles(app: FastAPI, service: Service) -> None:
    """Puzzles, their states, scrambles and values."""

    @app.get("/api/puzzles")
    async def puzzles() -> schemas.Puzzles:
        """The puzzles of the page, each with its networks, best first, and its solvers."""
        described = await run_in_threadpool(lambda: [catalogue.describe(name) for name in catalogue.SCRAMBLES])
        found = [schemas.PuzzleInfo(**each, **dict(await service.of(each["name"]))) for each in described]
        most = {"most_seconds": schemas.MOST_SECONDS, "most_scrambled": schemas.MOST_SCRAMBLED}
        return schemas.Puzzles(puzzles=found, **most)

    @app.post("/api/scramble", responses=REFUSALS)
    def scramble(asked: schemas.ScrambleRequest) -> schemas.ScrambleAnswer:
        """A walk from the goal that undoes no move; of Sokoban a generated level."""
        puzzle = catalogue.find(asked.puzzle)
        seed = secrets.randbelow(schemas.LARGEST_SEED) if asked.seed is None else asked.seed
        actions, state = catalogue.scramble(puzzle, asked.length, seed)
        moves = puzzle.format_moves(actions)
        return catalogue.position(puzzle, state, schemas.ScrambleAnswer, actions, moves=moves, seed=seed)

    @app.post("/api/state", responses=REFUSALS)
    def state(asked: schemas.StateRequest) -> schemas.StateAnswer:
        """A state that is given as text, as cells, or by moves; an impossible one is refused."""
        puzzle, actions, told = catalogue.find(asked.puzzle), [], {}
        if sum(value is not None for value in (asked.state, asked.cells, asked.moves)) != 1:
            raise UserError("Give one of the fields state, cells and moves.")
        if asked.start is not None and asked.moves is None:
            raise UserError("The field from goes with moves alone.")
        if asked.state is not None:
            given, levels = catalogue.read_state(puzzle, asked.state, asked.level)
            told = {"read_as": given.read_as, "levels": levels}
        elif asked.cells is not None:
            given = catalogue.state_of_cells(puzzle, asked.cells)
        else:
            start = puzzle.goal if asked.start is None else notation.read(puzzle, asked.start, STATE).state
            actions, given = catalogue.state_of_moves(puzzle, start, asked.moves)
        told["colours"] = catalogue.colours_of(puzzle, given)
        return catalogue.position(puzzle, given.state, schemas.StateAnswer, actions, **told)

    @app.post("/api/values", responses=REFUSALS)
    async def values(asked: schemas.ValuesRequest) -> schemas.Values:
        """The cost-to-go of states by a network and, where it is known, exactly."""
        puzzle = catalogue.find(asked.puzzle)
        if asked.model is not None:
            await _model(service, asked.puzzle, asked.model)

        def texts() -> list[str]:
            return [puzzle.format_state(notation.read(puzzle, text, STATE).state) for text in asked.states]

        states = await run_in_threadpool(texts)
        return schemas.Values(**await service.ask("values", puzzle=asked.puzzle, model=asked.model, states=states))


async def _model(service: Service, puzzle: str, name: str) -> schemas.ModelInfo:
    """The network of a name; UserError if the puzzle has none of this name."""
    for model in (await service.of(puzzle)).models:
        if model.name == name:
            return model
    raise UserError(f"There is no network '{excerpt(name)}' of {puzzle}.")


async def _check_solver(service: Service, asked: schemas.SearchRequest) -> None:
    """UserError if the solver is unknown or does not suit the puzzle and the network."""
    if asked.model is not None:
        suiting = (await _model(service, asked.puzzle, asked.model)).solvers
    else:
        suiting = [solver.name for solver in (await service.of(asked.puzzle)).solvers if not solver.needs_model]
    if asked.solver not in suiting:
        over = f"over the network {asked.model}" if asked.model else "without a network"
        choice = f"only {', '.join(suiting)}" if suiting else "nor any other"
        raise UserError(f"There is no solver '{excerpt(asked.solver)}' of {asked.puzzle} {over}, {choice}.")


def _outcome(job: Job) -> dict[str, str]:
    """The status of a search, and one sentence on it."""
    match job.answer:
        case None:
            status, told = RUNS if job.started else WAITS
            told = " ".join(filter(None, (told, job.progress.get("told"))))
        case {"ended": why}:
            status, told = ENDED[why]
        case {"done": {"solution": solution, "told": told}}:
            status = "unsolved" if solution is None else "solved"
        case {"refused": told} | {"failed": told}:
            status = "failed"
    return {"status": status, "told": told}


def _add_searches(app: FastAPI, service: Service) -> None:
    """The addresses of searches."""
    searches = service.searches

    def known(id: str) -> Job:
        if id not in searches.known:
            raise HTTPException(404, NO_SEARCH)
        return searches.known[id]

    def info(job: Job) -> schemas.SearchInfo:
        done = (job.answer or {}).get("done", {})
        progress = NO_PROGRESS | job.progress | done.get("progress", {})
        named = {"id": job.id, "seconds": round(job.duration, 3), "position": searches.position(job)}
        return schemas.SearchInfo(**named | progress | _outcome(job), solution=done.get("solution"))

    @app.post("/api/searches", status_code=202, responses=REFUSALS | FULL)
    async def begin(asked: schemas.SearchRequest) -> schemas.SearchInfo:
        """Queue a search; follow it at /api/searches/{id}."""
        puzzle = catalogue.find(asked.puzzle)
        await _check_solver(service, asked)
        given = await run_in_threadpool(notation.read, puzzle, asked.state, STATE)
        fields = asked.model_dump(exclude_unset=True) | {"state": puzzle.format_state(given.state)}
        return info(searches.submit("search", asked.seconds, fields))

    @app.get("/api/searches/{id}", responses=UNKNOWN)
    async def look(id: str) -> schemas.SearchInfo:
        """The progress of a search, and its solution once it has one."""
        return info(known(id))

    @app.get("/api/searches/{id}/events", responses=UNKNOWN, response_class=StreamingResponse)
    async def events(id: str) -> StreamingResponse:
        """The same a few times a second as server-sent events, at last as the search ended.

        When the last one who follows leaves, the search is cancelled.
        """
        search = known(id)
        if searches.listeners >= MOST_LISTENERS:
            raise Full

        async def stream() -> AsyncIterator[str]:
            async for each in searches.follow(search):
                yield f"data: {info(each).model_dump_json()}\n\n"

        return StreamingResponse(stream(), media_type="text/event-stream")

    @app.delete("/api/searches/{id}", responses=UNKNOWN)
    async def cancel(id: str) -> schemas.SearchInfo:
        """End a search."""
        search = known(id)
        searches.cancel(search)
        return info(search)
