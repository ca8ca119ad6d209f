"use strict";

/* Looks up REGISTERS, which registers.js beside this file defines, as `memtile info NAME` does. */
{
  const MOST = 60; // entries that are shown
  const [query, device, tile] = ["query", "device", "tile"].map((id) => document.getElementById(`register-${id}`));
  const count = document.getElementById("register-count");
  const found = document.getElementById("register-found");
  const { address, devices, kinds, texts, fields } = REGISTERS;
  const plain = (text) => text.toLowerCase().replace(/[^a-z0-9]/g, "");
  const hex = (number, digits = 1) => `0x${number.toString(16).toUpperCase().padStart(digits, "0")}`;

  const rows = kinds.flatMap((kind) =>
    kind.rows.map(([name, driver, offset, bytes, reset, access, module, source, does, layout]) => ({
      kind, name, driver, offset, bytes, reset, layout, plain: plain(name), other: plain(driver),
      access: texts[access], module: texts[module], source: texts[source], does: texts[does],
    })),
  );
  const numbers = kinds.flatMap((kind) =>
    kind.numbers.map(([name, number, what]) => ({ kind, name, number, what: texts[what], plain: plain(name) })),
  );

  for (const each of devices) device.add(new Option(each.name));
  device.value = "npu1";

  function roleAt(of, row) {
    if (row === 0) return "interface";
    return row >= of.memory[0] && row < of.memory[1] ? "memory" : "compute";
  }

  function byAddress(text, of) {
    const given = Number(text);
    const inside = given >= address.base ? given - address.base : given;
    const offset = inside % address.tile;
    const column = Math.floor(inside / 2 ** address.column);
    const row = Math.floor(inside / 2 ** address.row) % 2 ** (address.column - address.row);
    const isAbsolute = inside >= address.tile || given !== inside;
    if (isAbsolute && (column >= of.columns || row >= of.rows)) {
      return { note: `Column ${column}, row ${row}: ${of.name} has no such tile.`, hits: [] };
    }
    const role = isAbsolute ? roleAt(of, row) : tile.value;
    const hits = rows.filter((each) =>
      each.kind.generation === of.generation && (!role || each.kind.role === role) &&
      offset >= each.offset && offset < each.offset + each.bytes);
    hits.sort((a, b) => a.bytes - b.bytes);
    const where = isAbsolute ? `Tile (${column},${row}), offset ${hex(offset)}. ` : "";
    return { note: where, hits };
  }

  function rank(wanted, parts, name) {
    const at = name.indexOf(wanted);
    if (at < 0) return parts.every((part) => name.includes(part)) ? 4 : 9;
    const cut = /\d$/.test(wanted) && /^\d/.test(name.slice(at + wanted.length));
    return (name === wanted ? -1 : at === 0 ? 0 : 1) + (cut ? 2 : 0);
  }

  function byName(text, of) {
    const fits = (each) =>
      each.kind.generation === of.generation && (!tile.value || each.kind.role === tile.value);
    const counted = /^(event|port|master|slave)s? +(0x[0-9a-f]+|\d+)$/i.exec(text);
    if (counted) {
      const number = Number(counted[2]);
      const kind = counted[1].toLowerCase();
      return { note: "", hits: numbers.filter((each) => fits(each) && each.number === number && each.what.includes(kind)) };
    }
    const wanted = plain(text.replace(/^(xaie\w*?gbl_)?(memory_tile|memory|core|noc|pl|shim|uc)_module_/i, ""));
    const parts = text.toLowerCase().split(/[\s_]+/).map(plain).filter(Boolean);
    const ranked = [];
    for (const each of [...rows, ...numbers]) {
      if (!fits(each)) continue;
      let best = rank(wanted, parts, each.plain);
      if (each.other) best = Math.min(best, rank(wanted, parts, each.other));
      if (best > 5 && each.layout !== undefined && fields[each.layout].some(([name]) => plain(name) === wanted)) best = 6;
      if (best < 9) ranked.push([best, each]);
    }
    ranked.sort((a, b) => a[0] - b[0]);
    return { note: "", hits: ranked.map((pair) => pair[1]) };
  }

  function element(name, text, below = []) {
    const made = document.createElement(name);
    made.textContent = text;
    made.append(...below);
    return made;
  }

  function entry(each, isOpen) {
    if (each.layout === undefined) {
      const line = element("summary", `${each.name} `, [element("span", `${each.number}, ${each.what}, ${each.kind.title}`)]);
      return element("details", "", [line]);
    }
    const line = element("summary", `${each.name} `, [element("span", `${each.kind.title}, ${hex(each.offset, 5)}`)]);
    const about = `Access ${each.access}, reset ${hex(each.reset)}, ${each.bytes} bytes: ${each.does}.`;
    const table = element("table", "");
    const head = element("tr", "", ["bits", "field", "access", "reset"].map((text) => element("th", text)));
    table.append(head);
    for (const [name, msb, lsb, access] of fields[each.layout]) {
      const bits = msb > lsb ? `${msb}:${lsb}` : `${msb}`;
      const value = Number((BigInt(each.reset) >> BigInt(lsb)) & ((1n << BigInt(msb - lsb + 1)) - 1n));
      table.append(element("tr", "", [bits, name, access, hex(value)].map((text) => element("td", text))));
    }
    const source = `Source: ${each.source}${each.driver ? `; in the driver ${each.driver}` : ""}.`;
    const made = element("details", "", [line, element("p", about), table, element("p", source)]);
    made.open = isOpen;
    return made;
  }

  function show() {
    const text = query.value.trim();
    const of = devices.find((each) => each.name === device.value);
    const isNumber = /^(0x[0-9a-f]+|\d+)$/i.test(text);
    const { note, hits } = !text ? { note: "", hits: [] } : isNumber ? byAddress(text, of) : byName(text, of);
    const cut = hits.length > MOST ? `, the first ${MOST} are shown` : "";
    count.textContent = text ? `${note}${hits.length} found${cut}.` : "";
    found.replaceChildren(...hits.slice(0, MOST).map((each, n) => entry(each, n < 3)));
    const place = new URL(window.location.href);
    for (const [name, value] of [["q", text], ["device", device.value], ["tile", tile.value]]) {
      if (value && !(name === "device" && value === "npu1")) place.searchParams.set(name, value);
      else place.searchParams.delete(name);
    }
    window.history.replaceState(null, "", place);
  }

  const asked = new URL(window.location.href).searchParams;
  query.value = asked.get("q") ?? "";
  if (devices.some((each) => each.name === asked.get("device"))) device.value = asked.get("device");
  tile.value = asked.get("tile") ?? "";
  for (const each of [query, device, tile]) each.addEventListener("input", show);
  document.getElementById("register-form").addEventListener("submit", (event) => event.preventDefault());
  show();
  document.body.dataset.registers = "ready";
}
