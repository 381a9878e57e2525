"""Two browsers with the page of docs/guides/first-web-app.md: one signs in as a person would, the other sees it all.

With PICTURES set to a folder, a picture of both is kept there.
"""

import os
from base64 import b64encode

from chromium import with_chromium
from playwright.sync_api import sync_playwright
from viewer import patient

ADDRESS = f"http://127.0.0.1:8000/shopping.html#apiToken={os.environ['API_TOKEN']}"
WINDOW = {"width": 360, "height": 330}


def signed_in(browser, is_asked):
    """A browser of Alice's that shows the page. The first is asked whether the page may see her data."""
    page = browser.new_context(viewport=WINDOW).new_page()
    page.goto(ADDRESS)
    with page.expect_popup() as opened:
        page.get_by_role("button", name="Sign in").click()
    window = opened.value
    window.get_by_label("E-mail address or phone number").fill("alice@example.com")
    window.get_by_label("Password", exact=False).fill(os.environ["PASSWORD"])
    window.keyboard.press("Enter")
    if is_asked:
        window.get_by_role("button", name="Allow").click()
    page.get_by_text("In sync").wait_for()
    return page


def keep(browser, *pages):
    """Both windows side by side, as one picture."""
    windows = "".join(
        f"<figure><img width=360 src='data:image/png;base64,{b64encode(page.screenshot()).decode()}'>"
        f"<figcaption>{name}</figcaption></figure>"
        for name, page in zip(("one browser", "another"), pages))
    both = browser.new_page(viewport={"width": 824, "height": 416}, device_scale_factor=2)
    both.set_content(
        "<style>body { margin: 0; padding: 16px; display: flex; gap: 32px; background: #e8edf2;"
        " font: 15px system-ui; color: #456 } figure { margin: 0 } img { display: block;"
        " border-radius: 8px; box-shadow: 0 2px 10px #0003; margin-bottom: 10px }</style>" + windows)
    both.screenshot(path=os.path.join(os.environ["PICTURES"], "shopping.png"))


def main(program):
    with sync_playwright() as playwright:
        browser = patient(playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage"]))
        laptop, phone = signed_in(browser, True), signed_in(browser, False)
        for what in ("Tea", "Bread", "Apples"):
            laptop.get_by_label("What to buy").fill(what)
            laptop.get_by_role("button", name="Add").click()
            phone.get_by_text(what).wait_for()
        phone.get_by_text("Bread").click()
        laptop.get_by_text("Bread").wait_for(state="detached")
        assert laptop.locator("li").all_text_contents() == ["Tea", "Apples"]
        if os.environ.get("PICTURES"):
            keep(browser, laptop, phone)
        browser.close()


with_chromium(main)
