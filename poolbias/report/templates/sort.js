// Tables sort by a column's heading; without this script they are read as they are.
"use strict";
const said = document.getElementById("sorted");

function compare(a, b) {
  const x = Number(a), y = Number(b);
  return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b, "en", { numeric: true }) : x - y;
}

function sort(table, column, heading) {
  const ascending = heading.getAttribute("aria-sort") !== "ascending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", ascending ? "ascending" : "descending");
  const body = table.tBodies[0];
  const rows = Array.from(body.rows, (row) => [row.cells[column].dataset.key, row]);
  rows.sort(([a], [b]) => {
    const lacking = (a === "") - (b === ""); // comes last either way
    return lacking || (ascending ? compare(a, b) : compare(b, a));
  });
  body.append(...rows.map(([, row]) => row));
  const direction = ascending ? "ascending" : "descending";
  said.textContent = `Sorted by ${heading.textContent}, ${direction}.`;
}

for (const table of document.querySelectorAll("table.sortable")) {
  Array.from(table.tHead.rows[0].cells).forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    button.addEventListener("click", () => sort(table, column, heading));
    heading.append(button);
  });
}

// A link into closed details opens them.
function reveal() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target) for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
}
addEventListener("hashchange", reveal);
reveal();
