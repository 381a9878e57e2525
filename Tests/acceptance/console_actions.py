"""Walks the console's screens: which actions a page has, and what each does by the mouse and by the keyboard.

The list comes from the pages: every button, link, menu, choice and check box that is shown, by its accessible name. A `Walk`
does each once by the mouse and once by the keyboard, from the same state of the page, and wants the same effect of both.
"""

import re
import time

from playwright.sync_api import Error

from console import PASSWORD, Run, say

# Marks each action of what is on top, and says what it is. What a table has in each row, and a list in each item, is one.
COLLECT = """screen => {
  const dialogs = [...document.querySelectorAll('dialog[open]')];
  const root = dialogs.at(-1) ?? document.body;
  // Each question is one of its own.
  const area = root.closest('confirm-dialog') ? `${screen}, ${root.querySelector('h2').textContent.replace(/\\d+/g, '#')}` : screen;
  const shown = element => (element.type === 'file' ? element.labels[0] ?? element : element).checkVisibility();
  const one = text => (text ?? '').trim().replace(/\\s+/g, ' ').replace(/\\d[\\d.,:]*/g, '#').slice(0, 60);
  const word = element => one(element.matches('select, input')
    ? element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent
    : /\\w/.test(element.textContent) ? element.textContent : element.getAttribute('aria-label') ?? element.textContent);
  const keyOf = element => {
    const kind = element.matches('input') ? element.type : element.localName;
    const frame = element.closest('header.bar, .where, .acting');
    const label = one(element.closest('[aria-labelledby], table, [role=grid]')?.closest('[aria-label]')?.getAttribute('aria-label'));
    const row = element.closest('tbody tr, [role=row]:not(.headline), .list li, .causes li, ol.plain li, .cards article, .rows .line');
    const last = row && element.closest('td')?.matches(':last-child');
    if (frame) return `frame: ${kind} ${word(element)}`;
    if (!row) return `${area}: ${kind} ${word(element)}`;
    const cell = element.closest('td, th, [role=gridcell]');
    const place = cell ? [...cell.parentElement.children].indexOf(cell) : '';
    const list = one(row.closest('[aria-label], [aria-labelledby]')?.getAttribute('aria-label') ?? row.parentElement.className);
    return `${area}: ${kind} of ${label || list} ${last || element.matches('button.small, .card a') ? word(element)
      : row.closest('.matrix') && !element.matches('button') ? one(element.closest('label')?.textContent) : place}`;
  };
  document.querySelectorAll('[data-walk]').forEach(each => each.removeAttribute('data-walk'));
  const found = new Map();
  for (const element of root.querySelectorAll('a[href], button, summary, select, input[type=checkbox], input[type=radio], input[type=file]')) {
    // What is taken already, or of one choice alone, does nothing; and the first link is for the keyboard alone.
    if (!shown(element) || element.disabled || element.type === 'radio' && element.checked || element.matches(
      '.skip, [aria-current], [aria-selected=true], [role=group] > [aria-pressed=true]')) continue;
    if (element.matches('select') && element.options.length < 2) continue;
    const key = keyOf(element);
    if (found.has(key)) continue;
    element.dataset.walk = String(found.size);
    found.set(key, {key, word: word(element), number: String(found.size), kind: element.matches('input') ? element.type : element.localName,
      multiple: Boolean(element.multiple), isGrid: Boolean(element.closest('[role=grid]'))});
  }
  return [...found.values()];
}"""

# What can be seen of a page, but for what its clocks say.
LOOK = """() => [document.querySelectorAll('dialog[open]').length, document.querySelectorAll('details[open]').length,
  document.activeElement?.id === 'screen', [...document.querySelectorAll('input, select, textarea')].map(each => [each.checked,
    each.multiple ? [...each.selectedOptions].map(({value}) => value) : each.value]),
  [...document.querySelectorAll('[aria-pressed], [aria-selected], [aria-expanded], [aria-current]')].map(each =>
    ['aria-pressed', 'aria-selected', 'aria-expanded', 'aria-current'].map(name => each.getAttribute(name))),
  document.body.innerText].map(each => JSON.stringify(each)).join('\\n')"""

# Whether somebody was acted as; from then on nobody is.
STOP_ACTING = """async () => {
  const {acting, page} = await (await fetch('/console/api/session')).json();
  if (!acting) return false;
  await fetch('/console/api/session/acting', {method: 'DELETE', headers: {'X-Console-Page': page}});
  return true;
}"""

