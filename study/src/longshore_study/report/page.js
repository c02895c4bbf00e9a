// Sorts by a column, filters rows and emphasises the series of a legend entry. The page is complete without script.
"use strict";

for (const table of document.querySelectorAll("table.sortable")) {
  for (const head of table.querySelectorAll("thead th[data-sort]")) {
    if (!head.dataset.sort) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sorting";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => sortBy(table, head));
  }
}

function sortBy(table, head) {
  const column = [...head.parentNode.children].indexOf(head);
  const up = head.getAttribute("aria-sort") !== "ascending";
  for (const other of head.parentNode.children) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", up ? "ascending" : "descending");
  const key = (row) => {
    const cell = row.children[column];
    const number = Number.parseFloat(cell.dataset.value);
    return Number.isNaN(number) ? cell.textContent : number;
  };
  const order = (a, b) => {
    const [x, y] = [key(a), key(b)];
    // Rows without a number come last in both orders.
    if (typeof x !== typeof y) return typeof x === "number" ? -1 : 1;
    const sign = typeof x === "number" ? x - y : x.localeCompare(y, undefined, { numeric: true });
    return up ? sign : -sign;
  };
  table.tBodies[0].append(...[...table.tBodies[0].rows].sort(order));
}

for (const form of document.querySelectorAll("form.filter")) {
  form.hidden = false;
  const rows = [...form.closest("section").querySelectorAll("tr[data-verdict]")];
  const boxes = [...form.querySelectorAll("input[type=checkbox]")];
  const apply = () => {
    const words = form.querySelector("input[type=search]").value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = (boxes.length > 0 && !wanted.has(row.dataset.verdict)) || !words.every((word) => text.includes(word));
      shown += row.hidden ? 0 : 1;
    }
    form.querySelector("output").textContent = shown === rows.length ? "" : `${shown} of ${rows.length} rows`;
  };
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
}

for (const legend of document.querySelectorAll(".legend")) {
  const series = [...legend.parentNode.querySelectorAll("g.series")];
  const light = (name) => {
    for (const group of series) group.classList.toggle("dim", name !== null && group.dataset.series !== name);
  };
  for (const entry of legend.querySelectorAll("li[data-series]")) {
    entry.addEventListener("pointerenter", () => light(entry.dataset.series));
    entry.addEventListener("pointerleave", () => light(null));
  }
}

// Folded parts are opened for printing.
let unfolded = [];
window.addEventListener("beforeprint", () => {
  unfolded = [...document.querySelectorAll("details:not([open])")];
  for (const part of unfolded) part.open = true;
});
window.addEventListener("afterprint", () => {
  for (const part of unfolded) part.open = false;
});
