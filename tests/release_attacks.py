"""Ways to tamper with the folder of a release, each a function of the folder. `ATTACKS` has them by name."""

import json
import os

from dpml.release.folder import MANIFEST, digest

STEER = "\x1b[2J\x1b[31m\u202eall files are unchanged"


def read(folder, name):
    return (folder / name).read_text(encoding="utf-8")


def seal(folder):
    """Write the digests and sizes of all listed files anew, as somebody would who wants the change to hold."""
    facts = json.loads(read(folder, MANIFEST))
    for name in facts["files"]:
        if (folder / name).is_file():
            content = (folder / name).read_bytes()
            facts["files"][name], facts["bytes"][name] = digest(content), len(content)
    (folder / MANIFEST).write_text(json.dumps(facts, indent=2), encoding="utf-8")


def replaced(name, old, new):
    """Return an attack that replaces a text of a file, which must be there, and seals it."""

    def change(folder):
        text = read(folder, name)
        assert old in text, (name, old)
        (folder / name).write_text(text.replace(old, new, 1), encoding="utf-8")
        if name != MANIFEST:
            seal(folder)

    return change


def edited(name, edit):
    """Return an attack that changes the values of a JSON file and seals it."""

    def change(folder):
        facts = json.loads(read(folder, name))
        edit(facts)
        (folder / name).write_text(json.dumps(facts), encoding="utf-8")
        if name != MANIFEST:
            seal(folder)

    return change


def written(name, content):
    """Return an attack that gives a file another content and seals it."""

    def change(folder):
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        if name != MANIFEST:
            seal(folder)

    return change


def longer(name, end):
    """Return an attack that adds to a file and seals it."""
    return lambda folder: written(name, read(folder, name) + end)(folder)


def charges(*epsilons):
    def edit(facts):
        for row, epsilon in zip(facts["charges"], epsilons, strict=False):
            row["epsilon"] = epsilon

    return edit


def stated(**facts):
    return lambda values: values.update(facts)


