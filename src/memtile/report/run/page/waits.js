// The picture of who waits for whom: the root of the matter in red at the left, those that wait for it to its right.

const WAIT_WIDE = 216, WAIT_GAP = 22, WAIT_ASIDE = 80, MOST_WAITS = 24;
const waitHigh = node => node.kind === "lock" ? 32 : 54;

/** The nodes that are shown, by layer: the root first, then who waits for it, and so on, as many as there is room for. */
function waitLayers({nodes, edges}) {
  const known = new Map(nodes.map(node => [node.id, node]));
  let layer = nodes.filter(node => node.root), shown = 0;
  if (!layer.length) layer = nodes.slice(0, 1);
  const layers = [], seen = new Set();
  while (layer.length && shown < MOST_WAITS) {
    layer = layer.slice(0, MOST_WAITS - shown);
    layer.forEach(node => seen.add(node.id));
    shown += layer.length;
    layers.push(layer);
    const here = new Set(layer.map(node => node.id));
    const ids = new Set(edges.filter(edge => here.has(edge.gives) && !seen.has(edge.waits)).map(edge => edge.waits));
    layer = [...ids].map(id => known.get(id));
  }
  return layers;
}

/** A root that is a circle in the order of its waits. */
function inTheirOrder(layer, edges) {
  const next = id => edges.find(edge => edge.root && edge.waits === id)?.gives;
  const order = [], left = new Map(layer.map(node => [node.id, node]));
  while (left.size) {
    for (let id = left.keys().next().value; left.has(id); id = next(id)) { order.push(left.get(id)); left.delete(id); }
  }
  return order;
}

/** Text in lines of a width, the rest of it behind three points. */
function inLines(text, wide, most) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = `${lines.at(-1)} ${word}`.trim();
    if (line.length <= wide || !lines.at(-1)) lines[lines.length - 1] = line; else lines.push(word);
  }
  return lines.length <= most ? lines : [...lines.slice(0, most - 1), `${lines[most - 1].slice(0, wide - 2)} ...`];
}

function drawWaits() {
  const graph = result.waits, layers = waitLayers(graph);
  layers[0] = inTheirOrder(layers[0], graph.edges);
  const boxes = new Map();
  let high = 0;
  layers.forEach((layer, column) => {
    let y = 8;
    layer.forEach((node, row) => {
      boxes.set(node.id, {x: WAIT_ASIDE / 2 + column * (WAIT_WIDE + WAIT_ASIDE), y, high: waitHigh(node), column, row});
      y += waitHigh(node) + WAIT_GAP;
    });
    high = Math.max(high, y);
  });
  const wide = layers.length * (WAIT_WIDE + WAIT_ASIDE) - WAIT_ASIDE / 2 + 8;
  const left = graph.nodes.length - boxes.size;
  const svg = shape("svg", {id: "waits", width: wide, height: high, viewBox: `0 0 ${wide} ${high}`, role: "img",
    "aria-label": `what waits for what: ${layers[0].map(node => node.name).join(", ")}`});
  for (const edge of graph.edges) if (boxes.has(edge.waits) && boxes.has(edge.gives)) drawWait(svg, edge, boxes.get(edge.waits), boxes.get(edge.gives));
  for (const layer of layers) for (const node of layer) drawWaiting(svg, node, boxes.get(node.id));
  return element("div", {class: "scroll"}, svg, left ? element("p", {class: "quiet"}, `${plural(left, "more")} wait for these`) : "");
}

/** One that waits: its name, what for; a click goes to its track. */
function drawWaiting(svg, node, {x, y, high}) {
  const lock = node.kind === "lock", group = shape("g", {class: "waiting", fill: ink.ink});
  group.append(shape("title", {}, `${node.name} ${node.state}`), shape("rect", {x, y, width: WAIT_WIDE, height: high,
    rx: lock ? high / 2 : 4, fill: ink.panel, stroke: node.root ? ink.bad : ink.line, "stroke-width": node.root ? 2 : 1.2}));
  const names = lock ? [`${node.name} ${node.state}`] : inLines(node.name, 32, 2);
  const lines = lock ? names : [...names, ...inLines(node.state, 40, 2)].slice(0, 3), top = y + high / 2 + 4 - 7 * (lines.length - 1);
  lines.forEach((line, n) => group.append(shape("text", {x: x + WAIT_WIDE / 2, y: top + 14 * n, "text-anchor": "middle",
    class: n < names.length ? "" : "small"}, line)));
  const number = tracks.findIndex(track => track.called === node.name || track.name === node.name || node.name.startsWith(`${track.name} (kernel`));
  if (number >= 0) group.addEventListener("click", () => choose(number, run.ended - 1));
  svg.append(group);
}

/** A wait as an arrow: between neighbours of a column from edge to edge, else round the side. */
function drawWait(svg, edge, from, to) {
  const colour = edge.root ? ink.bad : ink.quiet, middle = box => box.y + box.high / 2;
  let way, tip, turn;
  if (from.column === to.column && Math.abs(from.row - to.row) === 1) {
    const down = to.y > from.y, aside = WAIT_WIDE / 2 + (down ? -12 : 12);
    tip = [to.x + aside, down ? to.y : to.y + to.high];
    way = `M${from.x + aside} ${down ? from.y + from.high : from.y} L${tip}`; turn = down ? 90 : -90;
  } else if (from.column === to.column) {
    tip = [to.x, middle(to)]; turn = 0;
    way = `M${from.x} ${middle(from)} C${from.x - 38} ${middle(from)} ${to.x - 38} ${middle(to)} ${tip}`;
  } else {
    const back = from.x > to.x;
    tip = [back ? to.x + WAIT_WIDE : to.x, middle(to)]; turn = back ? 180 : 0;
    way = `M${back ? from.x : from.x + WAIT_WIDE} ${middle(from)} L${tip}`;
  }
  const line = shape("path", {d: way, fill: "none", stroke: colour, "stroke-width": edge.root ? 2 : 1.2});
  line.append(shape("title", {}, edge.text));
  svg.append(line, shape("path", {d: "M0 0 L-8 -4 L-8 4 Z", fill: colour, transform: `translate(${tip}) rotate(${turn})`}));
}
