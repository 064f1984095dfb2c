"""A browser, and the page's server with a stand-in for the solving core."""

import os
import shutil
from collections.abc import Callable, Iterator

import pytest
from page_server import running

NAMES = ("chromium", "chromium-browser", "google-chrome")  # names of the browser's program
WAIT = 60_000  # ms: the limit for any step of the page, on a busy machine
NO_PLAYWRIGHT = "The browser tests need Playwright: pip install -e '.[page-test]'."
NO_CHROMIUM = "The browser tests need Chromium (apt install chromium), or its path in COSTTOGO_CHROMIUM."


@pytest.fixture(scope="module")
def browser() -> Iterator:
    """Debian's Chromium, or the browser at the path in COSTTOGO_CHROMIUM; skips if there is none."""
    api = pytest.importorskip("playwright.sync_api", reason=NO_PLAYWRIGHT)
    program = os.environ.get("COSTTOGO_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip(NO_CHROMIUM)
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def expect(browser):
    """Playwright's assertions, which wait."""
    from playwright.sync_api import expect

    expect.set_options(timeout=WAIT)
    return expect


@pytest.fixture(scope="module")
def searches_at_once() -> int:
    """The number of searches that run at once; others wait."""
    return 2


@pytest.fixture(scope="module")
def server(browser, searches_at_once) -> Iterator:
    """The page's server in a thread; it starts only if there is a browser."""
    with running("page.fake_core", workers=searches_at_once) as server:
        yield server


@pytest.fixture
def open_page(browser, server) -> Iterator[Callable]:
    """open_page(fragment, refusals, **options) → a page that has restored its link; options are those of a context.

    At the end of the test the page must have logged no error; a violation of its content policy would be one.
    refusals: True if the test expects a request to be refused or to fail, which the browser logs.
    """
    contexts, errors = [], []

    def open_page(fragment: str = "", refusals: bool = False, **options):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}} | options)
        context.set_default_timeout(WAIT)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))

        def log(message) -> None:
            if message.type in ("error", "warning") and not (refusals and "Failed to load resource" in message.text):
                errors.append(message.text)

        page.on("console", log)
        page.goto(f"{server.url}/#{fragment}")
        page.locator("main:not([inert])").wait_for()
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert errors == []