DEEP = b"[" * 200_000 + b"]" * 200_000
ATTACKS = {
    # charges
    "a negative charge": edited("ledger.json", charges(1.3, -0.5)),
    "a charge of 0": edited("ledger.json", charges(0.8, 0.0)),
    "an infinite charge": edited("ledger.json", charges(float("inf"))),
    "an infinite sum": edited("ledger.json", stated(epsilon=float("inf"), spent=float("inf"))),
    "a number that overflows": replaced("ledger.json", '"spent": 1.0', '"spent": 1e999'),
    "a sum that is no number": edited("ledger.json", stated(spent=float("nan"))),
    "another sum": edited("ledger.json", stated(spent=0.5)),
    "more than allowed": edited("ledger.json", stated(epsilon=0.5)),
    "a charge as text": edited("ledger.json", charges("0.6")),
    "a charge as truth value": edited("ledger.json", charges(True)),
    "a charge of 5,000 digits": replaced("ledger.json", '"epsilon": 0.6', '"epsilon": ' + "9" * 5000),
    "no charges": edited("ledger.json", stated(charges=[])),
    "a smaller charge and sum": edited("ledger.json", lambda f: (charges(0.1)(f), f.update(spent=0.5))),
    "a delta": edited("ledger.json", stated(delta=0.1)),
    "a negative delta": edited("ledger.json", stated(delta=-1.0)),
    # forms
    "a key twice": replaced("ledger.json", '"spent": 1.0', '"spent": 9.0, "spent": 1.0'),
    "a deep ledger": written("ledger.json", DEEP),
    "a ledger with NUL": written("ledger.json", b"\0" * 1000),
    "a ledger of 5 MB": longer("ledger.json", " " * 5_000_000),
    "a ledger in another encoding": written("ledger.json", "{}".encode("utf-16")),
    "an unknown key": edited("ledger.json", stated(note="ε = 0.1")),
    "a deep manifest": written(MANIFEST, DEEP),
    "a manifest of 1 MB": longer(MANIFEST, " " * 1_000_000),
    "a manifest with a key twice": replaced(MANIFEST, '"delta": 0.0', '"delta": 0.5, "delta": 0.0'),
    "a library with a path": edited(MANIFEST, lambda f: f["versions"].update({"../../etc": STEER})),
    # one relation, status, ε and δ
    "another relation": edited("ledger.json", stated(relation="replace-one")),
    "a relation that steers": edited("ledger.json", stated(relation=STEER)),
    "a charge whose relation steers": edited("ledger.json", lambda f: f["charges"][0].update(relation=STEER)),
    "a status that is none": edited("ledger.json", stated(status="audited")),
    "another status in the manifest": edited(MANIFEST, stated(status="released")),
    "another epsilon in the manifest": edited(MANIFEST, stated(epsilon=0.1)),
    "another delta in the manifest": edited(MANIFEST, stated(delta=1e-6)),
    "another relation in the manifest": edited(MANIFEST, stated(relation="replace-one")),
    "another epsilon in the README": replaced("README.md", "ε = 1 ", "ε = 0.1 "),
    "another delta in the README": replaced("README.md", "δ = 0", "δ = 0.5"),
    "another baseline in the README": replaced("README.md", "majority-class baseline ", "majority-class baseline 0"),
    "a README with a command": replaced("README.md", "    python -m dpml", "    rm -rf ~; python -m dpml"),
    "another epsilon in the statement": replaced("statement.html", "spent ε = 1 of", "spent ε = 0.1 of"),
    "other odds in the statement": replaced("statement.html", "factor of at most 2.72", "factor of at most 1.01"),
    "another charge in the statement": replaced("statement.html", "<td>0.6</td>", "<td>0.06</td>"),
    "an epsilon more in the statement": replaced("statement.html", "<h2>Noise", "<p>In fact ε = 0.1.</p><h2>Noise"),
    "a script in the statement": replaced("statement.html", "</body>", "<script>alert(1)</script></body>"),
    "an event in the statement": replaced("statement.html", "<h2>", '<h2 onclick="alert(1)">'),
    "hidden text in the statement": replaced("statement.html", "</style>", "p { display: none }</style>"),
    "a statement of signs": written("statement.html", "<title>" * 200_000 + "<h1>" * 200_000),
    "another epsilon in the model": edited("model.json", stated(epsilon=0.1)),
    "another status in the model": edited("model.json", stated(status="audited")),
    "another delta in the model": edited("model.json", stated(delta=0.1)),
    "another column in the model": edited("model.json", lambda f: f["attributes"][0].update(columns=["name"])),
    "a score that is no number": edited("model.json", lambda f: f["cells"].__setitem__(0, [float("nan")] * 2)),
    "another epsilon in the evaluation": edited("evaluation.json", lambda f: f["noisy_counts"].update(epsilon=0.1)),
    "another relation in the evaluation": edited("evaluation.json", stated(relation="replace-one")),
    "another status in the evaluation": edited("evaluation.json", stated(status="audited")),
    "other classes in the evaluation": edited("evaluation.json", stated(classes=["no", "maybe"])),
    "a better accuracy": edited("evaluation.json", lambda f: f["measures"][0].update(value=0.99, high=1.0)),
    "an accuracy above its interval": edited("evaluation.json", lambda f: f["measures"][0].update(value=2)),
    # the schema and the table
    "facts of the data": longer("schema.yaml", "data_derived: 1\n"),
    "a schema that unfolds": written("schema.yaml", "a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]\n"),
    "a deep schema": written("schema.yaml", b"[" * 500_000),
    "a schema of one key": written("schema.yaml", "a: 1\n" * 190_000),
    "a ragged table": longer("table.csv", "1," * 20 + "1\n"),
    "a table with NUL": longer("table.csv", "\0\n"),
    "a table with one long cell": longer("table.csv", "9" * 5_000_000),
    "a table with a column more": lambda folder: written(
        "table.csv", "".join(f'"e{i}",{line}\n' for i, line in enumerate(read(folder, "table.csv").splitlines()))
    )(folder),
    "a table of other columns": written("table.csv", '"a","b","c"\n1,2,3\n'),
    "a table that computes": longer("table.csv", '"=cmd()","x",1,"no",""\n'),
    "a table without quotes": longer("table.csv", '1,x,1,"no",""\n'),
    "an infinite cell": longer("table.csv", '1e999,"x",1,"no",""\n'),
    "a charge for another part": edited("ledger.json", lambda f: f["charges"][0].update(part="training\u200b")),
    # files
    "another file as model": written("model.joblib", b"cos\nsystem\n(S'true'\ntR."),
    "another script": longer("score.py", "import os\n"),
    "a listed file elsewhere": edited(MANIFEST, lambda f: f["files"].update({"../secret": "0" * 64})),
    "a listed file of the system": edited(MANIFEST, lambda f: f["files"].update({"/etc/passwd": "0" * 64})),
    "a listed name that steers": edited(MANIFEST, lambda f: f["files"].update({f"x\n{STEER}": "0" * 64})),
}  # fmt: skip


