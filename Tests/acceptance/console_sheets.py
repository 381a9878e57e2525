"""Lays out pictures that the scripts of the console have kept, a sheet for each width: `console_sheets.py PICTURES IMAGES`.

PICTURES is the folder that they were given. Light and dark take turns.
"""

import base64
import glob
import os
import sys

from chromium import with_chromium
from console import WIDTHS
from viewer import driven

SCREENS = ("overview", "records", "record-new", "schema-types", "sharing-sheet", "sync", "telemetry", "logs",
           "delivery-dead-letters", "tokens-operators", "backups", "acting")
SHEET_WIDTH = 1280
COLUMNS = {390: 6, 820: 4, 1280: 3}
QUALITY = 60


def picture(folder, name):
    [path] = glob.glob(os.path.join(folder, "**", name), recursive=True)
    with open(path, "rb") as file:
        return f'<img src="data:image/png;base64,{base64.b64encode(file.read()).decode()}">'


def main(program):
    pictures, images = sys.argv[1:]
    with driven(program) as browser:
        page = browser.new_page(viewport={"width": SHEET_WIDTH, "height": 100})
        for width in WIDTHS:
            shown = "".join(picture(pictures, f"{name}-{width}-{'dark' if index % 2 else 'light'}.png")
                            for index, name in enumerate(SCREENS))
            page.set_content(f"""<style>body{{margin:0;padding:8px;background:#777;display:grid;gap:8px;
              grid-template-columns:repeat({COLUMNS[width]},1fr)}}img{{width:100%}}</style>{shown}""")
            page.screenshot(path=os.path.join(images, f"console-{width}.jpg"), type="jpeg", quality=QUALITY, full_page=True)


with_chromium(main)
