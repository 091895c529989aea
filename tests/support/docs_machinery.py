# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two diagrams of a cutover: its data from the inventory to the report, and the messages of each phase.

They are drawn by ``docs_diagrams``, which writes them to docs/images.
"""

from __future__ import annotations

from docs_drawing import WIDTH, Drawing

BOX, TALL, STEP = 156.0, 44.0, 66.0
LEFT, RIGHT = 22.0, 198.0
# Rows from top to bottom: left box and right box, each with a title and what it does.
ROWS: tuple[tuple[tuple[str, str] | None, tuple[str, str] | None], ...] = (
    (("inventory", "variables kafka_dr_*"), None),
    (("role kafka_dr", "one filter: pair"), ("_core/inventory", "checks all, derives")),
    (("role cutover", "orders the phases"), ("journal", "on both clusters")),
    (("modules", "options, one call"), ("guard", "proves ownership")),
    (("_pair", "reads, changes both"), ("_core", "decides, pure")),
    (("_engines", "what runs the flows"), ("_kafka, _connect, ...", "clients of each API")),
    (("role verify", "Spark audit"), ("role report", "_core/reports")),
    (None, ("report", "JSON, HTML, set_stats")),
)
# What flows down from a row to the next one, beside the left arrow.
DOWN = ("", "kafka_dr_pair", "pair, guard", "", "")

LANES = ("controller", "old", "new", "journal", "engine", "apps")
# Phase -> messages from the controller: the lane that gets them, and what they are. The phases are those of a cutoff.
MESSAGES: dict[str, tuple[tuple[str, str], ...]] = {
    "before": (("journal", "started: run, epoch, holder"),),
    "stop_producers": (("apps", "stop producers; exit 0 means flushed"), ("old", "deny WRITE: the fence")),
    "drain": (("engine", "read N and states until replicated"), ("old", "read log ends and committed offsets")),
    "stop_consumers": (("apps", "stop consumers"),),
    "barrier": (
        ("engine", "stop the source and checkpoint connectors"),
        ("old", "read N, S, E, offsets and records"),
        ("new", "read log ends and records"),
        ("journal", "phase: N, S, E, C and all offsets"),
    ),
    "commit_offsets": (("new", "commit the translated offsets, read them back"),),
    "start": (("journal", "pnr: point of no return"), ("apps", "start producers, then consumers, on new")),
    "arrival": (("new", "read back the first record at or after C"),),
    "flows": (("engine", "start and stop the checkpoint connectors"),),
    "settled": (("old", "compare the log ends with E"),),
    "after": (("journal", "ended: completed"),),
}
NOTES = ("Before each effect the controller reads the journal again:", "does it still own the run (R31)?")


def data() -> str:
    """Draw the data of a cutover: boxes from the inventory down to the report."""
    drawing = Drawing("kd-data")
    for place, row in enumerate(ROWS):
        y = 6 + place * STEP
        for x, box in zip((LEFT, RIGHT), row, strict=True):
            if box is not None:
                drawing.box(x, y, BOX, TALL, "topic", 4)
                drawing.text(x + 8, y + 18, box[0], "lane")
                drawing.text(x + 8, y + 35, box[1], "note")
        if place and all(row):
            drawing.line([(LEFT + BOX, y + 22), (RIGHT, y + 22)], "flow", arrow=True)
    for place, words in enumerate(DOWN):
        y = 6 + place * STEP + TALL
        drawing.line([(LEFT + 40, y), (LEFT + 40, y + STEP - TALL)], "flow", arrow=True)
        drawing.text(LEFT + 48, y + 15, words, "note")
    # The results of the phases go to the report, past the modules.
    cutover, report = 6 + 2 * STEP + 22, 6 + 6 * STEP + 52
    drawing.line([(LEFT, cutover), (8, cutover), (8, report), (RIGHT + 20, report)], "flow")
    drawing.text(LEFT + 4, report + 15, "results of the phases", "note")
    drawing.line([(RIGHT + 40, 6 + 6 * STEP + TALL), (RIGHT + 40, 6 + 7 * STEP)], "flow", arrow=True)
    drawing.line([(RIGHT + 20, report), (RIGHT + 20, 6 + 6 * STEP + TALL)], "flow", arrow=True)
    return drawing.svg(len(ROWS) * STEP - STEP + TALL + 12, "The data of a cutover, from the inventory to the report")


def sequence() -> str:
    """Draw which component gets which message in each phase of a cutoff, from top to bottom."""
    drawing = Drawing("kd-sequence")
    spots = {lane: 34.0 + place * 58 for place, lane in enumerate(LANES)}
    y = 26.0
    body = Drawing("kd-sequence")
    for place, (phase, messages) in enumerate(MESSAGES.items()):
        height = 18 + 26 * len(messages)
        if place % 2:
            drawing.box(0, y, WIDTH, height, "band")
        body.text(4, y + 13, f"({phase})" if phase in ("before", "after") else phase, "phase")
        for number, (lane, words) in enumerate(messages):
            at = y + 18 + number * 26
            body.text(40, at + 10, words, "note")
            body.line([(spots["controller"], at + 17), (spots[lane], at + 17)], "flow", arrow=True)
            if words.startswith("pnr"):
                body.line([(0, at + 24), (WIDTH, at + 24)], "no-return")
        y += height
    for lane, x in spots.items():
        drawing.text(x, 16, lane, "head", "middle")
        drawing.line([(x, 24), (x, y)], "still")
    for place, words in enumerate(NOTES):
        body.text(4, y + 16 + place * 14, words, "note")
    drawing.parts += body.parts
    return drawing.svg(y + 36, "Messages of a cutoff: controller, old and new cluster, journal, engine, applications")