def listed_upwards(folder):
    (folder.parent / "secret").write_text("secret")
    edited(MANIFEST, lambda f: f["files"].update({"../secret": digest(b"secret")}))(folder)


def byte_changed(folder):
    content = bytearray((folder / "model.joblib").read_bytes())
    content[100] ^= 1
    (folder / "model.joblib").write_bytes(content)


def unlisted(name):
    """Return an attack that removes a file, and its entry in the manifest."""

    def change(folder):
        (folder / name).unlink()
        edited(MANIFEST, lambda f: f["files"].pop(name))(folder)

    return change


def placed(name, make):
    """Return an attack that puts something else in the place of a file."""

    def change(folder):
        (folder / name).unlink()
        make(folder / name)

    return change


def make_pipe(path):
    os.mkfifo(path)


def linked(folder):
    (folder / "table.csv").rename(folder.parent / "table.csv")
    (folder / "table.csv").symlink_to(folder.parent / "table.csv")


def many_files(folder):
    for i in range(1000):
        (folder / f"{i}").write_text("")


def another_status_in_each_text(folder):
    """A simulation is dressed as a release, or the other way round, in every file that is text."""
    facts = json.loads(read(folder, "ledger.json"))
    release, simulation = "release", "simulation, not a release"
    old, new = (release, simulation) if facts["status"] == release else (simulation, release)
    for name in ("ledger.json", "evaluation.json", "model.json", MANIFEST):
        edited(name, stated(status=new))(folder)
    replaced("README.md", f"Status: {old}.", f"Status: {new}.")(folder)
    schema, statement = read(folder, "schema.yaml"), read(folder, "statement.html")
    schema = f"# {simulation}\n{schema}" if new == simulation else schema.split("\n", 1)[1]
    titles = {release: "Privacy report of a release", simulation: "Simulation, not a release"}
    written("schema.yaml", schema)(folder)
    written("statement.html", statement.replace(titles[old], titles[new]))(folder)
    text = read(folder, "table.csv")
    ends = [f',"{simulation}"', ',""']
    lines = [
        line + ends[i > 0] if new == simulation else line.removesuffix(ends[i > 0])
        for i, line in enumerate(text.splitlines())
    ]
    written("table.csv", "\n".join(lines) + "\n")(folder)


ATTACKS |= {
    "a listed file upwards": listed_upwards,
    "a changed byte": byte_changed,
    "a cut file": lambda f: os.truncate(f / "model.joblib", (f / "model.joblib").stat().st_size - 1),
    "a table of a terabyte": lambda f: os.truncate(f / "table.csv", 1 << 40),
    "a missing table": lambda f: (f / "table.csv").unlink(),
    "no manifest": lambda f: (f / MANIFEST).unlink(),
    "a table that is not listed": unlisted("table.csv"),
    "a report that is not listed": unlisted("statement.html"),
    "one more file": lambda f: (f / "run me.sh").write_text("x"),
    "a file whose name steers": lambda f: (f / f"x\n{STEER}").write_text("x"),
    "one more folder": lambda f: (f / "more").mkdir(),
    "a thousand more files": many_files,
    "a folder in place of a file": placed("ledger.json", os.mkdir),
    "a link with the same content": linked,
    "a link to a device": placed("ledger.json", lambda path: path.symlink_to("/dev/zero")),
    "a pipe": placed("table.csv", make_pipe),
    "a pipe in place of the manifest": placed(MANIFEST, make_pipe),
    "a manifest that links to a device": placed(MANIFEST, lambda path: path.symlink_to("/dev/zero")),
    "another status in each text": another_status_in_each_text,
}