# Signs in once more, in place of the session that the browser has.
SIGN_IN = """async ([email, password, code]) => {
  const {page} = await (await fetch('/console/api/session')).json();
  const answer = await fetch('/console/api/session', {method: 'POST', body: JSON.stringify({email, password, code}),
    headers: {'Content-Type': 'application/json', 'X-Console-Page': page}});
  return answer.status;
}"""

# Draws what came, and tells whether what is on top says that it waits for more: an answer that has come is not yet read.
DRAWN = """() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => {
  const root = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document;
  done([...root.querySelectorAll('.waiting')].some(each => each.checkVisibility()));
})))"""

# Goes to addresses as a link does, and gives up what is open.
ARRIVE = """async addresses => {
  document.querySelectorAll('body > :not(console-app)').forEach(each => each.localName.endsWith('-dialog') && each.remove());
  document.querySelectorAll('details.who').forEach(each => { each.open = false; });
  for (const address of addresses) {
    history.pushState(null, '', address);
    dispatchEvent(new Event('addresschange'));
    await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  }
}"""

# Fields are filled before their form is sent, so that it says something new.
FILL = """number => {
  const form = document.querySelector(`[data-walk="${number}"]`)?.form;
  const given = {email: 'ann@example.org', url: 'https://example.org/in', date: '2026-01-01', number: '3', password: 'x'};
  for (const field of form?.querySelectorAll('input, textarea') ?? []) {
    if (field.value || !field.required && !form.matches('.query') || !field.checkVisibility() || ['checkbox', 'radio', 'file', 'datetime-local'].includes(field.type)) continue;
    field.value = field.placeholder.includes('@') ? given.email : given[field.type] ?? 'Sample';
    field.dispatchEvent(new Event('input', {bubbles: true}));
  }
}"""


