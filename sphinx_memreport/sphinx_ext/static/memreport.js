// Comforts on top of pages that are complete without them: copying, previews of records,
// and blocks that scroll by keyboard.
(() => {
  "use strict";

  const OPEN_AFTER = 300; // milliseconds
  const CLOSE_AFTER = 200; // time to move the pointer onto the preview
  const GAP = 6; // pixels between a link and its preview

  const element = (name, className, text) => {
    const made = document.createElement(name);
    made.className = className;
    made.textContent = text;
    return made;
  };

  // --- copying -----------------------------------------------------------------------------

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      return copyBySelection(text); // pages that are not served securely have no clipboard
    }
  }

  function copyBySelection(text) {
    const area = element("textarea", "memreport-status", "");
    const focused = document.activeElement;
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    focused?.focus();
    return done;
  }

  function announcer() {
    const status = element("div", "memreport-status", "");
    status.setAttribute("role", "status");
    document.body.append(status);
    return (text) => {
      status.textContent = text;
    };
  }

  function passageOf(block) {
    const code = block.querySelector("pre").cloneNode(true);
    code.querySelectorAll(".linenos").forEach((number) => number.remove());
    return code.textContent.replace(/\n$/, "");
  }

  function setUpCopying(announce) {
    for (const block of document.querySelectorAll(".memreport-evidence")) {
      const caption = block.querySelector(".code-block-caption");
      if (!caption || !block.querySelector("pre")) continue;
      const button = element("button", "memreport-copy", "Copy");
      button.type = "button";
      button.setAttribute("aria-label", "Copy the passage");
      button.addEventListener("click", async () => {
        const done = await copy(passageOf(block));
        button.textContent = done ? "Copied" : "Not copied";
        announce(done ? "Passage copied" : "The passage could not be copied");
        setTimeout(() => (button.textContent = "Copy"), 2000);
      });
      caption.append(button);
    }
    for (const link of document.querySelectorAll(".memreport-signature a:has(> .memreport-id)")) {
      // the link itself goes on to do what it does: the address bar then shows the same
      link.addEventListener("click", async () => {
        if (await copy(link.href)) {
          announce("Link copied");
          link.title = "Link copied";
        }
      });
    }
  }

  // --- previews ----------------------------------------------------------------------------

  function readPreviews() {
    const data = document.getElementById("memreport-previews");
    const found = new Map();
    for (const [href, preview] of Object.entries(JSON.parse(data?.textContent || "{}"))) {
      found.set(new URL(href, document.baseURI).href, preview);
    }
    return found;
  }

  class Previews {
    constructor(known) {
      this.known = known;
      this.link = null; // whose preview is open, or about to be
      this.card = null;
      this.timer = 0;
      document.addEventListener("pointerover", (event) => this.pointed(event));
      document.addEventListener("focusin", (event) => this.focused(event));
      document.addEventListener("focusout", () => this.close());
      document.addEventListener("click", () => this.close());
      document.addEventListener("keydown", (event) => {
        if (event.key === "Escape") this.close();
      });
    }

    linkOf(event) {
      const link = event.target.closest?.("a");
      if (!link?.querySelector(":scope > :is(.mem-record, .mem-supplied)")) return null;
      return this.known.has(link.href) ? link : null;
    }

    pointed(event) {
      if (event.pointerType === "touch") return;
      const link = this.linkOf(event);
      if (this.card?.contains(event.target) || (link && link === this.link)) {
        if (this.card) clearTimeout(this.timer);
      } else if (link) {
        this.later(OPEN_AFTER, () => this.open(link));
      } else if (this.link !== document.activeElement) {
        this.later(CLOSE_AFTER, () => this.close());
      }
    }

    focused(event) {
      const link = this.linkOf(event);
      if (link?.matches(":focus-visible")) this.open(link);
    }

    later(delay, action) {
      clearTimeout(this.timer);
      this.timer = setTimeout(action, delay);
    }

    open(link) {
      this.close();
      const [label, id, badges, text] = this.known.get(link.href);
      const card = element("div", "memreport-preview", "");
      card.id = "memreport-preview";
      card.setAttribute("role", "tooltip");
      const words = element("span", "", "");
      for (const word of badges) words.append(element("span", "memreport-badge", word), " ");
      card.append(...(label ? [element("strong", "", label)] : []));
      card.append(element("code", "memreport-id", id), words);
      if (text) card.append(element("p", "", text));
      link.removeAttribute("title"); // the browser would show it over the preview
      link.setAttribute("aria-describedby", card.id);
      document.body.append(card);
      this.link = link;
      this.card = card;
      this.place(link, card);
    }

    place(link, card) {
      const at = link.getClientRects()[0] ?? link.getBoundingClientRect();
      const { width, height } = card.getBoundingClientRect();
      const room = document.documentElement.clientWidth - width - GAP;
      const fits = at.bottom + GAP + height <= window.innerHeight || at.top < height + GAP;
      const top = fits ? at.bottom + GAP : at.top - height - GAP;
      const origin = card.offsetParent?.getBoundingClientRect();
      const positioned = card.offsetParent && getComputedStyle(card.offsetParent).position !== "static";
      const [x, y] = positioned ? [origin.left, origin.top] : [-window.scrollX, -window.scrollY];
      card.style.left = `${Math.max(GAP, Math.min(at.left, room)) - x}px`;
      card.style.top = `${top - y}px`;
    }

    close() {
      clearTimeout(this.timer);
      this.link?.removeAttribute("aria-describedby");
      this.card?.remove();
      this.link = this.card = null;
    }
  }

  // --- scrolling ---------------------------------------------------------------------------

  function makeScrollable() {
    const blocks = ".memreport-evidence pre, .memreport-source-page .highlight, .memreport-scroll";
    for (const block of document.querySelectorAll(blocks)) {
      if (block.scrollWidth > block.clientWidth) block.tabIndex = 0;
    }
  }

  setUpCopying(announcer());
  new Previews(readPreviews());
  makeScrollable();
})();
