// Comforts on top of pages that are complete without them: copying, previews of records, tables
// that are sorted and filtered, and blocks that scroll by keyboard.
(() => {
  "use strict";

  const OPEN_AFTER = 300; // milliseconds
  const CLOSE_AFTER = 200; // time to move the pointer onto the preview
  const GAP = 6; // pixels between a link and its preview

  const dataOf = (id) => JSON.parse(document.getElementById(id)?.textContent || "{}");
  const WORDS = dataOf("memreport-words"); // English to the language of the page
  const _ = (text) => WORDS[text] ?? text;

  const element = (name, className, text) => {
    const made = document.createElement(name);
    made.className = className;
    made.textContent = text;
    return made;
  };

  // --- copying ---

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

  async function copyPassage(button, announce) {
    const done = await copy(passageOf(button.closest(".memreport-evidence")));
    button.textContent = done ? _("Copied") : _("Not copied");
    announce(done ? _("Passage copied") : _("The passage could not be copied"));
    setTimeout(() => (button.textContent = _("Copy")), 2000);
  }

  async function copyLink(link, announce) {
    // the link itself goes on to do what it does: the address bar then shows the same
    if (await copy(link.href)) {
      announce(_("Link copied"));
      link.title = _("Link copied");
    }
  }

  function setUpCopying(announce) {
    const captions = ".memreport-evidence:has(pre) > .code-block-caption";
    for (const caption of document.querySelectorAll(captions)) {
      const button = element("button", "memreport-copy", _("Copy"));
      button.type = "button";
      button.setAttribute("aria-label", _("Copy the passage"));
      caption.append(button);
    }
    document.addEventListener("click", ({ target }) => {
      const button = target.closest?.(".memreport-copy");
      const link = target.closest?.(".memreport-signature a:has(> .memreport-id)");
      if (button) copyPassage(button, announce);
      else if (link) copyLink(link, announce);
    });
  }

  // --- previews ---

  function readPreviews() {
    const found = new Map();
    for (const [href, preview] of Object.entries(dataOf("memreport-previews"))) {
      found.set(new URL(href, document.baseURI).href, preview);
    }
    return found;
  }

  // a link in a drawing has no address but what is written in it
  const addressOf = ({ href }) => new URL(href.baseVal ?? href, document.baseURI).href;

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
      const marks = ":is(.memreport-node, :has(> :is(.mem-record, .mem-supplied)))";
      return link?.matches(marks) && this.known.has(addressOf(link)) ? link : null;
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
      const [label, id, badges, text] = this.known.get(addressOf(link));
      const card = element("div", "memreport-preview", "");
      card.id = "memreport-preview";
      card.setAttribute("role", "tooltip");
      const words = element("span", "", "");
      for (const word of badges) words.append(element("span", "memreport-badge", word), " ");
      card.append(...(label ? [element("strong", "", label)] : []));
      card.append(element("code", "memreport-id", id), words);
      if (text) card.append(element("p", "", text));
      link.removeAttribute("title"); // the browser would show it over the preview
      link.querySelector("title")?.remove();
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

  // --- tables ---

  const textOf = (node) => node.textContent.trim().replace(/\s+/g, " ");
  const collator = new Intl.Collator(document.documentElement.lang || "en", { numeric: true });
  const ORDER = { none: "ascending", ascending: "descending", descending: "none" };

  // what a reader may choose rows by in a cell
  function valuesOf(cell) {
    const parts = [...cell.querySelectorAll(".memreport-choice")];
    return (parts.length ? parts : [cell]).map(textOf).filter(Boolean);
  }

  function labelled(text, control) {
    const label = element("label", "", `${text} `);
    label.append(control);
    return label;
  }

  // A table whose rows are sorted by its heads, and chosen by text and by values.
  class Table {
    constructor(table) {
      this.heads = [...table.tHead.rows[0].cells];
      this.body = table.tBodies[0];
      this.rows = [...this.body.rows]; // in the order of the page
      this.texts = this.rows.map((row) => textOf(row).toLowerCase());
      this.heads.forEach(addButton);
      table.tHead.addEventListener("click", ({ target }) => {
        if (target.closest("button")) this.sort(target.closest("th"));
      });
      const controls = element("div", "memreport-controls", "");
      this.input = element("input", "", "");
      this.input.type = "search";
      this.selects = this.columnsToChoose(table).map((columns) => this.select(columns));
      this.count = element("span", "", "");
      this.count.setAttribute("role", "status");
      controls.append(labelled(_("Filter"), this.input));
      for (const [name, select] of this.selects) controls.append(labelled(name, select));
      controls.append(this.count);
      controls.addEventListener("input", () => this.choose());
      table.closest(".memreport-scroll").before(controls);
      this.choose();
    }

    // columns with one select each; those of a comparison are too many and share one
    columnsToChoose(table) {
      const valuesIn = (column) => new Set(this.rows.flatMap((row) => valuesOf(row.cells[column])));
      const found = this.heads
        .map((head, column) => [column, valuesIn(column)])
        .filter(([column, { size }]) => this.heads[column].matches(".memreport-choice") && size > 1);
      if (found.length && table.matches(".memreport-comparison")) return [found];
      return found.map((column) => [column]);
    }

    select(columns) {
      const select = element("select", "", "");
      select.append(new Option(_("all"), ""));
      for (const [column, values] of columns) {
        const options = [...values].sort(collator.compare);
        const shown = options.map((value) => new Option(value, `${column} ${value}`));
        const group = element("optgroup", "", "");
        group.label = textOf(this.heads[column]);
        group.append(...shown);
        select.append(...(columns.length > 1 ? [group] : shown));
      }
      return [columns.length > 1 ? _("Value") : textOf(this.heads[columns[0][0]]), select];
    }

    choose() {
      const words = this.input.value.toLowerCase().split(/\s+/);
      const chosen = this.selects.map(([, { value }]) => value.match(/^(\d+) (.*)/)).filter(Boolean);
      let shown = 0;
      this.rows.forEach((row, index) => {
        const fits =
          words.every((word) => this.texts[index].includes(word)) &&
          chosen.every(([, column, value]) => valuesOf(row.cells[column]).includes(value));
        row.hidden = !fits;
        shown += fits;
      });
      const said = _("{shown} of {all} rows").replace("{shown}", shown);
      this.count.textContent = said.replace("{all}", this.rows.length);
    }

    sort(head) {
      const order = ORDER[head.getAttribute("aria-sort") ?? "none"];
      for (const each of this.heads) each.removeAttribute("aria-sort");
      const rows = [...this.rows];
      if (order !== "none") {
        head.setAttribute("aria-sort", order);
        const column = this.heads.indexOf(head);
        const sign = order === "ascending" ? 1 : -1;
        const keys = new Map(rows.map((row) => [row, textOf(row.cells[column])]));
        rows.sort((one, other) => sign * collator.compare(keys.get(one), keys.get(other)));
      }
      this.body.append(...rows);
    }
  }

  function addButton(head) {
    const place = head.querySelector("p") ?? head;
    const button = element("button", "memreport-sort", "");
    button.type = "button";
    button.append(...place.childNodes);
    place.append(button);
  }

  function setUpTables() {
    const tables = ".memreport-records, .memreport-standing, .memreport-comparison";
    for (const table of document.querySelectorAll(`table:is(${tables})`)) {
      if (table.tBodies[0].rows.length > 1) new Table(table);
    }
  }

  // --- scrolling ---

  // the sides at which a block goes on out of view
  function sidesOf({ scrollLeft, scrollWidth, clientWidth }) {
    const before = Math.abs(scrollLeft);
    const behind = scrollWidth - clientWidth - before;
    return [before > 1 && "start", behind > 1 && "end"].filter(Boolean).join(" ");
  }

  function makeScrollable() {
    const blocks = ".memreport-evidence pre, .memreport-source-page .highlight, .memreport-scroll";
    // told after the browser has laid the page out: nothing here makes it do so again
    const observer = new ResizeObserver((entries) => {
      const found = entries.map(({ target }) => sidesOf(target));
      entries.forEach(({ target }, index) => {
        target.dataset.more = found[index];
        if (found[index]) target.tabIndex = 0;
        else target.removeAttribute("tabindex");
      });
    });
    document.querySelectorAll(blocks).forEach((block) => observer.observe(block));
    const scrolled = ({ target }) => {
      if (target.matches?.(blocks)) target.dataset.more = sidesOf(target);
    };
    document.addEventListener("scroll", scrolled, { capture: true, passive: true });
  }

  setUpCopying(announcer());
  new Previews(readPreviews());
  setUpTables();
  makeScrollable();
})();