class Walk(Run):
    """- self.screen: the page that is walked; - self.done: what was done, by its key, with its word;
    - self.wrong: what did not do the same by both hands."""

    SECONDS_MAX = 300
    NOTHING_SECONDS_MAX = 60
    # Well before the server asks for a new proof, so that a busy machine is not asked in the middle of an action.
    PROOF_SECONDS = 240

    def walk(self, page):
        self.screen, self.done, self.held, self.wrong = page, {}, False, []
        self.waiting, self.asked, self.files, self.pages, self.choosers = set(), [], [], [], []
        self.cookies, self.proven_at = page.context.cookies(), time.monotonic()
        page.on("request", self.began)
        page.on("requestfinished", lambda request: self.waiting.discard(request))
        page.on("requestfailed", lambda request: self.waiting.discard(request))
        page.on("download", lambda download: self.files.append(download.suggested_filename))
        page.on("popup", lambda other: self.pages.append(other))
        page.on("filechooser", lambda chooser: self.choosers.append(chooser))

    def began(self, request):
        if request.method == "POST" and "/console/api/" in request.url:
            self.asked.append(request.url.split("/console/api/")[1].split("?")[0].replace("/", " "))
        if '"follow":true' not in (request.post_data or ""):
            self.waiting.add(request)

    def settle(self):
        """Until nothing is awaited any more, and what came is drawn."""
        until, calm = time.monotonic() + self.SECONDS_MAX, 0
        while calm < 2:
            assert time.monotonic() < until, [[request.url for request in self.waiting], self.said()]
            is_waiting = self.screen.evaluate(DRAWN) or bool(self.waiting)
            calm = 0 if is_waiting and not self.held else calm + 1

    def said(self):
        """What the page says, for the message of what failed."""
        return self.screen.locator("main").first.inner_text()[:500]

    def proven(self):
        """Has a session whose proof is fresh; true where it is another one than the page's."""
        context = self.screen.context
        if not context.cookies():
            context.add_cookies(self.cookies)
        is_due = time.monotonic() - self.proven_at > self.PROOF_SECONDS
        if is_due:
            status = self.screen.evaluate(SIGN_IN, ["op@example.org", PASSWORD, self.codes["op@example.org"].pop()])
            assert status == 200, status
            self.proven_at = time.monotonic()
        self.cookies = context.cookies()
        return is_due

    def reach(self, state):
        """Makes what the state needs, and brings the page there."""
        page = self.screen
        page.unroute_all(behavior="ignoreErrors")
        page.route(lambda url: not url.startswith(("http://127.0.0.1", "blob:", "data:")), lambda route: route.abort())
        self.held = False
        is_there = page.url.startswith(self.base + "/console/")
        is_anew = self.proven() or state.get("loads") or not is_there
        # What the page knows of acting is then of before.
        if is_there and page.evaluate(STOP_ACTING):
            is_anew = True
        if state.get("before"):
            state["before"](page)
        path = state["path"]() if callable(state["path"]) else state["path"]
        if is_anew:
            page.goto(self.base + "/console/" + path)
        else:
            # By another screen, so that each begins anew.
            page.evaluate(ARRIVE, ["/console/tokens" if path.startswith("containers") else "/console/containers", "/console/" + path])
        self.settle()
        for step in state.get("steps", ()):
            step(page)
            self.settle()

    def actions(self, area):
        return {action["key"]: action for action in self.screen.evaluate(COLLECT, area.split(":")[0])}

    def seen(self):
        page = self.screen
        address = re.sub(r"\d+", "#", page.url)
        dialog = page.locator("dialog[open] h2").all_text_contents()
        return address, re.sub(r"\d+", "#", dialog[-1]) if dialog else ""

    def effect(self, act):
        before, look = self.seen(), self.screen.evaluate(LOOK)
        for kept in (self.asked, self.files, self.pages, self.choosers):
            kept.clear()
        act()
        # A new page, a file and a question for one are told of when the browser comes to it.
        until = time.monotonic() + self.NOTHING_SECONDS_MAX
        while True:
            self.settle()
            after = self.seen()
            effect = {"address": after[0] if after[0] != before[0] else "", "dialog": after[1] if after[1] != before[1] else "",
                      "commands": set(self.asked), "files": [*self.files, *self.pages, *self.choosers],
                      "changed": self.screen.evaluate(LOOK) != look}
            if any(effect.values()) or time.monotonic() > until:
                break
            self.screen.wait_for_timeout(50)
        for page in self.pages:
            page.close()
        return effect

    def by_mouse(self, action):
        place = self.screen.locator(f"[data-walk='{action['number']}']")
        if action["kind"] == "select":
            at = place.evaluate("each => each.options[(each.selectedIndex + 1) % each.options.length].value")
            return lambda: place.select_option(at)
        if action["kind"] == "file" and place.evaluate("each => Boolean(each.closest('label'))"):
            return lambda: self.screen.locator("label", has=place).click()
        return place.click

    def by_keyboard(self, action):
        place = self.screen.locator(f"[data-walk='{action['number']}']")
        place.focus()
        assert place.evaluate("each => each === document.activeElement"), f"{action['key']} cannot be focused"
        assert place.evaluate("each => each.tabIndex >= 0 || each.matches('[role=tab]')"), f"{action['key']} is not on the way of Tab"
        keys = {"select": "ArrowDown", "checkbox": "Space", "radio": "Space"}
        return lambda: self.screen.keyboard.press(keys.get(action["kind"], "Enter"))

    def both(self, state):
        """Each action of a state that none before had, by the mouse and by the keyboard."""
        area = state["area"]
        self.reach(state)
        for key, action in self.actions(area).items():
            if key in self.done or action["word"] in state["but"] or action["isGrid"] and action["kind"] in ("checkbox", "button"):
                continue
            try:
                self.same(state, key)
            except (AssertionError, Error) as error:
                self.wrong.append(f"{key}: {str(error).splitlines()[0]}")
                say(self.wrong[-1])
            self.done[key] = action["word"]
        say(f"{area}: {len(self.done)} actions so far")

    def same(self, state, key):
        """An action has an effect, and the same one by each hand."""
        effects = []
        for way in (self.by_mouse, self.by_keyboard):
            self.reach(state)
            action = self.actions(state["area"]).get(key)
            assert action, f"is not there a second time, where the page says {self.said()!r}"
            self.screen.evaluate(FILL, action["number"])
            effects.append(self.effect(way(action)))
        mouse, keyboard = effects
        assert any(mouse.values()), "does nothing by the mouse"
        assert any(keyboard.values()), f"does nothing by the keyboard, and by the mouse {mouse}"
        commands = (mouse.pop("commands"), keyboard.pop("commands"))
        assert commands[0] & commands[1] or not any(commands), f"asks by the mouse for {commands[0]}, and by the keyboard for {commands[1]}"
        for name in ("address", "dialog"):
            # Of a table each time the first row, which may have become another one.
            said = [each[name].split("?")[0] if " of " in key else each[name] for each in (mouse, keyboard)]
            assert said[0] == said[1], f"by the mouse {mouse}, by the keyboard {keyboard}"
