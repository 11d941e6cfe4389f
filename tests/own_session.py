"""A session at the page My data, driven as a browser drives it, without one."""

import asyncio
import base64
import io
import zipfile
from html import unescape
from types import SimpleNamespace

import uploaded_tables
from bokeh.document import Document
from dpml_app.shell import Shell
from panel.io.state import set_curdoc

from dpml.tables import safe_csv

PART = 10_000


class Session:
    """One session at the page, without a browser.

    `address`: who has asked for it, if anybody.
    `loop`: that of another session, which runs and closes it.
    """

    def __init__(self, address=None, loop=None):
        self._owns_loop = loop is None
        self.loop = loop or asyncio.new_event_loop()
        self.doc = Document()
        if address is not None:
            self.context = SimpleNamespace(request=SimpleNamespace(remote_ip=address, arguments={}))
            self.doc._session_context = lambda: self.context
        self.run(self._open)

    async def _open(self):
        self.shell = Shell()
        self.shell.link({"page": "mydata"})
        await self.shell.start()

    @property
    def page(self):
        return self.shell.pages["mydata"]

    def run(self, work, *arguments):
        async def until_it_rests():
            with set_curdoc(self.doc):
                await work(*arguments)
                while self.page.sender.tasks:
                    await asyncio.sleep(0.01)

        self.loop.run_until_complete(asyncio.wait_for(until_it_rests(), 120))

    def do(self, change):
        async def work():
            change()

        self.run(work)

    def upload(self, content, name="customers.csv", control=None):
        control = control or self.page.upload
        parts = [content[at : at + PART] for at in range(0, max(len(content), 1), PART)]
        for number, part in enumerate(parts):
            message = {"serial": 1, "name": name, "size": len(content), "last": number == len(parts) - 1}
            self.do(lambda message=message, part=part: control._handle_msg({**message, "data": encoded(part)}))

    @property
    def said(self):
        return [unescape(alert.object) for alert in self.page.alerts]

    def edit(self, column, fact, value):
        """Change one entry in the form of public metadata, as a person does."""
        form = self.page.facts
        if column:
            self.do(lambda: setattr(form.which, "value", column))
        widget = {"label": form.label, "kind": form.kind, **form.typed}[fact]
        self.do(lambda: setattr(widget, "value", value))

    def tick(self, column, sure=True):
        """Say that the entries of a column, or of the whole table, are public; or that they are not after all."""
        form = self.page.facts
        if column:
            self.do(lambda: setattr(form.which, "value", column))
        self.do(lambda: setattr(form.known["column" if column else "table"], "value", sure))

    def confirm(self):
        """Say of every column with proposed entries, and of the table, that they are public, one after another."""
        for column in dict.fromkeys(each.column for each in self.page.draft.unconfirmed):
            self.tick(column)

    def use(self):
        self.do(self.page._on_use)

    def close(self):
        self.shell.stop()
        if self._owns_loop:
            self.loop.close()


def encoded(part):
    return base64.b64encode(part).decode()


def csv(seed=0):
    return safe_csv(uploaded_tables.customers(seed=seed)).encode()


def say(one, **values):
    """Change widgets of the release."""
    for name, value in values.items():
        one.do(lambda name=name, value=value: setattr(getattr(one.page.release, name), "value", value))


def release(one):
    say(one, sure=True)
    one.do(one.page.release.start)


def saved(one):
    """Return the files of the last release by their names."""
    done = one.page.release.done
    archive = zipfile.ZipFile(io.BytesIO(done.content))
    return {name.removeprefix(f"{done.name}/"): archive.read(name) for name in archive.namelist()}
